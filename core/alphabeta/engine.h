// Alpha-beta search with iterative deepening: threads, time management, reports, pondering.
//
// All threads search the same root and share only the transposition table (lazy SMP). The calling
// thread is the main one: it enforces the limits, reports and returns the result. Call prepare()
// before each search: a stop() between the two is obeyed. On one thread without time limits the
// result depends on evaluator, table, histories and limits alone.
//
//   Engine engine(evaluator, 1, 16);
//   engine.prepare();
//   const Result result = engine.search(position, earlier_keys, limits);

#pragma once

#include <memory>
#include <vector>

#include "alphabeta/types.h"
#include "alphabeta/worker.h"
#include "base/busy.h"

namespace rookery::alphabeta {

inline constexpr int MAX_THREADS = 256;
inline constexpr std::size_t MAX_HASH_MEBIBYTES = std::size_t(1) << 20;

class Engine {
  public:
    // Throws std::invalid_argument for numbers outside 1 .. MAX_THREADS, 1 .. MAX_HASH_MEBIBYTES.
    // key_mask: see TranspositionTable.
    Engine(Evaluator evaluator, int threads, std::size_t hash_mebibytes, Key key_mask = ~Key(0));

    // --- Between searches; during a search they throw std::logic_error. Without memory they throw
    // OutOfMemory (base/memory.h) and keep what was there ---
    void set_threads(int threads);
    void set_hash(std::size_t mebibytes);
    void set_evaluator(Evaluator evaluator);
    // Null: the depth limits the search. Clears the table.
    void set_budget(MoveBudgetPtr budget);
    // False: a full search, in which every move is searched to the full depth, and with
    // `extend_checks` one ply deeper for each check in the line, up to twice the depth; quiescence
    // tries every capture that does not lose material. Clears the table.
    void set_selective(bool selective, bool extend_checks = true);
    // Clears the table.
    void set_parameters(const Parameters& parameters);
    // Clears the table and the histories.
    void new_game();

    // Resets stop(): later calls of stop() apply to the next search.
    void prepare() { stopped_.store(false, std::memory_order_relaxed); }
    // earlier_keys: keys of the positions before `root`, oldest first (RepetitionKeys::keys()), for
    // repetitions. Exceptions of evaluator, report and poll are rethrown once all threads have
    // ended.
    [[nodiscard]] Result search(const Position& root, std::span<const Key> earlier_keys,
                                const Limits& limits, const Report& report = {},
                                const Poll& poll = {});

    // --- From any thread ---
    void stop() { stopped_.store(true, std::memory_order_relaxed); }
    void ponderhit() { time_.ponderhit(); }
    [[nodiscard]] int hash_full() const { return table_.full_per_mille(); }

  private:
    [[nodiscard]] Busy use() {
        return {busy_, "the engine is searching; stop it and wait for its result first"};
    }
    [[nodiscard]] std::vector<std::unique_ptr<Worker>> make_workers(int count,
                                                                    const Evaluator& evaluator);
    void wait_while_pondering(const Poll& poll) const;
    [[nodiscard]] Result result_of(const Worker& worker, int lines) const;
    [[nodiscard]] const Worker& best_worker() const;
    [[nodiscard]] std::uint64_t nodes() const;

    std::atomic<bool> stopped_{false};
    std::atomic<bool> busy_{false};
    Evaluator evaluator_;
    MoveBudgetPtr budget_;
    bool selective_ = true;
    bool extend_checks_ = true;  // of a full search
    Parameters parameters_;
    TranspositionTable table_;
    std::vector<std::unique_ptr<Worker>> workers_;  // [0] runs on the calling thread
    TimeManager time_;
};

}  // namespace rookery::alphabeta
