// The network of paper 003 with its learning step.

#include "nets/pyramid_net.h"
#include "bind/bind.h"

namespace rookery::bind {

namespace {

template <class T, int Dimensions>
using Input = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

std::span<const std::int64_t> squares_of(const Input<std::int64_t, 2>& squares) {
    if (squares.shape(1) != nets::PyramidNet::PIECES)
        throw std::invalid_argument("squares have " + std::to_string(squares.shape(1)) +
                                    " columns; there must be 3");
    const std::span<const std::int64_t> values(squares.data(), squares.size());
    for (const std::int64_t square : values)
        if (square < 0 || square >= nets::PyramidNet::SQUARES)
            throw std::invalid_argument("square " + std::to_string(square) + " is not in 0 .. 63");
    return values;
}

template <class T>
std::span<const T> column_of(const Input<T, 1>& values, std::size_t count, const char* name) {
    if (values.size() != count)
        throw std::invalid_argument("there are " + std::to_string(count) + " positions, but " +
                                    std::to_string(values.size()) + " " + name);
    return {values.data(), values.size()};
}

nets::PyramidNet::Part find_part(std::string_view name) {
    if (name == "weights") return nets::PyramidNet::Part::WEIGHTS;
    if (name == "first_moments") return nets::PyramidNet::Part::FIRST_MOMENTS;
    if (name == "second_moments") return nets::PyramidNet::Part::SECOND_MOMENTS;
    throw std::invalid_argument("part is '" + std::string(name) +
                                "'; it must be weights, first_moments or second_moments");
}

Numpy<float> get(const nets::PyramidNet& net, std::string_view part) {
    std::vector<float> values(net.size());
    net.read(find_part(part), values);
    return owned_array(std::move(values), {net.size()});
}

void set(nets::PyramidNet& net, std::string_view part, const Input<float, 1>& values) {
    if (values.size() != net.size())
        throw std::invalid_argument("the network has " + std::to_string(net.size()) +
                                    " weights, not " + std::to_string(values.size()));
    net.write(find_part(part), {values.data(), values.size()});
}

Numpy<float> q_values(const nets::PyramidNet& net, const Input<std::int64_t, 2>& squares) {
    const auto input = squares_of(squares);
    std::vector<float> values(squares.shape(0) * std::size_t(net.actions()));
    {
        const nb::gil_scoped_release release;
        net.q_values(input, values);
    }
    return owned_array(std::move(values), {squares.shape(0), std::size_t(net.actions())});
}

std::pair<double, Numpy<float>> learn(nets::PyramidNet& net, const Input<std::int64_t, 2>& squares,
                                      const Input<std::int64_t, 1>& actions,
                                      const Input<float, 1>& targets,
                                      const std::optional<Input<float, 1>>& importance,
                                      float learning_rate, bool huber) {
    const auto input = squares_of(squares);
    const std::size_t count = squares.shape(0);
    if (!count) throw std::invalid_argument("there is no position to learn from");
    const auto chosen = column_of(actions, count, "actions");
    for (const std::int64_t action : chosen)
        if (action < 0 || action >= net.actions())
            throw std::invalid_argument("action " + std::to_string(action) + " is not in 0 .. " +
                                        std::to_string(net.actions() - 1));
    const auto wanted = column_of(targets, count, "targets");
    std::span<const float> weights;
    if (importance) weights = column_of(*importance, count, "weights");
    std::vector<float> errors(count);
    double loss = 0.0;
    {
        const nb::gil_scoped_release release;
        loss = net.learn(input, chosen, wanted, weights, errors,
                         {.huber = huber, .learning_rate = learning_rate});
    }
    return {loss, owned_array(std::move(errors), {count})};
}

}  // namespace

void bind_pyramid(nb::module_& m) {
    nb::class_<nets::PyramidNet>(
        m, "PyramidNet",
        "A network of the family `pyramid` that learns by itself: Q values of three squares, and "
        "steps of Adam on them. Its weights are one vector: rows, bias, then weight and bias of "
        "each layer, as torch keeps them.")
        .def(nb::init<const std::vector<int>&, int, bool>(), "hidden"_a, "actions"_a = 10,
             "dueling"_a = false)
        .def("__len__", &nets::PyramidNet::size, "Number of weights.")
        .def_rw("steps", &nets::PyramidNet::steps, "Steps of the optimiser so far.")
        .def("get", &get, "part"_a = "weights",
             "Copy of the weights, first_moments or second_moments.")
        .def("set", &set, "part"_a, "values"_a)
        .def("q_values", &q_values, "squares"_a, "Q values [B, A] of squares [B, 3].")
        .def("learn", &learn, "squares"_a, "actions"_a, "targets"_a, "importance"_a = nb::none(),
             "learning_rate"_a = 1e-3f, "huber"_a = false,
             "One step of Adam on the mean of importance * loss; returns it, and target - Q [B] as "
             "it was before.");
}

}  // namespace rookery::bind
