// Any evaluator of positions as the static evaluation of the search, beside the NNUE network.
//
//   NNUE:   Worker::evaluate --> AccumulatorStack, updated along the line of play
//   others: Worker::evaluate --> BatchValues (cache) --miss--> BatchEvaluator, several positions
//
// A call of a BatchEvaluator may cost more than the positions in it (Python, torch, ONNX), so a
// miss is evaluated together with its siblings, the positions that other moves of the same parent
// lead to: the search will probably ask for them next.
//
// Evaluators see positions without a past (without_past() below). A value then depends on the
// position's key alone, so neither the cache nor the batches change a result.

#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "alphabeta/types.h"
#include "nnue/network.h"

namespace rookery::alphabeta {

// --- The scale of scores ---
// An expected result v in [-1, 1] is worth 400 * logit((v + 1) / 2) = 800 * atanh(v) units, at
// most MAX_EVALUATION.
[[nodiscard]] Score score_of_value(double value);
// The inverse; 1 and -1 for mates.
[[nodiscard]] double value_of_score(Score score);

// --- Evaluators ---

// The same position with clock 0, move number 1, no repetitions and no last move.
[[nodiscard]] Position without_past(const Position& position);

// An evaluator that failed or gave something other than values; the message begins with its name.
struct EvaluatorError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Shared by the threads of a search: implementations are safe to call from several at once.
class BatchEvaluator {
  public:
    virtual ~BatchEvaluator() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    // Most positions of one call; 1 where a call costs nothing and siblings would be wasted.
    [[nodiscard]] virtual std::size_t batch() const = 0;
    // Writes the expected result in [-1, 1] of each position for its side to move. What it throws
    // ends the search and reaches the caller of search().
    virtual void evaluate(std::span<const Position> positions, std::span<float> values) const = 0;
};
using BatchEvaluatorPtr = std::shared_ptr<const BatchEvaluator>;

using Evaluator = std::variant<nnue::NetworkPtr, BatchEvaluatorPtr>;

// --- One thread's values of a BatchEvaluator ---

class BatchValues {
  public:
    enum class Siblings { ALL, NOISY };  // NOISY: captures and promotions that lose no material

    explicit BatchValues(BatchEvaluatorPtr evaluator);

    // Score of `position` for its side to move. On a miss, siblings from `parent` (null: none)
    // that are neither known nor in check are evaluated with it. Throws EvaluatorError for values
    // that are not in [-1, 1], and whatever the evaluator throws.
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
    std::vector<Entry> entries_;  // a power of two; a newer position replaces an older one
    std::vector<Position> batch_;  // the position asked for comes first
    std::vector<float> values_;
};

}  // namespace rookery::alphabeta
