// An evaluator without a network: logits and values are hashes of position and action. With it,
// tests and benchmarks exercise the tree alone.

#pragma once

#include "encode/leaf_batch.h"

namespace rookery::nets {

class HashEvaluator final : public encode::NativeEvaluator {
  public:
    [[nodiscard]] std::string_view observation() const override { return ""; }
    void evaluate(const encode::LeafBatch& batch, float* logits, float* values) const override;
};

}  // namespace rookery::nets
