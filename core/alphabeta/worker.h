// The state of one search thread.
//
//   frames: [-6 .. -1 sentinels] [0 root] [1] [2] ...   one per ply, each with its own position
//   keys:   earlier positions of the game ... root, ply 1, ply 2, ...   for repetitions
//
// With an NNUE network a search allocates nothing.

#pragma once

#include <atomic>
#include <vector>

#include "alphabeta/batch_values.h"
#include "alphabeta/history.h"
#include "alphabeta/move_budget.h"
#include "alphabeta/time_manager.h"
#include "alphabeta/transposition_table.h"
#include "nnue/accumulator.h"

namespace rookery::alphabeta {

struct Frame {
    Position position;
    Key pawn_key;       // pawns of both sides
    Key piece_keys[2];  // each side's other pieces
    Move move;          // being searched; no move for a null move
    Continuation* continuation;  // of that move, initially of "no move"
    Score evaluation;   // static, corrected; NO_SCORE in check
    Move excluded;      // by a singular search
    Move killer;
    int double_extensions;  // so far in this variation
    int cutoffs;            // beta cutoffs among the children
    int plies_from_null;
    int fraction;  // of the depth, 1024ths of a ply; only with a MoveBudget
    bool in_check;
    bool table_pv;
    int line_length;
    Move line[MAX_PLY];
};

struct RootMove {
    Move move;
    Score score = -INFINITE;     // at the current depth
    Score previous = -INFINITE;  // at the last depth
    Line::Bound bound = Line::EXACT;
    std::uint64_t nodes = 0;
    int selective_depth = 0;
    int line_length = 0;
    Move line[MAX_PLY];
};

class Worker {
  public:
    // Setting `stop` ends a search. Table and stop must outlive the worker.
    Worker(const Evaluator& evaluator, TranspositionTable& table, const std::atomic<bool>& stop);

    void new_game();
    // Null: the depth limits the search.
    void set_budget(MoveBudgetPtr budget);
    void set_selective(bool selective, bool extend_checks) {
        selective_ = selective;
        extend_checks_ = !selective && extend_checks;
    }
    void set_parameters(const Parameters& parameters);

    // Prepares a search; the caller starts the time manager and calls new_search() of the table.
    void set_root(const Position& root, std::span<const Key> earlier_keys, const Limits& limits);
    // Iterative deepening until a limit is reached or stop is set. Only the main worker (with a
    // time manager) enforces time and soft node limits, reports and polls.
    void deepen(const Limits& limits, TimeManager* time, const std::function<void()>& report,
                const Poll& poll);

    // --- Results of the last completed depth, with any better move found since ---
    [[nodiscard]] int root_count() const { return root_count_; }
    [[nodiscard]] const RootMove& root_move(int index) const {
        return root_moves_[std::size_t(index)];
    }
    [[nodiscard]] int completed_depth() const { return completed_depth_; }
    [[nodiscard]] int selective_depth() const { return reported_selective_depth_; }
    [[nodiscard]] std::uint64_t nodes() const { return nodes_.load(std::memory_order_relaxed); }
    // Static, for a search that was stopped before it had any score.
    [[nodiscard]] Score root_evaluation() const { return root_evaluation_; }

  private:
    enum class Node { ROOT, PV, CUT_OR_ALL };

    // iterative.cpp
    void search_depth(int depth, int lines);
    void sort_root(int first, int end);
    [[nodiscard]] bool should_stop(const Limits& limits, TimeManager* time, int stability,
                                   int drop) const;
    // search.cpp
    template <Node KIND> Score search(int ply, int depth, Score alpha, Score beta, bool cut_node);
    // history.cpp
    [[nodiscard]] int history_bonus(int depth) const;
    void update_histories(Frame& frame, int ply, Move best, int depth, const Move* quiets,
                          int quiet_count, const Move* noisy, int noisy_count);
    void update_quiet(int ply, Move move, int bonus);
    void update_corrections(int ply, int depth, Score score);
    [[nodiscard]] int quiet_history(int ply, Move move) const;
    [[nodiscard]] HistoryEntry& capture_entry(const Position& position, Move move) const;
    // quiescence.cpp
    // Static evaluation at `ply`. depth: below 0 if the parent is a quiescence node, which searches
    // only some of its moves.
    [[nodiscard]] Score evaluate(int ply, int depth = 0) {
        if (values_) [[unlikely]]
            return evaluate_batch(ply, depth);
        return accumulators_.evaluate(frame(ply).position);
    }
    // Out of line: never called with an NNUE network.
    [[nodiscard, gnu::noinline, gnu::cold]] Score evaluate_batch(int ply, int depth);
    // depth: 0 at the horizon of the main search, -1 after the first capture, ...
    template <bool PV> Score quiescence(int ply, Score alpha, Score beta, int depth);
    [[nodiscard]] Score corrected(int ply, Score raw) const;
    [[nodiscard]] bool is_draw(int ply) const;
    void make(int ply, Move move);
    void make_null(int ply);
    void unmake() { accumulators_.pop(); }
    void count_node() { nodes_.store(nodes() + 1, std::memory_order_relaxed); }
    [[nodiscard]] bool out_of_nodes();
    void set_line(int ply, Move move);
    void start_keys(Frame& frame);

    [[nodiscard]] Frame& frame(int ply) { return frames_[std::size_t(ply + SENTINELS)]; }
    [[nodiscard]] const Frame& frame(int ply) const {
        return frames_[std::size_t(ply + SENTINELS)];
    }

    static constexpr int SENTINELS = 6;

    nnue::AccumulatorStack accumulators_;  // unused if values_ is set
    std::unique_ptr<BatchValues> values_;  // null: NNUE
    bool selective_ = true;
    bool extend_checks_ = false;
    Parameters tuned_;
    Reductions reductions_{tuned_};
    MoveBudgetPtr budget_;
    std::vector<MoveCosts> costs_;  // by ply, with a budget
    TranspositionTable& table_;
    const std::atomic<bool>& stop_;
    std::unique_ptr<History> history_;
    std::vector<Frame> frames_;
    std::vector<Key> keys_;
    std::size_t root_key_ = 0;  // index of the root's key
    std::vector<RootMove> root_moves_;  // [MAX_MOVES], the first root_count_ in use
    int root_count_ = 0;
    int line_index_ = 0;  // of MultiPV
    int root_depth_ = 0;
    int completed_depth_ = 0;
    int selective_depth_ = 0;
    int reported_selective_depth_ = 0;
    int null_verification_ply_ = 0;
    bool stopped_ = false;  // by `stop` or a limit
    std::atomic<std::uint64_t> nodes_{0};
    std::uint64_t node_limit_ = 0;
    std::uint64_t check_mask_ = 0;  // time and stop are checked where nodes & mask is 0
    TimeManager* time_ = nullptr;
    const Poll* poll_ = nullptr;
    Clock::time_point last_poll_{};
    Score root_evaluation_ = 0;
};

}  // namespace rookery::alphabeta
