// The value of a position once captures have ended: a quiescence search over an `nnue768` network.
//
// A leaf of tree search may stand in the middle of an exchange, where a static value is wrong by a
// piece. Here captures that do not lose material, promotions to a queen and replies to check are
// searched by alpha-beta; either side may also stand pat, with the network's value.

#pragma once

#include "nnue/accumulator.h"

namespace rookery::nets {

class QuietValue {
  public:
    QuietValue() : stack_(nullptr, MOST_PLIES + 1) {}

    // Values from now on are those of this network.
    void use(const nnue::NetworkPtr& network);
    // Value for the side to move, [-1, 1]: of the position itself, or once captures have ended.
    [[nodiscard]] float evaluate(const Position& position, bool quiescence);

  private:
    static constexpr int MOST_PLIES = 24;   // of a line
    static constexpr int MOST_NODES = 256;  // of a search; then every position stands pat

    [[nodiscard]] int search(const Position& position, int alpha, int beta, int ply);

    nnue::NetworkPtr network_;
    nnue::AccumulatorStack stack_;
    int nodes_ = 0;
};

}  // namespace rookery::nets
