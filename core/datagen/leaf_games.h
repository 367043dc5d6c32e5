// Self-play for TD-leaf: short segments of games with the leaf of each principal variation.
//
//   start -> (random move) -> search -> its move -> search -> ... `plies` searches -> next start
//                               |                     |
//                             leaf                  leaf
//
// A segment starts from a random opening or from where an earlier one stopped. A game that ends
// within a segment is followed by a new one. A segment depends on (seed, number, start) alone.

#pragma once

#include <vector>

#include "datagen/numbered_games.h"
#include "nnue/packed_position.h"

namespace rookery::datagen {

struct LeafSettings {
    std::uint64_t seed = 0;
    int depth = 4;
    std::uint64_t nodes = 100'000;  // of a search: an untrained network may gain in every capture
    int plies = 12;  // of a segment
    int max_random_plies = 10;  // at the start of a game, drawn from 0 to this
    int max_plies = 300;  // of a game; then it is cut off without a result
    double new_games = 0;  // share of segments that start a game
    double random_start = 0;  // share of continued games whose first move is random
    double random_moves = 0;  // share of random moves after searches
    Adjudication adjudication;
    double play_on_share = 0.1;  // of the segments, without adjudication
    int threads = 1;
};

// One ply of a segment.
struct LeafPly {
    nnue::PackedSample root, leaf;  // the root with its score
    std::int32_t action;  // az4672 of the best move at the root
    float value;  // of the search, [-1, 1], for White
    float end;  // result for White if the game ended with this ply, else NaN
    bool decided;  // the game is over at the leaf, or a mate is known
    bool quiet;  // the root is not in check, and its best move neither captures nor promotes
    bool unrelated;  // the next ply's value says nothing about this one
};

struct LeafSegments {
    std::vector<LeafPly> plies;  // [count * plies], segment by segment
    std::vector<nnue::PackedSample> next;  // [count] where each segment stopped
    std::vector<std::uint8_t> continued;  // [count] whether it plays on from its start at once
    EndingCounts endings;
    std::uint64_t white_wins = 0, draws = 0, black_wins = 0, nodes = 0;
};

class LeafGames {
  public:
    // Throws std::invalid_argument for invalid settings.
    LeafGames(const alphabeta::Evaluator& evaluator, LeafSettings settings);

    void set_evaluator(const alphabeta::Evaluator& evaluator);
    // Segments [first, first + count); starts [count], or empty: all start new games. Throws
    // std::runtime_error if `poll` stops it.
    [[nodiscard]] LeafSegments run(std::uint64_t first, std::uint64_t count,
                                   std::span<const nnue::PackedSample> starts,
                                   const alphabeta::Poll& poll);

  private:
    struct Segment;
    // False if it was stopped.
    bool play(alphabeta::Engine& engine, std::uint64_t number, const nnue::PackedSample* start,
              Segment& segment) const;
    [[nodiscard]] GameLine begin(const nnue::PackedSample* start, Random& random,
                                 bool& continued) const;
    [[nodiscard]] GameLine new_game(Random& random) const;

    LeafSettings settings_;
    std::vector<EnginePtr> engines_;  // one per thread
    std::atomic<bool> stopping_{false};
};

}  // namespace rookery::datagen
