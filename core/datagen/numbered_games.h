// What data generation (generator.h) and matches between networks (network_match.h) share: random
// openings, adjudication, threads that work on numbered games, and the searcher of a thread.
//
// Everything random about a game follows from (seed, game number), and each game starts with an
// empty table and empty histories: games do not depend on threads or on each other.

#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "alphabeta/searcher.h"
#include "base/random.h"
#include "rules/game.h"

namespace rookery::datagen {

struct Adjudication {
    bool enabled = false;
    int win_score = 2000;  // a side has won that is so far ahead for `win_plies` plies
    int win_plies = 4;
    int draw_score = 10;  // a draw if neither side is further ahead for `draw_plies` plies ...
    int draw_plies = 10;
    int draw_after = 70;  // ... after so many plies of the game
};

// Follows the scores of one game, given in turn by both sides.
class Adjudicator {
  public:
    explicit Adjudicator(const Adjudication& rules) : rules_(rules) {}
    enum class Verdict : std::uint8_t { NONE, WHITE_WINS, BLACK_WINS, DRAW };
    // `white_score`: of the position at `ply`, for White.
    [[nodiscard]] Verdict add(int white_score, int ply);

  private:
    Adjudication rules_;
    int winning_ = 0;  // plies in a row; negative: for Black
    int level_ = 0;
};

// The position and the past of a game under way.
struct GameLine {
    Position position;
    RepetitionKeys keys;
    int ply = 0;
    void make(Move move) {
        make_with_history(position, keys, move);
        ++ply;
    }
};

// Plays so many random moves from the start position; again if the game ends by them. `moves`,
// if given, becomes the list of them.
[[nodiscard]] GameLine random_opening(int plies, Random& random,
                                      std::vector<Move>* moves = nullptr);

// A searcher with a table of its own.
class GameSearcher {
  public:
    GameSearcher(nnue::NetworkPtr network, std::size_t table_bytes)
        : table_(table_bytes), searcher_(std::move(network), table_) {}
    void new_game() {
        table_.clear();
        searcher_.new_game();
    }
    // A new depth is begun only below `soft_nodes`; ten times as many end the search.
    [[nodiscard]] alphabeta::SearchOutcome search(const GameLine& line, std::uint64_t soft_nodes);
    void stop() { searcher_.stop(); }

  private:
    alphabeta::TranspositionTable table_;
    alphabeta::Searcher searcher_;
};

// How long the calling thread waits before it asks again whether to stop.
inline constexpr int POLL_MILLISECONDS = 20;

// Runs work(thread, number) for the numbers [first, first + count) on so many threads, while the
// calling thread polls. `work` returns false if it was stopped; `stop(thread)` makes it return
// soon. Returns the numbers done without a gap from `first` on. An exception of `work` stops all
// and is thrown on.
std::uint64_t run_numbered(int threads, std::uint64_t first, std::uint64_t count,
                           const std::function<bool(int, std::uint64_t)>& work,
                           const std::function<void(int)>& stop, const alphabeta::Poll& poll);

}  // namespace rookery::datagen
