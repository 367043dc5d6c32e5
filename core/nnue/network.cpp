#include "nnue/network.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/random.h"
#include "nnue/kernels.h"
#include "rules/see.h"

namespace rookery::nnue {

namespace {

void require_size(const char* name, std::size_t found, std::size_t expected) {
    if (found != expected)
        throw NetworkError(std::string("network: ") + name + " has " + std::to_string(found) +
                           " elements instead of " + std::to_string(expected));
}

// Rounds to multiples of 1 / unit, clips, and counts what was clipped.
int quantise(const char* name, std::size_t index, float value, int unit, int limit, int& clipped) {
    if (!std::isfinite(value))
        throw NetworkError(std::string("network: ") + name + " has a NaN or an infinity at " +
                           std::to_string(index));
    const double scaled = std::round(double(value) * unit);
    clipped += std::abs(scaled) > limit;
    return int(std::clamp(scaled, -double(limit), double(limit)));
}

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

int checked_hidden(int hidden, int buckets) {
    check_network_size(hidden, buckets);
    return hidden;
}

}  // namespace

void check_network_size(int hidden, int buckets) {
    if (hidden < MIN_HIDDEN || hidden > MAX_HIDDEN || hidden % 16 != 0)
        throw NetworkError("network: hidden size " + std::to_string(hidden) +
                           " is not a multiple of 16 from " + std::to_string(MIN_HIDDEN) + " to " +
                           std::to_string(MAX_HIDDEN));
    if (buckets < 1 || buckets > MAX_BUCKETS)
        throw NetworkError("network: " + std::to_string(buckets) + " output buckets are not 1 to " +
                           std::to_string(MAX_BUCKETS));
}

Network::Network(int hidden, int buckets, std::span<const float> feature_weights,
                 std::span<const float> feature_bias, std::span<const float> output_weights,
                 std::span<const float> output_bias)
    : hidden_(checked_hidden(hidden, buckets)),
      buckets_(buckets),
      stride_(round_up(hidden, ROW_MULTIPLE)),
      feature_weights_(std::size_t(FEATURES) * std::size_t(stride_)),
      feature_bias_(std::size_t(stride_)),
      output_weights_(std::size_t(buckets) * 2 * std::size_t(stride_)),
      output_bias_(std::size_t(buckets)) {
    const auto h = std::size_t(hidden), s = std::size_t(stride_), b = std::size_t(buckets);
    require_size("feature_weights", feature_weights.size(), FEATURES * h);
    require_size("feature_bias", feature_bias.size(), h);
    require_size("output_weights", output_weights.size(), b * 2 * h);
    require_size("output_bias", output_bias.size(), b);
    for (std::size_t i = 0; i < FEATURES * h; ++i)
        feature_weights_[i / h * s + i % h] =
            std::int16_t(quantise("feature_weights", i, feature_weights[i], ACTIVATION_UNIT,
                                  FEATURE_WEIGHT_LIMIT, clipped_));
    for (std::size_t i = 0; i < h; ++i)
        feature_bias_[i] = std::int16_t(quantise("feature_bias", i, feature_bias[i],
                                                 ACTIVATION_UNIT, FEATURE_BIAS_LIMIT, clipped_));
    for (std::size_t i = 0; i < b * 2 * h; ++i)
        output_weights_[i / h * s + i % h] = std::int16_t(quantise(
            "output_weights", i, output_weights[i], OUTPUT_UNIT, OUTPUT_WEIGHT_LIMIT, clipped_));
    for (std::size_t i = 0; i < b; ++i)
        output_bias_[i] = quantise("output_bias", i, output_bias[i], ACTIVATION_UNIT * OUTPUT_UNIT,
                                   1 << 30, clipped_);
}

Features active_features(const Position& position, Color view) {
    Features features;
    const int flip = view_flip(view, position.king(view));
    for (Bitboard all = position.occupied(); all;) {
        const Square square = pop_square(all);
        features.indices[features.count++] =
            feature_index(view, flip, position.board[square], square);
    }
    return features;
}

int Network::output(const std::int16_t* mover, const std::int16_t* other, int piece_count) const {
    const int bucket = std::min(output_bucket(piece_count, buckets_), buckets_ - 1);
    const std::int16_t* weights =
        output_weights_.data() + std::size_t(bucket) * 2 * std::size_t(stride_);
    const std::int64_t sum = kernels::Best::dot(mover, weights, stride_) +
                             kernels::Best::dot(other, weights + stride_, stride_);
    // The sum is in units of 255 * 255 * 64, the bias in units of 255 * 64.
    return int((sum / ACTIVATION_UNIT + output_bias_[std::size_t(bucket)]) * VALUE_SCALE /
               (ACTIVATION_UNIT * OUTPUT_UNIT));
}

int Network::evaluate(const Position& position) const {
    alignas(CACHE_LINE) std::int16_t rows[2][MAX_HIDDEN];
    for (const Color view : {WHITE, BLACK}) {
        std::copy_n(feature_bias(), stride_, rows[view]);
        const Features features = active_features(position, view);
        for (int i = 0; i < features.count; ++i) {
            const std::int16_t* row = feature_row(features.indices[i]);
            kernels::Best::combine<1, 0>(rows[view], rows[view], &row, nullptr, stride_);
        }
    }
    return output(rows[position.side], rows[~position.side], count_bits(position.occupied()));
}

NetworkPtr random_network(int hidden, int buckets, std::uint64_t seed) {
    check_network_size(hidden, buckets);
    Random random(seed);
    const auto uniform = [&](std::size_t count, float width) {
        std::vector<float> values(count);
        for (float& value : values) value = float(2 * random.uniform() - 1) * width;
        return values;
    };
    const auto h = std::size_t(hidden), b = std::size_t(buckets);
    // Widths that keep sums of 32 features and of 2H products around 1.
    const auto feature_weights = uniform(FEATURES * h, 0.25F);
    const auto feature_bias = uniform(h, 0.25F);
    const auto output_weights = uniform(b * 2 * h, 2.0F / std::sqrt(float(2 * hidden)));
    const auto output_bias = uniform(b, 0.1F);
    return std::make_shared<Network>(hidden, buckets, feature_weights, feature_bias, output_weights,
                                     output_bias);
}

NetworkPtr material_network() {
    // With s the balance in pawns of one view, (1/2 + k s)^2 - (1/2 - k s)^2 = 2 k s: a pair of
    // neurons is linear until it clips at |s| = 1 / 2k. One pair clips at 8 pawns, a coarser one at
    // 32. Both views together give the raw output 4 s (k_0 w_0 + k_1 w_1) = s / 4, 100 per pawn.
    constexpr int HIDDEN = 16;
    constexpr float STEPS[2] = {1.0F / 16, 1.0F / 64}, OUTPUTS[2] = {0.75F, 1.0F};
    std::vector<float> weights(std::size_t(FEATURES) * HIDDEN, 0.0F), bias(HIDDEN, 0.0F);
    std::vector<float> output(std::size_t(2 * HIDDEN), 0.0F);
    const std::vector<float> output_bias(1, 0.0F);
    for (std::size_t pair = 0; pair < 2; ++pair)
        for (std::size_t sign = 0; sign < 2; ++sign) {
            const std::size_t neuron = 2 * pair + sign;
            bias[neuron] = 0.5F;
            output[neuron] = sign == 0 ? OUTPUTS[pair] : -OUTPUTS[pair];
            output[HIDDEN + neuron] = -output[neuron];
        }
    for (int side = 0; side < 2; ++side)
        for (int type = PAWN; type < KING; ++type)
            for (Square square = 0; square < 64; ++square) {
                const int file = file_of(square), rank = rank_of(square);
                const auto centre = float(std::min({file, 7 - file, rank, 7 - rank}));
                const float advance = type == PAWN ? float(side == 0 ? rank : 7 - rank) : 0.0F;
                const float worth =
                    float(PIECE_VALUE[type]) / 100 + 0.1F * centre + 0.08F * advance;
                float* row =
                    &weights[std::size_t(feature_index(side == 1, PieceType(type), square)) *
                             HIDDEN];
                for (std::size_t pair = 0; pair < 2; ++pair) {
                    row[2 * pair] = (side == 0 ? STEPS[pair] : -STEPS[pair]) * worth;
                    row[2 * pair + 1] = -row[2 * pair];
                }
            }
    return std::make_shared<Network>(HIDDEN, 1, weights, bias, output, output_bias);
}

}  // namespace rookery::nnue
