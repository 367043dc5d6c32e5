// Positions as numbers, the way networks see them. Tables in words: src/rookery/encodings.py,
// which a test compares with this code. Encoders write into memory of the caller.

#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "rules/game.h"

namespace rookery::encode {

inline constexpr int MAX_HISTORY = 8;

// What an encoder may look at: the present position, up to seven before it, and the keys for
// claims by repetition.
struct EncodeView {
    const Position* positions[MAX_HISTORY];  // [0] is the present
    int count;                               // valid entries, at least 1
    const RepetitionKeys* keys;
    [[nodiscard]] const Position& now() const { return *positions[0]; }
};
[[nodiscard]] EncodeView view_of(const Game& game);

struct ObservationLayout {
    std::string_view name;
    std::vector<std::size_t> shape;
    int history;  // positions that the encoder looks at
    void (*encode)(const EncodeView&, float* out);
    void (*encode_bytes)(const EncodeView&, std::uint8_t* out);  // null if values do not fit

    [[nodiscard]] std::size_t size() const;
};

// Throws std::invalid_argument naming the known layouts.
[[nodiscard]] const ObservationLayout& find_observation(std::string_view name);
[[nodiscard]] const std::vector<ObservationLayout>& observation_layouts();
// Throws std::invalid_argument if this layout has no meaning for the position (kpk3).
void check_encodable(const ObservationLayout& layout, const Position& position);

// --- Hand-made features (features.cpp), one row of 353 or 363 numbers ---
void encode_pepper353(const EncodeView& view, float* out);
void encode_giraffe363(const EncodeView& view, float* out);

}  // namespace rookery::encode
