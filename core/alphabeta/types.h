// Scores, search limits and results.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rules/types.h"

namespace rookery::alphabeta {

// Scores are for the side to move, in centipawn-like units (nnue/network.h); a mate in n plies is
// MATE - n, being mated in n plies is n - MATE.
using Score = int;
inline constexpr int MAX_PLY = 128;  // deepest ply of a line
inline constexpr int MAX_DEPTH = MAX_PLY - 2;
inline constexpr Score DRAW = 0;
inline constexpr Score MATE = 32000;
inline constexpr Score MATE_BOUND = MATE - MAX_PLY;  // beyond it scores are mates
inline constexpr Score MAX_EVALUATION = 20000;       // static evaluations stay within
inline constexpr Score INFINITE = 32001;
inline constexpr Score NO_SCORE = 32002;

[[nodiscard]] constexpr bool is_mate(Score score) {
    return score >= MATE_BOUND || score <= -MATE_BOUND;
}
// Full moves to mate, negative for being mated; only for mate scores.
[[nodiscard]] constexpr int mate_moves(Score score) {
    return score > 0 ? (MATE - score + 1) / 2 : -(MATE + score) / 2;
}

using Clock = std::chrono::steady_clock;

// Zero or empty means "no such limit".
struct Limits {
    int depth = 0;
    std::uint64_t nodes = 0;       // never exceeded on one thread
    std::uint64_t soft_nodes = 0;  // no new depth is started beyond this
    double move_seconds = 0;       // fixed time for this move
    double clock_seconds = -1;     // of the side to move; negative: no clock
    double increment_seconds = 0;
    int moves_to_go = 0;  // to the next time control; 0: none
    double overhead_seconds = 0.01;  // reserved for communication
    int lines = 1;  // MultiPV
    std::span<const Move> search_moves = {};  // only these
    bool pondering = false;  // limits count from ponderhit()
};

struct Line {
    Score score = 0;
    enum Bound : std::uint8_t { EXACT, LOWER, UPPER } bound = EXACT;
    std::vector<Move> moves;
};

struct Result {
    Move best;  // no move if the position has none
    Score score = 0;  // of the best line
    int depth = 0;    // last completed
    int selective_depth = 0;
    std::uint64_t nodes = 0;
    double seconds = 0;
    double late_seconds = 0;  // beyond the time that the search was allowed at most
    std::vector<Line> lines;  // best first; the first begins with `best`
};

// Called on the searching thread after each depth.
using Report = std::function<void(const Result&)>;
// Called about every 20 ms on the searching thread; true stops the search.
using Poll = std::function<bool()>;

}  // namespace rookery::alphabeta
