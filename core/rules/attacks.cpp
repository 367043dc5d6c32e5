#include "rules/attacks.h"

#include "base/random.h"

namespace rookery::tables {

Slider rook[64];
Slider bishop[64];
Bitboard knight[64];
Bitboard king[64];
Bitboard pawn[2][64];
Bitboard between[64][64];
Bitboard line[64][64];

namespace {

// Sum over squares of 2^(relevant occupancy bits).
Bitboard rook_storage[102400];
Bitboard bishop_storage[5248];

constexpr int ROOK_STEPS[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
constexpr int BISHOP_STEPS[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};

constexpr bool on_board(int file, int rank) {
    return file >= 0 && file < 8 && rank >= 0 && rank < 8;
}

// Slow ray walk, to fill the tables.
Bitboard walk(const int (&steps)[4][2], Square square, Bitboard occupied) {
    Bitboard attacks = 0;
    for (const auto& [df, dr] : steps) {
        int file = file_of(square) + df, rank = rank_of(square) + dr;
        for (; on_board(file, rank); file += df, rank += dr) {
            attacks |= bit(make_square(file, rank));
            if (occupied & bit(make_square(file, rank))) break;
        }
    }
    return attacks;
}

// A piece on the last square of a ray blocks nothing, so edges are irrelevant unless the slider is
// on the same edge.
Bitboard relevant_squares(const int (&steps)[4][2], Square square) {
    const Bitboard edge_ranks = (rank_mask(0) | rank_mask(7)) & ~rank_mask(rank_of(square));
    const Bitboard edge_files = (FILE_A | FILE_H) & ~(FILE_A << file_of(square));
    return walk(steps, square, 0) & ~(edge_ranks | edge_files);
}

#if !defined(__BMI2__)
// Tries sparse random numbers until one maps all occupancies without a harmful collision; takes
// milliseconds for the whole board.
void find_magic(const int (&steps)[4][2], Square square, Slider& slider, Bitboard* storage,
                Random& random) {
    const int bits = count_bits(slider.mask);
    const int size = 1 << bits;
    slider.shift = 64 - bits;
    static Bitboard occupancies[4096], reference[4096];
    static int epoch[4096];
    Bitboard occupied = 0;
    for (int i = 0; i < size; ++i) {
        occupancies[i] = occupied;
        reference[i] = walk(steps, square, occupied);
        epoch[i] = 0;
        occupied = (occupied - slider.mask) & slider.mask;
    }
    for (int attempt = 1;; ++attempt) {
        slider.magic = random.next() & random.next() & random.next();
        if (count_bits((slider.magic * slider.mask) >> 56) < 6) continue;
        int i = 0;
        for (; i < size; ++i) {
            const auto index = (occupancies[i] * slider.magic) >> slider.shift;
            if (epoch[index] < attempt) {
                epoch[index] = attempt;
                storage[index] = reference[i];
            } else if (storage[index] != reference[i]) {
                break;
            }
        }
        if (i == size) return;
    }
}
#endif

void fill_sliders(const int (&steps)[4][2], Slider (&sliders)[64], Bitboard* storage) {
#if !defined(__BMI2__)
    Random random(728);
#endif
    for (Square square = 0; square < 64; ++square) {
        Slider& slider = sliders[square];
        slider.mask = relevant_squares(steps, square);
        slider.attacks = storage;
#if defined(__BMI2__)
        Bitboard occupied = 0;
        do {
            storage[_pext_u64(occupied, slider.mask)] = walk(steps, square, occupied);
            occupied = (occupied - slider.mask) & slider.mask;
        } while (occupied);
#else
        find_magic(steps, square, slider, storage, random);
#endif
        storage += std::size_t(1) << count_bits(slider.mask);
    }
}

void fill_steppers() {
    for (Square square = 0; square < 64; ++square) {
        for (int df = -2; df <= 2; ++df) {
            for (int dr = -2; dr <= 2; ++dr) {
                const int file = file_of(square) + df, rank = rank_of(square) + dr;
                if (!on_board(file, rank) || (df == 0 && dr == 0)) continue;
                const Bitboard target = bit(make_square(file, rank));
                const int distance = df * df + dr * dr;
                if (distance == 5) knight[square] |= target;
                if (distance <= 2) king[square] |= target;
                if (distance == 2) pawn[dr > 0 ? WHITE : BLACK][square] |= target;
            }
        }
    }
}

void fill_lines() {
    for (Square a = 0; a < 64; ++a) {
        for (Square b = 0; b < 64; ++b) {
            if (a == b) continue;
            for (const auto* steps : {&ROOK_STEPS, &BISHOP_STEPS}) {
                if (!(walk(*steps, a, 0) & bit(b))) continue;
                line[a][b] = (walk(*steps, a, 0) & walk(*steps, b, 0)) | bit(a) | bit(b);
                between[a][b] = walk(*steps, a, bit(b)) & walk(*steps, b, bit(a));
            }
        }
    }
}

[[maybe_unused]] const bool filled = [] {
    fill_sliders(ROOK_STEPS, rook, rook_storage);
    fill_sliders(BISHOP_STEPS, bishop, bishop_storage);
    fill_steppers();
    fill_lines();
    return true;
}();

}  // namespace
}  // namespace rookery::tables
