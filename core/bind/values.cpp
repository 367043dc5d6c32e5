// Values for the alpha-beta search from any network.

#include "alphabeta/batch_values.h"
#include "bind/bind.h"
#include "nets/mlp_value.h"

namespace rookery::bind {

namespace {

using values::ObservationEvaluator;
using Floats = Input<const float>;

// Holds the GIL for the call only, not for encoding and searching.
ObservationEvaluator::Function python_function(std::string name, std::vector<std::size_t> shape,
                                               const nb::object& function) {
    // The last reference may be dropped by a thread without the GIL.
    const std::shared_ptr<nb::object> held(new nb::object(function), [](nb::object* object) {
        const nb::gil_scoped_acquire acquire;
        delete object;
    });
    return [=](std::vector<float> observations, std::span<float> values) {
        const nb::gil_scoped_acquire acquire;
        const nb::object answer =
            (*held)(owned_array<float>(std::move(observations), batch_shape(values.size(), shape)));
        Floats array;
        if (!nb::try_cast(answer, array) || array.ndim() != 1 || array.shape(0) != values.size())
            throw values::EvaluatorError("evaluator '" + name + "' must return one value for " +
                                         "each of " + std::to_string(values.size()) +
                                         " positions, not " + nb::repr(answer).c_str());
        std::copy_n(array.data(), values.size(), values.data());
    };
}

void init_python(ObservationEvaluator* self, std::string_view observation,
                 const nb::callable& function, const std::string& name, std::size_t batch) {
    const auto shape = encode::find_observation(observation).shape;
    new (self)
        ObservationEvaluator(name, observation, batch, python_function(name, shape, function));
}

std::shared_ptr<ObservationEvaluator> make_mlp(std::string_view observation,
                                               const std::vector<std::pair<Floats, Floats>>& layers,
                                               const std::string& name) {
    std::vector<nets::DenseLayer> dense;
    for (const auto& [weight, bias] : layers) dense.push_back({span_of(weight), span_of(bias)});
    const auto net =
        std::make_shared<const nets::MlpValue>(encode::find_observation(observation).size(), dense);
    return std::make_shared<ObservationEvaluator>(
        name, observation, 1,
        [net](const std::vector<float>& observations, std::span<float> values) {
            net->evaluate(observations, values);
        });
}

Numpy<float> values_of(const ObservationEvaluator& evaluator, const Games& games) {
    std::vector<Position> positions;
    for (const Game* game : require_games(games))
        positions.push_back(values::without_past(game->now()));
    std::vector<float> values(positions.size());
    {
        const nb::gil_scoped_release release;
        evaluator.evaluate(positions, values);
    }
    return owned_array(std::move(values), {positions.size()});
}

}  // namespace

void bind_values(nb::module_& m) {
    nb::exception<values::EvaluatorError>(m, "EvaluatorError", PyExc_ValueError);
    nb::class_<ObservationEvaluator>(
        m, "BatchEvaluator",
        "Values for the alpha-beta search from a function over a named observation; see "
        "core/values/evaluator.h.")
        .def("__init__", &init_python, "observation"_a, "function"_a, "name"_a = "evaluator",
             "batch"_a = 16,
             "function takes observations float32 [B, *shape], 1 <= B <= batch, of positions "
             "without a past (clock 0, no repetitions, no last move) and returns their expected "
             "results [B] in [-1, 1] for the side to move. An exception ends the search.",
             nb::sig("def __init__(self, observation: str, function: "
                     "typing.Callable[[numpy.typing.NDArray[numpy.float32]], object], "
                     "name: str = 'evaluator', batch: int = 16) -> None"))
        .def_static("mlp", &make_mlp, "observation"_a, "layers"_a, "name"_a = "mlp",
                    "A native network: layers (weight [out, in], bias [out]) with ReLU between "
                    "them, the last with one output and tanh.")
        .def("values", &values_of, "games"_a,
             "Values [B] of positions for their side to move, as the search sees them.")
        .def_prop_ro("name", [](const ObservationEvaluator& e) { return std::string(e.name()); })
        .def_prop_ro("observation",
                     [](const ObservationEvaluator& e) { return std::string(e.layout().name); })
        .def_prop_ro("batch", &ObservationEvaluator::batch, "Maximum batch size.");

    m.def("score_of_value", &alphabeta::score_of_value, "value"_a,
          "Score of an expected result in [-1, 1]: 800 * atanh(value), at most 20000.");
    m.def("value_of_score", &alphabeta::value_of_score, "score"_a,
          "Expected result in [-1, 1] of a score; 1 and -1 for mates.");
}

}  // namespace rookery::bind
