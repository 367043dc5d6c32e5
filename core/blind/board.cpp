#include "blind/board.h"

#include <cstring>

#include "base/random.h"
#include "blind/list_moves.h"

namespace rookery::blind {

namespace {

// Moves alone.
struct Moves {
    MoveList& list;
    void step(Square from, Square to) { list.add(Move(from, to)); }
    void step_if(Square from, Square to, bool whether) {
        if (whether) step(from, to);
    }
    void nameless(Square from, Square to) { list.add(Move(from, to)); }
    void castling(Square king, Square rook) { list.add(Move(king, rook, Move::CASTLING)); }
    void promotion(Square from, Square to, PieceType type) {
        list.add(Move(from, to, Move::PROMOTION, type));
    }
};

// The pieces of a board as the bits of their types; looking one up needs no branch.
class PieceBits {
  public:
    explicit PieceBits(const Board& board)
        : low_(board.by_type[KNIGHT] | board.by_type[ROOK] | board.by_type[KING]),
          middle_(board.by_type[BISHOP] | board.by_type[ROOK]),
          high_(board.by_type[QUEEN] | board.by_type[KING]),
          black_(board.by_color[BLACK]),
          occupied_(board.occupied()) {}
    [[nodiscard]] Piece at(Square square) const {
        const auto on = [square](Bitboard set) { return int(set >> square & 1); };
        const int piece = on(low_) + 2 * on(middle_) + 4 * on(high_) + 6 * on(black_);
        return Piece(on(occupied_) ? piece : NO_PIECE);
    }

  private:
    Bitboard low_, middle_, high_, black_, occupied_;
};
static_assert(KNIGHT == 1 && BISHOP == 2 && ROOK == 3 && QUEEN == 4 && KING == 5);

bool is_slider(PieceType type) { return type == BISHOP || type == ROOK || type == QUEEN; }

Move resolve_slide(const Board& board, Move request) {
    const Square from = request.from(), to = request.to();
    const Bitboard blockers = between(from, to) & board.occupied();
    if (!blockers) return request;
    const Square first = to > from ? first_square(blockers) : 63 - std::countl_zero(blockers);
    return bit(first) & board.by_color[board.side] ? Move() : Move(from, first);
}

Move resolve_pawn(const Board& board, Move request) {
    const Square from = request.from(), to = request.to();
    const Bitboard occupied = board.occupied();
    if (file_of(from) != file_of(to)) {
        if (to == board.en_passant && !(bit(to) & occupied))
            return Move(from, to, Move::EN_PASSANT);
        if (!(bit(to) & board.by_color[~board.side])) return Move();
        return bit(to) & LAST_RANKS && request.kind() == Move::NORMAL
                   ? Move(from, to, Move::PROMOTION, QUEEN)
                   : request;
    }
    if ((from ^ to) == 16) {
        const Square middle = (from + to) / 2;
        if (bit(middle) & occupied) return Move();
        return bit(to) & occupied ? Move(from, middle) : request;
    }
    return bit(to) & occupied ? Move() : request;
}

}  // namespace

Piece Board::piece_at(Square square) const { return PieceBits(*this).at(square); }

bool Board::attacked_by(Color color, Square square) const {
    const Bitboard all = occupied(), own = by_color[color];
    return own &
           ((pawn_attacks(~color, square) & by_type[PAWN]) |
            (knight_attacks(square) & by_type[KNIGHT]) | (king_attacks(square) & by_type[KING]) |
            (bishop_attacks(square, all) & (by_type[BISHOP] | by_type[QUEEN])) |
            (rook_attacks(square, all) & (by_type[ROOK] | by_type[QUEEN])));
}

Key Board::key() const {
    Key hash = Key(side) | Key(castling) << 8 | Key(en_passant) << 16;
    for (const Bitboard set : by_type) hash = mix(hash, set);
    return mix(hash, by_color[WHITE]);
}

bool Board::same(const Board& other) const {
    return !std::memcmp(by_type, other.by_type, sizeof by_type) &&
           by_color[WHITE] == other.by_color[WHITE] && side == other.side &&
           castling == other.castling && en_passant == other.en_passant;
}

void Board::put(Square square, Piece piece) {
    by_type[type_of(piece)] |= bit(square);
    by_color[color_of(piece)] |= bit(square);
}

void Board::remove(Square square) {
    for (Bitboard& set : by_type) set &= ~bit(square);
    for (Bitboard& set : by_color) set &= ~bit(square);
}

void Board::make(Move taken) {
    const Color us = side;
    side = ~us;
    fullmove_number += us == BLACK;
    ++halfmove_clock;
    en_passant = NO_SQUARE;
    if (!taken) return;
    const Square from = taken.from(), to = taken.to();
    const Piece piece = piece_at(from);
    if (castling) {
        if (type_of(piece) == KING) castling &= us == WHITE ? 0b1100 : 0b0011;
        if (bit(to) & pieces(~us, KING)) castling &= us == WHITE ? 0b0011 : 0b1100;
        for (const Color color : {WHITE, BLACK})
            for (const bool kingside : {true, false})
                if ((bit(from) | bit(to)) & bit(rook_home(color, kingside)))
                    castling &= std::uint8_t(~(1 << castling_bit(color, kingside)));
    }
    if (taken.kind() == Move::CASTLING) {
        const bool kingside = to > from;
        remove(from);
        remove(to);
        put(castled_king(us, kingside), make_piece(us, KING));
        put(castled_rook(us, kingside), make_piece(us, ROOK));
        return;
    }
    if (bit(to) & occupied()) {
        halfmove_clock = 0;
        remove(to);
    }
    remove(from);
    put(to, taken.kind() == Move::PROMOTION ? make_piece(us, taken.promotion()) : piece);
    if (type_of(piece) != PAWN) return;
    halfmove_clock = 0;
    if (taken.kind() == Move::EN_PASSANT) remove(to ^ 8);
    if ((from ^ to) == 16) en_passant = std::uint8_t((from + to) / 2);
}

Board start_board() { return board_of(start_position()); }

Board board_of(const Position& position) {
    Board board{};
    std::copy(std::begin(position.by_type), std::end(position.by_type), board.by_type);
    std::copy(std::begin(position.by_color), std::end(position.by_color), board.by_color);
    board.halfmove_clock = position.halfmove_clock;
    board.fullmove_number = position.fullmove_number;
    board.side = position.side;
    board.castling = position.castling;
    board.en_passant = position.en_passant_pseudo;
    return board;
}

Position position_of(const Board& board) {
    Position position = empty_board();
    for (const Color color : {WHITE, BLACK})
        for (int type = PAWN; type <= KING; ++type)
            for (Bitboard set = board.pieces(color, PieceType(type)); set;)
                position.put(pop_square(set), make_piece(color, PieceType(type)));
    position.side = board.side;
    position.halfmove_clock = board.halfmove_clock;
    position.fullmove_number = board.fullmove_number;
    position.castling = board.castling;
    for (const Color color : {WHITE, BLACK})
        for (const bool kingside : {true, false})
            if (const int index = castling_bit(color, kingside); board.castling >> index & 1)
                position.castling_rook[index] = std::uint8_t(rook_home(color, kingside));
    position.finish_setup(board.en_passant);
    return position;
}

std::string to_fen(const Board& board) {
    std::string fen;
    for (int rank = 7; rank >= 0; --rank) {
        int gap = 0;
        const auto close_gap = [&] {
            if (gap) fen += char('0' + gap);
            gap = 0;
        };
        for (int file = 0; file < 8; ++file) {
            const Piece piece = board.piece_at(make_square(file, rank));
            if (piece == NO_PIECE) {
                ++gap;
            } else {
                close_gap();
                fen += PIECE_LETTERS[piece];
            }
        }
        close_gap();
        if (rank) fen += '/';
    }
    fen += board.side == WHITE ? " w " : " b ";
    for (int i = 0; i < 4; ++i)
        if (board.castling >> i & 1) fen += "KQkq"[i];
    if (!board.castling) fen += '-';
    fen += board.en_passant == NO_SQUARE ? " -" : " " + square_name(board.en_passant);
    return fen + " " + std::to_string(board.halfmove_clock) + " " +
           std::to_string(board.fullmove_number);
}

void list_requests(const Board& board, MoveList& list) {
    Moves moves{list};
    add_requests(board, moves);
}

Move resolve(const Board& board, Move request) {
    if (!request) return Move();
    if (request.kind() == Move::CASTLING)
        return between(request.from(), request.to()) & board.occupied() ? Move() : request;
    const PieceType type = type_of(board.piece_at(request.from()));
    if (type == PAWN) return resolve_pawn(board, request);
    return is_slider(type) ? resolve_slide(board, request) : request;
}

void list_taken(const Board& board, MoveList& list) {
    const Bitboard occupied = board.occupied(), enemy = board.by_color[~board.side];
    Moves moves{list};
    add_piece_moves(board, occupied, moves);
    add_castlings(board, occupied, moves);
    add_pushes(board, occupied, moves);
    for (Bitboard pawns = board.pieces(board.side, PAWN); pawns;) {
        const Square from = pop_square(pawns);
        const Bitboard attacks = pawn_attacks(board.side, from);
        for (Bitboard targets = attacks & enemy; targets;)
            add_pawn_move(from, pop_square(targets), moves);
        if (board.en_passant != NO_SQUARE && attacks & bit(board.en_passant) & ~occupied)
            list.add(Move(from, board.en_passant, Move::EN_PASSANT));
    }
}

Square capture_square(const Board& board, Move taken) {
    if (!taken || taken.kind() == Move::CASTLING) return NO_SQUARE;
    if (taken.kind() == Move::EN_PASSANT) return taken.to() ^ 8;
    return bit(taken.to()) & board.by_color[~board.side] ? taken.to() : NO_SQUARE;
}

std::string to_uci(Move move) {
    if (!move) return "";
    Square to = move.to();
    if (move.kind() == Move::CASTLING)
        to = castled_king(rank_of(to) == 0 ? WHITE : BLACK, to > move.from());
    std::string text = square_name(move.from()) + square_name(to);
    if (move.kind() == Move::PROMOTION) text += "nbrq"[move.promotion() - KNIGHT];
    return text;
}

Move find_request(const Board& board, std::string_view uci) {
    MoveList list;
    list_requests(board, list);
    Move plain;
    for (const Move move : list) {
        const std::string text = to_uci(move);
        if (text == uci) plain = move;
        if (move.kind() == Move::PROMOTION && move.promotion() == QUEEN && text.substr(0, 4) == uci)
            return move;
        if (plain && !(bit(plain.to()) & LAST_RANKS)) return plain;
    }
    return plain;
}

Window look(const Board& board, Square centre) {
    Window window;
    const PieceBits pieces(board);
    for (int i = 0; i < 9; ++i) {
        const Square square = window_square(centre, i);
        const Piece piece = pieces.at(square & 63);
        window[std::size_t(i)] = square == NO_SQUARE ? OFF_BOARD : piece;
    }
    return window;
}

Bitboard window_mask(Square centre) { return king_attacks(centre) | bit(centre); }

}  // namespace rookery::blind
