// Evaluators that give a position a value and no policy: the value seam of the alpha-beta search.
//
//   positions [B] --encode--> observations [B, size] --function--> values [B]
//
// A value is the expected result in [-1, 1] for the side to move. Evaluators see positions without
// their past (without_past), so that a value is a function of the position's key and can be cached.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "encode/encode.h"

namespace rookery::values {

// The same position with clock 0, move number 1, no repetitions and no last move.
[[nodiscard]] inline Position without_past(Position position) {
    position.halfmove_clock = 0;
    position.fullmove_number = 1;
    position.repetitions = 0;
    position.last_move = Move();
    return position;
}

// An evaluator failed or returned something that is not a value; the message names it.
struct EvaluatorError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Implementations are thread-safe: the threads of a search share one.
class BatchEvaluator {
  public:
    virtual ~BatchEvaluator() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    // Maximum batch size. 1 if a call has no overhead: then no sibling is evaluated in advance.
    [[nodiscard]] virtual std::size_t batch() const = 0;
    // Writes one value per position. Exceptions end the search and reach the caller of search().
    virtual void evaluate(std::span<const Position> positions, std::span<float> values) const = 0;
};
using BatchEvaluatorPtr = std::shared_ptr<const BatchEvaluator>;

// A function over a named observation.
class ObservationEvaluator final : public BatchEvaluator {
  public:
    // Takes observations [B, size], writes values [B].
    using Function = std::function<void(std::vector<float> observations, std::span<float> values)>;

    // Throws std::invalid_argument for an observation that needs history or special material.
    ObservationEvaluator(std::string name, std::string_view observation, std::size_t batch,
                         Function function);

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::size_t batch() const override { return batch_; }
    [[nodiscard]] const encode::ObservationLayout& layout() const { return layout_; }
    void evaluate(std::span<const Position> positions, std::span<float> values) const override;

  private:
    std::string name_;
    const encode::ObservationLayout& layout_;
    std::size_t batch_;
    Function function_;
};

// A function of single positions.
class PositionEvaluator final : public BatchEvaluator {
  public:
    using Function = std::function<float(const Position&)>;

    PositionEvaluator(std::string name, Function function)
        : name_(std::move(name)), function_(std::move(function)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::size_t batch() const override { return 1; }
    void evaluate(std::span<const Position> positions, std::span<float> values) const override {
        for (std::size_t i = 0; i < positions.size(); ++i) values[i] = function_(positions[i]);
    }

  private:
    std::string name_;
    Function function_;
};

}  // namespace rookery::values
