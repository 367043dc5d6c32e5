#include "nnue/learner.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

#include "base/random.h"

namespace rookery::nnue {

namespace {

constexpr int LANES = 16;  // floats of the widest vector register; H is a multiple of it
constexpr int MAX_PIECES = 32;
constexpr std::size_t PREFETCH = 8;  // samples ahead: their order in memory is random

// Active rows of the feature weights; [0] is the mover's view.
struct SampleFeatures {
    int count;
    int bucket;
    std::uint16_t rows[2][MAX_PIECES];

    // Valid rows for any bytes: unknown pieces count as kings, pieces beyond 32 are ignored.
    SampleFeatures(const PackedSample& sample, int buckets) {
        count = std::min(sample.piece_count(), MAX_PIECES);
        bucket = output_bucket(std::clamp(count, 2, MAX_PIECES), buckets);
        Square squares[MAX_PIECES], kings[2] = {0, 0};
        Bitboard rest = sample.occupied;
        for (int i = 0; i < count; ++i) {
            squares[i] = pop_square(rest);
            const int nibble = sample.nibble(i);
            if ((nibble & 7) >= KING) kings[nibble >> 3] = squares[i];
        }
        const Color mover = sample.side();
        const int flips[2] = {view_flip(mover, kings[mover]), view_flip(~mover, kings[~mover])};
        for (int i = 0; i < count; ++i) {
            const int nibble = sample.nibble(i);
            const auto type = PieceType(std::min(nibble & 7, int(KING)));
            const bool theirs = (nibble >> 3) != mover;
            rows[0][i] = std::uint16_t(feature_index(theirs, type, squares[i] ^ flips[0]));
            rows[1][i] = std::uint16_t(feature_index(!theirs, type, squares[i] ^ flips[1]));
        }
    }
};

// --- Passes over one sample, in blocks of registers ---

// sums [H] = bias + rows of the weights
template <int Block>
void add_rows(const float* weights, const float* bias, int hidden, const std::uint16_t* rows,
              int count, float* sums) {
    for (int start = 0; start < hidden; start += Block) {
        float block[Block];
        for (int k = 0; k < Block; ++k) block[k] = bias[start + k];
        for (int i = 0; i < count; ++i) {
            const float* row = weights + std::size_t(rows[i]) * std::size_t(hidden) + start;
            for (int k = 0; k < Block; ++k) block[k] += row[k];
        }
        for (int k = 0; k < Block; ++k) sums[start + k] = block[k];
    }
}

// Sum of squared clipped activations times their weights.
float output_product(const float* sums, const float* weights, int hidden) {
    float lanes[LANES] = {};
    for (int start = 0; start < hidden; start += LANES)
        for (int k = 0; k < LANES; ++k) {
            const float active = std::min(std::max(sums[start + k], 0.0f), 1.0f);
            lanes[k] += active * active * weights[start + k];
        }
    float total = 0;
    for (const float lane : lanes) total += lane;
    return total;
}

// From the derivative with respect to the output: adds the gradient of the output weights and
// replaces sums [H] by their derivatives.
void back_through_output(float derivative, float* sums, const float* weights,
                         float* weight_gradient, int hidden) {
    for (int h = 0; h < hidden; ++h) {
        const float sum = sums[h];
        const float active = std::min(std::max(sum, 0.0f), 1.0f);
        weight_gradient[h] += derivative * active * active;
        const float slope = 2.0f * derivative * active * weights[h];
        sums[h] = active == sum ? slope : 0.0f;  // 0 where clipped
    }
}

void add_to_rows(float* gradient, int hidden, const std::uint16_t* rows, int count,
                 const float* derivative) {
    for (int i = 0; i < count; ++i) {
        float* row = gradient + std::size_t(rows[i]) * std::size_t(hidden);
        for (int h = 0; h < hidden; ++h) row[h] += derivative[h];
    }
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

float target_of(const PackedSample& sample, LossSettings loss) {
    const float result = 0.5f * float(sample.result());
    if (loss.wdl >= 1.0f) return result;
    const float expected = sigmoid(float(sample.score) / float(VALUE_SCALE));
    return loss.wdl * result + (1.0f - loss.wdl) * expected;
}

struct Scratch {
    alignas(CACHE_LINE) float sums[2][MAX_HIDDEN];
};

template <int Block>
float forward(const WeightLayout& layout, const float* weights, const SampleFeatures& features,
              Scratch& scratch) {
    const int hidden = layout.hidden;
    for (const int view : {0, 1})
        add_rows<Block>(weights, weights + layout.feature_bias(), hidden, features.rows[view],
                        features.count, scratch.sums[view]);
    const float* output =
        weights + layout.output_weights() + std::size_t(features.bucket) * 2 * std::size_t(hidden);
    return output_product(scratch.sums[0], output, hidden) +
           output_product(scratch.sums[1], output + hidden, hidden) +
           weights[layout.output_bias() + std::size_t(features.bucket)];
}

void backward(const WeightLayout& layout, const float* weights, const SampleFeatures& features,
              float derivative, Scratch& scratch, float* gradient) {
    const int hidden = layout.hidden;
    const std::size_t output =
        layout.output_weights() + std::size_t(features.bucket) * 2 * std::size_t(hidden);
    gradient[layout.output_bias() + std::size_t(features.bucket)] += derivative;
    float* bias = gradient + layout.feature_bias();
    for (const int view : {0, 1}) {
        const std::size_t half = output + std::size_t(view * hidden);
        float* sums = scratch.sums[view];
        back_through_output(derivative, sums, weights + half, gradient + half, hidden);
        for (int h = 0; h < hidden; ++h) bias[h] += sums[h];
        add_to_rows(gradient, hidden, features.rows[view], features.count, sums);
    }
}

// Sum of the losses; adds the sum of the gradients.
template <int Block>
double learn_from(const WeightLayout& layout, const float* weights,
                  std::span<const PackedSample* const> samples, LossSettings loss,
                  float* gradient) {
    Scratch scratch;
    double total = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        __builtin_prefetch(samples[std::min(i + PREFETCH, samples.size() - 1)]);
        const PackedSample& sample = *samples[i];
        const SampleFeatures features(sample, layout.buckets);
        const float expected = sigmoid(forward<Block>(layout, weights, features, scratch));
        const float error = expected - target_of(sample, loss);
        const float size = std::fabs(error);
        float slope = 2.0f * error;
        if (loss.power == 2.0f) {
            total += double(error) * double(error);
        } else {
            const float power = std::pow(size, loss.power - 1.0f);
            total += double(size) * double(power);
            slope = loss.power * std::copysign(power, error);
        }
        const float derivative = slope * expected * (1.0f - expected);
        backward(layout, weights, features, derivative, scratch, gradient);
    }
    return total;
}

// A block of sums stays in registers while rows are added to it.
template <class Function> auto with_block(int hidden, Function&& function) {
    if (hidden % 64 == 0) return function(std::integral_constant<int, 64>{});
    if (hidden % 32 == 0) return function(std::integral_constant<int, 32>{});
    return function(std::integral_constant<int, 16>{});
}

// Calls work(0) .. work(parts - 1) on some threads, in any order.
void for_each_part(int threads, int parts, const std::function<void(int)>& work) {
    std::atomic<int> next{0};
    const auto run = [&] {
        for (int part = next++; part < parts; part = next++) work(part);
    };
    std::vector<std::jthread> helpers;  // join when destroyed
    helpers.reserve(std::size_t(std::min(threads, parts)));
    try {
        for (int i = 1; i < std::min(threads, parts); ++i) helpers.emplace_back(run);
    } catch (const std::system_error&) {
        // The system starts no more threads: those that run do the rest.
    }
    run();
}

std::pair<std::size_t, std::size_t> part_of(std::size_t size, int part, int parts) {
    return {size * std::size_t(part) / std::size_t(parts),
            size * std::size_t(part + 1) / std::size_t(parts)};
}

}  // namespace

ShuffledOrder::ShuffledOrder(std::uint64_t size, std::uint64_t seed) : size_(size), half_bits_(1) {
    while (half_bits_ < 31 && size > std::uint64_t(1) << (2 * half_bits_)) ++half_bits_;
    for (std::uint64_t& key : keys_) key = splitmix64(seed);
}

std::uint64_t ShuffledOrder::operator[](std::uint64_t index) const {
    const std::uint64_t mask = (std::uint64_t(1) << half_bits_) - 1;
    // The cipher permutes 0 .. 4^half_bits - 1, at most four times the size. Reapplying it to
    // numbers beyond the size leaves a permutation of those below (cycle walking).
    do {
        std::uint64_t left = index >> half_bits_, right = index & mask;
        for (const std::uint64_t key : keys_) {
            std::uint64_t mixed = right ^ key;
            const std::uint64_t next = left ^ (splitmix64(mixed) & mask);
            left = right;
            right = next;
        }
        index = left << half_bits_ | right;
    } while (index >= size_);
    return index;
}

Learner::Learner(int hidden, int buckets, int threads)
    : layout_{hidden, buckets}, threads_(std::max(1, threads)) {
    check_network_size(hidden, buckets);
    weights_ = AlignedArray<float>(layout_.size());
    first_moments_ = AlignedArray<float>(layout_.size());
    second_moments_ = AlignedArray<float>(layout_.size());
    for (auto& gradient : gradients_) gradient = AlignedArray<float>(layout_.size());
}

double Learner::sum_gradient(const std::vector<const PackedSample*>& samples, LossSettings loss) {
    double losses[CHUNKS];
    for_each_part(threads_, CHUNKS, [&](int part) {
        float* gradient = gradients_[part].data();
        std::fill_n(gradient, layout_.size(), 0.0f);
        const auto [begin, end] = part_of(samples.size(), part, CHUNKS);
        const std::span<const PackedSample* const> mine(samples.data() + begin, end - begin);
        losses[part] = with_block(layout_.hidden, [&](auto block) {
            return learn_from<block.value>(layout_, weights_.data(), mine, loss, gradient);
        });
    });
    double total = 0;
    for (const double part : losses) total += part;
    return total;
}

void Learner::update(float learning_rate, float scale) {
    ++steps;
    const float correction1 = float(1.0 - std::pow(double(adam.beta1), double(steps)));
    const float correction2 = float(std::sqrt(1.0 - std::pow(double(adam.beta2), double(steps))));
    const float step = learning_rate / correction1;
    const float decay = 1.0f - learning_rate * adam.weight_decay;
    const float beta1 = adam.beta1, beta2 = adam.beta2, epsilon = adam.epsilon;
    for_each_part(threads_, CHUNKS, [&](int part) {
        const auto [begin, end] = part_of(layout_.size() / LANES, part, CHUNKS);
        const std::size_t last = part == CHUNKS - 1 ? layout_.size() : end * LANES;
        float* weights = weights_.data();
        float* first = first_moments_.data();
        float* second = second_moments_.data();
        const float *g0 = gradients_[0].data(), *g1 = gradients_[1].data(),
                    *g2 = gradients_[2].data(), *g3 = gradients_[3].data();
        static_assert(CHUNKS == 4);
        for (std::size_t i = begin * LANES; i < last; ++i) {
            const float gradient = scale * (((g0[i] + g1[i]) + g2[i]) + g3[i]);
            first[i] = beta1 * first[i] + (1.0f - beta1) * gradient;
            second[i] = beta2 * second[i] + (1.0f - beta2) * gradient * gradient;
            const float size = std::sqrt(second[i]) / correction2 + epsilon;
            weights[i] = weights[i] * decay - step * first[i] / size;
        }
        const std::size_t bias = layout_.feature_bias(), output = layout_.output_weights(),
                          output_bias = layout_.output_bias();
        for (std::size_t i = begin * LANES; i < last; ++i) {
            const bool is_bias = (i >= bias && i < output) || i >= output_bias;
            const float limit = is_bias ? BIAS_LIMIT : WEIGHT_LIMIT;
            weights[i] = std::min(std::max(weights[i], -limit), limit);
        }
    });
}

double Learner::train(std::span<const PackedSample> samples, std::uint64_t seed,
                      std::size_t batch_size, std::size_t first,
                      std::span<const float> learning_rates, LossSettings loss) {
    const ShuffledOrder order(samples.size(), seed);
    std::vector<const PackedSample*> batch;
    double total = 0;
    std::size_t used = 0;
    for (std::size_t i = 0; i < learning_rates.size(); ++i) {
        const std::size_t begin = (first + i) * batch_size;
        const std::size_t end = std::min(begin + batch_size, samples.size());
        if (begin >= end) break;
        batch.clear();
        for (std::size_t k = begin; k < end; ++k) batch.push_back(&samples[order[k]]);
        total += sum_gradient(batch, loss);
        used += batch.size();
        update(learning_rates[i], 1.0f / float(batch.size()));
    }
    return used ? total / double(used) : 0.0;
}

double Learner::gradient(std::span<const PackedSample> samples, LossSettings loss,
                         std::span<float> gradient) {
    std::vector<const PackedSample*> batch;
    for (const PackedSample& sample : samples) batch.push_back(&sample);
    const double total = sum_gradient(batch, loss);
    const float scale = samples.empty() ? 0.0f : 1.0f / float(samples.size());
    for (std::size_t i = 0; i < layout_.size(); ++i) {
        float sum = 0;
        for (const auto& part : gradients_) sum += part[i];
        gradient[i] = scale * sum;
    }
    return samples.empty() ? 0.0 : total / double(samples.size());
}

void Learner::evaluate(std::span<const PackedSample> samples, std::span<float> raw) const {
    constexpr int PARTS = 16;
    for_each_part(threads_, PARTS, [&](int part) {
        const auto [begin, end] = part_of(samples.size(), part, PARTS);
        Scratch scratch;
        for (std::size_t i = begin; i < end; ++i) {
            const SampleFeatures features(samples[i], layout_.buckets);
            raw[i] = with_block(layout_.hidden, [&](auto block) {
                return forward<block.value>(layout_, weights_.data(), features, scratch);
            });
        }
    });
}

}  // namespace rookery::nnue
