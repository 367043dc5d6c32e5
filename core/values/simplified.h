// The "simplified evaluation function" of Tomasz Michniewski: material and piece-square tables.
//
// The hand-written evaluation of Inman and Ezra Marin (2022): half of their teacher, and in the
// code of their experiments the judge of every leaf. Here it is a baseline.

#pragma once

#include "rules/position.h"

namespace rookery::values {

// Centipawns for the side to move; kings cancel out.
[[nodiscard]] int simplified_evaluation(const Position& position);

}  // namespace rookery::values
