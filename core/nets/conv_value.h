// Small convolutional value networks over planes of an 8x8 board, for inference.
//
//   planes [P, 8, 8] --3x3, ReLU--> [16, 8, 8] --3x3, ReLU--> ... --flatten, layer, ReLU--> ... [1]
//
// The network of Inman and Ezra Marin (2022); a normalisation is folded into its layer. Activations
// are stored as [square, channel], so that the 16 channels of a square fill a vector register.
// Input planes are mostly zero: the first convolution adds the weights of each one. The output is
// unbounded, or its tanh. A value does not depend on the batch; it differs from torch's by
// rounding.

#pragma once

#include <array>
#include <span>
#include <vector>

#include "nets/mlp_value.h"

namespace rookery::nets {

class ConvValue {
  public:
    static constexpr std::size_t CHANNELS = 16, SQUARES = 64, TAPS = 9;

    // convolutions: weight [16, in, 3, 3], bias [16]; dense: as torch stores them, the first reads
    // [16, 8, 8]. Throws std::invalid_argument if sizes do not match.
    ConvValue(std::size_t planes, std::span<const DenseLayer> convolutions,
              std::span<const DenseLayer> dense, bool bounded);

    // Values [count] of observations [count, P, 8, 8].
    void evaluate(std::span<const float> observations, std::span<float> values) const;

  private:
    // [10, 10, channel]: the board with a border of zeros, so that every square has 9 taps.
    static constexpr std::size_t BORDERED = 10;
    using Map = std::array<float, BORDERED * BORDERED * CHANNELS>;
    // Positions and outputs whose sums stay in registers during a pass over the inputs.
    static constexpr std::size_t GROUP = 4, BLOCK = 32;
    struct Convolution {
        std::size_t inputs;
        std::vector<float> weights;  // [tap, in, 16]
        std::array<float, CHANNELS> bias;
    };
    struct Dense {
        std::size_t inputs, blocks;
        std::vector<float> weights;  // [block, in, BLOCK], padded with zeros
        std::vector<float> bias;  // [blocks * BLOCK]
    };

    static std::size_t place(std::size_t square) {
        return ((square / 8 + 1) * BORDERED + square % 8 + 1) * CHANNELS;
    }
    void first_layer(const float* planes, Map& out) const;
    static void convolve(const Convolution& layer, const Map& in, Map& out);
    // activations and outputs: [unit, GROUP]
    static void multiply(const Dense& layer, const std::vector<float>& activations,
                         std::vector<float>& outputs, bool relu);

    std::size_t planes_;
    bool bounded_;
    std::vector<Convolution> convolutions_;
    std::vector<Dense> dense_;
};

}  // namespace rookery::nets
