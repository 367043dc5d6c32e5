#include "nets/squares_net.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "nets/rows.h"

namespace rookery::nets {

namespace {

// As in nets/squares.py.
constexpr std::size_t PIECES = 13, STATES = 12, CODES = PIECES * STATES;
constexpr std::size_t OBSERVATION = 70, CLOCK = 67;
constexpr std::size_t OTHERS[6] = {4, 4, 9, 11, 3, 2};
constexpr std::size_t OTHER_ROWS = 33;
constexpr std::size_t OFFSETS = 15 * 15;
constexpr std::size_t EXCHANGES = 6 * STATES * 7 * STATES;
constexpr std::size_t ARRIVALS = 6 * 3 * OFFSETS, DEPARTURES = 6 * OFFSETS;
constexpr int OPPONENT_KING = 12;

}  // namespace

struct SquaresNet::Scratch {
    std::vector<float> first, second, hidden, key, row;
    std::vector<WeightedRow> rows;
};

SquaresNet::SquaresNet(const SquaresWeights& w)
    : width_(padded(w.width)), key_width_(padded(w.key_width)) {
    const std::size_t places = 64 * (PIECES + STATES) + OTHER_ROWS;
    const std::size_t rows = EXCHANGES + ARRIVALS + DEPARTURES + std::size_t(encode::AZ_ACTIONS);
    require_size(w.places, places * w.width, "places");
    require_size(w.codes, w.width * CODES, "codes");
    for (const auto& bias : {w.codes_bias, w.second_bias, w.third_bias, w.value})
        require_size(bias, w.width, "bias or value");
    for (const auto& layer : {w.second, w.third}) require_size(layer, w.width * w.width, "layer");
    require_size(w.key, w.key_width * w.width, "key");
    require_size(w.key_bias, w.key_width, "key bias");
    require_size(w.moves, rows * w.key_width, "moves");
    require_size(w.value_bias, 1, "value bias");
    squares_.resize(64 * CODES * width_, 0.0f);
    for (std::size_t square = 0; square < 64; ++square)
        for (std::size_t code = 0; code < CODES; ++code) {
            float* row = squares_.data() + (square * CODES + code) * width_;
            const float* piece = &w.places[(square * PIECES + code % PIECES) * w.width];
            const float* state =
                &w.places[(64 * PIECES + square * STATES + code / PIECES) * w.width];
            for (std::size_t j = 0; j < w.width; ++j)
                row[j] = piece[j] + state[j] + w.codes[j * CODES + code];
        }
    others_.resize(OTHER_ROWS * width_, 0.0f);
    for (std::size_t i = 0; i < OTHER_ROWS; ++i)
        std::copy_n(&w.places[(64 * (PIECES + STATES) + i) * w.width], w.width,
                    others_.data() + i * width_);
    first_bias_ = extended(w.codes_bias, width_);
    second_ = transposed(w.second, w.width, w.width);
    second_bias_ = extended(w.second_bias, width_);
    third_ = transposed(w.third, w.width, w.width);
    third_bias_ = extended(w.third_bias, width_);
    key_ = transposed(w.key, w.key_width, w.width);
    key_bias_ = extended(w.key_bias, key_width_);
    moves_ = padded_rows(w.moves, w.key_width);
    value_ = extended(w.value, width_);
    value_bias_ = w.value_bias[0];
    origins_ = board_squares(w.origins, std::size_t(encode::AZ_ACTIONS));
    destinations_ = board_squares(w.destinations, std::size_t(encode::AZ_ACTIONS));
}

// Rows of a move: moving and captured piece, destination and origin relative to the opponent's
// king, and the action itself.
std::array<std::size_t, 4> SquaresNet::move_rows(const std::uint8_t* observation, int king,
                                                 std::int32_t action) const {
    const int origin = origins_[std::size_t(action)], to = destinations_[std::size_t(action)];
    const int source = observation[origin], target = observation[to];
    const auto piece = std::size_t(std::clamp(source % int(PIECES) - 1, 0, 5));
    const auto taken = std::size_t(std::clamp(target % int(PIECES) - 6, 0, 6));
    const auto source_state = std::size_t(source) / PIECES;
    const auto target_state = std::size_t(target) / PIECES;
    const auto offset = [&](int square) {
        return std::size_t((square / 8 - king / 8 + 7) * 15 + square % 8 - king % 8 + 7);
    };
    return {((piece * STATES + source_state) * 7 + taken) * STATES + target_state,
            EXCHANGES + (piece * 3 + target_state % 3) * OFFSETS + offset(to),
            EXCHANGES + ARRIVALS + piece * OFFSETS + offset(origin),
            EXCHANGES + ARRIVALS + DEPARTURES + std::size_t(action)};
}

void SquaresNet::evaluate_one(const std::uint8_t* observation, std::span<const std::int32_t> legal,
                              Scratch& s, float* logits, float& value) const {
    // 1. Rows of the position.
    s.rows.clear();
    int king = 0;
    for (std::size_t square = 0; square < 64; ++square) {
        const std::size_t code = observation[square];
        if (code % PIECES == OPPONENT_KING) king = int(square);
        s.rows.push_back({squares_.data() + (square * CODES + code) * width_, 1.0f});
    }
    std::size_t row = 0;
    for (std::size_t i = 0; i < 6; ++i) {
        const std::size_t entry = observation[64 + i];
        s.rows.push_back(
            {others_.data() + (row + (64 + i == CLOCK ? entry / 10 : entry)) * width_, 1.0f});
        row += OTHERS[i];
    }
    s.first = first_bias_;
    add_rows(s.rows, width_, s.first.data());
    // 2. Two layers; zero inputs are skipped, NaNs are not.
    s.second = second_bias_;
    add_layer(s.first, second_, width_, s.rows, s.second.data());
    for (float& one : s.second) one = std::max(one, 0.0f);
    s.hidden = third_bias_;
    add_layer(s.second, third_, width_, s.rows, s.hidden.data());
    for (std::size_t i = 0; i < width_; ++i)
        s.hidden[i] = s.second[i] + std::max(s.hidden[i], 0.0f);
    // 3. Value and key (hidden is never negative); logits of the legal moves.
    value = std::tanh(dot(s.hidden.data(), value_.data(), width_) + value_bias_);
    s.key = key_bias_;
    add_layer(s.hidden, key_, key_width_, s.rows, s.key.data());
    for (std::size_t i = 0; i < legal.size(); ++i)
        logits[i] = move_logit(s.key.data(), moves_.data(), move_rows(observation, king, legal[i]),
                               key_width_);
}

void SquaresNet::evaluate(const std::uint8_t* observations, const std::int32_t* legal,
                          const std::int64_t* offsets, std::size_t count, float* logits,
                          float* values) const {
    thread_local Scratch scratch;
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = std::size_t(offsets[i]);
        evaluate_one(observations + i * OBSERVATION,
                     {legal + first, std::size_t(offsets[i + 1]) - first}, scratch, logits + first,
                     values[i]);
    }
}

void SquaresNet::evaluate(std::span<const std::uint8_t> observations,
                          std::span<const std::int32_t> legal,
                          std::span<const std::int64_t> offsets, float* logits,
                          float* values) const {
    check_batch(observations.size(), OBSERVATION, legal, offsets);
    for (std::size_t i = 0; i < observations.size(); ++i) {
        const std::size_t entry = i % OBSERVATION;
        if (observations[i] >= (entry < 64 ? CODES : entry == CLOCK ? 110 : OTHERS[entry - 64]))
            throw std::invalid_argument("entry " + std::to_string(entry) +
                                        " of an observation is not one of tactical70");
    }
    evaluate(observations.data(), legal.data(), offsets.data(), offsets.size() - 1, logits, values);
}

void SquaresNet::evaluate(const encode::LeafBatch& batch, float* logits, float* values) const {
    evaluate(batch.observations.data(), batch.legal_actions.data(), batch.legal_offsets.data(),
             batch.size(), logits, values);
}

}  // namespace rookery::nets
