// PPO's step at the last layer of a policy.

#include "nets/policy_head.h"
#include "bind/bind.h"

namespace rookery::bind {

namespace {

template <class T> using Vector = Input<T, nb::ndim<1>>;
template <class T> using Matrix = Input<T, nb::ndim<2>>;

std::array<double, 3> step(const Vector<const std::int64_t>& legal,
                           const Vector<const std::int64_t>& offsets,
                           const Vector<const std::int64_t>& chosen, const Vector<const float>& old,
                           const Vector<const float>& advantages, const Matrix<const float>& hidden,
                           const Matrix<const float>& weight, const Vector<const float>& bias,
                           const Matrix<float>& by_hidden, const Matrix<float>& by_weight,
                           const Vector<float>& by_bias, float clip, float entropy, float kl) {
    const nb::gil_scoped_release release;
    return nets::policy_step(
        {span_of(legal), span_of(offsets), span_of(chosen), span_of(old), span_of(advantages)},
        {weight.shape(1), span_of(hidden), span_of(weight), span_of(bias)}, {clip, entropy, kl},
        {span_of(by_hidden), span_of(by_weight), span_of(by_bias)});
}

}  // namespace

void bind_policy_head(nb::module_& m) {
    m.def("policy_step", &step, "legal"_a, "offsets"_a, "chosen"_a, "old"_a, "advantages"_a,
          "hidden"_a, "weight"_a, "bias"_a, "by_hidden"_a, "by_weight"_a, "by_bias"_a,
          nb::kw_only(), "clip"_a, "entropy"_a, "kl"_a,
          "PPO's policy terms on a linear last layer at the legal actions, and their gradients.\n\n"
          "B positions with L legal actions in all, A actions; the gradients of policy loss -\n"
          "entropy * entropy + kl * divergence are written to by_hidden, by_weight, by_bias.\n\n"
          "Args:\n"
          "    legal: int64 [L], the legal actions of all positions.\n"
          "    offsets: int64 [B + 1], where each position's begin.\n"
          "    chosen: int64 [B], the place of the action played in its position's list.\n"
          "    old: [L], log probabilities of the policy that acted.\n"
          "    advantages: [B].\n"
          "    hidden: [B, width].\n"
          "    weight: [A, width].\n"
          "    bias: [A].\n\n"
          "Returns:\n"
          "    Means over the positions of policy loss, entropy and divergence.");
}

}  // namespace rookery::bind
