// Values for the alpha-beta search from any network, and the plain search.

#include <nanobind/stl/variant.h>

#include "alphabeta/batch_values.h"
#include "bind/bind.h"
#include "encode/actions.h"
#include "nets/conv_value.h"
#include "nets/mlp_value.h"
#include "nets/move_net.h"
#include "rules/movegen.h"
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

std::shared_ptr<values::PositionEvaluator> make_network_values(
    const std::shared_ptr<nnue::Network>& network) {
    return std::make_shared<values::PositionEvaluator>("network", [network](const Position& p) {
        return std::tanh(float(network->evaluate(p)) / (2 * nnue::VALUE_SCALE));
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

// --- Move probabilities ---

using nets::MoveNet;

MoveList staged_moves(const Position& position, const NodeInfo& info) {
    MoveList moves;
    generate_noisy(position, info, moves);
    generate_quiet(position, info, moves);
    return moves;
}

std::map<std::string, float> probabilities_of(const MoveNet& net, const Game& game) {
    const Position position = values::without_past(game.now());
    const NodeInfo info(position);
    const MoveList moves = staged_moves(position, info);
    std::vector<float> found(std::size_t(moves.size()));
    net.probabilities(position, info, {moves.begin(), found.size()}, found);
    std::map<std::string, float> named;
    for (std::size_t i = 0; i < found.size(); ++i)
        named[to_uci(position, moves[int(i)])] = found[i];
    return named;
}

// Rows of all moves, offsets of the positions, and the index of each position's action.
nb::tuple sample_move_rows(const SampleArray& array, const Input<const std::int32_t>& actions) {
    const auto samples = samples_of(array);
    if (actions.size() != samples.size())
        throw std::invalid_argument("there must be one action per sample");
    std::vector<std::int32_t> rows;
    std::vector<std::int64_t> offsets{0}, chosen;
    {
        const nb::gil_scoped_release release;
        float observation[363];
        const RepetitionKeys none;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const Position position = values::without_past(nnue::unpack(samples[i]));
            const NodeInfo info(position);
            const MoveList moves = staged_moves(position, info);
            encode::encode_giraffe363({{&position}, 1, &none}, observation);
            const std::size_t old = rows.size(), count = std::size_t(moves.size());
            rows.resize(old + count * nets::MOVE_FEATURES);
            nets::move_rows(position, info, observation, {moves.begin(), count}, &rows[old]);
            const auto* best = std::find_if(moves.begin(), moves.end(), [&](Move move) {
                return encode::action_of(encode::ActionSpace::AZ4672, position, move) ==
                       actions.data()[i];
            });
            if (best == moves.end())
                throw std::invalid_argument("action " + std::to_string(actions.data()[i]) +
                                            " is illegal in " + to_fen(position));
            chosen.push_back(offsets.back() + (best - moves.begin()));
            offsets.push_back(offsets.back() + std::int64_t(count));
        }
    }
    const std::size_t total = std::size_t(offsets.back());
    return nb::make_tuple(owned_array(std::move(rows), {total, std::size_t(nets::MOVE_FEATURES)}),
                          owned_array(std::move(offsets)), owned_array(std::move(chosen)));
}

void bind_moves(nb::module_& m) {
    nb::class_<MoveNet>(m, "MoveNet",
                        "Probability of each legal move to be the best; see core/nets/move_net.h.")
        .def(
            "__init__",
            [](MoveNet* self, const Floats& weight, const Floats& bias, const Floats& table,
               const Floats& output) {
                new (self) MoveNet(span_of(weight), span_of(bias), span_of(table), span_of(output));
            },
            "weight"_a, "bias"_a, "table"_a, "output"_a,
            "float32 [H, 363], [H], [MOVE_ROWS, H], [H].")
        .def("probabilities", &probabilities_of, "game"_a, "Of the legal moves, by UCI.");
    m.attr("MOVE_ROWS") = nets::MOVE_ROWS;
    m.def("sample_move_rows", &sample_move_rows, "samples"_a, "actions"_a,
          nb::sig("def sample_move_rows(samples: numpy.typing.NDArray[numpy.uint8], actions: "
                  "numpy.typing.NDArray[numpy.int32]) -> tuple[numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
          "Rows [M, 7] of a MoveNet's table for all legal moves of B packed samples, offsets "
          "[B + 1] of the samples, and the index [B] of each sample's action (az4672).");
}

}  // namespace

void bind_values(nb::module_& m) {
    bind_moves(m);
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
        .def_static("network", &make_network_values, "network"_a,
                    "The expected result by the engine's network: tanh(evaluation / 800).")
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
