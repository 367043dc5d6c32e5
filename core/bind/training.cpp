// Training of nnue768 networks: packed samples, games of a network against itself, the learner.

#include <nanobind/stl/function.h>
#include <nanobind/stl/variant.h>

#include "bind/bind.h"
#include "datagen/generator.h"
#include "datagen/network_match.h"
#include "nnue/learner.h"
#include "nnue/packed_position.h"

namespace rookery::bind {

namespace {

using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using SampleArray =
    nb::ndarray<const std::uint8_t, nb::shape<-1, 32>, nb::c_contig, nb::device::cpu>;
using Stopping = std::optional<std::function<bool()>>;

std::span<const nnue::PackedSample> samples_of(const SampleArray& array) {
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(nnue::PackedSample))
        throw std::invalid_argument("the samples are not aligned to 8 bytes; pass a copy of them");
    return {reinterpret_cast<const nnue::PackedSample*>(array.data()), array.shape(0)};
}

Numpy<std::uint8_t> sample_array(const std::vector<nnue::PackedSample>& samples) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(samples.data());
    std::vector<std::uint8_t> copy(bytes, bytes + sizeof(nnue::PackedSample) * samples.size());
    return owned_array(std::move(copy), {samples.size(), sizeof(nnue::PackedSample)});
}

std::span<const float> floats_of(const Floats& array) { return {array.data(), array.size()}; }

// While threads play without Python's lock: handles signals, and asks whether to stop.
alphabeta::Poll python_poll(const Stopping& stopping) {
    return [&stopping] {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return stopping && *stopping && (*stopping)();
    };
}

// --- Networks, given as their four tensors ---

nnue::NetworkPtr make_network(const Floats& feature_weights, const Floats& feature_bias,
                              const Floats& output_weights, const Floats& output_bias) {
    return std::make_shared<const nnue::Network>(
        int(feature_bias.size()), int(output_bias.size()), floats_of(feature_weights),
        floats_of(feature_bias), floats_of(output_weights), floats_of(output_bias));
}

using Tensors = std::tuple<Floats, Floats, Floats, Floats>;
nnue::NetworkPtr make_network(const Tensors& tensors) {
    return std::apply([](const auto&... each) { return make_network(each...); }, tensors);
}

// --- Packed samples ---

Numpy<std::uint8_t> pack_samples(const Games& games, const std::vector<int>& scores,
                                 const std::vector<int>& results,
                                 const std::vector<unsigned>& numbers) {
    require_games(games);
    if (scores.size() != games.size() || results.size() != games.size() ||
        numbers.size() != games.size())
        throw std::invalid_argument("games, scores, results and numbers must be equally long");
    std::vector<nnue::PackedSample> samples;
    for (std::size_t i = 0; i < games.size(); ++i) {
        if (results[i] < -1 || results[i] > 1)
            throw std::invalid_argument("result " + std::to_string(results[i]) +
                                        " is not -1, 0 or 1");
        samples.push_back(
            nnue::pack(games[i]->now(), scores[i], nnue::SampleResult(results[i] + 1), numbers[i]));
    }
    return sample_array(samples);
}

std::vector<std::string> sample_fens(const SampleArray& array) {
    std::vector<std::string> fens;
    for (const nnue::PackedSample& sample : samples_of(array))
        fens.push_back(to_fen(nnue::unpack(sample)));
    return fens;
}

// --- The learner ---

nb::dict tensor_views(nb::handle self, std::span<float> values, const nnue::WeightLayout& layout) {
    const auto hidden = std::size_t(layout.hidden), buckets = std::size_t(layout.buckets);
    nb::dict views;
    views["feature_weights"] = view_array(self, values.data(), {nnue::FEATURES, hidden});
    views["feature_bias"] = view_array(self, values.data() + layout.feature_bias(), {hidden});
    views["output_weights"] =
        view_array(self, values.data() + layout.output_weights(), {buckets, 2 * hidden});
    views["output_bias"] = view_array(self, values.data() + layout.output_bias(), {buckets});
    return views;
}

nb::tuple learner_gradient(nnue::Learner& learner, const SampleArray& array, float wdl,
                           float power) {
    const nnue::WeightLayout& layout = learner.layout();
    auto* values = new std::vector<float>(layout.size());
    const nb::capsule owner(values,
                            [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
    const double loss = learner.gradient(samples_of(array), {wdl, power}, *values);
    return nb::make_tuple(loss, tensor_views(owner, *values, layout));
}

double learner_train(nnue::Learner& learner, const SampleArray& array, std::uint64_t seed,
                     std::size_t batch_size, std::size_t first, const Floats& learning_rates,
                     float wdl, float power) {
    if (batch_size < 1) throw std::invalid_argument("batch_size must be at least 1");
    const auto samples = samples_of(array);
    const auto rates = floats_of(learning_rates);
    const nb::gil_scoped_release release;
    return learner.train(samples, seed, batch_size, first, rates, {wdl, power});
}

Numpy<float> learner_evaluate(const nnue::Learner& learner, const SampleArray& array) {
    const auto samples = samples_of(array);
    std::vector<float> raw(samples.size());
    {
        const nb::gil_scoped_release release;
        learner.evaluate(samples, raw);
    }
    return owned_array(std::move(raw), {samples.size()});
}

void bind_learner(nb::module_& m) {
    using nnue::Learner;
    constexpr auto TENSORS = "-> dict[str, numpy.typing.NDArray[numpy.float32]]";
    const auto signature = [&](const char* name) {
        return std::string("def ") + name + "(self) " + TENSORS;
    };
    static const std::string names[] = {signature("weights"), signature("first_moments"),
                                        signature("second_moments")};
    nb::class_<Learner>(m, "NnueLearner",
                        "Learns nnue768 networks from packed samples; see core/nnue/learner.h. The "
                        "result does not depend on the number of threads.")
        .def(nb::init<int, int, int>(), "hidden"_a, "buckets"_a = 8, "threads"_a = 1)
        .def_prop_ro("hidden", [](const Learner& l) { return l.layout().hidden; })
        .def_prop_ro("buckets", [](const Learner& l) { return l.layout().buckets; })
        .def_rw("steps", &Learner::steps, "Steps of the optimiser so far.")
        .def(
            "set_adam",
            [](Learner& l, float beta1, float beta2, float epsilon, float weight_decay) {
                l.adam = {beta1, beta2, epsilon, weight_decay};
            },
            "beta1"_a = 0.9f, "beta2"_a = 0.999f, "epsilon"_a = 1e-8f, "weight_decay"_a = 0.01f,
            "Settings of AdamW.")
        .def(
            "weights",
            [](nb::handle_t<Learner> self) {
                auto& l = nb::cast<Learner&>(self);
                return tensor_views(self, l.weights(), l.layout());
            },
            nb::sig(names[0].c_str()), "The weights themselves, by name: writing changes them.")
        .def(
            "first_moments",
            [](nb::handle_t<Learner> self) {
                auto& l = nb::cast<Learner&>(self);
                return tensor_views(self, l.first_moments(), l.layout());
            },
            nb::sig(names[1].c_str()), "Running means of the gradient, in the same form.")
        .def(
            "second_moments",
            [](nb::handle_t<Learner> self) {
                auto& l = nb::cast<Learner&>(self);
                return tensor_views(self, l.second_moments(), l.layout());
            },
            nb::sig(names[2].c_str()), "Running means of its square, in the same form.")
        .def("train", &learner_train, "samples"_a, "seed"_a, "batch_size"_a, "first"_a,
             "learning_rates"_a, "wdl"_a = 1.0f, "power"_a = 2.0f,
             "Learns from batches [first, first + len(learning_rates)) of a pass in the order that "
             "the seed gives; returns the mean loss.")
        .def("gradient", &learner_gradient, "samples"_a, "wdl"_a = 1.0f, "power"_a = 2.0f,
             nb::sig("def gradient(self, samples: numpy.typing.NDArray[numpy.uint8], wdl: float = "
                     "1.0, power: float = 2.0) -> tuple[float, dict[str, "
                     "numpy.typing.NDArray[numpy.float32]]]"),
             "Mean loss of the samples, and its gradient by name.")
        .def("evaluate", &learner_evaluate, "samples"_a,
             "Raw outputs [N] for the side to move; the sigmoid is the expected score.");
}

// --- Games ---

datagen::Adjudication adjudication_of(bool enabled) {
    datagen::Adjudication rules;
    rules.enabled = enabled;
    return rules;
}

void bind_datagen(nb::module_& m) {
    using datagen::DataGenerator;
    using datagen::GeneratedGames;
    nb::class_<GeneratedGames>(m, "GeneratedGames", "Samples, and what is known of their games.")
        .def_prop_ro(
            "samples", [](const GeneratedGames& g) { return sample_array(g.samples); },
            nb::rv_policy::move, "uint8 [N, 32], game by game.")
        .def_ro("games", &GeneratedGames::games)
        .def_ro("white_wins", &GeneratedGames::white_wins)
        .def_ro("draws", &GeneratedGames::draws)
        .def_ro("black_wins", &GeneratedGames::black_wins)
        .def_ro("plies", &GeneratedGames::plies, "Searched, in all games.")
        .def_ro("nodes", &GeneratedGames::nodes)
        .def_ro("distinct_openings", &GeneratedGames::distinct_openings,
                "Different positions four plies after the random ones.")
        .def_prop_ro("endings", [](const GeneratedGames& g) {
            std::map<std::string, std::uint64_t> counts;
            for (std::size_t i = 0; i < g.endings.size(); ++i)
                if (g.endings[i]) counts[datagen::ending_name(i)] = g.endings[i];
            return counts;
        });
    nb::class_<DataGenerator>(m, "DataGenerator",
                              "Games of a network against itself; see core/datagen/generator.h.")
        .def(
            "__init__",
            [](DataGenerator* self, const Tensors& network, std::uint64_t seed,
               std::uint64_t soft_nodes, std::pair<int, int> random_plies, int max_opening_score,
               int max_score, int max_plies, bool adjudicate, double play_on_share,
               std::size_t table_bytes, int threads) {
                datagen::DatagenSettings settings{.seed = seed,
                                                  .soft_nodes = soft_nodes,
                                                  .min_random_plies = random_plies.first,
                                                  .max_random_plies = random_plies.second,
                                                  .max_opening_score = max_opening_score,
                                                  .max_score = max_score,
                                                  .max_plies = max_plies,
                                                  .adjudication = adjudication_of(adjudicate),
                                                  .play_on_share = play_on_share,
                                                  .table_bytes = table_bytes,
                                                  .threads = threads};
                new (self) DataGenerator(make_network(network), settings);
            },
            "network"_a, "seed"_a, "soft_nodes"_a = 200, "random_plies"_a = std::pair(8, 9),
            "max_opening_score"_a = 1000, "max_score"_a = 3000, "max_plies"_a = 400,
            "adjudicate"_a = true, "play_on_share"_a = 0.1, "table_bytes"_a = std::size_t(1) << 20,
            "threads"_a = 1)
        .def(
            "run",
            [](DataGenerator& self, std::uint64_t first, std::uint64_t count,
               const Stopping& stopping) {
                const nb::gil_scoped_release release;
                return self.run(first, count, python_poll(stopping));
            },
            "first"_a, "count"_a, "stopping"_a = nb::none(),
            "Plays the games with the numbers [first, first + count). What a game is depends on "
            "the seed and its number only. `stopping` is asked every 20 ms; if it says True the "
            "complete games without a gap are returned.");
}

void bind_match(nb::module_& m) {
    using datagen::NetworkMatch;
    using Played = std::tuple<int, std::vector<std::string>>;
    const auto describe = [](const datagen::MatchGame& game) {
        std::vector<std::string> moves;
        Position position = start_position();
        for (const Move move : game.moves) {
            moves.push_back(to_uci(position, move));
            position.make(move);
        }
        return Played{game.result, std::move(moves)};
    };
    nb::class_<NetworkMatch>(m, "NetworkMatch",
                             "Pairs of games of a network against another or a bot, from random "
                             "openings with colours exchanged; see core/datagen/network_match.h.")
        .def(
            "__init__",
            [](NetworkMatch* self, const Tensors& network,
               const std::variant<Tensors, std::string>& opponent, std::uint64_t seed,
               std::uint64_t soft_nodes, int random_plies, int max_opening_score, bool adjudicate,
               int threads) {
                nnue::NetworkPtr other;
                std::optional<peers::Bot> bot;
                if (std::holds_alternative<std::string>(opponent))
                    bot = peers::find_bot(std::get<std::string>(opponent));
                else
                    other = make_network(std::get<Tensors>(opponent));
                datagen::MatchSettings settings;
                settings.seed = seed;
                settings.soft_nodes = soft_nodes;
                settings.random_plies = random_plies;
                settings.max_opening_score = max_opening_score;
                settings.adjudication = adjudication_of(adjudicate);
                settings.threads = threads;
                new (self) NetworkMatch(make_network(network), other, bot, settings);
            },
            "network"_a, "opponent"_a, "seed"_a, "soft_nodes"_a = 1000, "random_plies"_a = 8,
            "max_opening_score"_a = 300, "adjudicate"_a = true, "threads"_a = 1)
        .def(
            "run",
            [describe](NetworkMatch& self, std::uint64_t first, std::uint64_t count,
                       const Stopping& stopping) {
                std::vector<std::pair<Played, Played>> pairs;
                const nb::gil_scoped_release release;
                for (const auto& pair : self.run(first, count, python_poll(stopping)))
                    pairs.emplace_back(describe(pair.as_white), describe(pair.as_black));
                return pairs;
            },
            "first"_a, "count"_a, "stopping"_a = nb::none(),
            "Pairs [first, first + count): for each the games as White and as Black, as (result "
            "for the network: 1, 0, -1; UCI moves from the start position on).");
}

}  // namespace

void bind_training(nb::module_& m) {
    m.def("pack_samples", &pack_samples, "games"_a, "scores"_a, "results"_a, "numbers"_a,
          "Packed samples, uint8 [N, 32], of the present positions of games; scores and results "
          "(1, 0, -1) are for the side to move, numbers those of the games they belong to.");
    m.def("sample_fens", &sample_fens, "samples"_a, "FENs of packed samples.");
    m.def(
        "first_bad_sample",
        [](const SampleArray& array) { return nnue::first_bad_sample(samples_of(array)); },
        "samples"_a, "Index of the first sample that is no position, or their number.");
    m.def(
        "evaluate_samples",
        [](const Tensors& network, const SampleArray& array) {
            const auto made = make_network(network);
            std::vector<std::int32_t> values;
            for (const nnue::PackedSample& sample : samples_of(array))
                values.push_back(made->evaluate(nnue::unpack(sample)));
            const std::size_t count = values.size();
            return owned_array(std::move(values), {count});
        },
        "network"_a, "samples"_a,
        "Values of the quantised network, int32 [N], 400 per unit of raw output.");
    bind_learner(m);
    bind_datagen(m);
    bind_match(m);
}

}  // namespace rookery::bind
