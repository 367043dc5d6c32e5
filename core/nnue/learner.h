// Trains `nnue768` networks (network.h) on packed samples: forward, backward and optimiser in
// float, for sparse inputs.
//
//   sample --<= 32 features a side--> accumulators [2][H] --clamp to [0,1], square--> raw output
//   loss = |sigmoid(raw) - target|^power
//   target = wdl * result + (1 - wdl) * sigmoid(score / 400)
//
// A batch is split into CHUNKS equal parts whose gradients are summed in a fixed order, so that the
// result is bit-identical for any number of threads. The optimiser is torch.optim.AdamW; weights
// are then clipped to the range of nnue::Network. Not thread-safe.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nnue/network.h"
#include "nnue/packed_position.h"

namespace rookery::nnue {

// All weights in one array, the tensors concatenated:
//   feature_weights [768, H] | feature_bias [H] | output_weights [buckets, 2H] | output_bias
struct WeightLayout {
    int hidden, buckets;
    [[nodiscard]] std::size_t feature_bias() const { return std::size_t(FEATURES) * hidden; }
    [[nodiscard]] std::size_t output_weights() const { return feature_bias() + hidden; }
    [[nodiscard]] std::size_t output_bias() const {
        return output_weights() + std::size_t(buckets) * 2 * hidden;
    }
    [[nodiscard]] std::size_t size() const { return output_bias() + buckets; }
};

struct LossSettings {
    float wdl = 1.0f;  // share of the game's result in the target, [0, 1]
    float power = 2.0f;  // of the error
};

struct AdamSettings {
    float beta1 = 0.9f;
    float beta2 = 0.999f;
    float epsilon = 1e-8f;
    float weight_decay = 0.01f;
};

// A pseudo-random permutation of 0 .. size-1 without memory: a Feistel cipher with cycle walking.
class ShuffledOrder {
  public:
    ShuffledOrder(std::uint64_t size, std::uint64_t seed);
    [[nodiscard]] std::uint64_t operator[](std::uint64_t index) const;

  private:
    static constexpr int ROUNDS = 4;
    std::uint64_t size_;
    int half_bits_;
    std::uint64_t keys_[ROUNDS];
};

class Learner {
  public:
    static constexpr int CHUNKS = 4;
    // Weights are clipped to these; see the table in network.h.
    static constexpr float WEIGHT_LIMIT = 1.98f;
    static constexpr float BIAS_LIMIT = 16.0f;

    // Weights start at zero. Throws NetworkError.
    Learner(int hidden, int buckets, int threads);

    [[nodiscard]] const WeightLayout& layout() const { return layout_; }
    [[nodiscard]] std::span<float> weights() { return {weights_.data(), weights_.size()}; }
    // Adam's moments, in the layout of the weights.
    [[nodiscard]] std::span<float> first_moments() {
        return {first_moments_.data(), first_moments_.size()};
    }
    [[nodiscard]] std::span<float> second_moments() {
        return {second_moments_.data(), second_moments_.size()};
    }
    std::uint64_t steps = 0;  // of the optimiser
    AdamSettings adam;

    // Minibatches [first, first + learning_rates.size()) of an epoch in the order given by `seed`;
    // the last one may be smaller. Returns the mean loss over the samples used, each before its
    // update. Samples must be valid (first_bad_sample).
    double train(std::span<const PackedSample> samples, std::uint64_t seed, std::size_t batch_size,
                 std::size_t first, std::span<const float> learning_rates, LossSettings loss);
    // Mean loss of the samples and its gradient, in the layout of the weights.
    double gradient(std::span<const PackedSample> samples, LossSettings loss,
                    std::span<float> gradient);
    // Raw output of each sample, for the side to move.
    void evaluate(std::span<const PackedSample> samples, std::span<float> raw) const;

  private:
    [[nodiscard]] double sum_gradient(const std::vector<const PackedSample*>& samples,
                                      LossSettings loss);
    void update(float learning_rate, float scale);

    WeightLayout layout_;
    int threads_;
    AlignedArray<float> weights_, first_moments_, second_moments_;
    AlignedArray<float> gradients_[CHUNKS];
};

}  // namespace rookery::nnue
