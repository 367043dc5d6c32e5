// Learns the weights of `nnue768` networks (network.h) from packed samples: forward, backward and
// the optimiser, in float, made for the few inputs of a position that are not zero.
//
//   sample --<= 32 features a side--> accumulators [2][H] --clamp to [0,1], square--> raw output
//   loss = |sigmoid(raw) - target|^power
//   target = wdl * result + (1 - wdl) * sigmoid(score / 400)
//
// A batch is cut into CHUNKS equal parts, each with a gradient of its own; the parts are summed in
// their order. So the result is the same, bit by bit, for any number of threads. The optimiser is
// AdamW as torch.optim.AdamW computes it; weights are then clipped to what nnue::Network can hold.
//
// One object must not be used from two threads at once.

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
    float wdl = 1.0f;    // share of the game's result in the target, [0, 1]
    float power = 2.0f;  // of the error
};

struct AdamSettings {
    float beta1 = 0.9f;
    float beta2 = 0.999f;
    float epsilon = 1e-8f;
    float weight_decay = 0.01f;
};

// A pseudo-random order of 0 .. size-1 that needs no memory: index i of pass `seed` (a Feistel
// cipher, walked until it falls into the range).
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
    // Feature and output weights stay within; see the table in network.h.
    static constexpr float WEIGHT_LIMIT = 1.98f;
    static constexpr float BIAS_LIMIT = 16.0f;

    // Weights start at zero. H must be a multiple of 16; throws NetworkError.
    Learner(int hidden, int buckets, int threads);

    [[nodiscard]] const WeightLayout& layout() const { return layout_; }
    [[nodiscard]] std::span<float> weights() { return {weights_.data(), weights_.size()}; }
    // Moments of the optimiser, in the layout of the weights.
    [[nodiscard]] std::span<float> first_moments() {
        return {first_moments_.data(), first_moments_.size()};
    }
    [[nodiscard]] std::span<float> second_moments() {
        return {second_moments_.data(), second_moments_.size()};
    }
    std::uint64_t steps = 0;  // of the optimiser, since its moments were zero
    AdamSettings adam;

    // --- Learning ---
    // Batches [first, first + learning_rates.size()) of a pass over all samples in the order that
    // `seed` gives; the last batch of a pass may be smaller. Returns the mean loss over all samples
    // used, each evaluated before its batch was learnt from. Samples must be sound
    // (first_bad_sample).
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
