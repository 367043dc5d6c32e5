// Attack tables, filled before main(). Sliders are looked up by the relevant occupancy: with PEXT
// where the CPU has it (BMI2), with magic multiplication elsewhere.

#pragma once

#include "rules/types.h"

#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace rookery {

namespace tables {

struct Slider {
    Bitboard mask;             // squares whose occupancy changes the attacks
    const Bitboard* attacks;   // this square's part of the shared table
#if !defined(__BMI2__)
    std::uint64_t magic;
    int shift;
#endif

    [[nodiscard]] Bitboard operator()(Bitboard occupied) const {
#if defined(__BMI2__)
        return attacks[_pext_u64(occupied, mask)];
#else
        return attacks[((occupied & mask) * magic) >> shift];
#endif
    }
};

extern Slider rook[64];
extern Slider bishop[64];
extern Bitboard knight[64];
extern Bitboard king[64];
extern Bitboard pawn[2][64];
extern Bitboard between[64][64];
extern Bitboard line[64][64];

}  // namespace tables

[[nodiscard]] inline Bitboard rook_attacks(Square square, Bitboard occupied) {
    return tables::rook[square](occupied);
}
[[nodiscard]] inline Bitboard bishop_attacks(Square square, Bitboard occupied) {
    return tables::bishop[square](occupied);
}
[[nodiscard]] inline Bitboard queen_attacks(Square square, Bitboard occupied) {
    return rook_attacks(square, occupied) | bishop_attacks(square, occupied);
}
[[nodiscard]] inline Bitboard knight_attacks(Square square) { return tables::knight[square]; }
[[nodiscard]] inline Bitboard king_attacks(Square square) { return tables::king[square]; }
// Squares that a pawn of this colour on this square attacks.
[[nodiscard]] inline Bitboard pawn_attacks(Color color, Square square) {
    return tables::pawn[color][square];
}
// Squares strictly between two squares of one rank, file or diagonal; empty otherwise.
[[nodiscard]] inline Bitboard between(Square a, Square b) { return tables::between[a][b]; }
// The whole rank, file or diagonal through both squares; empty otherwise.
[[nodiscard]] inline Bitboard line(Square a, Square b) { return tables::line[a][b]; }

// Attacks of any piece but a pawn.
[[nodiscard]] inline Bitboard piece_attacks(PieceType type, Square square, Bitboard occupied) {
    switch (type) {
        case KNIGHT: return knight_attacks(square);
        case BISHOP: return bishop_attacks(square, occupied);
        case ROOK: return rook_attacks(square, occupied);
        case QUEEN: return queen_attacks(square, occupied);
        case KING: return king_attacks(square);
        default: return 0;
    }
}

// All squares attacked by a set of pawns.
template <Color Us> [[nodiscard]] constexpr Bitboard pawn_attacks(Bitboard pawns) {
    if constexpr (Us == WHITE)
        return (pawns & ~FILE_A) << 7 | (pawns & ~FILE_H) << 9;
    else
        return (pawns & ~FILE_H) >> 7 | (pawns & ~FILE_A) >> 9;
}

}  // namespace rookery
