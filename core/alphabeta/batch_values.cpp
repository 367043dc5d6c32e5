#include "alphabeta/batch_values.h"

#include <algorithm>
#include <cmath>

#include "alphabeta/parameters.h"
#include "rules/node_moves.h"
#include "rules/see.h"

namespace rookery::alphabeta {

namespace {

constexpr std::size_t CACHE_ENTRIES = std::size_t(1) << 17;  // 2 MiB
constexpr float VALUE_TOLERANCE = 1e-4f;  // beyond [-1, 1], for rounding

}  // namespace

Score score_of_value(double value) {
    if (value >= 1) return MAX_EVALUATION;
    if (value <= -1) return -MAX_EVALUATION;
    const long score = std::lround(2 * nnue::VALUE_SCALE * std::atanh(value));
    return Score(std::clamp<long>(score, -MAX_EVALUATION, MAX_EVALUATION));
}

double value_of_score(Score score) {
    if (is_mate(score)) return score > 0 ? 1 : -1;
    return std::tanh(score / (2.0 * nnue::VALUE_SCALE));
}

BatchValues::BatchValues(BatchEvaluatorPtr evaluator)
    : evaluator_(std::move(evaluator)), entries_(CACHE_ENTRIES) {}

void BatchValues::clear() { std::fill(entries_.begin(), entries_.end(), Entry()); }

Score BatchValues::evaluate(const Position& position, const Position* parent, Siblings siblings) {
    if (known(position.key)) return entry(position.key).score;
    batch_.assign(1, values::without_past(position));
    if (parent && evaluator_->batch() > 1) add_siblings(*parent, position.key, siblings);
    values_.assign(batch_.size(), 0.0f);
    evaluator_->evaluate(batch_, values_);
    // The requested position is stored last, so that no sibling replaces it.
    for (std::size_t i = batch_.size(); i-- > 0;)
        entry(batch_[i].key) = {batch_[i].key, checked_score(i)};
    return entry(position.key).score;
}

// Captures and promotions first, as the search will try them.
void BatchValues::add_siblings(const Position& parent, Key asked, Siblings siblings) {
    const NodeInfo info(parent);
    MoveList moves;
    generate_noisy(parent, info, moves);
    if (siblings == Siblings::ALL) generate_quiet(parent, info, moves);
    for (const Move move : moves) {
        if (batch_.size() >= evaluator_->batch()) return;
        if (siblings == Siblings::NOISY &&
            !exchange_at_least(parent, move, parameters::QUIESCENCE_SEE))
            continue;
        Position next = parent;
        next.make(move);
        if (next.key != asked && !known(next.key) && !next.in_check())
            batch_.push_back(values::without_past(next));
    }
}

Score BatchValues::checked_score(std::size_t index) const {
    const float value = values_[index];
    if (std::abs(value) <= 1 + VALUE_TOLERANCE) return score_of_value(value);  // false for NaN
    throw values::EvaluatorError("evaluator '" + std::string(evaluator_->name()) +
                                 "' gave the value " + std::to_string(value) +
                                 ", which is not in [-1, 1], in '" + to_fen(batch_[index]) + "'");
}

}  // namespace rookery::alphabeta
