// What differs from board to board: its size, and what pawns may do. 16 bits inside a Position.
//
// A smaller board is the corner of the 8x8 board at a1: its squares keep their names and numbers.
// The squares outside are never a target. Nothing else is needed: a line between two squares of a
// rectangle stays inside it, so checks, pins and attacks on pieces are those of the 8x8 board.
//
//   15 ... 11 | 10 9 8 7           | 6              | 5 4 3         | 2 1 0
//   0         | not promoted to    | no double step | missing ranks | missing files
//             | queen ... knight
//
// All bits are differences, so 0 is standard chess. Castling is what a FEN's rights say; it needs
// all eight files and ranks.

#pragma once

#include "rules/types.h"

namespace rookery {

class BoardRules {
  public:
    constexpr BoardRules() = default;
    // files and ranks 1 .. 8; promotions: bits 1 << (type - KNIGHT).
    constexpr BoardRules(int files, int ranks, bool double_step, unsigned promotions)
        : bits_(std::uint16_t((8 - files) | (8 - ranks) << 3 | (double_step ? 0 : 64) |
                              (~promotions & 15) << 7)) {}

    [[nodiscard]] constexpr bool standard() const { return bits_ == 0; }
    [[nodiscard]] constexpr bool full_size() const { return !(bits_ & 63); }
    [[nodiscard]] constexpr int files() const { return 8 - (bits_ & 7); }
    [[nodiscard]] constexpr int ranks() const { return 8 - (bits_ >> 3 & 7); }
    [[nodiscard]] constexpr bool double_step() const { return !(bits_ & 64); }
    [[nodiscard]] constexpr bool promotes_to(PieceType type) const {
        return !(bits_ >> (7 + type - KNIGHT) & 1);
    }
    [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }
    constexpr bool operator==(const BoardRules&) const = default;

    [[nodiscard]] constexpr Bitboard squares() const {
        return (~Bitboard(0) >> (bits_ & 56)) & (FILE_A * (Bitboard(0xFF) >> (bits_ & 7)));
    }
    // A rank counted from the side's own end: 0 is its first.
    [[nodiscard]] constexpr Bitboard rank_from(Color color, int rank) const {
        return rank_mask(color == WHITE ? rank : ranks() - 1 - rank);
    }
    [[nodiscard]] constexpr Bitboard last_rank(Color color) const {
        return rank_mask(color == WHITE ? ranks() - 1 : 0);
    }
    // Pawns here after one step may step again.
    [[nodiscard]] constexpr Bitboard double_step_rank(Color color) const {
        return double_step() ? rank_from(color, 2) : 0;
    }
    // The square in one side's view: ranks flipped for Black. One to one on all 64 squares.
    [[nodiscard]] constexpr Square oriented(Square square, Color view) const {
        return view == WHITE ? square : ((square ^ 56) - (bits_ & 56)) & 63;
    }
    // The same for a set of squares of the board.
    [[nodiscard]] constexpr Bitboard oriented(Bitboard set, Color view) const {
        return view == WHITE ? set : __builtin_bswap64(set) >> (bits_ & 56);
    }

  private:
    std::uint16_t bits_ = 0;
};

// The same questions for standard chess, answered by the compiler.
struct StandardRules {
    static constexpr BoardRules STANDARD{};
    [[nodiscard]] static constexpr int ranks() { return 8; }
    [[nodiscard]] static constexpr Bitboard squares() { return ~Bitboard(0); }
    [[nodiscard]] static constexpr Bitboard rank_from(Color color, int rank) {
        return STANDARD.rank_from(color, rank);
    }
    [[nodiscard]] static constexpr Bitboard last_rank(Color color) {
        return STANDARD.last_rank(color);
    }
    [[nodiscard]] static constexpr Bitboard double_step_rank(Color color) {
        return STANDARD.double_step_rank(color);
    }
    [[nodiscard]] static constexpr bool promotes_to(PieceType) { return true; }
};

}  // namespace rookery
