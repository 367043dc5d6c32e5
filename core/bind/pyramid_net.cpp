// The family `pyramid` with its learning step.

#include "nets/pyramid_net.h"
#include "bind/bind.h"

namespace rookery::bind {

namespace {

using nets::PyramidNet;
using Squares = Input<const std::int64_t, nb::shape<-1, 3>>;
template <class T> using Column = Input<const T, nb::ndim<1>>;

Numpy<float> q_values(const PyramidNet& net, const Squares& squares) {
    std::vector<float> values;
    {
        const nb::gil_scoped_release release;
        values = net.q_values(span_of(squares));
    }
    return owned_array(std::move(values), {squares.shape(0), std::size_t(net.actions())});
}

std::pair<double, Numpy<float>> learn(PyramidNet& net, const Squares& squares,
                                      const Column<std::int64_t>& actions,
                                      const Column<float>& targets,
                                      const std::optional<Column<float>>& importance,
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

void bind_pyramid_net(nb::module_& m) {
    nb::class_<PyramidNet>(
        m, "PyramidNet",
        "A network of the family `pyramid` that learns by itself: Q values of three squares, and "
        "steps of Adam on them. Its weights are one vector: rows, bias, then weight and bias of "
        "each layer, as torch keeps them.")
        .def(nb::init<const std::vector<int>&, int, bool>(), "hidden"_a, "actions"_a = 10,
             "dueling"_a = false)
        .def("__len__", &PyramidNet::size, "Number of weights.")
        .def_rw("steps", &PyramidNet::steps, "Steps of the optimiser so far.")
        .def(
            "get",
            [](const PyramidNet& net, std::string_view part) {
                return owned_array(net.read(PyramidNet::find_part(part)));
            },
            "part"_a = "weights", "Copy of the weights, first_moments or second_moments.")
        .def(
            "set",
            [](PyramidNet& net, std::string_view part, const Column<float>& values) {
                net.write(PyramidNet::find_part(part), span_of(values));
            },
            "part"_a, "values"_a)
        .def("q_values", &q_values, "squares"_a, "Q values [B, A] of squares [B, 3].")
        .def("learn", &learn, "squares"_a, "actions"_a, "targets"_a, "importance"_a = nb::none(),
             "learning_rate"_a = 1e-3f, "huber"_a = false,
             "One step of Adam on the mean of importance * loss; returns it, and target - Q [B] as "
             "it was before.");
}

}  // namespace rookery::bind
