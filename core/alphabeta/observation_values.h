// A BatchEvaluator made of a function over a named observation: encodes, calls, nothing else.
//
//   positions [B] --encode--> observations [B, size] --function--> values [B]

#pragma once

#include <functional>
#include <string>

#include "alphabeta/values.h"
#include "encode/encode.h"

namespace rookery::alphabeta {

class ObservationEvaluator final : public BatchEvaluator {
  public:
    // Takes observations [B, size], writes values [B] in [-1, 1] for the side to move.
    using Function = std::function<void(std::vector<float> observations, std::span<float> values)>;

    // Throws std::invalid_argument for an observation that single positions do not have.
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

}  // namespace rookery::alphabeta
