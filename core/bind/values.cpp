// Values for the alpha-beta search from any network, and the plain search.

#include <nanobind/stl/variant.h>

#include "alphabeta/batch_values.h"
#include "bind/bind.h"
#include "nets/conv_value.h"
#include "nets/mlp_value.h"
#include "values/plain_search.h"
#include "values/simplified.h"

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

using Layers = std::vector<std::pair<Floats, Floats>>;
std::vector<nets::DenseLayer> layers_of(const Layers& layers) {
    std::vector<nets::DenseLayer> dense;
    for (const auto& [weight, bias] : layers) dense.push_back({span_of(weight), span_of(bias)});
    return dense;
}

std::shared_ptr<ObservationEvaluator> make_mlp(std::string_view observation, const Layers& layers,
                                               const std::string& name) {
    const auto net = std::make_shared<const nets::MlpValue>(
        encode::find_observation(observation).size(), layers_of(layers));
    return std::make_shared<ObservationEvaluator>(
        name, observation, 1,
        [net](const std::vector<float>& observations, std::span<float> values) {
            net->evaluate(observations, values);
        });
}

std::shared_ptr<ObservationEvaluator> make_conv(std::string_view observation,
                                                const Layers& convolutions, const Layers& dense,
                                                const std::string& name, bool bounded,
                                                std::size_t batch) {
    const auto net = std::make_shared<const nets::ConvValue>(
        encode::find_observation(observation).size() / nets::ConvValue::SQUARES,
        layers_of(convolutions), layers_of(dense), bounded);
    return std::make_shared<ObservationEvaluator>(
        name, observation, batch,
        [net](const std::vector<float>& observations, std::span<float> values) {
            net->evaluate(observations, values);
        });
}

std::shared_ptr<values::PositionEvaluator> make_simplified(bool bounded) {
    return std::make_shared<values::PositionEvaluator>("simplified", [bounded](const Position& p) {
        const float value = float(values::simplified_evaluation(p)) / (2 * nnue::VALUE_SCALE);
        return bounded ? std::tanh(value) : value;
    });
}

template <class Evaluator> Numpy<float> values_of(const Evaluator& evaluator, const Games& games) {
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

// --- Plain alpha-beta ---

using EitherEvaluator =
    std::variant<std::shared_ptr<ObservationEvaluator>, std::shared_ptr<values::PositionEvaluator>>;
values::BatchEvaluatorPtr pointer_of(const EitherEvaluator& either) {
    return std::visit([](const auto& made) -> values::BatchEvaluatorPtr { return made; }, either);
}

std::tuple<std::vector<std::string>, float, std::uint64_t> search_plainly(
    values::PlainSearch& search, const Game& game, int depth, double other_share,
    std::uint64_t seed) {
    Random random(seed);
    const Position root = game.now();
    values::PlainResult result;
    {
        const nb::gil_scoped_release release;
        result = search.search(root, game.keys(), depth, other_share, random);
    }
    return {to_uci(root, result.line), result.value, result.leaves};
}

void bind_plain_search(nb::module_& m) {
    using values::PlainSearch;
    nb::class_<PlainSearch> bound(m, "PlainSearch",
                                  "Alpha-beta to a fixed depth and nothing else; see "
                                  "core/values/plain_search.h.");
    bound
        .def(
            "__init__",
            [](PlainSearch* self, const EitherEvaluator& evaluator,
               const std::optional<EitherEvaluator>& other) {
                new (self) PlainSearch(pointer_of(evaluator), other ? pointer_of(*other) : nullptr);
            },
            "evaluator"_a, "other"_a = nb::none())
        .def("search", &search_plainly, "game"_a, "depth"_a, "other_share"_a = 0.0, "seed"_a = 0,
             "(principal variation, value for the side to move, leaves evaluated); `other` judges "
             "a share of the leaves. A mate in n plies is worth MATE - n.");
    bound.attr("MATE") = PlainSearch::MATE;
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
        .def_static("conv", &make_conv, "observation"_a, "convolutions"_a, "dense"_a,
                    "name"_a = "conv", "bounded"_a = true, "batch"_a = 8,
                    "A native network: 3x3 convolutions (weight [16, in, 3, 3], bias [16]) and "
                    "dense layers with ReLU between them, the last with one output; bounded: tanh.")
        .def("values", &values_of<ObservationEvaluator>, "games"_a,
             "Values [B] of positions for their side to move, as the search sees them.")
        .def_prop_ro("name", [](const ObservationEvaluator& e) { return std::string(e.name()); })
        .def_prop_ro("observation",
                     [](const ObservationEvaluator& e) { return std::string(e.layout().name); })
        .def_prop_ro("batch", &ObservationEvaluator::batch, "Maximum batch size.");

    nb::class_<values::PositionEvaluator>(m, "PositionEvaluator",
                                          "A native function of single positions.")
        .def_static("simplified", &make_simplified, "bounded"_a = true,
                    "Material and piece-square tables (core/values/simplified.h): tanh(centipawns "
                    "/ 800), or unbounded centipawns / 800.")
        .def("values", &values_of<values::PositionEvaluator>, "games"_a,
             "Values [B] of positions for their side to move.");

    bind_plain_search(m);
    m.def("score_of_value", &alphabeta::score_of_value, "value"_a,
          "Score of an expected result in [-1, 1]: 800 * atanh(value), at most 20000.");
    m.def("value_of_score", &alphabeta::value_of_score, "score"_a,
          "Expected result in [-1, 1] of a score; 1 and -1 for mates.");
}

}  // namespace rookery::bind
