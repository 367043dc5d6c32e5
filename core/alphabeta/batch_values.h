// Static evaluations by a BatchEvaluator instead of an NNUE network, for one search thread.
//
//   NNUE:   Worker::evaluate --> AccumulatorStack, updated along the variation
//   others: Worker::evaluate --> BatchValues (cache) --miss--> BatchEvaluator, several positions
//
// A call of a BatchEvaluator may cost more than the positions in it (Python, torch, ONNX). On a
// miss the siblings are therefore evaluated in the same batch: the positions after the parent's
// other moves, which the search will probably visit next. As a value depends on the position's key
// alone, neither the cache nor the batches change a result.

#pragma once

#include <variant>

#include "alphabeta/types.h"
#include "nnue/network.h"
#include "values/evaluator.h"

namespace rookery::alphabeta {

using values::BatchEvaluatorPtr;
using Evaluator = std::variant<nnue::NetworkPtr, BatchEvaluatorPtr>;

// The score of an expected result v in [-1, 1]: 400 * logit((v + 1) / 2) = 800 * atanh(v), at most
// MAX_EVALUATION.
[[nodiscard]] Score score_of_value(double value);
// The inverse; 1 and -1 for mates.
[[nodiscard]] double value_of_score(Score score);

class BatchValues {
  public:
    enum class Siblings { ALL, NOISY };  // NOISY: captures and promotions that lose no material

    explicit BatchValues(BatchEvaluatorPtr evaluator);

    // Score for the side to move. On a miss, siblings from `parent` (null: none) that are neither
    // cached nor in check are evaluated too. Throws EvaluatorError for values outside [-1, 1], and
    // whatever the evaluator throws.
    [[nodiscard]] Score evaluate(const Position& position, const Position* parent,
                                 Siblings siblings);
    void clear();

  private:
    struct Entry {
        Key key = 0;
        Score score = NO_SCORE;  // NO_SCORE: empty
    };

    [[nodiscard]] Entry& entry(Key key) { return entries_[key & (entries_.size() - 1)]; }
    [[nodiscard]] bool known(Key key) {
        return entry(key).key == key && entry(key).score != NO_SCORE;
    }
    void add_siblings(const Position& parent, Key asked, Siblings siblings);
    [[nodiscard]] Score checked_score(std::size_t index) const;

    BatchEvaluatorPtr evaluator_;
    std::vector<Entry> entries_;  // a power of two, always replaced
    std::vector<Position> batch_;  // the requested position first
    std::vector<float> values_;
};

}  // namespace rookery::alphabeta
