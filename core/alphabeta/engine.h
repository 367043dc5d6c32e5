// The search with everything around it: several threads, time, reports, pondering.
//
// All threads search the same root and share only the transposition table (lazy SMP): what one
// finds, the others come across. The calling thread is the main one; it minds the limits, reports,
// and gives the answer. One search at a time; stop() and ponderhit() may come from any thread at
// any moment. prepare() belongs before each search: a stop() that comes between the two is obeyed.

#pragma once

#include <memory>
#include <vector>

#include "alphabeta/types.h"
#include "alphabeta/worker.h"

namespace rookery::alphabeta {

inline constexpr int MAX_THREADS = 256;
inline constexpr std::size_t MAX_HASH_MEBIBYTES = std::size_t(1) << 20;

class Engine {
  public:
    // Throws std::invalid_argument for numbers outside 1 .. MAX_THREADS, 1 .. MAX_HASH_MEBIBYTES.
    Engine(Evaluator evaluator, int threads, std::size_t hash_mebibytes);

    // --- Between searches: during one they throw std::logic_error ---
    void set_threads(int threads);
    void set_hash(std::size_t mebibytes);
    void set_evaluator(Evaluator evaluator);
    // Forgets everything about earlier games.
    void new_game();
    // The next search starts unstopped; stop() from here on counts for it.
    void prepare();

    // Searches, after prepare(). earlier_keys as for Searcher::search. What an evaluator throws is
    // thrown again once all threads have ended.
    [[nodiscard]] Result search(const Position& root, std::span<const Key> earlier_keys,
                                const Limits& limits, const Report& report = {},
                                const Poll& poll = {});

    // --- From any thread ---
    void stop();
    void ponderhit();

    [[nodiscard]] int threads() const { return int(workers_.size()); }

  private:
    // Marks the engine as searching while it lives; throws std::logic_error if it is already.
    class Busy {
      public:
        explicit Busy(std::atomic<bool>& flag);
        ~Busy();
        Busy(const Busy&) = delete;

      private:
        std::atomic<bool>& flag_;
    };

    void wait_while_pondering(const Poll& poll) const;
    [[nodiscard]] Result result_of(const Worker& worker, int lines) const;
    [[nodiscard]] const Worker& best_worker() const;
    [[nodiscard]] std::uint64_t nodes() const;

    std::atomic<bool> stopped_{false};
    std::atomic<bool> busy_{false};
    Evaluator evaluator_;
    TranspositionTable table_;
    std::vector<std::unique_ptr<Worker>> workers_;  // the first is the calling thread's
    TimeManager time_;
};

}  // namespace rookery::alphabeta
