// Iterative deepening with aspiration windows.

#include <algorithm>

#include "alphabeta/worker.h"
#include "rules/movegen.h"

namespace rookery::alphabeta {

using namespace parameters;

Worker::Worker(const Evaluator& evaluator, TranspositionTable& table, const std::atomic<bool>& stop)
    : accumulators_(nullptr, MAX_PLY + 4),
      table_(table),
      stop_(stop),
      history_(std::make_unique<History>()),
      frames_(std::size_t(SENTINELS + MAX_PLY + 4)),
      root_moves_(std::size_t(MAX_MOVES)) {
    const auto* network = std::get_if<nnue::NetworkPtr>(&evaluator);
    accumulators_.set_network(network ? *network : nullptr);
    values_ =
        network ? nullptr : std::make_unique<BatchValues>(std::get<BatchEvaluatorPtr>(evaluator));
    // One call of a batch evaluator may take as long as 512 nodes with NNUE; one without overhead
    // takes a few.
    check_mask_ = network ? 511 : std::get<BatchEvaluatorPtr>(evaluator)->batch() == 1 ? 31 : 0;
    history_->clear();
}

void Worker::new_game() {
    history_->clear();
    if (values_) values_->clear();
}

void Worker::set_budget(MoveBudgetPtr budget) {
    budget_ = std::move(budget);
    costs_.resize(budget_ ? std::size_t(MAX_PLY) : 0);
}

void Worker::set_parameters(const Parameters& parameters) {
    tuned_ = parameters;
    reductions_ = Reductions(parameters);
}

void Worker::set_root(const Position& root, std::span<const Key> earlier_keys,
                      const Limits& limits) {
    keys_.resize(earlier_keys.size() + MAX_PLY + 4);
    std::copy(earlier_keys.begin(), earlier_keys.end(), keys_.begin());
    root_key_ = earlier_keys.size();
    keys_[root_key_] = root.key;
    // Deeper frames are initialised when they are reached.
    for (int ply = -SENTINELS; ply < 4; ++ply) {
        Frame& f = frame(ply);
        f.move = f.excluded = f.killer = Move();
        f.continuation = &history_->continuation[12][0];
        f.evaluation = NO_SCORE;
        f.double_extensions = f.cutoffs = f.line_length = f.fraction = 0;
        f.in_check = f.table_pv = false;
    }
    frame(0).position = root;
    frame(0).plies_from_null = int(root.halfmove_clock);
    start_keys(frame(0));
    accumulators_.reset();

    root_count_ = 0;
    for (const Move move : legal_moves(root)) {
        const auto& only = limits.search_moves;
        if (!only.empty() && std::ranges::find(only, move) == only.end()) continue;
        RootMove& entry = root_moves_[std::size_t(root_count_++)];
        entry = RootMove();
        entry.move = entry.line[0] = move;
        entry.line_length = 1;
    }
    stopped_ = false;
    nodes_.store(0, std::memory_order_relaxed);
    node_limit_ = limits.nodes;
    completed_depth_ = selective_depth_ = reported_selective_depth_ = 0;
    line_index_ = null_verification_ply_ = 0;
    time_ = nullptr;
    poll_ = nullptr;
}

// Stable: moves that failed low keep their order from the last depth.
void Worker::sort_root(int first, int end) {
    std::stable_sort(root_moves_.begin() + first, root_moves_.begin() + end,
                     [](const RootMove& a, const RootMove& b) {
                         return a.score != b.score ? a.score > b.score : a.previous > b.previous;
                     });
}

// Each line of MultiPV in turn, with a window around its last score that widens on failure.
void Worker::search_depth(int depth, int lines) {
    for (line_index_ = 0; line_index_ < lines && !stopped_; ++line_index_) {
        selective_depth_ = 0;
        const Score previous = root_moves_[std::size_t(line_index_)].previous;
        Score alpha = -INFINITE, beta = INFINITE;
        int delta = tuned_.aspiration_delta;
        if (depth >= ASPIRATION_DEPTH && previous > -INFINITE) {
            delta += std::abs(previous) / 64;
            alpha = std::max(previous - delta, -INFINITE);
            beta = std::min(previous + delta, INFINITE);
        }
        int fail_highs = 0;
        while (true) {
            const int adjusted = std::max(1, depth - fail_highs);
            const Score score = search<Node::ROOT>(0, adjusted, alpha, beta, false);
            sort_root(line_index_, root_count_);
            if (stopped_) break;
            if (score <= alpha) {
                beta = (alpha + beta) / 2;
                alpha = std::max(score - delta, -INFINITE);
                fail_highs = 0;
            } else if (score >= beta) {
                beta = std::min(score + delta, INFINITE);
                if (selective_ && !is_mate(score) && fail_highs < 3) ++fail_highs;
            } else {
                break;
            }
            delta += delta / ASPIRATION_GROWTH + 2;
            if (delta > 1000) alpha = -INFINITE, beta = INFINITE;
        }
        sort_root(0, line_index_ + 1);
    }
    reported_selective_depth_ = selective_depth_;
}

bool Worker::should_stop(const Limits& limits, TimeManager* time, int stability, int drop) const {
    if (limits.soft_nodes && nodes() >= limits.soft_nodes) return true;
    if (!time || !time->timed() || time->pondering()) return false;
    const RootMove& best = root_moves_[0];
    const double share = double(best.nodes) / double(std::max<std::uint64_t>(nodes(), 1));
    if (time->enough(stability, share, drop, root_count_ == 1)) return true;
    // With a clock, stop once the depth has confirmed a mate.
    return is_mate(best.score) && best.score > 0 &&
           completed_depth_ >= 2 * (MATE - best.score) + 4 && limits.clock_seconds >= 0;
}

void Worker::deepen(const Limits& limits, TimeManager* time, const std::function<void()>& report,
                    const Poll& poll) {
    time_ = time;
    poll_ = poll ? &poll : nullptr;
    last_poll_ = Clock::now();
    root_evaluation_ = corrected(0, evaluate(0));
    const std::span root_moves(root_moves_.data(), std::size_t(root_count_));
    for (RootMove& move : root_moves) move.score = -INFINITE;
    const int lines = std::min(std::max(1, limits.lines), root_count_);
    const int last = limits.depth > 0 ? std::min(limits.depth, MAX_DEPTH) : MAX_DEPTH;
    Move stable_move;
    int stability = 0;
    double mean = 0;
    for (int depth = 1; depth <= last && root_count_ > 0; ++depth) {
        root_depth_ = depth;
        for (RootMove& move : root_moves) move.previous = move.score;
        search_depth(depth, lines);
        if (stopped_) {
            // Moves not reached keep their last score.
            for (RootMove& move : root_moves)
                if (move.score == -INFINITE) move.score = move.previous;
            break;
        }
        completed_depth_ = depth;
        const RootMove& best = root_moves_[0];
        stability = best.move == stable_move ? stability + 1 : 0;
        stable_move = best.move;
        const int drop = depth > 1 ? int(mean) - best.score : 0;
        mean = depth > 1 ? (mean * 3 + best.score) / 4 : best.score;
        if (report) report();
        if (stop_.load(std::memory_order_relaxed)) break;
        if (time && should_stop(limits, time, stability, drop)) break;
    }
}

}  // namespace rookery::alphabeta
