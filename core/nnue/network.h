// The evaluation network `nnue768`: (768 -> H) x 2 -> 1 x buckets, with integer arithmetic.
//
//   piece on square --768 features--> accumulator of White's view  [H]  \ mover's half first
//                   --768 features--> accumulator of Black's view  [H]  /  --> output of a bucket
//
// Feature of a piece in one view (the same formula in the engine, the learner and
// Game.nnue_features): 384 * (opponent's piece) + 64 * type + square. Squares are flipped
// vertically in Black's view and mirrored horizontally while the viewer's king is on files e-h. The
// output bucket depends on the number of pieces: (count - 2) * buckets / 32.
//
// A network is constructed from float weights and quantises them. Value = 400 * raw output, where
// sigmoid(raw output) is the expected score in [0, 1] of the side to move.
//
//   quantity         unit     clipped to          so that
//   feature weights  1/255    +-505 (+-1.98)      bias + 32 weights fit an int16 accumulator
//   feature bias     1/255    +-16000 (+-62.7)
//   output weights   1/64     +-127 (+-1.98)      activation (<= 255) * weight fits an int16
//   output bias      1/16320  +-2^30
//
// Activations are clamp(accumulator, 0, 255)^2 (squared clipped ReLU). All sums are exact, so every
// instruction set gives the same result. Searches use an AccumulatorStack (accumulator.h).

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/aligned.h"
#include "rules/position.h"

namespace rookery::nnue {

inline constexpr int FEATURES = 768;
inline constexpr int ACTIVATION_UNIT = 255;  // an accumulator of 1.0
inline constexpr int OUTPUT_UNIT = 64;  // an output weight of 1.0
inline constexpr int VALUE_SCALE = 400;  // centipawn-like units per unit of raw output
inline constexpr int MIN_HIDDEN = 16;
inline constexpr int MAX_HIDDEN = 1024;
inline constexpr int MAX_BUCKETS = 32;
inline constexpr int FEATURE_WEIGHT_LIMIT = 505;
inline constexpr int FEATURE_BIAS_LIMIT = 16000;
inline constexpr int OUTPUT_WEIGHT_LIMIT = 127;

// The mask XORed to squares: vertical flip for Black, horizontal mirror by the viewer's king.
[[nodiscard]] constexpr int view_flip(Color view, Square own_king) {
    return (view == WHITE ? 0 : 56) ^ (file_of(own_king) >= 4 ? 7 : 0);
}
// `seen`: the square after the flip.
[[nodiscard]] constexpr int feature_index(bool theirs, PieceType type, Square seen) {
    return 384 * theirs + 64 * type + seen;
}
[[nodiscard]] constexpr int feature_index(Color view, int flip, Piece piece, Square square) {
    return feature_index(color_of(piece) != view, type_of(piece), square ^ flip);
}
// The features of all pieces in one view, by ascending (unflipped) square.
struct Features {
    int indices[32];
    int count = 0;
};
[[nodiscard]] Features active_features(const Position& position, Color view);

[[nodiscard]] constexpr int output_bucket(int piece_count, int buckets) {
    return (piece_count - 2) * buckets / 32;
}

// Invalid weights: a wrong shape, a NaN or an infinity. The message names the tensor.
struct NetworkError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Throws NetworkError unless hidden is a multiple of 16 in range and buckets are in range.
void check_network_size(int hidden, int buckets);

// Immutable, shared by threads.
class Network {
  public:
    // Row-major float arrays: feature_weights [768, H], feature_bias [H],
    // output_weights [buckets, 2H] (mover's half first), output_bias [buckets].
    // Throws NetworkError.
    Network(int hidden, int buckets, std::span<const float> feature_weights,
            std::span<const float> feature_bias, std::span<const float> output_weights,
            std::span<const float> output_bias);

    [[nodiscard]] int hidden() const { return hidden_; }
    [[nodiscard]] int buckets() const { return buckets_; }
    // Number of weights that were clipped.
    [[nodiscard]] int clipped() const { return clipped_; }

    // Value for the side to move, computed from scratch.
    [[nodiscard]] int evaluate(const Position& position) const;

    // --- For AccumulatorStack ---
    // Length of a row: H rounded up to whole vectors, padded with zeros.
    [[nodiscard]] int stride() const { return stride_; }
    [[nodiscard]] const std::int16_t* feature_row(int feature) const {
        return feature_weights_.data() + std::size_t(feature) * std::size_t(stride_);
    }
    [[nodiscard]] const std::int16_t* feature_bias() const { return feature_bias_.data(); }
    // Value of two accumulators; `piece_count` selects the bucket.
    [[nodiscard]] int output(const std::int16_t* mover, const std::int16_t* other,
                             int piece_count) const;

  private:
    int hidden_, buckets_, stride_, clipped_ = 0;
    AlignedArray<std::int16_t> feature_weights_;  // [768, stride]
    AlignedArray<std::int16_t> feature_bias_;  // [stride]
    AlignedArray<std::int16_t> output_weights_;  // [buckets, 2 * stride]
    std::vector<std::int32_t> output_bias_;  // [buckets]
};

using NetworkPtr = std::shared_ptr<const Network>;

// Small pseudo-random weights, for tests and the first generation of games.
[[nodiscard]] NetworkPtr random_network(int hidden, int buckets, std::uint64_t seed);
// Material (100, 300, 300, 500, 900) and a bonus for pieces in the centre.
[[nodiscard]] NetworkPtr material_network();

}  // namespace rookery::nnue
