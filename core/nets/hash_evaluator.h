// Pseudo-random evaluations, to test and measure tree search without a network: logits and values
// are hashes of position and action.

#pragma once

#include "base/random.h"
#include "encode/leaf_batch.h"

namespace rookery::nets {

class HashEvaluator final : public encode::NativeEvaluator {
  public:
    [[nodiscard]] std::string_view observation() const override { return ""; }
    void evaluate(const encode::LeafBatch& batch, float* logits, float* values) const override {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::uint64_t seed = mix(batch.keys[i], 1);
            values[i] = float(std::int64_t(seed >> 40) - (1 << 23)) / float(1 << 23);
            for (auto j = batch.legal_offsets[i]; j < batch.legal_offsets[i + 1]; ++j) {
                const auto action = std::uint64_t(batch.legal_actions[std::size_t(j)]);
                logits[j] = float(mix(seed, action) >> 40) / float(1 << 22) - 2.0f;
            }
        }
    }
};

}  // namespace rookery::nets
