// The network family `twin` (src/rookery/nets/twin.py) for searches without Python: the policy of
// the family `squares`, and an `nnue768` value of its own.
//
//   tactical70 --> SquaresNet --> logits
//              --> position, the mover as White --> quiescence search over the value network
//
// Logits differ from torch's by rounding only. Values are those of the quantised network, and with
// `quiescence` those of the position once captures have ended.

#pragma once

#include "nets/squares_net.h"
#include "nnue/network.h"

namespace rookery::nets {

class TwinNet final : public encode::NativeEvaluator {
  public:
    // The value head of `policy` is not used. Throws std::invalid_argument if sizes do not match.
    TwinNet(const SquaresWeights& policy, nnue::NetworkPtr value, bool quiescence)
        : policy_(policy), value_(std::move(value)), quiescence_(quiescence) {}

    [[nodiscard]] std::string_view observation() const override { return "tactical70"; }
    void evaluate(const encode::LeafBatch& batch, float* logits, float* values) const override;
    // For unchecked arrays, as in SquaresNet; also refuses observations that no legal position has.
    void evaluate(std::span<const std::uint8_t> observations, std::span<const std::int32_t> legal,
                  std::span<const std::int64_t> offsets, float* logits, float* values) const;

  private:
    void judge(const std::uint8_t* observations, std::size_t count, float* values) const;

    SquaresNet policy_;
    nnue::NetworkPtr value_;
    bool quiescence_;
};

}  // namespace rookery::nets
