// Shared by data generation (generator.h) and matches between networks (network_match.h): random
// openings, adjudication, and a thread pool over numbered games.
//
// A game depends on (seed, game number) alone: it starts with an empty hash table and histories.

#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "alphabeta/engine.h"
#include "base/random.h"
#include "rules/game.h"

namespace rookery::datagen {

struct Adjudication {
    bool enabled = false;
    int win_score = 2000;  // won after `win_plies` plies in a row with a score above this
    int win_plies = 4;
    int draw_score = 10;  // drawn after `draw_plies` plies in a row with a score within this
    int draw_plies = 10;
    int draw_after = 70;  // ply from which draws are adjudicated
};

// Endings of chess (game.h), then the two by adjudication.
inline constexpr std::size_t ADJUDICATED_WIN = std::size(ENDING_NAMES);
inline constexpr std::size_t ADJUDICATED_DRAW = ADJUDICATED_WIN + 1;
struct EndingCounts {
    std::array<std::uint64_t, ADJUDICATED_DRAW + 1> counts{};
    // Those that occurred.
    [[nodiscard]] std::map<std::string, std::uint64_t> by_name() const;
};

// Tracks the scores of one game.
class Adjudicator {
  public:
    explicit Adjudicator(const Adjudication& rules) : rules_(rules) {}
    // The result for White (1, 0, -1) once it is decided. `score`: for the side to move at `ply`.
    [[nodiscard]] std::optional<int> add(int score, Color side, int ply);

  private:
    Adjudication rules_;
    int winning_ = 0;  // plies in a row; negative: for Black
    int level_ = 0;
};

// The current position of a game, with its history.
struct GameLine {
    Position position;
    RepetitionKeys keys;
    int ply = 0;
    void make(Move move) {
        make_with_history(position, keys, move);
        ++ply;
    }
};

// `plies` random moves from the start position, redrawn if they end the game. They are written to
// `moves` if given.
[[nodiscard]] GameLine random_opening(int plies, Random& random,
                                      std::vector<Move>* moves = nullptr);

// Each thread has an engine of one thread and 1 MiB of hash.
using EnginePtr = std::unique_ptr<alphabeta::Engine>;
[[nodiscard]] std::vector<EnginePtr> make_engines(const nnue::NetworkPtr& network, int count);
// For training data: starts no new depth beyond `nodes`, and stops at ten times as many.
[[nodiscard]] alphabeta::Limits soft(std::uint64_t nodes);
// For matches: never more than `nodes`, as in the arena.
[[nodiscard]] alphabeta::Limits exact(std::uint64_t nodes);
[[nodiscard]] alphabeta::Result search(alphabeta::Engine& engine, const GameLine& line,
                                       const alphabeta::Limits& limits);

// Runs work(thread, number) for the numbers [first, first + count) on `threads` threads, while the
// calling thread polls. `work` returns false if it was stopped; `stop(thread)` makes it return
// soon. Returns how many numbers from `first` on are done without a gap. An exception of `work`
// stops all threads and is rethrown.
std::uint64_t run_numbered(int threads, std::uint64_t first, std::uint64_t count,
                           const std::function<bool(int, std::uint64_t)>& work,
                           const std::function<void(int)>& stop, const alphabeta::Poll& poll);

}  // namespace rookery::datagen
