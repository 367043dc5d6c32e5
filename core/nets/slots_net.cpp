#include "nets/slots_net.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "nets/rows.h"

namespace rookery::nets {

namespace {

// As in nets/slots.py.
constexpr std::size_t FEATURES = 353;
constexpr std::size_t SLOTS = 32, FIRST_SLOT = 17, SLOT_SIZE = 5;
constexpr std::size_t MOBILITY = FIRST_SLOT + SLOTS * SLOT_SIZE, CONTROL = 225;
constexpr std::size_t LEVELS = 6, STATES = LEVELS * LEVELS;
constexpr std::size_t PLACES = 12 * 64, DANGERS = 12 * STATES, CONTROLS = 64 * STATES;
constexpr std::size_t ABSENT = PLACES + DANGERS + CONTROLS, ROWS = ABSENT + 1;
constexpr std::size_t PLAIN = FIRST_SLOT + (CONTROL - MOBILITY);
constexpr std::size_t OFFSETS = 15 * 15;
constexpr std::size_t EXCHANGES = 7 * LEVELS * 7 * STATES;
constexpr std::size_t ARRIVALS = 7 * 2 * OFFSETS, DEPARTURES = 7 * OFFSETS;
constexpr std::size_t MOVE_ROWS =
    EXCHANGES + ARRIVALS + DEPARTURES + std::size_t(encode::AZ_ACTIONS);
constexpr std::size_t KINGS_SLOT = 16;  // the opponent's king

// Piece code of each slot: own P N B R Q K are 1 to 6, the opponent's 7 to 12.
constexpr std::array<std::uint8_t, SLOTS> CODES = [] {
    constexpr std::uint8_t side[16] = {6, 5, 4, 4, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1};
    std::array<std::uint8_t, SLOTS> codes{};
    for (std::size_t i = 0; i < SLOTS; ++i)
        codes[i] = std::uint8_t(side[i % 16] + (i < 16 ? 0 : 6));
    return codes;
}();
// Level of an attacker by ten times its value: none, pawn, minor piece, rook, queen, king.
constexpr std::uint8_t LEVEL[11] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5};

std::size_t level(float value) { return LEVEL[std::size_t(value * 10.0f + 0.5f)]; }
std::size_t steps(float coordinate) { return std::size_t(coordinate * 7.0f + 0.5f); }

}  // namespace

struct SlotsNet::Scratch {
    std::vector<float> first, second, hidden, key;
    std::vector<WeightedRow> rows;
    std::uint8_t code[64], own[64], theirs[64];  // piece, cheapest attackers of each square
    int king;                                    // the opponent's
};

SlotsNet::SlotsNet(const SlotsWeights& w)
    : width_(padded(w.width)), key_width_(padded(w.key_width)) {
    require_size(w.places, ROWS * w.width, "places");
    require_size(w.plain, w.width * PLAIN, "plain");
    for (const auto& bias : {w.plain_bias, w.second_bias, w.third_bias, w.value})
        require_size(bias, w.width, "bias or value");
    for (const auto& layer : {w.second, w.third}) require_size(layer, w.width * w.width, "layer");
    require_size(w.key, w.key_width * w.width, "key");
    require_size(w.key_bias, w.key_width, "key bias");
    require_size(w.moves, MOVE_ROWS * w.key_width, "moves");
    require_size(w.value_bias, 1, "value bias");
    places_ = padded_rows(w.places, w.width);
    plain_ = transposed(w.plain, w.width, PLAIN);
    first_bias_ = extended(w.plain_bias, width_);
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

// Squares and rows of a position.
void SlotsNet::read_position(const float* features, Scratch& s) const {
    std::fill_n(s.code, 64, std::uint8_t(0));
    s.rows.clear();
    const auto add = [&](std::size_t row, float factor) {
        s.rows.push_back({places_.data() + row * width_, factor});
    };
    float absent = 0;
    for (std::size_t slot = 0; slot < SLOTS; ++slot) {
        const float* entry = features + FIRST_SLOT + slot * SLOT_SIZE;
        if (entry[0] == 0) {
            absent += 2;  // neither a place nor a danger
            continue;
        }
        const std::size_t square = steps(entry[2]) * 8 + steps(entry[1]);
        const std::size_t kind = CODES[slot] - 1u;
        s.code[square] = CODES[slot];
        add(kind * 64 + square, 1.0f);
        add(PLACES + kind * STATES + level(entry[3]) * LEVELS + level(entry[4]), 1.0f);
        if (slot == KINGS_SLOT) s.king = int(square);
    }
    if (absent > 0) add(ABSENT, absent);
    for (std::size_t square = 0; square < 64; ++square) {
        s.own[square] = std::uint8_t(level(features[CONTROL + square]));
        s.theirs[square] = std::uint8_t(level(features[CONTROL + 64 + square]));
        add(PLACES + DANGERS + square * STATES + s.own[square] * LEVELS + s.theirs[square], 1.0f);
    }
    for (std::size_t i = 0; i < PLAIN; ++i) {
        const float value = features[i < FIRST_SLOT ? i : i - FIRST_SLOT + MOBILITY];
        if (value != 0) s.rows.push_back({plain_.data() + i * width_, value});
    }
}

// Rows of a move: the exchange (moving piece and its attacker, captured piece, attackers of the
// destination), destination and origin relative to the opponent's king, and the action itself.
std::array<std::size_t, 4> SlotsNet::move_rows(const Scratch& s, std::int32_t action) const {
    const auto origin = std::size_t(origins_[std::size_t(action)]);
    const auto to = std::size_t(destinations_[std::size_t(action)]);
    // 0: a piece without a slot, such as a second queen.
    const std::size_t piece = s.code[origin] <= 6 ? s.code[origin] : 0;
    const std::size_t taken = s.code[to] > 6 ? s.code[to] - 6u : 0;
    const auto offset = [&](std::size_t square) {
        return std::size_t((int(square / 8) - s.king / 8 + 7) * 15 + int(square % 8) - s.king % 8 +
                           7);
    };
    return {(((piece * LEVELS + s.theirs[origin]) * 7 + taken) * LEVELS + s.own[to]) * LEVELS +
                s.theirs[to],
            EXCHANGES + (piece * 2 + (s.theirs[to] > 0)) * OFFSETS + offset(to),
            EXCHANGES + ARRIVALS + piece * OFFSETS + offset(origin),
            EXCHANGES + ARRIVALS + DEPARTURES + std::size_t(action)};
}

void SlotsNet::evaluate_one(const float* features, std::span<const std::int32_t> legal, Scratch& s,
                            float* logits, float& value) const {
    // 1. Rows of the position.
    read_position(features, s);
    s.first = first_bias_;
    add_rows(s.rows, width_, s.first.data());
    // 2. Two layers.
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
        logits[i] = move_logit(s.key.data(), moves_.data(), move_rows(s, legal[i]), key_width_);
}

void SlotsNet::evaluate(const float* observations, const std::int32_t* legal,
                        const std::int64_t* offsets, std::size_t count, float* logits,
                        float* values) const {
    thread_local Scratch scratch;
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = std::size_t(offsets[i]);
        evaluate_one(observations + i * FEATURES,
                     {legal + first, std::size_t(offsets[i + 1]) - first}, scratch, logits + first,
                     values[i]);
    }
}

void SlotsNet::evaluate(std::span<const float> observations, std::span<const std::int32_t> legal,
                        std::span<const std::int64_t> offsets, float* logits, float* values) const {
    check_batch(observations.size(), FEATURES, legal, offsets);
    for (std::size_t i = 0; i < observations.size(); ++i) {
        const std::size_t entry = i % FEATURES;
        const bool plain = entry < FIRST_SLOT || (entry >= MOBILITY && entry < CONTROL);
        if (plain ? !std::isfinite(observations[i])
                  : !(observations[i] >= 0 && observations[i] <= 1))
            throw std::invalid_argument("entry " + std::to_string(entry) +
                                        " of an observation is not one of pepper353");
    }
    evaluate(observations.data(), legal.data(), offsets.data(), offsets.size() - 1, logits, values);
}

void SlotsNet::evaluate(const encode::LeafBatch& batch, float* logits, float* values) const {
    evaluate(reinterpret_cast<const float*>(batch.observations.data()), batch.legal_actions.data(),
             batch.legal_offsets.data(), batch.size(), logits, values);
}

}  // namespace rookery::nets
