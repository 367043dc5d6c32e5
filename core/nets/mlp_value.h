// Value networks over dense features without torch: linear layers with ReLU between them.
//
//   features [F] --layer, ReLU--> [H1] --layer, ReLU--> ... --layer--> [1] --tanh--> [-1, 1]
//
// Weights are kept input by input, [in, out]. An input of zero costs nothing, which saves half of
// the work on hand-made features and behind a ReLU; and each input adds only to the outputs from
// its first to its last weight that is not zero, so that a grouped first layer (nets/giraffe.py),
// written as one matrix of blocks, costs no more than its blocks.
//
// A value depends on its own features alone, bit by bit; it differs from torch's by rounding.

#pragma once

#include <span>
#include <vector>

namespace rookery::nets {

// As torch stores it; outputs = bias.size().
struct DenseLayer {
    std::span<const float> weight;  // [outputs, inputs]
    std::span<const float> bias;    // [outputs]
};

class MlpValue {
  public:
    // Throws std::invalid_argument if a size does not fit the one before, or the last is not 1.
    MlpValue(std::size_t features, std::span<const DenseLayer> layers);

    // Values [count] of features [count, F].
    void evaluate(std::span<const float> features, std::span<float> values) const;

  private:
    struct Row {
        std::size_t begin, end;  // outputs with a weight that is not zero
    };
    struct Layer {
        std::vector<float> weights;  // [inputs, outputs]
        std::vector<Row> rows;       // [inputs]
        std::vector<float> bias;     // [outputs]
    };

    static Layer transposed(const DenseLayer& layer, std::size_t inputs);

    std::size_t features_;
    std::size_t widest_ = 1;
    std::vector<Layer> layers_;
};

}  // namespace rookery::nets
