// Static exchange evaluation: the gain of a move if both sides continue to capture on its target
// square with their least valuable piece, and may stop at any time.

#pragma once

#include "rules/position.h"

namespace rookery {

// Centipawns; the king's only has to exceed any sum.
inline constexpr int PIECE_VALUE[7] = {100, 300, 300, 500, 900, 10000, 0};

// Net gain in centipawns of a legal move, for the side to move. Ignores pins and later promotions.
[[nodiscard]] int static_exchange(const Position& position, Move move);
// static_exchange(position, move) >= threshold, but faster.
[[nodiscard]] bool exchange_at_least(const Position& position, Move move, int threshold);

}  // namespace rookery
