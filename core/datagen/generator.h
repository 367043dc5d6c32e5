// Self-play games of an NNUE network as training samples.
//
//   random opening -> search of each position at a few hundred nodes -> its move -> ... -> result
//
// Each quiet position becomes a sample with the search's score and the game's result. Games cut
// off at `max_plies` have no result and give no samples.

#pragma once

#include <vector>

#include "datagen/numbered_games.h"
#include "nnue/packed_position.h"

namespace rookery::datagen {

struct DatagenSettings {
    std::uint64_t seed = 0;
    std::uint64_t soft_nodes = 200;
    int min_random_plies = 8, max_random_plies = 9;  // even and odd: either side moves first
    int max_opening_score = 1000;  // an opening beyond it is replaced
    int max_score = 3000;          // positions beyond it are not sampled
    int max_plies = 400;
    Adjudication adjudication;
    double play_on_share = 0.1;  // of the games, never adjudicated
    int threads = 1;
};

struct GeneratedGames {
    std::vector<nnue::PackedSample> samples;  // game by game
    std::uint64_t games = 0;  // completed, without a gap
    std::uint64_t white_wins = 0, draws = 0, black_wins = 0;
    EndingCounts endings;
    std::uint64_t plies = 0, nodes = 0;  // searched
    // Keys of the positions four plies after the random ones, by game; 0 if it was over by then.
    std::vector<Key> openings;
    std::uint64_t distinct_openings = 0;  // different ones; a game over by then counts as one
};

class DataGenerator {
  public:
    // Throws std::invalid_argument for invalid settings.
    DataGenerator(nnue::NetworkPtr network, DatagenSettings settings);

    // Plays games [first, first + count); fewer if `poll` stops it.
    [[nodiscard]] GeneratedGames run(std::uint64_t first, std::uint64_t count,
                                     const alphabeta::Poll& poll);

  private:
    struct Record;
    // False if it was stopped.
    bool play(alphabeta::Engine& engine, std::uint64_t number, Record& record) const;
    void note(const GameLine& line, const alphabeta::Result& found, std::uint64_t number,
              Record& record) const;

    DatagenSettings settings_;
    std::vector<EnginePtr> engines_;  // one per thread
    std::atomic<bool> stopping_{false};
};

}  // namespace rookery::datagen
