#include "nets/conv_value.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace rookery::nets {

namespace {

void require(bool fits, const char* what, std::size_t number) {
    if (!fits)
        throw std::invalid_argument(std::string(what) + " " + std::to_string(number + 1) +
                                    " of a convolutional network has a wrong size");
}

}  // namespace

ConvValue::ConvValue(std::size_t planes, std::span<const DenseLayer> convolutions,
                     std::span<const DenseLayer> dense, bool bounded)
    : planes_(planes), bounded_(bounded) {
    std::size_t inputs = planes;
    for (const DenseLayer& layer : convolutions) {
        require(layer.bias.size() == CHANNELS && layer.weight.size() == CHANNELS * inputs * TAPS,
                "convolution", convolutions_.size());
        Convolution made{inputs, std::vector<float>(layer.weight.size()), {}};
        std::copy(layer.bias.begin(), layer.bias.end(), made.bias.begin());
        for (std::size_t o = 0; o < CHANNELS; ++o)
            for (std::size_t i = 0; i < inputs; ++i)
                for (std::size_t tap = 0; tap < TAPS; ++tap)
                    made.weights[(tap * inputs + i) * CHANNELS + o] =
                        layer.weight[(o * inputs + i) * TAPS + tap];
        convolutions_.push_back(std::move(made));
        inputs = CHANNELS;
    }
    require(!convolutions_.empty(), "convolution", 0);
    inputs = SQUARES * CHANNELS;
    std::size_t outputs = 0;
    for (const DenseLayer& layer : dense) {
        outputs = layer.bias.size();
        require(outputs > 0 && layer.weight.size() == outputs * inputs, "dense layer",
                dense_.size());
        const std::size_t blocks = (outputs + BLOCK - 1) / BLOCK;
        // A layer reads the padding of the one before it, which is zero.
        const std::size_t read = dense_.empty() ? inputs : dense_.back().bias.size();
        Dense made{read, blocks, std::vector<float>(blocks * read * BLOCK),
                   std::vector<float>(blocks * BLOCK)};
        std::copy(layer.bias.begin(), layer.bias.end(), made.bias.begin());
        for (std::size_t i = 0; i < inputs; ++i) {
            // torch flattens [channel, square], we keep [square, channel].
            const std::size_t theirs = dense_.empty() ? i % CHANNELS * SQUARES + i / CHANNELS : i;
            for (std::size_t o = 0; o < outputs; ++o)
                made.weights[(o / BLOCK * read + i) * BLOCK + o % BLOCK] =
                    layer.weight[o * inputs + theirs];
        }
        dense_.push_back(std::move(made));
        inputs = outputs;
    }
    require(outputs == 1, "dense layer", dense_.size());
}

// A plane's square adds to the output squares around it.
void ConvValue::first_layer(const float* planes, Map& out) const {
    const Convolution& layer = convolutions_.front();
    Map sums{};  // also of the border, which is dropped
    for (std::size_t plane = 0; plane < planes_; ++plane)
        for (std::size_t square = 0; square < SQUARES; ++square) {
            const float factor = planes[plane * SQUARES + square];
            if (factor == 0) continue;
            for (std::size_t tap = 0; tap < TAPS; ++tap) {
                const float* weights = layer.weights.data() + (tap * planes_ + plane) * CHANNELS;
                // Tap 3 * row + column reads the square (row - 1, column - 1) away.
                float* to = sums.data() + place(square) -
                            (tap / 3 * BORDERED + tap % 3) * CHANNELS + (BORDERED + 1) * CHANNELS;
                for (std::size_t o = 0; o < CHANNELS; ++o) to[o] += factor * weights[o];
            }
        }
    for (std::size_t square = 0; square < SQUARES; ++square)
        for (std::size_t o = 0; o < CHANNELS; ++o)
            out[place(square) + o] = std::max(sums[place(square) + o] + layer.bias[o], 0.0f);
}

void ConvValue::convolve(const Convolution& layer, const Map& in, Map& out) {
    constexpr std::size_t RUN = 4;  // neighbouring squares at once
    for (std::size_t square = 0; square < SQUARES; square += RUN) {
        float sums[RUN][CHANNELS];
        for (auto& sum : sums) std::copy(layer.bias.begin(), layer.bias.end(), sum);
        for (std::size_t tap = 0; tap < TAPS; ++tap) {
            const float* weights = layer.weights.data() + tap * CHANNELS * CHANNELS;
            const float* from = in.data() + place(square) +
                                (tap / 3 * BORDERED + tap % 3) * CHANNELS -
                                (BORDERED + 1) * CHANNELS;
            for (std::size_t i = 0; i < CHANNELS; ++i)
                for (std::size_t k = 0; k < RUN; ++k)
                    for (std::size_t o = 0; o < CHANNELS; ++o)
                        sums[k][o] += from[k * CHANNELS + i] * weights[i * CHANNELS + o];
        }
        for (std::size_t k = 0; k < RUN; ++k)
            for (std::size_t o = 0; o < CHANNELS; ++o)
                out[place(square + k) + o] = std::max(sums[k][o], 0.0f);
    }
}

void ConvValue::multiply(const Dense& layer, const std::vector<float>& activations,
                         std::vector<float>& outputs, bool relu) {
    outputs.resize(layer.bias.size() * GROUP);
    for (std::size_t block = 0; block < layer.blocks; ++block) {
        float sums[GROUP][BLOCK];
        for (auto& sum : sums) std::copy_n(layer.bias.data() + block * BLOCK, BLOCK, sum);
        const float* weights = layer.weights.data() + block * layer.inputs * BLOCK;
        for (std::size_t i = 0; i < layer.inputs; ++i, weights += BLOCK)
            for (std::size_t b = 0; b < GROUP; ++b) {
                const float factor = activations[i * GROUP + b];
                for (std::size_t o = 0; o < BLOCK; ++o) sums[b][o] += factor * weights[o];
            }
        for (std::size_t b = 0; b < GROUP; ++b)
            for (std::size_t o = 0; o < BLOCK; ++o)
                outputs[(block * BLOCK + o) * GROUP + b] =
                    relu ? std::max(sums[b][o], 0.0f) : sums[b][o];
    }
}

void ConvValue::evaluate(std::span<const float> observations, std::span<float> values) const {
    Map one{}, two{};  // borders stay zero
    std::vector<float> units, outputs;
    for (std::size_t first = 0; first < values.size(); first += GROUP) {
        const std::size_t count = std::min(GROUP, values.size() - first);
        units.assign(SQUARES * CHANNELS * GROUP, 0.0f);
        for (std::size_t b = 0; b < count; ++b) {
            first_layer(observations.data() + (first + b) * planes_ * SQUARES, one);
            for (std::size_t layer = 1; layer < convolutions_.size(); ++layer) {
                convolve(convolutions_[layer], one, two);
                std::swap(one, two);
            }
            for (std::size_t square = 0; square < SQUARES; ++square)
                for (std::size_t o = 0; o < CHANNELS; ++o)
                    units[(square * CHANNELS + o) * GROUP + b] = one[place(square) + o];
        }
        for (const Dense& layer : dense_) {
            multiply(layer, units, outputs, &layer != &dense_.back());
            std::swap(units, outputs);
        }
        for (std::size_t b = 0; b < count; ++b)
            values[first + b] = bounded_ ? std::tanh(units[b]) : units[b];
    }
}

}  // namespace rookery::nets
