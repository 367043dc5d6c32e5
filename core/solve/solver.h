// The value of a position, proven: by forced mates of either side, or by all that can follow.

#pragma once

#include <memory>

#include "rules/mate.h"
#include "solve/game_graph.h"

namespace rookery::solve {

struct Solution {
    Value value = Value::UNKNOWN;
    int mate_in = 0;         // moves of the winning side; 0: no mate
    std::vector<Move> line;  // up to the mate; empty for a draw
    std::uint64_t nodes = 0;
    bool exhausted = false;  // found by looking at all positions that can follow
};

struct SolverOptions {
    int moves = 12;                   // longest mate to look for
    std::uint64_t nodes = 5'000'000;  // of the mate searches, for each position
    std::size_t positions = 2'000'000;  // that may follow, to look at all of them
};

class Solver {
  public:
    explicit Solver(SolverOptions options, std::function<bool()> stopping = {})
        : options_(options), stopping_(std::move(stopping)) {}

    // Ends without a value if the limits do not suffice. Keeps what it has learnt for later calls.
    [[nodiscard]] Solution solve(const Position& position);

  private:
    // A mate by either side, the shorter first; UNKNOWN if there is none within the limits.
    Solution find_mates(const Position& position);
    Solution from_graph(const Position& position);

    SolverOptions options_;
    std::function<bool()> stopping_;
    std::unique_ptr<GameGraph> graph_;  // the last one that was complete
};

}  // namespace rookery::solve
