// The network family `slots` (src/rookery/nets/slots.py) for searches without Python. Results
// differ from torch's by rounding only, and do not depend on the batch.
//
//   pepper353 --rows of slots and squares, 65 plain numbers--> sum [W] --relu, two layers-->
//   hidden [W] --> value;  hidden --> key [K] . rows of legal moves [L, K] --> logits [L]

#pragma once

#include <array>
#include <span>
#include <vector>

#include "encode/leaf_batch.h"

namespace rookery::nets {

// Weights as torch stores them: a linear layer is [outputs, inputs].
struct SlotsWeights {
    std::size_t width, key_width;
    std::span<const float> places;               // [3505, W]
    std::span<const float> plain, plain_bias;    // [W, 65], [W]
    std::span<const float> second, second_bias;  // [W, W], [W]
    std::span<const float> third, third_bias;    // [W, W], [W]
    std::span<const float> key, key_bias;        // [K, W], [K]
    std::span<const float> moves;                // [rows, K]
    std::span<const float> value, value_bias;    // [W], [1]
    std::span<const std::int64_t> origins, destinations;  // [4672] squares, a1 = 0, mover's view
};

class SlotsNet final : public encode::NativeEvaluator {
  public:
    // Throws std::invalid_argument if sizes do not match.
    explicit SlotsNet(const SlotsWeights& weights);

    [[nodiscard]] std::string_view observation() const override { return "pepper353"; }
    void evaluate(const encode::LeafBatch& batch, float* logits, float* values) const override;
    // For unchecked arrays: observations [count * 353], offsets [count + 1]. Throws
    // std::invalid_argument.
    void evaluate(std::span<const float> observations, std::span<const std::int32_t> legal,
                  std::span<const std::int64_t> offsets, float* logits, float* values) const;

  private:
    struct Scratch;
    void evaluate(const float* observations, const std::int32_t* legal, const std::int64_t* offsets,
                  std::size_t count, float* logits, float* values) const;
    void evaluate_one(const float* features, std::span<const std::int32_t> legal, Scratch& scratch,
                      float* logits, float& value) const;
    void read_position(const float* features, Scratch& scratch) const;
    [[nodiscard]] std::array<std::size_t, 4> move_rows(const Scratch& scratch,
                                                       std::int32_t action) const;

    std::size_t width_, key_width_;            // zero-padded to whole vectors
    std::vector<float> places_;                // [3505, W]
    std::vector<float> plain_, first_bias_;    // [65, W], [W]
    std::vector<float> second_, second_bias_;  // [W inputs, W outputs], [W]
    std::vector<float> third_, third_bias_;
    std::vector<float> key_, key_bias_;  // [W, K], [K]
    std::vector<float> moves_;           // [rows, K]
    std::vector<float> value_;           // [W]
    float value_bias_;
    std::vector<std::int32_t> origins_, destinations_;  // [4672]
};

}  // namespace rookery::nets
