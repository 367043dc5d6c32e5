// Observations: positions as arrays for networks. src/rookery/encodings/ describes the layouts; a
// test compares the two.

#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "rules/game.h"

namespace rookery::encode {

inline constexpr int MAX_HISTORY = 8;

// The input of an encoder; keys are for claims by repetition.
struct EncodeView {
    const Position* positions[MAX_HISTORY];  // current position first
    int count;                               // valid entries, at least 1
    const RepetitionKeys* keys;
    [[nodiscard]] const Position& now() const { return *positions[0]; }
};
[[nodiscard]] EncodeView view_of(const Game& game);

struct ObservationLayout {
    std::string_view name;
    std::vector<std::size_t> shape;
    int history;  // number of positions it encodes
    void (*encode)(const EncodeView&, float* out);
    void (*encode_bytes)(const EncodeView&, std::uint8_t* out);  // null if values do not fit

    [[nodiscard]] std::size_t size() const;
    // Writes size() bytes or floats.
    void write(const EncodeView& view, bool as_bytes, std::uint8_t* out) const {
        as_bytes ? encode_bytes(view, out) : encode(view, reinterpret_cast<float*>(out));
    }
    [[nodiscard]] std::size_t memory(bool as_bytes) const {
        return size() * (as_bytes ? 1 : sizeof(float));
    }
};

// Throws std::invalid_argument with the known layouts.
[[nodiscard]] const ObservationLayout& find_observation(std::string_view name);
[[nodiscard]] const std::vector<ObservationLayout>& observation_layouts();
// Throws std::invalid_argument if the layout cannot encode the position (kpk3).
void check_encodable(const ObservationLayout& layout, const Position& position);

// --- Hand-made features (features.cpp) ---
void encode_pepper353(const EncodeView& view, float* out);
void encode_giraffe363(const EncodeView& view, float* out);

}  // namespace rookery::encode
