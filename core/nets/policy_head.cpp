#include "nets/policy_head.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace rookery::nets {

namespace {

constexpr std::size_t LANES = 32;  // independent sums, for vectorisation
constexpr std::size_t BLOCK = 64;  // columns of a gradient block

float dot(const float* a, const float* b, std::size_t count) {
    float sums[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    float rest = 0.0f;
    for (; i < count; ++i) rest += a[i] * b[i];
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0] + rest;
}

void require_size(const char* name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(found) +
                                    " entries; there must be " + std::to_string(wanted));
}

// The legal actions of one position.
class Sample {
  public:
    Sample(const PolicySamples& samples, std::size_t index)
        : count_(std::size_t(samples.offsets[index + 1] - samples.offsets[index])),
          chosen_(std::size_t(samples.chosen[index])),
          legal_(samples.legal.subspan(std::size_t(samples.offsets[index]), count_)),
          old_(samples.old.subspan(std::size_t(samples.offsets[index]), count_)),
          advantage_(samples.advantages[index]) {}

    [[nodiscard]] std::vector<float> logits(const PolicyLayer& layer, const float* hidden) const {
        std::vector<float> result(count_);
        for (std::size_t j = 0; j < count_; ++j) {
            const auto action = std::size_t(legal_[j]);
            result[j] = layer.bias[action] +
                        dot(hidden, layer.weight.data() + action * layer.width, layer.width);
        }
        return result;
    }

    // The gradient of the logits; adds policy loss, entropy and divergence to `terms`.
    [[nodiscard]] std::vector<float> objective(std::vector<float> logits,
                                               const PolicyWeights& weights,
                                               std::array<double, 3>& terms) const {
        const float largest = *std::ranges::max_element(logits);
        float total = 0.0f;
        for (const float logit : logits) total += std::exp(logit - largest);
        const float shift = largest + std::log(total);
        std::vector<float>& log_new = logits;
        std::vector<float> gradient(count_);  // holds the new probabilities first
        float entropy = 0.0f, divergence = 0.0f;
        for (std::size_t j = 0; j < count_; ++j) {
            log_new[j] -= shift;
            gradient[j] = std::exp(log_new[j]);
            entropy -= gradient[j] * log_new[j];
            // 0 * log 0 = 0
            const float old_probability = std::exp(old_[j]);
            if (old_probability > 0.0f) divergence += old_probability * (old_[j] - log_new[j]);
        }
        const float ratio = std::exp(log_new[chosen_] - old_[chosen_]);
        const float gain = ratio * advantage_;
        const float clipped = std::clamp(ratio, 1 - weights.clip, 1 + weights.clip) * advantage_;
        // Beyond the clip the objective is flat, unless the ratio moved the wrong way.
        const float push = gain <= clipped ? gain : 0.0f;
        for (std::size_t j = 0; j < count_; ++j) {
            gradient[j] *= push + weights.entropy * (log_new[j] + entropy) + weights.kl;
            if (weights.kl != 0.0f) gradient[j] -= weights.kl * std::exp(old_[j]);
        }
        gradient[chosen_] -= push;
        terms[0] -= gain <= clipped ? gain : clipped;
        terms[1] += entropy;
        terms[2] += divergence;
        return gradient;
    }

    // Writes the gradient of the hidden layer, adds those of the weights and biases.
    void spread(const std::vector<float>& by_logits, const PolicyLayer& layer, const float* hidden,
                float* by_hidden, const PolicyGradients& out) const {
        const std::size_t width = layer.width;
        for (std::size_t j = 0; j < count_; ++j)
            out.by_bias[std::size_t(legal_[j])] += by_logits[j];
        for (std::size_t column = 0; column < width; column += BLOCK) {
            const std::size_t columns = std::min(BLOCK, width - column);
            float sums[BLOCK] = {};
            for (std::size_t j = 0; j < count_; ++j) {
                const std::size_t place = std::size_t(legal_[j]) * width + column;
                const float factor = by_logits[j];
                const float* from = layer.weight.data() + place;
                float* to = out.by_weight.data() + place;
                for (std::size_t i = 0; i < columns; ++i) sums[i] += factor * from[i];
                for (std::size_t i = 0; i < columns; ++i) to[i] += factor * hidden[column + i];
            }
            std::copy_n(sums, columns, by_hidden + column);
        }
    }

  private:
    std::size_t count_, chosen_;
    std::span<const std::int64_t> legal_;
    std::span<const float> old_;
    float advantage_;
};

}  // namespace

void PolicySamples::check(std::size_t actions) const {
    const std::size_t count = positions();
    if (offsets.size() != count + 1 || chosen.size() != count || old.size() != legal.size())
        throw std::invalid_argument(
            "lengths of offsets, chosen places, advantages, legal actions "
            "and old probabilities do not match");
    if (offsets.front() != 0 || offsets.back() != std::int64_t(legal.size()))
        throw std::invalid_argument("offsets must rise from 0 to the number of legal actions, " +
                                    std::to_string(legal.size()));
    for (std::size_t b = 0; b < count; ++b)
        if (offsets[b + 1] <= offsets[b] || chosen[b] < 0 ||
            chosen[b] >= offsets[b + 1] - offsets[b])
            throw std::invalid_argument("position " + std::to_string(b) +
                                        " has no legal action at the place that was chosen");
    for (const std::int64_t action : legal)
        if (action < 0 || action >= std::int64_t(actions))
            throw std::invalid_argument("action " + std::to_string(action) + " is not in 0 .. " +
                                        std::to_string(std::int64_t(actions) - 1));
}

std::array<double, 3> policy_step(const PolicySamples& samples, const PolicyLayer& layer,
                                  const PolicyWeights& weights, const PolicyGradients& gradients) {
    const std::size_t actions = layer.bias.size(), weight_size = actions * layer.width;
    require_size("weight", layer.weight.size(), weight_size);
    require_size("hidden", layer.hidden.size(), samples.positions() * layer.width);
    require_size("by_hidden", gradients.by_hidden.size(), layer.hidden.size());
    require_size("by_weight", gradients.by_weight.size(), weight_size);
    require_size("by_bias", gradients.by_bias.size(), actions);
    samples.check(actions);
    std::ranges::fill(gradients.by_weight, 0.0f);
    std::ranges::fill(gradients.by_bias, 0.0f);
    std::array<double, 3> terms{};
    const float scale = 1.0f / float(samples.positions());  // all terms are means
    for (std::size_t b = 0; b < samples.positions(); ++b) {
        const Sample sample(samples, b);
        const float* hidden = layer.hidden.data() + b * layer.width;
        std::vector<float> by_logits =
            sample.objective(sample.logits(layer, hidden), weights, terms);
        for (float& each : by_logits) each *= scale;
        sample.spread(by_logits, layer, hidden, gradients.by_hidden.data() + b * layer.width,
                      gradients);
    }
    for (double& term : terms) term *= double(scale);
    return terms;
}

}  // namespace rookery::nets
