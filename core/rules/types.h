// Squares, pieces, moves and move lists. Squares are 0 = a1, 1 = b1, ... 63 = h8; in Black's view
// ranks are flipped (square ^ 56).

#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rookery {

using Bitboard = std::uint64_t;
using Key = std::uint64_t;
using Square = int;

inline constexpr Square NO_SQUARE = 64;

enum Color : std::uint8_t { WHITE, BLACK };
constexpr Color operator~(Color color) { return Color(color ^ 1); }

enum PieceType : std::uint8_t { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, NO_PIECE_TYPE };

// A piece on a square: 6 * colour + type, or NO_PIECE.
using Piece = std::uint8_t;
inline constexpr Piece NO_PIECE = 12;
[[nodiscard]] constexpr Piece make_piece(Color color, PieceType type) {
    return Piece(6 * color + type);
}
[[nodiscard]] constexpr PieceType type_of(Piece piece) {
    return piece == NO_PIECE ? NO_PIECE_TYPE : PieceType(piece % 6);
}
[[nodiscard]] constexpr Color color_of(Piece piece) { return Color(piece / 6); }
inline constexpr char PIECE_LETTERS[] = "PNBRQKpnbrqk";

[[nodiscard]] constexpr int file_of(Square square) { return square & 7; }
[[nodiscard]] constexpr int rank_of(Square square) { return square >> 3; }
[[nodiscard]] constexpr Square make_square(int file, int rank) { return rank * 8 + file; }
[[nodiscard]] constexpr Square oriented(Square square, Color view) {
    return square ^ (view == WHITE ? 0 : 56);
}
// Where the pawn stands that a capture by `us` en passant on `target` removes.
[[nodiscard]] constexpr Square en_passant_victim(Square target, Color us) {
    return us == WHITE ? target - 8 : target + 8;
}

[[nodiscard]] constexpr Bitboard bit(Square square) { return Bitboard(1) << square; }
[[nodiscard]] constexpr int count_bits(Bitboard set) { return std::popcount(set); }
[[nodiscard]] constexpr Square first_square(Bitboard set) { return std::countr_zero(set); }
// Removes and returns the lowest square; the set must not be empty.
inline Square pop_square(Bitboard& set) {
    const Square square = first_square(set);
    set &= set - 1;
    return square;
}

inline constexpr Bitboard FILE_A = 0x0101010101010101ULL;
inline constexpr Bitboard FILE_H = FILE_A << 7;
inline constexpr Bitboard RANK_1 = 0xFFULL;
inline constexpr Bitboard DARK_SQUARES = 0xAA55AA55AA55AA55ULL;
[[nodiscard]] constexpr Bitboard rank_mask(int rank) { return RANK_1 << (8 * rank); }

// A move in 16 bits:
//
//   15 14 | 13 12     | 11 ... 6 | 5 ... 0
//   kind  | promotion | to       | from
//
// promotion is 0 knight .. 3 queen. Castling is king takes own rook, unambiguous in Chess960 too. 0
// (a1a1) is "no move".
class Move {
  public:
    enum Kind : std::uint16_t { NORMAL = 0, PROMOTION = 1, EN_PASSANT = 2, CASTLING = 3 };

    constexpr Move() = default;
    constexpr Move(Square from, Square to, Kind kind = NORMAL, PieceType promotion = KNIGHT)
        : bits_(std::uint16_t(from | to << 6 | (promotion - KNIGHT) << 12 | kind << 14)) {}
    static constexpr Move from_bits(std::uint16_t bits) {
        Move move;
        move.bits_ = bits;
        return move;
    }

    [[nodiscard]] constexpr Square from() const { return bits_ & 63; }
    [[nodiscard]] constexpr Square to() const { return bits_ >> 6 & 63; }
    [[nodiscard]] constexpr Kind kind() const { return Kind(bits_ >> 14); }
    // Only meaningful for PROMOTION.
    [[nodiscard]] constexpr PieceType promotion() const {
        return PieceType(KNIGHT + (bits_ >> 12 & 3));
    }
    [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }
    constexpr explicit operator bool() const { return bits_ != 0; }
    constexpr bool operator==(const Move&) const = default;

  private:
    std::uint16_t bits_ = 0;
};

// Enough for every FEN the parser accepts: 15 queens with 27 moves each, a king with 8 steps and 2
// castlings. (Reachable positions have at most 218 moves.)
inline constexpr int MAX_MOVES = 15 * 27 + 8 + 2;

// Fixed capacity, no allocation; elements beyond size() are uninitialised.
class MoveList {
  public:
    void add(Move move) {
        assert(size_ < MAX_MOVES);
        moves_[size_++] = move;
    }
    // A move make(square) for each square of a set, in order. Eight are written at a time, past the
    // end too: how many moves a piece has is hard to predict, and to end a loop at a wrongly
    // predicted place costs more than to write eight.
    template <class Make> void add_each(Bitboard squares, Make make) {
        const int count = count_bits(squares);
        assert(size_ + count <= MAX_MOVES);
        Move* out = moves_ + size_;
        for (int written = 0; written < count; written += AT_ONCE)
            for (int i = 0; i < AT_ONCE; ++i) {
                *out++ = make(first_square(squares | bit(63)));  // some square after the last
                squares &= squares - 1;
            }
        size_ += count;
    }
    void clear() { size_ = 0; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    Move operator[](int index) const { return moves_[index]; }
    [[nodiscard]] const Move* begin() const { return moves_; }
    [[nodiscard]] const Move* end() const { return moves_ + size_; }

  private:
    static constexpr int AT_ONCE = 8;
    int size_ = 0;
    Move moves_[MAX_MOVES + AT_ONCE - 1];
};

[[nodiscard]] inline std::string square_name(Square square) {
    return {char('a' + file_of(square)), char('1' + rank_of(square))};
}

}  // namespace rookery
