#include "nets/mlp_value.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace rookery::nets {

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
        widest_ = std::max(widest_, inputs);
    }
    if (layers_.empty() || inputs != 1)
        throw std::invalid_argument("a value network ends in 1 output, not " +
                                    std::to_string(inputs));
}

MlpValue::Layer MlpValue::transposed(const DenseLayer& layer, std::size_t inputs) {
    const std::size_t outputs = layer.bias.size();
    Layer result{std::vector<float>(inputs * outputs), {}, {layer.bias.begin(), layer.bias.end()}};
    for (std::size_t i = 0; i < inputs; ++i) {
        Row row{outputs, 0};
        for (std::size_t o = 0; o < outputs; ++o) {
            const float weight = layer.weight[o * inputs + i];
            result.weights[i * outputs + o] = weight;
            if (weight != 0) row = {std::min(row.begin, o), o + 1};
        }
        result.rows.push_back(row);
    }
    return result;
}

void MlpValue::evaluate(std::span<const float> features, std::span<float> values) const {
    std::vector<float> in(std::max(widest_, features_)), out(widest_);
    for (std::size_t position = 0; position < values.size(); ++position) {
        std::copy_n(features.data() + position * features_, features_, in.data());
        for (const Layer& layer : layers_) {
            const std::size_t outputs = layer.bias.size();
            std::copy(layer.bias.begin(), layer.bias.end(), out.begin());
            float* sums = out.data();
            for (std::size_t i = 0; i < layer.rows.size(); ++i) {
                const float factor = in[i];
                if (factor == 0) continue;
                const float* weights = layer.weights.data() + i * outputs;
                const Row row = layer.rows[i];
                for (std::size_t o = row.begin; o < row.end; ++o) sums[o] += factor * weights[o];
            }
            for (std::size_t o = 0; o < outputs; ++o) in[o] = std::max(sums[o], 0.0f);
        }
        values[position] = std::tanh(out[0]);  // of the last layer, before its ReLU
    }
}

}  // namespace rookery::nets
