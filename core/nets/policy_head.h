// PPO's objective on the last layer of a policy, at the legal actions only, and its gradients.
// Positions are processed one by one, so that the weights of their actions stay in the L1 cache.

#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace rookery::nets {

// B positions with L legal actions in all.
struct PolicySamples {
    std::span<const std::int64_t> legal;  // [L], actions
    std::span<const std::int64_t> offsets;  // [B + 1], from 0 to L: first action of each position
    std::span<const std::int64_t> chosen;  // [B], index of the action played among the legal ones
    std::span<const float> old;  // [L], log probabilities of the old policy
    std::span<const float> advantages;  // [B]

    [[nodiscard]] std::size_t positions() const { return advantages.size(); }

    // Throws std::invalid_argument for inconsistent lengths, offsets, indices or actions.
    void check(std::size_t actions) const;
};

struct PolicyWeights {
    float clip;  // the ratio is clipped to 1 - clip .. 1 + clip
    float entropy;  // weight of the entropy bonus
    float kl;  // weight of the divergence from the old policy
};

// A linear layer; row-major.
struct PolicyLayer {
    std::size_t width;  // of the hidden layer below
    std::span<const float> hidden;  // [B, width]
    std::span<const float> weight;  // [actions, width]
    std::span<const float> bias;  // [actions]
};

// Gradients of the weighted sum of the terms; overwritten.
struct PolicyGradients {
    std::span<float> by_hidden;  // [B, width]
    std::span<float> by_weight;  // [actions, width]
    std::span<float> by_bias;  // [actions]
};

// Returns means over the positions: policy loss, entropy, divergence. Throws std::invalid_argument
// for inconsistent shapes. With p the new policy, q the old one and a the action played:
//
//     d log p_a / d logit_j = [j = a] - p_j               d ratio / d log p_a = ratio
//     d entropy / d logit_j = -p_j (log p_j + entropy)    d KL(q, p) / d logit_j = p_j - q_j
std::array<double, 3> policy_step(const PolicySamples& samples, const PolicyLayer& layer,
                                  const PolicyWeights& weights, const PolicyGradients& gradients);

}  // namespace rookery::nets
