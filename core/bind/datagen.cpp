// Games of NNUE networks: training samples and matches.

#include <nanobind/stl/function.h>

#include "bind/bind.h"
#include "datagen/generator.h"
#include "datagen/leaf_games.h"
#include "datagen/network_match.h"
#include "datagen/transitions.h"

namespace rookery::bind {

namespace {

using Stopping = std::optional<std::function<bool()>>;

// Called while threads play without the GIL: handles signals, calls `stopping`.
alphabeta::Poll python_poll(const Stopping& stopping) {
    return [&stopping] {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return stopping && *stopping && (*stopping)();
    };
}

void bind_generator(nb::module_& m) {
    using datagen::DataGenerator;
    using datagen::GeneratedGames;
    nb::class_<GeneratedGames>(m, "GeneratedGames", "Samples and statistics of their games.")
        .def_prop_ro(
            "samples", [](const GeneratedGames& g) { return sample_array(g.samples); },
            nb::rv_policy::move, "uint8 [N, 32], game by game.")
        .def_ro("games", &GeneratedGames::games)
        .def_ro("white_wins", &GeneratedGames::white_wins)
        .def_ro("draws", &GeneratedGames::draws)
        .def_ro("black_wins", &GeneratedGames::black_wins)
        .def_ro("plies", &GeneratedGames::plies, "Searched positions of all games.")
        .def_ro("nodes", &GeneratedGames::nodes)
        .def_ro("distinct_openings", &GeneratedGames::distinct_openings,
                "Different positions four plies after the random ones.")
        .def_ro("openings", &GeneratedGames::openings,
                "Their keys by game; 0 for a game that was over by then.")
        .def_prop_ro("endings", [](const GeneratedGames& g) { return g.endings.by_name(); });
    nb::class_<DataGenerator>(m, "DataGenerator",
                              "Self-play of a network; see core/datagen/generator.h.")
        .def(
            "__init__",
            [](DataGenerator* self, const Tensors& network, std::uint64_t seed,
               std::uint64_t soft_nodes, std::pair<int, int> random_plies, int max_opening_score,
               int max_score, int max_plies, bool adjudicate, double play_on_share, int threads) {
                datagen::DatagenSettings settings{.seed = seed,
                                                  .soft_nodes = soft_nodes,
                                                  .min_random_plies = random_plies.first,
                                                  .max_random_plies = random_plies.second,
                                                  .max_opening_score = max_opening_score,
                                                  .max_score = max_score,
                                                  .max_plies = max_plies,
                                                  .adjudication = {.enabled = adjudicate},
                                                  .play_on_share = play_on_share,
                                                  .threads = threads};
                new (self) DataGenerator(make_network(network), settings);
            },
            "network"_a, "seed"_a, "soft_nodes"_a = 200, "random_plies"_a = std::pair(8, 9),
            "max_opening_score"_a = 1000, "max_score"_a = 3000, "max_plies"_a = 400,
            "adjudicate"_a = true, "play_on_share"_a = 0.1, "threads"_a = 1)
        .def(
            "run",
            [](DataGenerator& self, std::uint64_t first, std::uint64_t count,
               const Stopping& stopping) {
                const nb::gil_scoped_release release;
                return self.run(first, count, python_poll(stopping));
            },
            "first"_a, "count"_a, "stopping"_a = nb::none(),
            "Plays games [first, first + count), each determined by the seed and its number. "
            "`stopping` is called every 20 ms; if it returns True, the games completed without a "
            "gap are returned.");
}

void bind_match(nb::module_& m) {
    using datagen::NetworkMatch;
    using Played = std::tuple<int, std::vector<std::string>>;
    const auto describe = [](const datagen::MatchGame& game) {
        return Played{game.result, to_uci(start_position(), game.moves)};
    };
    nb::class_<NetworkMatch>(m, "NetworkMatch",
                             "Pairs of games of a network against another or a bot, from random "
                             "openings with colours swapped; see core/datagen/network_match.h.")
        .def(
            "__init__",
            [](NetworkMatch* self, const Tensors& network,
               const std::variant<Tensors, std::string>& opponent, std::uint64_t seed,
               std::uint64_t nodes, int random_plies, int max_opening_score, bool adjudicate,
               int threads) {
                nnue::NetworkPtr other;
                std::optional<peers::Bot> bot;
                if (std::holds_alternative<std::string>(opponent))
                    bot = peers::find_bot(std::get<std::string>(opponent));
                else
                    other = make_network(std::get<Tensors>(opponent));
                datagen::MatchSettings settings;
                settings.seed = seed;
                settings.nodes = nodes;
                settings.random_plies = random_plies;
                settings.max_opening_score = max_opening_score;
                settings.adjudication = {.enabled = adjudicate};
                settings.threads = threads;
                new (self) NetworkMatch(make_network(network), other, bot, settings);
            },
            "network"_a, "opponent"_a, "seed"_a, "nodes"_a = 1000, "random_plies"_a = 8,
            "max_opening_score"_a = 300, "adjudicate"_a = true, "threads"_a = 1)
        .def(
            "set_parameters",
            [](NetworkMatch& self, const std::map<std::string, int>& ours,
               const std::map<std::string, int>& theirs) {
                self.set_parameters(parameters_of(ours), parameters_of(theirs));
            },
            "ours"_a, "theirs"_a,
            "Search parameters by name, of the network and of its opponent; those not named have "
            "their default.")
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
            "Pairs [first, first + count): the games as White and as Black, each (result for the "
            "network: 1, 0 or -1; UCI moves from the start position).");
}

void bind_transitions(nb::module_& m) {
    using datagen::ExploredGames;
    using datagen::TransitionGenerator;
    const auto array_of = [](const std::vector<datagen::Transition>& transitions) {
        const auto* samples = reinterpret_cast<const nnue::PackedSample*>(transitions.data());
        return sample_array({samples, 2 * transitions.size()});
    };
    nb::class_<ExploredGames>(m, "ExploredGames", "Transitions and statistics of their games.")
        .def_prop_ro(
            "transitions",
            [array_of](const ExploredGames& games) { return array_of(games.transitions); },
            nb::rv_policy::move,
            "uint8 [2N, 32], game by game: each position is followed by the leaf of its search.")
        .def_ro("games", &ExploredGames::games)
        .def_ro("white_wins", &ExploredGames::white_wins)
        .def_ro("draws", &ExploredGames::draws)
        .def_ro("black_wins", &ExploredGames::black_wins)
        .def_ro("cut_off", &ExploredGames::cut_off)
        .def_ro("nodes", &ExploredGames::nodes);
    nb::class_<TransitionGenerator>(
        m, "TransitionGenerator",
        "Self-play with exploration for a replay memory; see core/datagen/transitions.h.")
        .def(
            "__init__",
            [](TransitionGenerator* self, const Tensors& network, std::uint64_t seed, int depth,
               std::uint64_t nodes, double random_moves, std::pair<int, int> random_plies,
               int max_plies, int threads) {
                new (self) TransitionGenerator(make_network(network),
                                               {.seed = seed,
                                                .depth = depth,
                                                .nodes = nodes,
                                                .random_moves = random_moves,
                                                .min_random_plies = random_plies.first,
                                                .max_random_plies = random_plies.second,
                                                .max_plies = max_plies,
                                                .threads = threads});
            },
            "network"_a, "seed"_a, "depth"_a = 3, "nodes"_a = 100'000, "random_moves"_a = 0.05,
            "random_plies"_a = std::pair(0, 9), "max_plies"_a = 300, "threads"_a = 1)
        .def(
            "run",
            [](TransitionGenerator& self, std::uint64_t first, std::uint64_t count,
               const Stopping& stopping) {
                const nb::gil_scoped_release release;
                return self.run(first, count, python_poll(stopping));
            },
            "first"_a, "count"_a, "stopping"_a = nb::none(),
            "Plays games [first, first + count), each determined by the seed and its number; as "
            "DataGenerator.run.")
        .def(
            "search",
            [array_of](TransitionGenerator& self, const SampleArray& positions) {
                const auto samples = samples_of(positions);
                std::vector<datagen::Transition> found;
                {
                    const nb::gil_scoped_release release;
                    found = self.search(samples, python_poll(std::nullopt));
                }
                return array_of(found);
            },
            "positions"_a,
            "Searches packed positions uint8 [N, 32] that are not over; transitions [2N, 32] that "
            "belong to no game.");
}

// One array over all plies [segments, plies].
template <class T, class Get> Numpy<T> ply_array(const datagen::LeafSegments& all, Get&& get) {
    std::vector<T> values;
    values.reserve(all.plies.size());
    for (const datagen::LeafPly& ply : all.plies) values.push_back(get(ply));
    const std::size_t count = all.next.size();
    return owned_array(std::move(values), {count, count ? all.plies.size() / count : 0});
}

template <nnue::PackedSample datagen::LeafPly::* Field>
Numpy<std::uint8_t> ply_samples(const datagen::LeafSegments& all) {
    std::vector<nnue::PackedSample> samples;
    for (const datagen::LeafPly& ply : all.plies) samples.push_back(ply.*Field);
    return sample_array(samples);
}

void bind_leaf_games(nb::module_& m) {
    using datagen::LeafGames;
    using datagen::LeafPly;
    using datagen::LeafSegments;
    nb::class_<LeafSegments>(m, "LeafSegments",
                             "Segments of games, N segments of T plies; values are for White.")
        .def_prop_ro("roots", &ply_samples<&LeafPly::root>, nb::rv_policy::move,
                     "Searched positions with their scores, uint8 [N * T, 32].")
        .def_prop_ro("leaves", &ply_samples<&LeafPly::leaf>, nb::rv_policy::move,
                     "Ends of the principal variations, uint8 [N * T, 32].")
        .def_prop_ro(
            "next", [](const LeafSegments& all) { return sample_array(all.next); },
            nb::rv_policy::move, "Where the segments stopped, uint8 [N, 32].")
        .def_prop_ro(
            "actions",
            [](const LeafSegments& all) {
                return ply_array<std::int32_t>(all, [](const LeafPly& p) { return p.action; });
            },
            nb::rv_policy::move, "Best moves at the roots, az4672, int32 [N, T].")
        .def_prop_ro(
            "values",
            [](const LeafSegments& all) {
                return ply_array<float>(all, [](const LeafPly& p) { return p.value; });
            },
            nb::rv_policy::move, "Of the searches, [N, T].")
        .def_prop_ro(
            "ends",
            [](const LeafSegments& all) {
                return ply_array<float>(all, [](const LeafPly& p) { return p.end; });
            },
            nb::rv_policy::move, "Results of games that ended with a ply, else NaN, [N, T].")
        .def_prop_ro(
            "decided",
            [](const LeafSegments& all) {
                return ply_array<std::uint8_t>(all, [](const LeafPly& p) { return p.decided; });
            },
            nb::rv_policy::move, "Whether the game is over at the leaf, uint8 [N, T].")
        .def_prop_ro(
            "unrelated",
            [](const LeafSegments& all) {
                return ply_array<std::uint8_t>(all, [](const LeafPly& p) { return p.unrelated; });
            },
            nb::rv_policy::move,
            "Whether the next value says nothing about this one, uint8 [N, T].")
        .def_prop_ro(
            "quiet",
            [](const LeafSegments& all) {
                return ply_array<std::uint8_t>(all, [](const LeafPly& p) { return p.quiet; });
            },
            nb::rv_policy::move,
            "Whether the root is not in check and its best move neither captures nor promotes, "
            "uint8 [N, T].")
        .def_prop_ro(
            "continued",
            [](const LeafSegments& all) {
                return owned_array(std::vector(all.continued), {all.continued.size()});
            },
            nb::rv_policy::move,
            "Whether a segment plays on from its start without a random move, uint8 [N].")
        .def_prop_ro("endings", [](const LeafSegments& all) { return all.endings.by_name(); })
        .def_ro("white_wins", &LeafSegments::white_wins)
        .def_ro("draws", &LeafSegments::draws)
        .def_ro("black_wins", &LeafSegments::black_wins)
        .def_ro("nodes", &LeafSegments::nodes);
    nb::class_<LeafGames>(m, "LeafGames",
                          "Self-play in segments for TD-leaf; see core/datagen/leaf_games.h.")
        .def(
            "__init__",
            [](LeafGames* self, const AnyEvaluator& evaluator, std::uint64_t seed, int depth,
               std::uint64_t nodes, int plies, int random_plies, int max_plies, double new_games,
               double random_start, double random_moves, int win_score, int threads) {
                datagen::LeafSettings settings{.seed = seed,
                                               .depth = depth,
                                               .nodes = nodes,
                                               .plies = plies,
                                               .max_random_plies = random_plies,
                                               .max_plies = max_plies,
                                               .new_games = new_games,
                                               .random_start = random_start,
                                               .random_moves = random_moves,
                                               .threads = threads};
                if (win_score > 0)
                    settings.adjudication = {.enabled = true, .win_score = win_score};
                new (self) LeafGames(evaluator_of(evaluator), settings);
            },
            "evaluator"_a, "seed"_a, "depth"_a = 4, "nodes"_a = 100'000, "plies"_a = 12,
            "random_plies"_a = 10, "max_plies"_a = 300, "new_games"_a = 0.0, "random_start"_a = 0.0,
            "random_moves"_a = 0.0, "win_score"_a = 0, "threads"_a = 1)
        .def(
            "set_evaluator",
            [](LeafGames& self, const AnyEvaluator& evaluator) {
                self.set_evaluator(evaluator_of(evaluator));
            },
            "evaluator"_a)
        .def(
            "run",
            [](LeafGames& self, std::uint64_t first, std::uint64_t count,
               const std::optional<SampleArray>& starts) {
                const auto given =
                    starts ? samples_of(*starts) : std::span<const nnue::PackedSample>();
                const Stopping never;
                const nb::gil_scoped_release release;
                return self.run(first, count, given, python_poll(never));
            },
            "first"_a, "count"_a, "starts"_a = nb::none(),
            "Plays segments [first, first + count), each determined by the seed, its number and "
            "its start [count, 32]; without starts all begin new games.");
}

}  // namespace

void bind_datagen(nb::module_& m) {
    bind_generator(m);
    bind_leaf_games(m);
    bind_match(m);
    bind_transitions(m);
}

}  // namespace rookery::bind
