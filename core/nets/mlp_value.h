// Value networks over dense features: linear layers with ReLU between them.
//
//   features [F] --layer, ReLU--> [H1] --layer, ReLU--> ... --layer--> [1] --tanh--> [-1, 1]
//
// Weights are stored as [in, out], outputs padded to whole vector registers. Zero inputs are
// skipped, about half of them on hand-made features and after a ReLU. Each input adds only to the
// registers from its first to its last nonzero weight, so that a grouped first layer
// (nets/giraffe/network.py), given as a block matrix, costs no more than its blocks. A value does
// not depend on the batch; it differs from torch's by rounding.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"

namespace rookery::nets {

// As torch stores it; outputs = bias.size().
struct DenseLayer {
    std::span<const float> weight;  // [outputs, inputs]
    std::span<const float> bias;  // [outputs]
};

class MlpValue {
  public:
    // Throws std::invalid_argument if sizes do not match, or the last layer has not 1 output.
    MlpValue(std::size_t features, std::span<const DenseLayer> layers);

    // Values [count] of features [count, F].
    void evaluate(std::span<const float> features, std::span<float> values) const;

  private:
    // Inputs [first, last) add to `registers` registers of outputs from output `begin` on.
    struct Block {
        std::size_t first, last, begin, registers;
    };
    struct Layer {
        std::size_t inputs, outputs;  // outputs padded
        AlignedArray<float> weights;  // [inputs, outputs]
        AlignedArray<float> bias;     // [outputs]
        std::vector<Block> blocks;
    };

    static Layer transposed(const DenseLayer& layer, std::size_t inputs);
    // `indices` has room for the block's inputs and one register more.
    static void add_block(const Layer& layer, const Block& block, const float* in, float* out,
                          std::int32_t* indices);

    std::size_t features_;
    std::size_t widest_ = 0;  // padded
    std::vector<Layer> layers_;
};

}  // namespace rookery::nets
