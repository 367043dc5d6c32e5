// Sums of weighted rows in vector registers, shared by the native networks of tree search.
//
// Matrices are stored by input: the row of an input holds its weights to all outputs, so that zero
// inputs cost nothing. Widths are padded with zeros to whole vectors.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "encode/actions.h"

namespace rookery::nets {

// Sixteen unaligned floats; compilers split them into smaller registers.
inline constexpr std::size_t LANES = 16;
using Vector = float __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

inline std::size_t padded(std::size_t width) { return (width + LANES - 1) / LANES * LANES; }
inline const Vector& at(const float* data) { return *reinterpret_cast<const Vector*>(data); }
inline Vector& at(float* data) { return *reinterpret_cast<Vector*>(data); }

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
inline void add_rows(std::span<const WeightedRow> rows, std::size_t width, float* out) {
    std::size_t first = 0;
    for (; first + 8 * LANES <= width; first += 8 * LANES) add_tile<8>(rows, first, out);
    for (; first < width; first += LANES) add_tile<1>(rows, first, out);
}

inline float dot(const float* a, const float* b, std::size_t width) {
    Vector sums{};
    for (std::size_t i = 0; i < width; i += LANES) sums += at(a + i) * at(b + i);
    float total = 0;
    for (std::size_t k = 0; k < LANES; ++k) total += sums[k];
    return total;
}

inline void require_size(std::span<const float> values, std::size_t size, const char* name) {
    if (values.size() != size)
        throw std::invalid_argument(std::string("weights '") + name + "' have " +
                                    std::to_string(values.size()) + " entries instead of " +
                                    std::to_string(size));
}

// [outputs, inputs] to [padded inputs, padded outputs].
[[nodiscard]] inline std::vector<float> transposed(std::span<const float> weights,
                                                   std::size_t outputs, std::size_t inputs) {
    const std::size_t stride = padded(outputs);
    std::vector<float> result(padded(inputs) * stride, 0.0f);
    for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i) result[i * stride + o] = weights[o * inputs + i];
    return result;
}
[[nodiscard]] inline std::vector<float> extended(std::span<const float> values, std::size_t size) {
    std::vector<float> result(values.begin(), values.end());
    result.resize(size, 0.0f);
    return result;
}

// Rows of a table [count, width] with their padding.
[[nodiscard]] inline std::vector<float> padded_rows(std::span<const float> table,
                                                    std::size_t width) {
    const std::size_t count = table.size() / width, stride = padded(width);
    std::vector<float> result(count * stride, 0.0f);
    for (std::size_t i = 0; i < count; ++i)
        std::copy_n(table.data() + i * width, width, result.data() + i * stride);
    return result;
}

// Squares [count] as small integers. Throws std::invalid_argument.
[[nodiscard]] inline std::vector<std::int32_t> board_squares(std::span<const std::int64_t> table,
                                                             std::size_t count) {
    if (table.size() != count)
        throw std::invalid_argument("origins and destinations must have " + std::to_string(count) +
                                    " entries");
    for (const std::int64_t place : table)
        if (place < 0 || place >= 64)
            throw std::invalid_argument("an origin or destination is outside the board");
    return {table.begin(), table.end()};
}

// Refuses a batch of observations of `size` entries whose shapes or actions do not fit.
inline void check_batch(std::size_t entries, std::size_t size, std::span<const std::int32_t> legal,
                        std::span<const std::int64_t> offsets) {
    const std::size_t count = entries / size;
    if (entries != count * size || offsets.size() != count + 1 || offsets[0] != 0 ||
        offsets[count] != std::int64_t(legal.size()) ||
        !std::is_sorted(offsets.begin(), offsets.end()))
        throw std::invalid_argument("shapes of observations [B, " + std::to_string(size) +
                                    "], legal and offsets do not match");
    for (const std::int32_t action : legal)
        if (action < 0 || action >= encode::AZ_ACTIONS)
            throw std::invalid_argument("action " + std::to_string(action) +
                                        " is outside [0, 4672)");
}

// out += weights * relu(inputs); `rows` is scratch memory. Zeros are skipped, NaNs are not.
inline void add_layer(std::span<const float> inputs, const std::vector<float>& weights,
                      std::size_t outputs, std::vector<WeightedRow>& rows, float* out) {
    rows.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!(inputs[i] <= 0)) rows.push_back({weights.data() + i * outputs, inputs[i]});
    add_rows(rows, outputs, out);
}

// Dot product of a key and the sum of a move's rows of a table [*, width].
template <std::size_t COUNT>
float move_logit(const float* key, const float* table, const std::array<std::size_t, COUNT>& rows,
                 std::size_t width) {
    Vector sums{};
    for (std::size_t j = 0; j < width; j += LANES) {
        Vector move = at(table + rows[0] * width + j);
        for (std::size_t k = 1; k < COUNT; ++k) move += at(table + rows[k] * width + j);
        sums += move * at(key + j);
    }
    float total = 0;
    for (std::size_t k = 0; k < LANES; ++k) total += sums[k];
    return total;
}

}  // namespace rookery::nets
