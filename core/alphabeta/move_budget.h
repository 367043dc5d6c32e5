// The probability-limited search of Giraffe (Lai 2015), as an option of the main search.
//
// A node is searched as long as the product of the probabilities of the moves that lead to it is
// above a threshold, which iterative deepening lowers. With the unit "ply" = a factor of
// PLY_PROBABILITY, the logarithm of product / threshold is a depth in fractional plies, and a move
// of probability p costs log(p) / log(PLY_PROBABILITY) plies instead of one:
//
//   UNIFORM   every move costs one ply: a plain depth limit, for comparison
//   STATIC    probabilities by the place in the move order alone
//   LEARNED   probabilities of a network; STATIC close to the leaves, where the network would cost
//             more than the nodes it saves
//
// One MoveBudget is shared by all threads; a thread keeps its MoveCosts.

#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "nets/move_probabilities.h"

namespace rookery::alphabeta {

// Costs of the moves of one node, in 1024ths of a ply.
struct MoveCosts {
    bool learned = false;  // otherwise by place
    MoveList moves;
    std::array<std::int16_t, MAX_MOVES> costs;
};

class MoveBudget {
  public:
    enum class Kind : std::uint8_t { UNIFORM, STATIC, LEARNED };
    [[nodiscard]] static Kind find_kind(std::string_view name);

    // LEARNED needs a network, the others take none; throws std::invalid_argument.
    MoveBudget(Kind kind, std::shared_ptr<const nets::MoveProbabilities> network);

    // Called once per node, before cost().
    void prepare(const Position& position, const NodeInfo& info, int depth, Move table_move,
                 MoveCosts& costs) const;
    // In 1024ths of a ply; `place` in the move order, 1 for the first.
    [[nodiscard]] int cost(const MoveCosts& costs, Move move, int place) const;

  private:
    Kind kind_;
    std::shared_ptr<const nets::MoveProbabilities> network_;
};
using MoveBudgetPtr = std::shared_ptr<const MoveBudget>;

}  // namespace rookery::alphabeta
