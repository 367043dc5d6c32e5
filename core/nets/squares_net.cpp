#include "nets/squares_net.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

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

// Sixteen unaligned floats; compilers split them into smaller registers.
constexpr std::size_t LANES = 16;
using Vector = float __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

std::size_t padded(std::size_t width) { return (width + LANES - 1) / LANES * LANES; }
const Vector& at(const float* data) { return *reinterpret_cast<const Vector*>(data); }
Vector& at(float* data) { return *reinterpret_cast<Vector*>(data); }

// out += sum of factor * row; COUNT vectors stay in registers.
struct WeightedRow {
    const float* row;
    float factor;
};
template <std::size_t COUNT>
void add_tile(std::span<const WeightedRow> rows, std::size_t first, float* out) {
    Vector sums[COUNT];
    for (std::size_t k = 0; k < COUNT; ++k) sums[k] = at(out + first + k * LANES);
    for (const WeightedRow& entry : rows) {
        const float* row = entry.row + first;
        for (std::size_t k = 0; k < COUNT; ++k) sums[k] += entry.factor * at(row + k * LANES);
    }
    for (std::size_t k = 0; k < COUNT; ++k) at(out + first + k * LANES) = sums[k];
}
void add_rows(std::span<const WeightedRow> rows, std::size_t width, float* out) {
    std::size_t first = 0;
    for (; first + 8 * LANES <= width; first += 8 * LANES) add_tile<8>(rows, first, out);
    for (; first < width; first += LANES) add_tile<1>(rows, first, out);
}

float dot(const float* a, const float* b, std::size_t width) {
    Vector sums{};
    for (std::size_t i = 0; i < width; i += LANES) sums += at(a + i) * at(b + i);
    float total = 0;
    for (std::size_t k = 0; k < LANES; ++k) total += sums[k];
    return total;
}

void require_size(std::span<const float> values, std::size_t size, const char* name) {
    if (values.size() != size)
        throw std::invalid_argument(std::string("weights '") + name + "' have " +
                                    std::to_string(values.size()) + " entries instead of " +
                                    std::to_string(size));
}

// [outputs, inputs] to [padded inputs, padded outputs].
std::vector<float> transposed(std::span<const float> weights, std::size_t outputs,
                              std::size_t inputs) {
    const std::size_t stride = padded(outputs);
    std::vector<float> result(padded(inputs) * stride, 0.0f);
    for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i) result[i * stride + o] = weights[o * inputs + i];
    return result;
}
std::vector<float> extended(std::span<const float> values, std::size_t size) {
    std::vector<float> result(values.begin(), values.end());
    result.resize(size, 0.0f);
    return result;
}

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
    if (w.origins.size() != std::size_t(encode::AZ_ACTIONS) ||
        w.destinations.size() != w.origins.size())
        throw std::invalid_argument("origins and destinations must have 4672 entries");
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
    moves_.resize(rows * key_width_, 0.0f);
    for (std::size_t i = 0; i < rows; ++i)
        std::copy_n(&w.moves[i * w.key_width], w.key_width, moves_.data() + i * key_width_);
    value_ = extended(w.value, width_);
    value_bias_ = w.value_bias[0];
    origins_.assign(w.origins.begin(), w.origins.end());
    destinations_.assign(w.destinations.begin(), w.destinations.end());
    for (const auto& table : {origins_, destinations_})
        for (const std::int32_t place : table)
            if (place < 0 || place >= 64)
                throw std::invalid_argument("an origin or destination is outside the board");
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
    const auto layer = [&](const std::vector<float>& inputs, const std::vector<float>& weights,
                           std::size_t outputs, std::vector<float>& out) {
        s.rows.clear();
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (!(inputs[i] <= 0)) s.rows.push_back({weights.data() + i * outputs, inputs[i]});
        add_rows(s.rows, outputs, out.data());
    };
    s.second = second_bias_;
    layer(s.first, second_, width_, s.second);
    for (float& one : s.second) one = std::max(one, 0.0f);
    s.hidden = third_bias_;
    layer(s.second, third_, width_, s.hidden);
    for (std::size_t i = 0; i < width_; ++i)
        s.hidden[i] = s.second[i] + std::max(s.hidden[i], 0.0f);
    // 3. Value and key (hidden is never negative); logits of the legal moves.
    value = std::tanh(dot(s.hidden.data(), value_.data(), width_) + value_bias_);
    s.key = key_bias_;
    layer(s.hidden, key_, key_width_, s.key);
    for (std::size_t i = 0; i < legal.size(); ++i) {
        const auto rows = move_rows(observation, king, legal[i]);
        float total = 0;
        Vector sums{};
        for (std::size_t j = 0; j < key_width_; j += LANES) {
            Vector move = at(moves_.data() + rows[0] * key_width_ + j);
            for (std::size_t k = 1; k < 4; ++k)
                move += at(moves_.data() + rows[k] * key_width_ + j);
            sums += move * at(s.key.data() + j);
        }
        for (std::size_t k = 0; k < LANES; ++k) total += sums[k];
        logits[i] = total;
    }
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
    const std::size_t count = observations.size() / OBSERVATION;
    if (observations.size() != count * OBSERVATION || offsets.size() != count + 1 ||
        offsets[0] != 0 || offsets[count] != std::int64_t(legal.size()) ||
        !std::is_sorted(offsets.begin(), offsets.end()))
        throw std::invalid_argument(
            "shapes of observations [B, 70], legal and offsets do not match");
    for (const std::int32_t action : legal)
        if (action < 0 || action >= encode::AZ_ACTIONS)
            throw std::invalid_argument("action " + std::to_string(action) +
                                        " is outside [0, 4672)");
    for (std::size_t i = 0; i < observations.size(); ++i) {
        const std::size_t entry = i % OBSERVATION;
        if (observations[i] >= (entry < 64 ? CODES : entry == CLOCK ? 110 : OTHERS[entry - 64]))
            throw std::invalid_argument("entry " + std::to_string(entry) +
                                        " of an observation is not one of tactical70");
    }
    evaluate(observations.data(), legal.data(), offsets.data(), count, logits, values);
}

void SquaresNet::evaluate(const encode::LeafBatch& batch, float* logits, float* values) const {
    evaluate(batch.observations.data(), batch.legal_actions.data(), batch.legal_offsets.data(),
             batch.size(), logits, values);
}

}  // namespace rookery::nets
