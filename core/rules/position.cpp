#include "rules/position.h"

#include <cstring>

#include "base/random.h"

namespace rookery {

Zobrist zobrist;

void set_zobrist_keys(std::span<const Key, ZOBRIST_KEY_COUNT> keys) {
    // Polyglot: 64 * kind + square, kinds black pawn, white pawn, black knight, ...; then
    // 4 castling rights (White short, White long, Black short, Black long), 8 files, 1 turn.
    for (int color = 0; color < 2; ++color)
        for (int type = 0; type < 6; ++type)
            for (Square square = 0; square < 64; ++square)
                zobrist.piece[6 * color + type][square] =
                    keys[std::size_t(64 * (2 * type + (color == WHITE)) + square)];
    for (int rights = 0; rights < 16; ++rights) {
        zobrist.castling[rights] = 0;
        for (int i = 0; i < 4; ++i)
            if (rights >> i & 1) zobrist.castling[rights] ^= keys[std::size_t(768 + i)];
    }
    for (int file = 0; file < 8; ++file) zobrist.en_passant[file] = keys[std::size_t(772 + file)];
    zobrist.white_to_move = keys[780];
}

namespace {
[[maybe_unused]] const bool default_keys_set = [] {
    std::array<Key, ZOBRIST_KEY_COUNT> keys;
    std::uint64_t seed = 2026;
    for (Key& key : keys) key = splitmix64(seed);
    set_zobrist_keys(keys);
    return true;
}();
}  // namespace

Bitboard Position::attackers_to(Square square, Bitboard occupied) const {
    return (pawn_attacks(BLACK, square) & pieces(WHITE, PAWN)) |
           (pawn_attacks(WHITE, square) & pieces(BLACK, PAWN)) |
           (knight_attacks(square) & by_type[KNIGHT]) | (king_attacks(square) & by_type[KING]) |
           (bishop_attacks(square, occupied) & (by_type[BISHOP] | by_type[QUEEN])) |
           (rook_attacks(square, occupied) & (by_type[ROOK] | by_type[QUEEN]));
}

// The subset of dead positions that python-chess knows: each side alone could not mate
// whatever the other did.
bool Position::insufficient_material() const {
    if (by_type[PAWN] | by_type[ROOK] | by_type[QUEEN]) return false;
    const auto cannot_mate = [this](Color color) {
        if (pieces(color, KNIGHT))
            return count_bits(pieces(color)) <= 2 && !(pieces(~color) & ~by_type[KING]);
        if (pieces(color, BISHOP)) {
            const Bitboard bishops = by_type[BISHOP];
            const bool one_shade = !(bishops & DARK_SQUARES) || !(bishops & ~DARK_SQUARES);
            return one_shade && !by_type[KNIGHT];
        }
        return true;
    };
    return cannot_mate(WHITE) && cannot_mate(BLACK);
}

Key Position::polyglot_key() const {
    if (en_passant == NO_SQUARE && en_passant_pseudo != NO_SQUARE)
        return key ^ zobrist.en_passant[file_of(en_passant_pseudo)];
    return key;
}

void Position::put(Square square, Piece piece) {
    board[square] = piece;
    by_type[type_of(piece)] |= bit(square);
    by_color[color_of(piece)] |= bit(square);
    key ^= zobrist.piece[piece][square];
}

void Position::remove(Square square) {
    const Piece piece = board[square];
    board[square] = NO_PIECE;
    by_type[type_of(piece)] ^= bit(square);
    by_color[color_of(piece)] ^= bit(square);
    key ^= zobrist.piece[piece][square];
}

void Position::finish_setup(Square en_passant_candidate) {
    // The same pieces on another board are another position.
    std::uint64_t salt = rules.bits();
    if (!rules.standard()) key ^= splitmix64(salt);
    if (side == WHITE) key ^= zobrist.white_to_move;
    key ^= zobrist.castling[castling];
    en_passant = en_passant_pseudo = NO_SQUARE;
    if (en_passant_candidate != NO_SQUARE) set_en_passant(en_passant_candidate);
}

void Position::drop_castling_rights(Move move, Color us) {
    std::uint8_t lost = 0;
    if (move.from() == king(us)) lost = us == WHITE ? 3 : 12;
    for (int i = 0; i < 4; ++i)
        if (castling_rook[i] == move.from() || castling_rook[i] == move.to())
            lost |= std::uint8_t(1 << i);
    lost &= castling;
    if (lost) {
        key ^= zobrist.castling[castling];
        castling ^= lost;
        key ^= zobrist.castling[castling];
    }
}

// The capture removes two pawns from one rank, so pins alone do not decide: look at the board
// after it.
bool Position::en_passant_is_legal(Square from, Square target) const {
    const Square captured = en_passant_victim(target, side);
    const Bitboard after = (occupied() ^ bit(from) ^ bit(captured)) | bit(target);
    const Bitboard attackers = attackers_to(king(side), after);
    return !(attackers & pieces(~side) & ~bit(captured));
}

void Position::set_en_passant(Square target) {
    Bitboard capturers = pawn_attacks(~side, target) & pieces(side, PAWN);
    if (!capturers) return;
    en_passant_pseudo = std::uint8_t(target);
    while (capturers) {
        if (en_passant_is_legal(pop_square(capturers), target)) {
            en_passant = std::uint8_t(target);
            key ^= zobrist.en_passant[file_of(target)];
            return;
        }
    }
}

void Position::make_castling(Move move, Color us) {
    const Square king_from = move.from(), rook_from = move.to();
    const bool kingside = rook_from > king_from;
    remove(king_from);
    remove(rook_from);
    put(castled_king(us, kingside), make_piece(us, KING));
    put(castled_rook(us, kingside), make_piece(us, ROOK));
}

void Position::make(Move move) {
    const Color us = side;
    const Square from = move.from(), to = move.to();
    const Piece piece = board[from];
    assert(piece != NO_PIECE && color_of(piece) == us);

    if (en_passant != NO_SQUARE) key ^= zobrist.en_passant[file_of(en_passant)];
    en_passant = en_passant_pseudo = NO_SQUARE;
    if (castling) drop_castling_rights(move, us);

    ++halfmove_clock;
    fullmove_number += us == BLACK;
    last_move = move;
    side = ~us;
    key ^= zobrist.white_to_move;

    if (move.kind() == Move::CASTLING) {
        make_castling(move, us);
        return;
    }
    if (board[to] != NO_PIECE) {
        remove(to);
        halfmove_clock = 0;
    } else if (move.kind() == Move::EN_PASSANT) {
        remove(en_passant_victim(to, us));
    }
    remove(from);
    put(to, move.kind() == Move::PROMOTION ? make_piece(us, move.promotion()) : piece);
    if (type_of(piece) == PAWN) {
        halfmove_clock = 0;
        if (to - from == 16 || from - to == 16) set_en_passant((from + to) / 2);
    }
}

}  // namespace rookery
