// Networks that tree search calls without Python.

#include "bind/bind.h"
#include "nets/hash_evaluator.h"
#include "nets/squares_net.h"

namespace rookery::bind {

namespace {

using nets::SquaresNet;

void init_squares_net(SquaresNet* self, std::size_t width, std::size_t key_width,
                      const std::map<std::string, Input<const float>>& weights,
                      const Input<const std::int64_t>& origins,
                      const Input<const std::int64_t>& destinations) {
    const auto find = [&](const char* name) {
        const auto found = weights.find(name);
        if (found == weights.end())
            throw std::invalid_argument(std::string("the weights lack '") + name + "'");
        return span_of(found->second);
    };
    new (self) SquaresNet({width, key_width, find("places.weight"), find("codes.weight"),
                           find("codes.bias"), find("second.weight"), find("second.bias"),
                           find("third.weight"), find("third.bias"), find("key.weight"),
                           find("key.bias"), find("moves.weight"), find("value.weight"),
                           find("value.bias"), span_of(origins), span_of(destinations)});
}

std::pair<Numpy<float>, Numpy<float>> evaluate(
    const SquaresNet& net, const Input<const std::uint8_t, nb::shape<-1, 70>>& observations,
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

}  // namespace

void bind_evaluators(nb::module_& m) {
    using encode::NativeEvaluator;
    nb::class_<NativeEvaluator>(m, "NativeEvaluator",
                                "A network that searches call without Python.")
        .def_prop_ro("observation",
                     [](const NativeEvaluator& e) { return std::string(e.observation()); });
    nb::class_<nets::HashEvaluator, NativeEvaluator>(
        m, "HashEvaluator", "Answers with hashes of the position, to measure the tree alone.")
        .def(nb::init<>());
    nb::class_<SquaresNet, NativeEvaluator>(m, "SquaresNet",
                                            "The network family `squares`, for searches.")
        .def("__init__", &init_squares_net, "width"_a, "key_width"_a, "weights"_a, "origins"_a,
             "destinations"_a, "weights: by their names in torch, float32.")
        .def("evaluate", &evaluate, "observations"_a, "legal"_a, "offsets"_a,
             "Logits [L] and values [B] for observations uint8 [B, 70], legal int32 [L], offsets "
             "int64 [B + 1].");
}

}  // namespace rookery::bind
