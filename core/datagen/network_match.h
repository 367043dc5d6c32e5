// Matches of a network at fixed nodes against another network or a bot, in pairs of games from the
// same random opening with colours swapped. For gates and curves of training runs; ratings come
// from the arena.

#pragma once

#include <optional>
#include <vector>

#include "datagen/numbered_games.h"
#include "peers/bots.h"

namespace rookery::datagen {

struct MatchSettings {
    std::uint64_t seed = 0;
    std::uint64_t nodes = 1000;  // per move, never exceeded, as in the arena
    int random_plies = 8;
    int max_opening_score = 300;  // by the opponent's network; other openings are redrawn; 0: any
    int max_plies = 400;  // then drawn
    Adjudication adjudication;
    int threads = 1;
};

struct MatchGame {
    int result = 0;  // for the network: 1 won, 0 drawn, -1 lost
    std::vector<Move> moves;  // from the start position, including the random opening
};

struct MatchPair {
    MatchGame as_white, as_black;
};

class NetworkMatch {
  public:
    // Exactly one of `opponent` and `bot` must be given.
    NetworkMatch(nnue::NetworkPtr network, nnue::NetworkPtr opponent, std::optional<peers::Bot> bot,
                 MatchSettings settings);

    // Search parameters of the network and of its opponent; by default the engine's.
    void set_parameters(const alphabeta::Parameters& ours, const alphabeta::Parameters& theirs);

    // Pairs [first, first + count); fewer, but without a gap, if `poll` stops it.
    [[nodiscard]] std::vector<MatchPair> run(std::uint64_t first, std::uint64_t count,
                                             const alphabeta::Poll& poll);

  private:
    struct Table {  // of one thread
        EnginePtr ours, theirs;
    };
    bool play_pair(Table& table, std::uint64_t number, MatchPair& pair) const;
    bool play(Table& table, GameLine line, Color ours, Random& random, MatchGame& game) const;
    [[nodiscard]] GameLine opening(Table& table, Random& random, std::vector<Move>& moves) const;

    std::optional<peers::Bot> bot_;
    MatchSettings settings_;
    std::vector<Table> tables_;
    std::atomic<bool> stopping_{false};
};

}  // namespace rookery::datagen
