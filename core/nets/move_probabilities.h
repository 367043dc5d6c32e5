// Sources of move probabilities: how likely each legal move is the best, without search.

#pragma once

#include <span>

#include "rules/node_moves.h"

namespace rookery::nets {

// Implementations are thread-safe.
class MoveProbabilities {
  public:
    virtual ~MoveProbabilities() = default;
    // Writes the probabilities [moves] of all legal moves of a position, which sum to 1.
    virtual void probabilities(const Position& position, const NodeInfo& info,
                               std::span<const Move> moves, std::span<float> found) const = 0;
};

}  // namespace rookery::nets
