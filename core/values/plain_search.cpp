#include "values/plain_search.h"

#include <algorithm>

#include "rules/movegen.h"
#include "rules/see.h"

namespace rookery::values {

PlainSearch::PlainSearch(BatchEvaluatorPtr evaluator, BatchEvaluatorPtr other)
    : evaluator_(std::move(evaluator)), other_(std::move(other)) {
    if (!evaluator_) throw std::invalid_argument("a search needs an evaluator");
}

PlainResult PlainSearch::search(const Position& root, const RepetitionKeys& keys, int depth,
                                double other_share, Random& random) {
    if (depth < 1 || depth > MAX_DEPTH)
        throw std::invalid_argument("depth " + std::to_string(depth) + " is not in 1 .. " +
                                    std::to_string(MAX_DEPTH));
    if (other_share > 0 && !other_)
        throw std::invalid_argument("a share of leaves needs a second evaluator");
    other_share_ = other_share;
    random_ = &random;
    keys_ = keys;
    leaves_ = 0;
    std::fill(std::begin(refutations_), std::end(refutations_), Move());
    PlainResult result;
    result.value = node(root, depth, 0, -MATE, MATE);
    result.line = lines_[0];
    if (!result.line.empty()) result.best = result.line.front();
    result.leaves = leaves_;
    return result;
}

// Legal moves with their positions, in the order of the search; values of games that are over.
std::vector<PlainSearch::Child> PlainSearch::children(const Position& position, int depth,
                                                      int ply) {
    std::vector<Child> all;
    const Move tried = refutations_[ply];
    for (const Move move : legal_moves(position)) {
        int order = 0;
        if (position.is_capture(move) || move.kind() == Move::PROMOTION)
            order = 1000 + static_exchange(position, move);
        if (move == tried) order = 100'000;
        Child child{move, order, position, 0, false};
        make_with_history(child.position, keys_, move);
        const Ending ending =
            find_ending(child.position, keys_, count_legal(child.position), Claims::OCCURRED);
        keys_.pop();
        child.known = ending != Ending::NONE;
        if (ending == Ending::CHECKMATE) child.value = MATE - float(ply + 1);
        all.push_back(child);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Child& a, const Child& b) { return a.order > b.order; });
    if (depth > 1) return all;
    // Below a leaf's parent nothing is searched: results first, then batches.
    std::stable_partition(all.begin(), all.end(), [](const Child& child) { return child.known; });
    return all;
}

void PlainSearch::judge(std::vector<Child>& children, std::size_t first, std::size_t last) {
    std::vector<std::size_t> mine, others;
    for (std::size_t i = first; i < last; ++i) {
        const bool other = other_share_ > 0 && random_->uniform() < other_share_;
        (other ? others : mine).push_back(i);
    }
    if (!mine.empty()) judge_by(*evaluator_, children, mine);
    if (!others.empty()) judge_by(*other_, children, others);
    leaves_ += last - first;
}

void PlainSearch::judge_by(const BatchEvaluator& evaluator, std::vector<Child>& children,
                           const std::vector<std::size_t>& chosen) {
    std::vector<Position> positions;
    for (const std::size_t i : chosen) positions.push_back(without_past(children[i].position));
    std::vector<float> values(positions.size());
    evaluator.evaluate(positions, values);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (!(std::abs(values[i]) < MATE / 2))  // also NaN
            throw EvaluatorError("evaluator '" + std::string(evaluator.name()) +
                                 "' gave the value " + std::to_string(values[i]) + " in '" +
                                 to_fen(positions[i]) + "'");
        children[chosen[i]].value = -values[i];
    }
}

float PlainSearch::node(const Position& position, int depth, int ply, float alpha, float beta) {
    std::vector<Child> all = children(position, depth, ply);
    std::vector<Move>& line = lines_[ply];
    line.clear();
    float best = -2 * MATE;
    // A root needs all its values; elsewhere a small batch may already cause a cutoff.
    const std::size_t batch = ply == 0 ? all.size() : std::max<std::size_t>(1, evaluator_->batch());
    std::size_t judged = 0;
    while (judged < all.size() && all[judged].known) ++judged;
    for (std::size_t i = 0; i < all.size(); ++i) {
        Child& child = all[i];
        if (!child.known && depth == 1 && i >= judged) {
            const std::size_t last = std::min(all.size(), i + batch);
            judge(all, i, last);
            judged = last;
        }
        if (!child.known && depth > 1) {
            keys_.push(position.key);
            child.value = -node(child.position, depth - 1, ply + 1, -beta, -alpha);
            keys_.pop();
        } else {
            lines_[ply + 1].clear();
        }
        if (child.value > best) {
            best = child.value;
            line.assign(1, child.move);
            line.insert(line.end(), lines_[ply + 1].begin(), lines_[ply + 1].end());
        }
        alpha = std::max(alpha, best);
        if (alpha >= beta) break;
    }
    if (!line.empty()) refutations_[ply] = line.front();
    return best;
}

}  // namespace rookery::values
