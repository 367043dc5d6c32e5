// Hand-made feature vectors: pepper353 (Deep Pepper) and giraffe363 (Giraffe), described in
// src/rookery/encodings/observations.py.

#include <algorithm>
#include <array>

#include "encode/actions.h"
#include "encode/encode.h"

namespace rookery::encode {

namespace {

// Bishop and knight count alike.
constexpr float ATTACKER_VALUE[6] = {0.1f, 0.3f, 0.3f, 0.5f, 0.9f, 1.0f};
constexpr int SLOTS[6] = {8, 2, 2, 2, 1, 1};  // pieces of each kind at the start of a game
constexpr PieceType SLOT_ORDER[6] = {KING, QUEEN, ROOK, BISHOP, KNIGHT, PAWN};

class FeatureWriter {
  public:
    FeatureWriter(const Position& position, float* out) : p_(position), out_(out) {
        for (Bitboard b = p_.occupied(); b;) {
            const Square square = pop_square(b);
            const Color color = color_of(p_.board[square]);
            const PieceType type = type_of(p_.board[square]);
            attacks_[color][type] |= type == PAWN ? pawn_attacks(color, square)
                                                  : piece_attacks(type, square, p_.occupied());
        }
    }

    void global(int counted_types) {
        add(p_.side == WHITE);
        for (const Color color : {p_.side, ~p_.side})
            for (const bool kingside : {true, false})
                add(float(p_.castling >> castling_bit(color, kingside) & 1));
        for (const Color color : {p_.side, ~p_.side})
            for (int type = PAWN; type < counted_types; ++type)
                add(float(count_bits(p_.pieces(color, PieceType(type)))) / float(SLOTS[type]));
    }

    // Squares of one kind of piece, lowest first in the mover's view; NO_SQUARE for empty slots.
    [[nodiscard]] std::array<Square, 8> slots(Color color, PieceType type) const {
        std::array<Square, 8> squares;
        squares.fill(NO_SQUARE);
        Bitboard pieces = p_.pieces(color, type);
        std::array<Square, 16> found;
        std::size_t count = 0;
        while (pieces) found[count++] = oriented(pop_square(pieces), p_.side);
        std::sort(found.begin(), found.begin() + std::ptrdiff_t(count));
        for (std::size_t i = 0; i < std::min(count, std::size_t(SLOTS[type])); ++i)
            squares[i] = oriented(found[i], p_.side);
        return squares;
    }

    void coordinates(Square square) {
        const Square seen = oriented(square, p_.side);
        add(square == NO_SQUARE ? 0.0f : float(file_of(seen)) / 7.0f);
        add(square == NO_SQUARE ? 0.0f : float(rank_of(seen)) / 7.0f);
    }
    void presence(Square square) { add(square != NO_SQUARE); }
    // Cheapest attacker and cheapest defender of a piece of this colour.
    void threats(Color color, Square square) {
        add(square == NO_SQUARE ? 0.0f : cheapest(~color, square));
        add(square == NO_SQUARE ? 0.0f : cheapest(color, square));
    }
    // Reach in the directions first, first + step, ... of the eight.
    void mobility(Color color, Square square, int first, int step) {
        for (int i = first; i < 8; i += step)
            add(square == NO_SQUARE ? 0.0f : float(reach(color, square, i)) / 7.0f);
    }
    void slider_mobility(Color color, PieceType type, Square square) {
        if (type == QUEEN) mobility(color, square, 0, 1);
        if (type == ROOK) mobility(color, square, 0, 2);
        if (type == BISHOP) mobility(color, square, 1, 2);
    }
    // Target squares that no cheaper enemy piece attacks.
    void safe_mobility(Color color, PieceType type, Square square) {
        if (square == NO_SQUARE) return add(0.0f);
        Bitboard unsafe = 0;
        for (int t = PAWN; t < KING; ++t)
            if (ATTACKER_VALUE[t] < ATTACKER_VALUE[type]) unsafe |= attacks_[~color][t];
        const Bitboard targets =
            piece_attacks(type, square, p_.occupied()) & ~p_.pieces(color) & ~unsafe;
        add(float(count_bits(targets)) / 16.0f);
    }
    void square_control() {
        for (const Color color : {p_.side, ~p_.side})
            for (Square seen = 0; seen < 64; ++seen) add(cheapest(color, oriented(seen, p_.side)));
    }

  private:
    void add(float value) { *out_++ = value; }

    [[nodiscard]] float cheapest(Color color, Square square) const {
        for (int type = PAWN; type <= KING; ++type)
            if (attacks_[color][type] & bit(square)) return ATTACKER_VALUE[type];
        return 0.0f;
    }

    // Empty squares on the ray, plus one for an enemy piece at its end.
    [[nodiscard]] int reach(Color color, Square square, int direction) const {
        const int df = DIRECTIONS[direction][0];
        const int dr = p_.side == WHITE ? DIRECTIONS[direction][1] : -DIRECTIONS[direction][1];
        int file = file_of(square) + df, rank = rank_of(square) + dr, squares = 0;
        for (; file >= 0 && file < 8 && rank >= 0 && rank < 8; file += df, rank += dr) {
            const Piece piece = p_.board[make_square(file, rank)];
            if (piece != NO_PIECE) return squares + (color_of(piece) != color);
            ++squares;
        }
        return squares;
    }

    const Position& p_;
    float* out_;
    Bitboard attacks_[2][6] = {};
};

}  // namespace

void encode_pepper353(const EncodeView& view, float* out) {
    const Position& p = view.now();
    FeatureWriter write(p, out);
    write.global(6);
    for (const Color color : {p.side, ~p.side})
        for (const PieceType type : SLOT_ORDER) {
            const auto squares = write.slots(color, type);
            for (int i = 0; i < SLOTS[type]; ++i) {
                const Square square = squares[std::size_t(i)];
                write.presence(square);
                write.coordinates(square);
                write.threats(color, square);
            }
        }
    for (const Color color : {p.side, ~p.side})
        for (const PieceType type : {QUEEN, ROOK, BISHOP}) {
            const auto squares = write.slots(color, type);
            for (int i = 0; i < SLOTS[type]; ++i)
                write.slider_mobility(color, type, squares[std::size_t(i)]);
        }
    write.square_control();
}

void encode_giraffe363(const EncodeView& view, float* out) {
    const Position& p = view.now();
    FeatureWriter write(p, out);
    write.global(5);
    for (const Color color : {p.side, ~p.side}) {
        write.coordinates(p.king(color));
        write.threats(color, p.king(color));
    }
    for (const Color color : {p.side, ~p.side})
        for (const PieceType type : {QUEEN, ROOK, BISHOP, KNIGHT, PAWN}) {
            const auto squares = write.slots(color, type);
            for (int i = 0; i < SLOTS[type]; ++i) {
                const Square square = squares[std::size_t(i)];
                write.presence(square);
                write.coordinates(square);
                write.slider_mobility(color, type, square);
                if (type != PAWN) write.safe_mobility(color, type, square);
                write.threats(color, square);
            }
        }
    write.square_control();
}

}  // namespace rookery::encode
