// PPO's step at the last layer of a policy.

#include "nets/policy_head.h"
#include "bind/bind.h"

namespace rookery::bind {

namespace {

template <class T, int Dimensions>
using Array = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

template <class Given> auto span_of(const Given& array) {
    return std::span(array.data(), array.size());
}

void require_shape(const char* name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(found) +
                                    " entries; there must be " + std::to_string(wanted));
}

std::array<double, 3> step(const Array<const std::int64_t, 1>& legal,
                           const Array<const std::int64_t, 1>& offsets,
                           const Array<const std::int64_t, 1>& chosen,
                           const Array<const float, 1>& old,
                           const Array<const float, 1>& advantages,
                           const Array<const float, 2>& hidden, const Array<const float, 2>& weight,
                           const Array<const float, 1>& bias, const Array<float, 2>& by_hidden,
                           const Array<float, 2>& by_weight, const Array<float, 1>& by_bias,
                           float clip, float entropy, float kl) {
    const std::size_t width = weight.shape(1);
    require_shape("bias", bias.size(), weight.shape(0));
    require_shape("hidden", hidden.size(), advantages.size() * width);
    require_shape("by_hidden", by_hidden.size(), hidden.size());
    require_shape("by_weight", by_weight.size(), weight.size());
    require_shape("by_bias", by_bias.size(), bias.size());
    const nb::gil_scoped_release release;
    return nets::policy_step(
        {span_of(legal), span_of(offsets), span_of(chosen), span_of(old), span_of(advantages)},
        {width, span_of(hidden), span_of(weight), span_of(bias)}, {clip, entropy, kl},
        {span_of(by_hidden), span_of(by_weight), span_of(by_bias)});
}

}  // namespace

void bind_policy(nb::module_& m) {
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
