// Self-play games of an NNUE network as transitions for a replay memory.
//
//   position --search--> principal variation --> leaf
//       |
//   best move (or a random one, to explore) --> next position --> ...
//
// Every searched position is stored together with the leaf of its principal variation, so that
// another network can judge the end of the line that this one chose (double Q-learning).

#pragma once

#include <vector>

#include "datagen/generator.h"

namespace rookery::datagen {

// The `game` byte of a leaf.
enum LeafFlag : std::uint8_t {
    DECIDED = 1,  // mate or draw: the leaf's `score` is its value, no network judges it
    LAST = 2,     // the next transition does not continue this one by the best move
    ENDED = 4,    // the best move ended the game; `result` of the position is its result
    QUIET = 8,    // not in check, and the best move is neither a capture nor a promotion
};

// Position: score of the search, result if the game ENDED, game number mod 256.
// Leaf: score for its own side to move, flags in the place of the game number.
struct Transition {
    nnue::PackedSample position, leaf;
};
static_assert(sizeof(Transition) == 64);

struct ExploreSettings {
    std::uint64_t seed = 0;
    int depth = 3;  // plies of each search, before quiescence
    std::uint64_t nodes = 100'000;  // a search is stopped here
    double random_moves = 0.05;  // share of moves drawn at random
    int min_random_plies = 0, max_random_plies = 9;  // at the start of a game
    int max_plies = 300;  // then a game is cut off, without a result
    int threads = 1;
};

struct ExploredGames {
    std::vector<Transition> transitions;  // game by game
    std::uint64_t games = 0;  // completed, without a gap
    std::uint64_t white_wins = 0, draws = 0, black_wins = 0, cut_off = 0;
    std::uint64_t nodes = 0;
};

class TransitionGenerator {
  public:
    // Throws std::invalid_argument for invalid settings.
    TransitionGenerator(nnue::NetworkPtr network, ExploreSettings settings);

    // Plays games [first, first + count); fewer if `poll` stops it.
    [[nodiscard]] ExploredGames run(std::uint64_t first, std::uint64_t count,
                                    const alphabeta::Poll& poll);
    // One transition per position, each a LAST one without a game; positions must be valid and not
    // over. Fewer if `poll` stops it.
    [[nodiscard]] std::vector<Transition> search(std::span<const nnue::PackedSample> positions,
                                                 const alphabeta::Poll& poll);

  private:
    struct Record;
    [[nodiscard]] alphabeta::Result search(alphabeta::Engine& engine, const GameLine& line) const;
    bool play(alphabeta::Engine& engine, std::uint64_t number, Record& record) const;
    std::uint64_t run_on_engines(std::uint64_t first, std::uint64_t count,
                                 const std::function<void(alphabeta::Engine&, std::uint64_t)>& work,
                                 const alphabeta::Poll& poll);

    ExploreSettings settings_;
    std::vector<EnginePtr> engines_;  // one per thread
    std::atomic<bool> stopping_{false};
};

}  // namespace rookery::datagen
