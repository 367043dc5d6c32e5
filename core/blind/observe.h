// What a side knows as planes for a network, and its senses and requests as actions.
//
// Everything is in the side's orientation (oriented()). The planes are described by
// src/rookery/blind/observation.py, which a test compares with this code.

#pragma once

#include "blind/knowledge.h"

namespace rookery::blind {

inline constexpr int HISTORY_TURNS = 4;     // earlier turns in an observation
inline constexpr int HISTORY_PLANES = 6;    // of one earlier turn
inline constexpr int CURRENT_PLANES = 24;
inline constexpr int PLANES = CURRENT_PLANES + HISTORY_TURNS * HISTORY_PLANES;

// float [PLANES, 8, 8]
void write_planes(const Knowledge& knowledge, float* planes);

// Senses: the centre's square, 64 for none.
inline constexpr int SENSE_ACTIONS = 65;
[[nodiscard]] int sense_action(Color color, Square centre);
[[nodiscard]] Square sense_of(Color color, int action);

// Requests: az4672 (encode/actions.h), then the pass.
inline constexpr int PASS_ACTION = 4672;
inline constexpr int MOVE_ACTIONS = PASS_ACTION + 1;
[[nodiscard]] int move_action(Color color, Move request);
// Writes all requests and, last, the pass (no move), with their actions; without the second names
// of promotions. Returns their number; both arrays must have room for MOST_REQUESTS.
inline constexpr std::size_t MOST_REQUESTS = MAX_MOVES + 2;
std::size_t list_move_actions(const Knowledge& knowledge, Move* moves, std::int32_t* actions);

}  // namespace rookery::blind
