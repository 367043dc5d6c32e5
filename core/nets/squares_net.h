// The network family `squares` (src/rookery/nets/squares.py) for searches without Python. Results
// differ from torch's by rounding only, and do not depend on the batch.
//
//   tactical70 --64 rows of (square, code) + 6 rows--> sum [W] --relu, two layers--> hidden [W]
//   hidden --> value;  hidden --> key [K] . rows of legal moves [L, K] --> logits [L]
//
// The three rows of a square in torch (piece on square, state on square, code anywhere) are summed
// in advance: 64 * 156 * W floats, 10 MB for a width of 256.

#pragma once

#include <span>
#include <vector>

#include "encode/leaf_batch.h"

namespace rookery::nets {

// Weights as torch stores them: a linear layer is [outputs, inputs].
struct SquaresWeights {
    std::size_t width, key_width;
    std::span<const float> places;                  // [64 * 25 + 33, W]
    std::span<const float> codes, codes_bias;       // [W, 156], [W]
    std::span<const float> second, second_bias;     // [W, W], [W]
    std::span<const float> third, third_bias;       // [W, W], [W]
    std::span<const float> key, key_bias;           // [K, W], [K]
    std::span<const float> moves;                   // [rows, K]
    std::span<const float> value, value_bias;       // [W], [1]
    std::span<const std::int64_t> origins, destinations;  // [4672] indices into the observation
};

class SquaresNet final : public encode::NativeEvaluator {
  public:
    // Throws std::invalid_argument if sizes do not match.
    explicit SquaresNet(const SquaresWeights& weights);

    [[nodiscard]] std::string_view observation() const override { return "tactical70"; }
    void evaluate(const encode::LeafBatch& batch, float* logits, float* values) const override;
    // For unchecked arrays: observations [count * 70], offsets [count + 1]. Throws
    // std::invalid_argument.
    void evaluate(std::span<const std::uint8_t> observations, std::span<const std::int32_t> legal,
                  std::span<const std::int64_t> offsets, float* logits, float* values) const;

  private:
    struct Scratch;
    void evaluate(const std::uint8_t* observations, const std::int32_t* legal,
                  const std::int64_t* offsets, std::size_t count, float* logits,
                  float* values) const;
    void evaluate_one(const std::uint8_t* observation, std::span<const std::int32_t> legal,
                      Scratch& scratch, float* logits, float& value) const;
    [[nodiscard]] std::array<std::size_t, 4> move_rows(const std::uint8_t* observation, int king,
                                                       std::int32_t action) const;

    std::size_t width_, key_width_;  // zero-padded to whole vectors
    std::vector<float> squares_;     // [64, 156, W]
    std::vector<float> others_;      // [33, W]
    std::vector<float> first_bias_;  // [W]
    std::vector<float> second_, second_bias_;  // [W inputs, W outputs], [W]
    std::vector<float> third_, third_bias_;
    std::vector<float> key_, key_bias_;  // [W, K], [K]
    std::vector<float> moves_;           // [rows, K]
    std::vector<float> value_;           // [W]
    float value_bias_;
    std::vector<std::int32_t> origins_, destinations_;  // [4672]
};

}  // namespace rookery::nets
