#include "nets/mlp_value.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace rookery::nets {

namespace {

constexpr std::size_t LANES = 16;  // floats per register; two on CPUs with narrower ones
using Vector __attribute__((vector_size(LANES * sizeof(float)))) = float;
constexpr std::size_t MOST_REGISTERS = 8;  // of sums at a time

constexpr std::size_t padded(std::size_t width) { return (width + LANES - 1) / LANES * LANES; }
const Vector& vector_at(const float* place) { return *reinterpret_cast<const Vector*>(place); }
Vector& vector_at(float* place) { return *reinterpret_cast<Vector*>(place); }

// Writes the indices of nonzero values in [first, last); returns their number. `found` has room
// for LANES more.
std::size_t nonzero(const float* values, std::size_t first, std::size_t last, std::int32_t* found) {
    std::size_t count = 0;
#if defined(__AVX512F__)
    __m512i indices =
        _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(int(first)));
    for (std::size_t i = first; i < last; i += LANES) {
        const auto in_range = __mmask16(last - i >= LANES ? 0xFFFF : (1 << (last - i)) - 1);
        const __mmask16 mask =
            _mm512_mask_cmp_ps_mask(in_range, _mm512_maskz_loadu_ps(in_range, values + i),
                                    _mm512_setzero_ps(), _CMP_NEQ_UQ);
        _mm512_storeu_si512(found + count, _mm512_maskz_compress_epi32(mask, indices));
        count += std::size_t(__builtin_popcount(mask));
        indices = _mm512_add_epi32(indices, _mm512_set1_epi32(int(LANES)));
    }
#else
    for (std::size_t i = first; i < last; ++i) {
        found[count] = std::int32_t(i);
        count += values[i] != 0;
    }
#endif
    return count;
}

// out [REGISTERS * LANES] += sum over i of in[i] * weights[i * stride]
template <std::size_t REGISTERS>
void add_rows(const std::int32_t* indices, std::size_t count, const float* in, const float* weights,
              std::size_t stride, float* out) {
    Vector sums[REGISTERS];
    for (std::size_t r = 0; r < REGISTERS; ++r) sums[r] = vector_at(out + r * LANES);
    for (std::size_t n = 0; n < count; ++n) {
        const auto i = std::size_t(indices[n]);
        const float* row = weights + i * stride;
        for (std::size_t r = 0; r < REGISTERS; ++r) sums[r] += in[i] * vector_at(row + r * LANES);
    }
    for (std::size_t r = 0; r < REGISTERS; ++r) vector_at(out + r * LANES) = sums[r];
}

}  // namespace

MlpValue::MlpValue(std::size_t features, std::span<const DenseLayer> layers) : features_(features) {
    std::size_t inputs = features;
    for (const DenseLayer& layer : layers) {
        if (layer.bias.empty() || layer.weight.size() != layer.bias.size() * inputs)
            throw std::invalid_argument("layer " + std::to_string(layers_.size() + 1) + " has " +
                                        std::to_string(layer.weight.size()) + " weights for " +
                                        std::to_string(inputs) + " inputs and " +
                                        std::to_string(layer.bias.size()) + " outputs");
        layers_.push_back(transposed(layer, inputs));
        inputs = layer.bias.size();
        widest_ = std::max({widest_, padded(layers_.back().inputs), layers_.back().outputs});
    }
    if (layers_.empty() || inputs != 1)
        throw std::invalid_argument("a value network ends in 1 output, not " +
                                    std::to_string(inputs));
}

MlpValue::Layer MlpValue::transposed(const DenseLayer& dense, std::size_t inputs) {
    const std::size_t plain = dense.bias.size(), outputs = padded(plain);
    Layer layer{
        inputs, outputs, AlignedArray<float>(inputs * outputs), AlignedArray<float>(outputs), {}};
    std::copy(dense.bias.begin(), dense.bias.end(), layer.bias.data());
    for (std::size_t i = 0; i < inputs; ++i) {
        std::size_t first = outputs, last = 0;
        for (std::size_t o = 0; o < plain; ++o) {
            const float weight = dense.weight[o * inputs + i];
            layer.weights[i * outputs + o] = weight;
            if (weight != 0) first = std::min(first, o / LANES * LANES), last = padded(o + 1);
        }
        for (std::size_t begin = first; begin < last; begin += MOST_REGISTERS * LANES) {
            const std::size_t registers = std::min(MOST_REGISTERS, (last - begin) / LANES);
            // Extends the block of the last input with the same outputs, if there is one.
            const auto same = std::ranges::find_if(layer.blocks, [&](const Block& block) {
                return block.last == i && block.begin == begin && block.registers == registers;
            });
            if (same != layer.blocks.end())
                ++same->last;
            else
                layer.blocks.push_back({i, i + 1, begin, registers});
        }
    }
    return layer;
}

void MlpValue::add_block(const Layer& layer, const Block& block, const float* in, float* out,
                         std::int32_t* indices) {
    const std::size_t count = nonzero(in, block.first, block.last, indices);
    const float* weights = layer.weights.data() + block.begin;
    const auto add = [&]<std::size_t REGISTERS>() {
        add_rows<REGISTERS>(indices, count, in, weights, layer.outputs, out + block.begin);
    };
    switch (block.registers) {
        case 1: return add.template operator()<1>();
        case 2: return add.template operator()<2>();
        case 3: return add.template operator()<3>();
        case 4: return add.template operator()<4>();
        case 5: return add.template operator()<5>();
        case 6: return add.template operator()<6>();
        case 7: return add.template operator()<7>();
        default: return add.template operator()<8>();
    }
}

void MlpValue::evaluate(std::span<const float> features, std::span<float> values) const {
    // Kept by each thread: an evaluation inside a search allocates nothing.
    thread_local AlignedArray<float> memory;
    thread_local std::vector<std::int32_t> indices;
    if (memory.size() < 2 * widest_) memory = AlignedArray<float>(2 * widest_);
    if (indices.size() < widest_ + LANES) indices.resize(widest_ + LANES);
    for (std::size_t position = 0; position < values.size(); ++position) {
        const float* in = features.data() + position * features_;
        float* out = memory.data();
        float* other = out + widest_;
        for (const Layer& layer : layers_) {
            std::copy_n(layer.bias.data(), layer.outputs, out);
            for (const Block& block : layer.blocks)
                add_block(layer, block, in, out, indices.data());
            if (&layer == &layers_.back()) break;
            for (std::size_t o = 0; o < layer.outputs; ++o) out[o] = std::max(out[o], 0.0f);
            in = out;
            std::swap(out, other);
        }
        values[position] = std::tanh(out[0]);
    }
}

}  // namespace rookery::nets
