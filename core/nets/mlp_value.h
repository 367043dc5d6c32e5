// Value networks over dense features: linear layers with ReLU between them.
//
//   features [F] --layer, ReLU--> [H1] --layer, ReLU--> ... --layer--> [1] --tanh--> [-1, 1]
//
// Weights are stored as [in, out]. Zero inputs are skipped, about half of them on hand-made
// features and after a ReLU. Each input adds only to the outputs from its first to its last nonzero
// weight, so that a grouped first layer (nets/giraffe.py), given as a block matrix, costs no more
// than its blocks. A value does not depend on the batch; it differs from torch's by rounding.

#pragma once

#include <span>
#include <vector>

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
    struct Row {
        std::size_t begin, end;  // range of outputs with nonzero weights
    };
    struct Layer {
        std::vector<float> weights;  // [inputs, outputs]
        std::vector<Row> rows;  // [inputs]
        std::vector<float> bias;  // [outputs]
    };

    static Layer transposed(const DenseLayer& layer, std::size_t inputs);

    std::size_t features_;
    std::size_t widest_ = 1;
    std::vector<Layer> layers_;
};

}  // namespace rookery::nets
