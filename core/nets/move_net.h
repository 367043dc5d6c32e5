// Giraffe's second network: the probability of each legal move to be the best, without search.
//
//   giraffe363 [363] --layer--> [H] --+--> ReLU --> dot --> logit of a move --softmax-->
//   probability 7 features of the move: rows [H] -/
//
// The layer of the position is computed once; a move adds rows of one table, chosen by (all in the
// mover's view):
//
//   piece and origin | piece and destination | piece and captured piece | promotion |
//   gain of the exchange | check and exchange | enemy control of origin and destination
//
// As in nets/mlp_value.h, floats are summed in a fixed order. After Lai, "Giraffe" (2015).

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "nets/move_probabilities.h"

namespace rookery::nets {

inline constexpr int MOVE_FEATURES = 7;  // rows per move
inline constexpr int MOVE_ROWS = 384 + 384 + 42 + 5 + 5 + 4 + 36;

// Rows [moves, MOVE_FEATURES] of the moves, below MOVE_ROWS. `observation` is the position's
// giraffe363.
void move_rows(const Position& position, const NodeInfo& info, std::span<const float> observation,
               std::span<const Move> moves, std::int32_t* rows);

class MoveNet final : public MoveProbabilities {
  public:
    // weight [H, 363], bias [H], table [MOVE_ROWS, H], output [H]; H a multiple of 16, at most 64.
    // Throws std::invalid_argument.
    MoveNet(std::span<const float> weight, std::span<const float> bias,
            std::span<const float> table, std::span<const float> output);

    void probabilities(const Position& position, const NodeInfo& info, std::span<const Move> moves,
                       std::span<float> found) const override;

  private:
    static constexpr std::size_t MOST_WIDTH = 64;

    std::size_t width_;
    AlignedArray<float> weights_;  // [363, H]
    AlignedArray<float> bias_, table_, output_;
};

}  // namespace rookery::nets
