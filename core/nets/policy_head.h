// The last layer of a policy at the legal actions only, PPO's objective on it, and the gradients of
// both, position by position: the weights of a position's actions are read once and stay in the
// nearest cache from the logits to the gradients.

#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace rookery::nets {

// B positions with L legal actions in all.
struct PolicySamples {
    std::span<const std::int64_t> legal;  // [L], actions
    std::span<const std::int64_t> offsets;  // [B + 1], from 0 to L: where each position's begin
    std::span<const std::int64_t> chosen;  // [B], the action played: its place in the own list
    std::span<const float> old;  // [L], log probabilities of the policy that acted
    std::span<const float> advantages;  // [B]

    [[nodiscard]] std::size_t positions() const { return advantages.size(); }

    // Throws std::invalid_argument where lengths, offsets, places or actions do not fit.
    void check(std::size_t actions) const;
};

struct PolicyWeights {
    float clip;  // the ratio pays between 1 - clip and 1 + clip
    float entropy;  // weight of the entropy bonus
    float kl;  // weight of the divergence from the policy that acted
};

// A linear layer; matrices row by row.
struct PolicyLayer {
    std::size_t width;  // of the hidden layer below
    std::span<const float> hidden;  // [B, width]
    std::span<const float> weight;  // [actions, width]
    std::span<const float> bias;  // [actions]
};

// Of the weighted sum of the terms; all of them are overwritten.
struct PolicyGradients {
    std::span<float> by_hidden;  // [B, width]
    std::span<float> by_weight;  // [actions, width]
    std::span<float> by_bias;  // [actions]
};

// Throws std::invalid_argument where shapes do not fit. Means over the positions: policy loss,
// entropy, divergence. With p the new policy, q the old one and a the action played:
//
//     d log p_a / d logit_j = [j = a] - p_j               d ratio / d log p_a = ratio
//     d entropy / d logit_j = -p_j (log p_j + entropy)    d KL(q, p) / d logit_j = p_j - q_j
std::array<double, 3> policy_step(const PolicySamples& samples, const PolicyLayer& layer,
                                  const PolicyWeights& weights, const PolicyGradients& gradients);

}  // namespace rookery::nets
