#include "encode/encode.h"

#include <algorithm>
#include <stdexcept>

#include "encode/actions.h"

namespace rookery::encode {

namespace {

constexpr std::size_t SQUARES = 64;

template <class T> void fill(T* out, std::size_t planes, T value) {
    std::fill(out, out + planes * SQUARES, value);
}
// Ones on the squares of a set in one side's view; the plane must be zero.
template <class T> void mark(T* plane, Bitboard set, Color view, BoardRules rules) {
    while (set) plane[rules.oriented(pop_square(set), view)] = T(1);
}
// Six planes of one colour's pieces, P N B R Q K.
template <class T> void mark_pieces(T* out, const Position& p, Color color, Color view) {
    for (int type = PAWN; type <= KING; ++type)
        mark(out + std::size_t(type) * SQUARES, p.pieces(color, PieceType(type)), view, p.rules);
}

bool has_right(const Position& p, Color color, bool kingside) {
    return p.castling >> castling_bit(color, kingside) & 1;
}
// 0 none, 1 kingside, 2 queenside, 3 both.
int rights_number(const Position& p, Color color) { return p.castling >> (2 * color) & 3; }

// Planes: own kingside, own queenside, opponent's kingside, opponent's queenside.
template <class T> void fill_castling(T* out, const Position& p) {
    std::size_t plane = 0;
    for (const Color color : {p.side, ~p.side})
        for (const bool kingside : {true, false})
            fill(out + SQUARES * plane++, 1, T(has_right(p, color, kingside)));
}

// 64 squares row by row from the mover's top left: 0 empty, 1-6 own, 7-12 opponent's.
template <class T> void encode_squares(const Position& p, T* out) {
    for (Square square = 0; square < 64; ++square) {
        const Piece piece = p.board[square];
        T value = 0;
        if (piece != NO_PIECE) value = T(1 + type_of(piece) + (color_of(piece) == p.side ? 0 : 6));
        out[p.rules.oriented(square, p.side) ^ 56] = value;
    }
}

template <class T> void encode_vector66(const EncodeView& view, T* out) {
    const Position& p = view.now();
    encode_squares(p, out);
    out[64] = T(rights_number(p, p.side));
    out[65] = T(rights_number(p, ~p.side));
}

void encode_vector69(const EncodeView& view, float* out) {
    const Position& p = view.now();
    encode_squares(p, out);
    out[64] = float(p.fullmove_number);
    out[65] = float(p.halfmove_clock);
    out[66] = float(rights_number(p, p.side));
    out[67] = float(rights_number(p, ~p.side));
    out[68] = can_claim_threefold(p, *view.keys) ? 1.0f : 0.0f;
}

template <class T> void encode_planes19(const EncodeView& view, T* out) {
    const Position& p = view.now();
    fill(out, 19, T(0));
    fill(out, 1, T(p.side == WHITE));
    for (int i = 0; i < 4; ++i)
        if (p.castling >> i & 1) fill(out + SQUARES * std::size_t(1 + i), 1, T(1));
    if (can_claim_fifty_moves(p)) fill(out + SQUARES * 5, 1, T(1));
    mark_pieces(out + SQUARES * 6, p, WHITE, WHITE);
    mark_pieces(out + SQUARES * 12, p, BLACK, WHITE);
    if (p.en_passant != NO_SQUARE) out[SQUARES * 18 + p.en_passant] = T(1);
}

void encode_planes119(const EncodeView& view, float* out) {
    const Position& p = view.now();
    const Color us = p.side;
    fill(out, 119, 0.0f);
    for (int t = 0; t < view.count; ++t) {
        const Position& then = *view.positions[t];
        float* step = out + SQUARES * std::size_t(14 * t);
        mark_pieces(step, then, us, us);
        mark_pieces(step + SQUARES * 6, then, ~us, us);
        if (then.repetitions >= 1) fill(step + SQUARES * 12, 1, 1.0f);
        if (then.repetitions >= 2) fill(step + SQUARES * 13, 1, 1.0f);
    }
    fill(out + SQUARES * 112, 1, us == WHITE ? 1.0f : 0.0f);
    fill(out + SQUARES * 113, 1, float(p.fullmove_number) / 100.0f);
    fill_castling(out + SQUARES * 114, p);
    fill(out + SQUARES * 118, 1, float(p.halfmove_clock) / 100.0f);
}

template <class T> void encode_planes12(const EncodeView& view, T* out) {
    const Position& p = view.now();
    fill(out, 12, T(0));
    mark_pieces(out, p, p.side, p.side);
    mark_pieces(out + SQUARES * 6, p, ~p.side, p.side);
}

Bitboard attacked_by_pawns(const Position& p, Color color) {
    const Bitboard pawns = p.pieces(color, PAWN);
    return p.rules.squares() &
           (color == WHITE ? pawn_attacks<WHITE>(pawns) : pawn_attacks<BLACK>(pawns));
}
// By pieces other than pawns.
Bitboard attacked_by_pieces(const Position& p, Bitboard pieces) {
    Bitboard attacked = 0;
    while (pieces) {
        const Square square = pop_square(pieces);
        attacked |= piece_attacks(type_of(p.board[square]), square, p.occupied());
    }
    return attacked & p.rules.squares();
}
Bitboard attacked_by(const Position& p, Color color) {
    return attacked_by_pawns(p, color) | attacked_by_pieces(p, p.pieces(color) & ~p.by_type[PAWN]);
}

// Squares that two or more pieces of a colour attack.
Bitboard attacked_twice_by(const Position& p, Color color) {
    Bitboard once = 0, twice = 0;
    for (Bitboard b = p.pieces(color); b;) {
        const Square square = pop_square(b);
        const PieceType type = type_of(p.board[square]);
        const Bitboard attacked =
            type == PAWN ? pawn_attacks(color, square) : piece_attacks(type, square, p.occupied());
        twice |= once & attacked;
        once |= attacked;
    }
    return twice & p.rules.squares();
}

template <class T> void encode_planes14(const EncodeView& view, T* out) {
    const Position& p = view.now();
    encode_planes12(view, out);
    fill(out + SQUARES * 12, 2, T(0));
    mark(out + SQUARES * 12, attacked_by(p, p.side), p.side, p.rules);
    mark(out + SQUARES * 13, attacked_by(p, ~p.side), p.side, p.rules);
}

void encode_planes22(const EncodeView& view, float* out) {
    const Position& p = view.now();
    const Color us = p.side;
    encode_planes12(view, out);
    fill_castling(out + SQUARES * 12, p);
    fill(out + SQUARES * 16, 6, 0.0f);
    if (p.en_passant != NO_SQUARE)
        out[SQUARES * 16 + std::size_t(p.rules.oriented(p.en_passant, us))] = 1;
    fill(out + SQUARES * 17, 1, float(p.halfmove_clock) / 100.0f);
    if (p.repetitions >= 1) fill(out + SQUARES * 18, 1, 1.0f);
    if (p.repetitions >= 2) fill(out + SQUARES * 19, 1, 1.0f);
    if (const Move last = p.last_move) {
        Square to = last.to();
        if (last.kind() == Move::CASTLING) to = castled_king(~us, to > last.from());
        out[SQUARES * 20 + std::size_t(p.rules.oriented(last.from(), us))] = 1;
        out[SQUARES * 21 + std::size_t(p.rules.oriented(to, us))] = 1;
    }
}

// Per square: piece (0-12 as vector66) + 13 * own attackers {0, 1, 2 or more} + 39 * the opponent's
// cheapest attacker {0 none, 1 pawn, 2 minor, 3 other}.
template <class T> void encode_tactical70(const EncodeView& view, T* out) {
    const Position& p = view.now();
    const Color us = p.side, them = ~us;
    encode_squares(p, out);
    const Bitboard ours = attacked_by(p, us), twice = attacked_twice_by(p, us);
    const Bitboard theirs = attacked_by(p, them);
    const Bitboard by_pawns = attacked_by_pawns(p, them);
    const Bitboard by_minors =
        attacked_by_pieces(p, p.pieces(them) & (p.by_type[KNIGHT] | p.by_type[BISHOP]));
    const auto add = [&](Bitboard set, int amount) {
        while (set) {
            T& value = out[p.rules.oriented(pop_square(set), us) ^ 56];
            value = T(value + T(amount));
        }
    };
    add(ours, 13);
    add(twice, 13);
    add(by_pawns, 39);
    add(by_minors & ~by_pawns, 78);
    add(theirs & ~by_minors & ~by_pawns, 117);
    out[64] = T(rights_number(p, us));
    out[65] = T(rights_number(p, them));
    out[66] = T(p.en_passant == NO_SQUARE ? 0 : 1 + file_of(p.en_passant));
    out[67] = T(std::min<std::uint32_t>(p.halfmove_clock, 100));
    out[68] = T(std::min<int>(p.repetitions, 2));
    out[69] = T(p.in_check());
}

// The pawn's plane is constant after its promotion or capture.
void encode_kpk3(const EncodeView& view, float* out) {
    const Position& p = view.now();
    const Color strong = pawn_side(p);
    fill(out, 3, -1.0f / 64);
    const auto put = [&](std::size_t plane, Bitboard piece) {
        if (piece)
            out[SQUARES * plane + std::size_t(oriented(first_square(piece), strong))] = 63.0f / 64;
    };
    put(0, p.pieces(strong, KING));
    put(1, p.by_type[PAWN]);
    put(2, p.pieces(~strong, KING));
}

}  // namespace

std::size_t ObservationLayout::size() const {
    std::size_t product = 1;
    for (const std::size_t length : shape) product *= length;
    return product;
}

const std::vector<ObservationLayout>& observation_layouts() {
    static const std::vector<ObservationLayout> layouts = {
        {"vector69", {69}, 1, encode_vector69, nullptr},
        {"vector66", {66}, 1, encode_vector66<float>, encode_vector66<std::uint8_t>},
        {"planes19", {19, 8, 8}, 1, encode_planes19<float>, encode_planes19<std::uint8_t>},
        {"planes119", {119, 8, 8}, 8, encode_planes119, nullptr},
        {"planes12", {12, 8, 8}, 1, encode_planes12<float>, encode_planes12<std::uint8_t>},
        {"planes14", {14, 8, 8}, 1, encode_planes14<float>, encode_planes14<std::uint8_t>},
        {"planes22", {22, 8, 8}, 1, encode_planes22, nullptr},
        {"tactical70", {70}, 1, encode_tactical70<float>, encode_tactical70<std::uint8_t>},
        {"kpk3", {3, 8, 8}, 1, encode_kpk3, nullptr},
        {"pepper353", {353}, 1, encode_pepper353, nullptr},
        {"giraffe363", {363}, 1, encode_giraffe363, nullptr},
    };
    return layouts;
}

const ObservationLayout& find_observation(std::string_view name) {
    std::string known;
    for (const ObservationLayout& layout : observation_layouts()) {
        if (layout.name == name) return layout;
        known += (known.empty() ? "" : ", ") + std::string(layout.name);
    }
    throw std::invalid_argument("unknown observation '" + std::string(name) + "'; known are " +
                                known);
}

void check_encodable(const ObservationLayout& layout, const Position& position) {
    if (layout.name == "kpk3" && !is_kpk(position))
        throw std::invalid_argument("kpk3 describes king and pawn against king, not " +
                                    material_signature(position));
}

EncodeView view_of(const Game& game) {
    EncodeView view{};
    view.count = int(std::min<std::size_t>(MAX_HISTORY, game.ply() + 1));
    for (int t = 0; t < view.count; ++t) view.positions[t] = &game.past(std::size_t(t));
    view.keys = &game.keys();
    return view;
}

}  // namespace rookery::encode
