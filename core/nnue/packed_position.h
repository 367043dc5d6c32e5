// A training sample in 32 bytes: a position, its search score, and its game's result.
//
//   byte   0 ....... 7 | 8 ...... 23 | 24 25 | 26    | 27         | 28    | 29   | 30 31
//          occupied    | pieces      | score | state | en passant | clock | game | full moves
//
// Little-endian. `pieces` has a nibble per occupied square, lowest square first and low nibble
// first: 8 * colour + type. `state` is side to move (bit 0), castling rights (bits 1-4) and the
// result for the side to move (bits 5-6: 0 lost, 1 drawn, 2 won). `game` is the game's number
// modulo 256, which splits training and test samples by game.

#pragma once

#include <cstdint>
#include <span>

#include "rules/position.h"

namespace rookery::nnue {

enum class SampleResult : std::uint8_t { LOST, DRAWN, WON };  // for the side to move

struct PackedSample {
    std::uint64_t occupied;
    std::uint8_t pieces[16];
    std::int16_t score;  // for the side to move; 400 per unit of the network's raw output
    std::uint8_t state;
    std::uint8_t en_passant;
    std::uint8_t halfmove_clock;
    std::uint8_t game;
    std::uint16_t fullmove_number;

    [[nodiscard]] Color side() const { return Color(state & 1); }
    [[nodiscard]] SampleResult result() const { return SampleResult(state >> 5 & 3); }
    [[nodiscard]] int piece_count() const { return count_bits(occupied); }
    // 8 * colour + type of the piece on the number-th occupied square.
    [[nodiscard]] int nibble(int number) const {
        return pieces[number >> 1] >> (4 * (number & 1)) & 15;
    }
    void set_result(SampleResult result) {
        state = std::uint8_t((state & 0x1F) | std::uint8_t(result) << 5);
    }
};
static_assert(sizeof(PackedSample) == 32);

// Throws std::invalid_argument for Chess960, more than 32 pieces, clocks beyond 255 plies or 65,535
// moves.
[[nodiscard]] PackedSample pack(const Position& position, int score, SampleResult result,
                                unsigned game);
// Throws std::invalid_argument if the bytes are not a valid position.
[[nodiscard]] Position unpack(const PackedSample& sample);
// Index of the first invalid sample, or size().
[[nodiscard]] std::size_t first_bad_sample(std::span<const PackedSample> samples);

}  // namespace rookery::nnue
