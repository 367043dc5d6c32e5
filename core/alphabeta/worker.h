// The state of one searching thread. Searcher (one thread) and Engine (several) are its faces.
//
//   frames: [-6 .. -1 sentinels] [0 root] [1] [2] ...   one per ply, each with its own position
//   keys:   earlier positions of the game ... root, ply 1, ply 2, ...   for repetitions
//
// iterative.cpp deepens, search.cpp searches, quiescence.cpp ends lines.

#pragma once

#include <atomic>
#include <vector>

#include "alphabeta/history.h"
#include "alphabeta/node_moves.h"
#include "alphabeta/searcher.h"
#include "alphabeta/time_manager.h"
#include "alphabeta/transposition_table.h"
#include "alphabeta/values.h"
#include "nnue/accumulator.h"

namespace rookery::alphabeta {

struct Frame {
    Position position;
    Key pawn_key;       // of the pawns of both sides
    Key piece_keys[2];  // of each side's other pieces
    Move move;          // being searched from here; no move for a null move
    Continuation* continuation;  // of that move; of "no move" until there is one
    Score evaluation;   // static, corrected; NO_SCORE in check
    Move excluded;      // by a singular search
    Move killer;
    int double_extensions;  // so far in this line
    int cutoffs;            // beta cutoffs among the children
    int plies_from_null;
    bool in_check;
    bool table_pv;
    int line_length;
    Move line[MAX_PLY];
};

struct RootMove {
    Move move;
    Score score = -INFINITE;     // of the depth being searched
    Score previous = -INFINITE;  // of the last depth
    Line::Bound bound = Line::EXACT;
    std::uint64_t nodes = 0;
    int selective_depth = 0;
    int line_length = 0;
    Move line[MAX_PLY];
};

class Worker {
  public:
    // `stop` ends searches; table and stop belong to the owner and outlive the worker.
    Worker(const Evaluator& evaluator, TranspositionTable& table, const std::atomic<bool>& stop);

    void new_game();
    void set_evaluator(const Evaluator& evaluator);

    // Prepares a search; begin_search() of the table and the time manager's start are the caller's.
    void set_root(const Position& root, std::span<const Key> earlier_keys, const Limits& limits);
    // Deepens until a limit is met or stop is set. Only the main worker (with a time manager)
    // minds limits of time and soft nodes, reports and polls.
    void deepen(const Limits& limits, TimeManager* time, const std::function<void()>& report,
                const Poll& poll);

    // --- Results; of the last depth that was completed or improved upon ---
    [[nodiscard]] int root_count() const { return root_count_; }
    [[nodiscard]] const RootMove& root_move(int index) const {
        return root_moves_[std::size_t(index)];
    }
    [[nodiscard]] int completed_depth() const { return completed_depth_; }
    [[nodiscard]] int selective_depth() const { return reported_selective_depth_; }
    [[nodiscard]] std::uint64_t nodes() const { return nodes_.load(std::memory_order_relaxed); }
    [[nodiscard]] SearchOutcome outcome() const;

  private:
    enum class Node { ROOT, PV, CUT_OR_ALL };

    // iterative.cpp
    void search_depth(int depth, int lines);
    void sort_root(int first, int end);
    [[nodiscard]] bool should_stop(const Limits& limits, TimeManager* time, int stability,
                                   int drop) const;
    // search.cpp
    template <Node KIND> Score search(int ply, int depth, Score alpha, Score beta, bool cut_node);
    void update_histories(Frame& frame, int ply, Move best, int depth, const Move* quiets,
                          int quiet_count, const Move* noisy, int noisy_count);
    void update_quiet(int ply, Move move, int bonus);
    void update_noisy(const Position& position, Move move, int bonus);
    void update_corrections(int ply, int depth, Score score);
    [[nodiscard]] int quiet_history(int ply, Move move) const;
    [[nodiscard]] int noisy_history(const Position& position, Move move) const;
    // quiescence.cpp
    // Static evaluation of the position at `ply`. depth: below 0 if its parent is a quiescence
    // node, of which only some moves are searched.
    [[nodiscard]] Score evaluate(int ply, int depth = 0) {
        if (values_) [[unlikely]]
            return evaluate_batch(ply, depth);
        return accumulators_.evaluate(frame(ply).position);
    }
    // Kept out of line and out of the way: networks of the accumulators never come here.
    [[nodiscard, gnu::noinline, gnu::cold]] Score evaluate_batch(int ply, int depth);
    // depth: 0 where the search ends, -1 after its first capture, ...
    template <bool PV> Score quiescence(int ply, Score alpha, Score beta, int depth);
    [[nodiscard]] Score corrected(int ply, Score raw) const;
    [[nodiscard]] bool is_draw(int ply) const;
    void make(int ply, Move move);
    void make_null(int ply);
    void unmake() { accumulators_.pop(); }
    void count_node();
    [[nodiscard]] bool out_of_nodes();
    void set_line(int ply, Move move);
    void start_keys(Frame& frame);

    [[nodiscard]] Frame& frame(int ply) { return frames_[std::size_t(ply + SENTINELS)]; }
    [[nodiscard]] const Frame& frame(int ply) const {
        return frames_[std::size_t(ply + SENTINELS)];
    }

    static constexpr int SENTINELS = 6;

    nnue::AccumulatorStack accumulators_;  // idle while there are values_
    std::unique_ptr<BatchValues> values_;  // null: the evaluator is a network of accumulators_
    TranspositionTable& table_;
    const std::atomic<bool>& stop_;
    std::unique_ptr<History> history_;
    std::vector<Frame> frames_;
    std::vector<Key> keys_;    // capacity kept from search to search
    std::size_t root_key_ = 0;  // index of the root's key
    std::vector<RootMove> root_moves_;  // [MAX_MOVES], the first root_count_ in use
    int root_count_ = 0;
    int line_index_ = 0;  // of MultiPV
    int root_depth_ = 0;
    int completed_depth_ = 0;
    int selective_depth_ = 0;
    int reported_selective_depth_ = 0;
    int null_verification_ply_ = 0;
    bool stopped_ = false;  // what `stop` or a limit said, seen by this thread
    std::atomic<std::uint64_t> nodes_{0};
    std::uint64_t node_limit_ = 0;
    std::uint64_t check_mask_ = 0;  // time and stop are looked at where nodes & mask is 0
    TimeManager* time_ = nullptr;
    const Poll* poll_ = nullptr;
    Clock::time_point last_poll_{};
    Score root_evaluation_ = 0;
};

}  // namespace rookery::alphabeta
