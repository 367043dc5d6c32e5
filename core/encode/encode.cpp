#include "encode/encode.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "encode/actions.h"

namespace rookery::encode {

namespace {

constexpr std::size_t SQUARES = 64;

template <class T> void fill(T* out, std::size_t planes, T value) {
    std::fill(out, out + planes * SQUARES, value);
}
// A rank's eight numbers, 0 or 1, by the set of its squares.
constexpr auto RANKS = [] {
    std::array<std::array<float, 8>, 256> ranks{};
    for (std::size_t set = 0; set < 256; ++set)
        for (std::size_t file = 0; file < 8; ++file) ranks[set][file] = float(set >> file & 1);
    return ranks;
}();
// Ones on the squares of a set, zeros elsewhere. Floats are written a rank at a time; for bytes,
// whose plane is one line of the cache, zeros first and then the ones are faster.
void write_plane(float* out, Bitboard set) {
    for (int rank = 0; rank < 8; ++rank, set >>= 8, out += 8)
        std::copy_n(RANKS[set & 255].data(), 8, out);
}
void write_plane(std::uint8_t* out, Bitboard set) {
    fill(out, 1, std::uint8_t(0));
    while (set) out[pop_square(set)] = 1;
}
// Six planes of one colour's pieces, P N B R Q K, in one side's view.
template <class T> void write_pieces(T* out, const Position& p, Color color, Color view) {
    for (int type = PAWN; type <= KING; ++type, out += SQUARES)
        write_plane(out, p.rules.oriented(p.pieces(color, PieceType(type)), view));
}

bool has_right(const Position& p, Color color, bool kingside) {
    return p.castling >> castling_bit(color, kingside) & 1;
}
// 0 none, 1 kingside, 2 queenside, 3 both.
int rights_number(const Position& p, Color color) { return p.castling >> (2 * color) & 3; }

Bitboard en_passant_set(const Position& p) {
    return p.en_passant == NO_SQUARE ? 0 : bit(p.en_passant);
}

// Planes: own kingside, own queenside, opponent's kingside, opponent's queenside.
template <class T> void fill_castling(T* out, const Position& p) {
    std::size_t plane = 0;
    for (const Color color : {p.side, ~p.side})
        for (const bool kingside : {true, false})
            fill(out + SQUARES * plane++, 1, T(has_right(p, color, kingside)));
}

// The number of a piece in the view of White and of Black: 0 empty, 1-6 own, 7-12 opponent's.
template <class T>
constexpr std::array<std::array<T, NO_PIECE + 1>, 2> PIECE_NUMBERS = {{
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0},
    {7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 0},
}};
// 64 squares row by row from the mover's top left.
template <class T> void encode_squares(const Position& p, T* out) {
    const auto& numbers = PIECE_NUMBERS<T>[p.side];
    for (Square square = 0; square < 64; ++square)
        out[p.rules.oriented(square, p.side) ^ 56] = numbers[p.board[square]];
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
    fill(out, 1, T(p.side == WHITE));
    for (std::size_t i = 0; i < 4; ++i) fill(out + SQUARES * (1 + i), 1, T(p.castling >> i & 1));
    fill(out + SQUARES * 5, 1, T(can_claim_fifty_moves(p)));
    write_pieces(out + SQUARES * 6, p, WHITE, WHITE);
    write_pieces(out + SQUARES * 12, p, BLACK, WHITE);
    write_plane(out + SQUARES * 18, en_passant_set(p));
}

void encode_planes119(const EncodeView& view, float* out) {
    const Position& p = view.now();
    const Color us = p.side;
    for (int t = 0; t < view.count; ++t) {
        const Position& then = *view.positions[t];
        float* step = out + SQUARES * std::size_t(14 * t);
        write_pieces(step, then, us, us);
        write_pieces(step + SQUARES * 6, then, ~us, us);
        fill(step + SQUARES * 12, 1, float(then.repetitions >= 1));
        fill(step + SQUARES * 13, 1, float(then.repetitions >= 2));
    }
    fill(out + SQUARES * std::size_t(14 * view.count), std::size_t(14 * (MAX_HISTORY - view.count)),
         0.0f);
    fill(out + SQUARES * 112, 1, us == WHITE ? 1.0f : 0.0f);
    fill(out + SQUARES * 113, 1, float(p.fullmove_number) / 100.0f);
    fill_castling(out + SQUARES * 114, p);
    fill(out + SQUARES * 118, 1, float(p.halfmove_clock) / 100.0f);
}

template <class T> void encode_planes12(const EncodeView& view, T* out) {
    const Position& p = view.now();
    write_pieces(out, p, p.side, p.side);
    write_pieces(out + SQUARES * 6, p, ~p.side, p.side);
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
    out += 12 * SQUARES;
    for (const Color color : {p.side, ~p.side}) {
        write_plane(out, p.rules.oriented(attacked_by(p, color), p.side));
        out += SQUARES;
    }
}

void encode_planes22(const EncodeView& view, float* out) {
    const Position& p = view.now();
    const Color us = p.side;
    encode_planes12(view, out);
    fill_castling(out + SQUARES * 12, p);
    write_plane(out + SQUARES * 16, p.rules.oriented(en_passant_set(p), us));
    fill(out + SQUARES * 17, 1, float(p.halfmove_clock) / 100.0f);
    fill(out + SQUARES * 18, 1, float(p.repetitions >= 1));
    fill(out + SQUARES * 19, 1, float(p.repetitions >= 2));
    fill(out + SQUARES * 20, 2, 0.0f);
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
