// Native networks: evaluators for tree search, PPO's policy layer, and the family `pyramid`.

#include "bind/bind.h"
#include "nets/hash_evaluator.h"
#include "nets/policy_head.h"
#include "nets/pyramid_net.h"
#include "nets/slots_net.h"
#include "nets/squares_net.h"
#include "nets/twin_net.h"

namespace rookery::bind {

namespace {

using nets::PyramidNet;
using nets::SlotsNet;
using nets::SquaresNet;
using nets::TwinNet;
template <class T> using Vector = Input<T, nb::ndim<1>>;
template <class T> using Matrix = Input<T, nb::ndim<2>>;
using Squares = Input<const std::int64_t, nb::shape<-1, 3>>;

using Weights = std::map<std::string, Input<const float>>;

std::span<const float> find(const Weights& weights, const char* name) {
    const auto found = weights.find(name);
    if (found == weights.end())
        throw std::invalid_argument(std::string("the weights lack '") + name + "'");
    return span_of(found->second);
}

// Both families differ only in what they sum first: squares and codes, or slots and plain numbers.
template <class NetWeights>
auto named_weights(std::size_t width, std::size_t key_width, const Weights& weights,
                   const Input<const std::int64_t>& origins,
                   const Input<const std::int64_t>& destinations) {
    const auto named = [&](const char* name) { return find(weights, name); };
    const bool squares = std::is_same_v<NetWeights, nets::SquaresWeights>;
    return NetWeights{width,
                      key_width,
                      named("places.weight"),
                      named(squares ? "codes.weight" : "plain.weight"),
                      named(squares ? "codes.bias" : "plain.bias"),
                      named("second.weight"),
                      named("second.bias"),
                      named("third.weight"),
                      named("third.bias"),
                      named("key.weight"),
                      named("key.bias"),
                      named("moves.weight"),
                      named("value.weight"),
                      named("value.bias"),
                      span_of(origins),
                      span_of(destinations)};
}

template <class Net, class NetWeights>
void init_net(Net* self, std::size_t width, std::size_t key_width, const Weights& weights,
              const Input<const std::int64_t>& origins,
              const Input<const std::int64_t>& destinations) {
    new (self) Net(named_weights<NetWeights>(width, key_width, weights, origins, destinations));
}

void init_twin(TwinNet* self, std::size_t width, std::size_t key_width, const Weights& weights,
               const Input<const std::int64_t>& origins,
               const Input<const std::int64_t>& destinations,
               const std::shared_ptr<nnue::Network>& value, bool quiescence) {
    new (self) TwinNet(
        named_weights<nets::SquaresWeights>(width, key_width, weights, origins, destinations),
        value, quiescence);
}

template <class Net, class Entry, long SIZE>
std::pair<Numpy<float>, Numpy<float>> evaluate(
    const Net& net, const Input<const Entry, nb::shape<-1, SIZE>>& observations,
    const Input<const std::int32_t, nb::ndim<1>>& legal,
    const Input<const std::int64_t, nb::ndim<1>>& offsets) {
    std::vector<float> logits(legal.size()), values(observations.shape(0));
    {
        const nb::gil_scoped_release release;
        net.evaluate(span_of(observations), span_of(legal), span_of(offsets), logits.data(),
                     values.data());
    }
    return {owned_array(std::move(logits)), owned_array(std::move(values))};
}

std::array<double, 3> policy_step(
    const Vector<const std::int64_t>& legal, const Vector<const std::int64_t>& offsets,
    const Vector<const std::int64_t>& chosen, const Vector<const float>& old,
    const Vector<const float>& advantages, const Matrix<const float>& hidden,
    const Matrix<const float>& weight, const Vector<const float>& bias,
    const Matrix<float>& by_hidden, const Matrix<float>& by_weight, const Vector<float>& by_bias,
    float clip, float entropy, float kl) {
    const nb::gil_scoped_release release;
    return nets::policy_step(
        {span_of(legal), span_of(offsets), span_of(chosen), span_of(old), span_of(advantages)},
        {weight.shape(1), span_of(hidden), span_of(weight), span_of(bias)}, {clip, entropy, kl},
        {span_of(by_hidden), span_of(by_weight), span_of(by_bias)});
}

Numpy<float> q_values(const PyramidNet& net, const Squares& squares) {
    std::vector<float> values;
    {
        const nb::gil_scoped_release release;
        values = net.q_values(span_of(squares));
    }
    return owned_array(std::move(values), {squares.shape(0), std::size_t(net.actions())});
}

std::pair<double, Numpy<float>> learn(PyramidNet& net, const Squares& squares,
                                      const Vector<const std::int64_t>& actions,
                                      const Vector<const float>& targets,
                                      const std::optional<Vector<const float>>& importance,
                                      float learning_rate, bool huber) {
    PyramidNet::Learnt learnt;
    {
        const nb::gil_scoped_release release;
        learnt = net.learn(span_of(squares), span_of(actions), span_of(targets),
                           importance ? span_of(*importance) : std::span<const float>(),
                           {.huber = huber, .learning_rate = learning_rate});
    }
    return {learnt.loss, owned_array(std::move(learnt.errors))};
}

}  // namespace

void bind_nets(nb::module_& m) {
    using encode::NativeEvaluator;
    nb::class_<NativeEvaluator>(m, "NativeEvaluator",
                                "A network that searches call without Python.")
        .def_prop_ro("observation",
                     [](const NativeEvaluator& e) { return std::string(e.observation()); });
    nb::class_<nets::HashEvaluator, NativeEvaluator>(
        m, "HashEvaluator", "Pseudo-random evaluations, to measure the tree alone.")
        .def(nb::init<>());
    nb::class_<SquaresNet, NativeEvaluator>(m, "SquaresNet",
                                            "The network family `squares`, for searches.")
        .def("__init__", &init_net<SquaresNet, nets::SquaresWeights>, "width"_a, "key_width"_a,
             "weights"_a, "origins"_a, "destinations"_a,
             "weights: float32, by their names in torch.")
        .def("evaluate", &evaluate<SquaresNet, std::uint8_t, 70>, "observations"_a, "legal"_a,
             "offsets"_a,
             "Logits [L] and values [B] for observations uint8 [B, 70], legal int32 [L], offsets "
             "int64 [B + 1].");
    nb::class_<SlotsNet, NativeEvaluator>(m, "SlotsNet",
                                          "The network family `slots`, for searches.")
        .def("__init__", &init_net<SlotsNet, nets::SlotsWeights>, "width"_a, "key_width"_a,
             "weights"_a, "origins"_a, "destinations"_a,
             "weights: float32, by their names in torch.")
        .def("evaluate", &evaluate<SlotsNet, float, 353>, "observations"_a, "legal"_a, "offsets"_a,
             "Logits [L] and values [B] for observations float32 [B, 353], legal int32 [L], "
             "offsets int64 [B + 1].");

    nb::class_<TwinNet, NativeEvaluator>(m, "TwinNet", "The network family `twin`, for searches.")
        .def("__init__", &init_twin, "width"_a, "key_width"_a, "weights"_a, "origins"_a,
             "destinations"_a, "value"_a, "quiescence"_a,
             "weights: float32, of the policy, by their names in torch. quiescence: whether values "
             "are those of positions once captures have ended.")
        .def("evaluate", &evaluate<TwinNet, std::uint8_t, 70>, "observations"_a, "legal"_a,
             "offsets"_a,
             "Logits [L] and values [B] for observations uint8 [B, 70], legal int32 [L], offsets "
             "int64 [B + 1].");

    m.def("policy_step", &policy_step, "legal"_a, "offsets"_a, "chosen"_a, "old"_a, "advantages"_a,
          "hidden"_a, "weight"_a, "bias"_a, "by_hidden"_a, "by_weight"_a, "by_bias"_a,
          nb::kw_only(), "clip"_a, "entropy"_a, "kl"_a,
          "PPO's policy terms on a linear last layer at the legal actions, and their gradients.\n\n"
          "B positions with L legal actions in all, A actions; the gradients of policy loss -\n"
          "entropy * entropy + kl * divergence are written to by_hidden, by_weight, by_bias.\n\n"
          "Args:\n"
          "    legal: int64 [L], the legal actions of all positions.\n"
          "    offsets: int64 [B + 1], first legal action of each position.\n"
          "    chosen: int64 [B], index of the action played among the position's legal actions.\n"
          "    old: [L], log probabilities of the old policy.\n"
          "    advantages: [B].\n"
          "    hidden: [B, width].\n"
          "    weight: [A, width].\n"
          "    bias: [A].\n\n"
          "Returns:\n"
          "    Means over the positions of policy loss, entropy and divergence.");

    nb::class_<PyramidNet>(
        m, "PyramidNet",
        "A network of the family `pyramid` with its training step: Q values of three squares. Its "
        "weights are one vector: rows, bias, then weight and bias of each layer, as in torch.")
        .def(nb::init<const std::vector<int>&, int, bool>(), "hidden"_a, "actions"_a = 10,
             "dueling"_a = false)
        .def("__len__", &PyramidNet::size, "Number of weights.")
        .def_rw("steps", &PyramidNet::steps, "Optimiser steps so far.")
        .def(
            "get",
            [](const PyramidNet& net, std::string_view part) {
                return owned_array(net.read(PyramidNet::find_part(part)));
            },
            "part"_a = "weights", "Copy of the weights, first_moments or second_moments.")
        .def(
            "set",
            [](PyramidNet& net, std::string_view part, const Vector<const float>& values) {
                net.write(PyramidNet::find_part(part), span_of(values));
            },
            "part"_a, "values"_a)
        .def("q_values", &q_values, "squares"_a, "Q values [B, A] of squares [B, 3].")
        .def("learn", &learn, "squares"_a, "actions"_a, "targets"_a, "importance"_a = nb::none(),
             "learning_rate"_a = 1e-3f, "huber"_a = false,
             "One step of Adam on the mean of importance * loss; returns the mean, and target - Q "
             "[B] before the step.");
}

}  // namespace rookery::bind
