// Static exchange evaluation: what a capture wins or loses if both sides go on capturing on
// the same square, always with their least valuable piece, and stop when they like.

#pragma once

#include "rules/position.h"

namespace rookery {

// Centipawns; the king's is never counted, only larger than any sum.
inline constexpr int PIECE_VALUE[7] = {100, 300, 300, 500, 900, 10000, 0};

// Net gain in centipawns of a legal move for the side to move; quiet moves may lose what they
// move. Pins are not looked at, promotions only those of the move itself.
[[nodiscard]] int static_exchange(const Position& position, Move move);
// static_exchange(position, move) >= threshold, mostly without playing the exchange to its end.
[[nodiscard]] bool exchange_at_least(const Position& position, Move move, int threshold);

}  // namespace rookery
