// Many games of self-play advanced together.

#include "mcts/selfplay.h"
#include "bind/bind.h"
#include "bind/mcts.h"

#include <cstring>

namespace rookery::bind {

namespace {

template <class T> using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void init_selfplay(mcts::SelfPlay* self, int games, std::string observation, std::uint64_t seed,
                   int simulations, int fast_simulations, double full_share, bool reuse,
                   double temperature, double late_temperature, int temperature_plies,
                   int max_plies, double random_share, std::pair<int, int> random_plies,
                   const std::vector<std::string>& start_fens, double starts_share,
                   double resign_below, int resign_moves, double resign_check_share,
                   std::size_t cache_megabytes, const nb::dict& tree) {
    mcts::SelfPlayOptions o;
    o.games = games;
    o.observation = std::move(observation);
    o.seed = seed;
    o.simulations = simulations;
    o.fast_simulations = fast_simulations;
    o.full_share = full_share;
    o.reuse = reuse;
    o.temperature = temperature;
    o.late_temperature = late_temperature;
    o.temperature_plies = temperature_plies;
    o.max_plies = max_plies;
    o.random_share = random_share;
    std::tie(o.min_random_plies, o.max_random_plies) = random_plies;
    for (const std::string& fen : start_fens) o.starts.push_back(parse_fen(fen));
    o.starts_share = starts_share;
    o.resign_below = resign_below;
    o.resign_moves = resign_moves;
    o.resign_check_share = resign_check_share;
    o.cache_megabytes = cache_megabytes;
    // Each game has a tree of its own: a small limit unless one is asked for.
    o.tree = mcts_options(tree);
    if (!tree.contains("megabytes")) o.tree.megabytes = 1;
    new (self) mcts::SelfPlay(std::move(o));
}

void apply(mcts::SelfPlay& play, const Input<float>& logits, const Input<float>& values) {
    const encode::LeafBatch& batch = play.batch();
    if (logits.size() != batch.legal_actions.size() || values.size() != batch.size())
        throw std::invalid_argument("got " + std::to_string(logits.size()) + " logits and " +
                                    std::to_string(values.size()) + " values for " +
                                    std::to_string(batch.legal_actions.size()) +
                                    " legal actions of " + std::to_string(batch.size()) +
                                    " leaves");
    const nb::gil_scoped_release release;
    play.apply(logits.data(), values.data());
}

template <class T> nb::object column(std::vector<T> values) {
    const std::size_t count = values.size();
    return nb::cast(owned_array(std::move(values), {count}));
}

nb::dict take_samples(mcts::SelfPlay& play) {
    mcts::Samples samples = play.take_samples();
    const std::size_t count = samples.size();
    const encode::ObservationLayout& layout = *play.batch().layout;
    const auto shape = batch_shape(count, layout.shape);
    nb::dict out;
    if (play.batch().bytes()) {
        out["observations"] = nb::cast(owned_array(std::move(samples.observations), shape));
    } else {
        std::vector<float> floats(count * layout.size());
        std::memcpy(floats.data(), samples.observations.data(), samples.observations.size());
        out["observations"] = nb::cast(owned_array(std::move(floats), shape));
    }
    out["legal"] = column(std::move(samples.legal_actions));
    out["policy"] = column(std::move(samples.policy));
    out["counts"] = column(std::move(samples.counts));
    out["results"] = column(std::move(samples.results));
    out["values"] = column(std::move(samples.values));
    out["surprise"] = column(std::move(samples.surprise));
    out["agreed"] = column(std::move(samples.agreed));
    out["plies_left"] = column(std::move(samples.plies_left));
    out["plies"] = column(std::move(samples.plies));
    out["truncated"] = column(std::move(samples.truncated));
    out["games"] = column(std::move(samples.games));
    return out;
}

nb::list take_games(mcts::SelfPlay& play) {
    nb::list out;
    for (const mcts::FinishedGame& game : play.take_games()) {
        nb::dict one;
        one["number"] = game.number;
        one["start"] = to_fen(game.start);
        std::vector<std::string> moves;
        Position position = game.start;
        for (const Move move : game.moves) {
            moves.push_back(to_uci(position, move));
            position.make(move);
        }
        one["moves"] = nb::cast(moves);
        one["result"] = game.result;
        one["ending"] = game.ending;
        out.append(one);
    }
    return out;
}

template <auto Member> auto counter() {
    return [](const mcts::SelfPlay& play) { return play.*Member; };
}

}  // namespace

void bind_selfplay(nb::module_& m) {
    nb::class_<mcts::SelfPlay>(
        m, "SelfPlay",
        "Games of a network against itself with tree search, all advanced "
        "together; options as in core/mcts/selfplay.h, `tree` as MctsSearch's.")
        .def("__init__", &init_selfplay, "games"_a, "observation"_a = "tactical70", "seed"_a = 0,
             nb::kw_only(), "simulations"_a = 64, "fast_simulations"_a = 16, "full_share"_a = 1.0,
             "reuse"_a = true, "temperature"_a = 1.0, "late_temperature"_a = 0.25,
             "temperature_plies"_a = 30, "max_plies"_a = 400, "random_share"_a = 0.0,
             "random_plies"_a = std::pair{0, 0}, "start_fens"_a = std::vector<std::string>(),
             "starts_share"_a = 0.0, "resign_below"_a = -2.0, "resign_moves"_a = 3,
             "resign_check_share"_a = 0.1, "cache_megabytes"_a = 32, "tree"_a = nb::dict())
        .def("gather", &mcts::SelfPlay::gather, nb::call_guard<nb::gil_scoped_release>(),
             "Advances every game until it needs the network; returns the number of leaves.")
        .def("apply", &apply, "logits"_a, "values"_a)
        .def("run", &mcts::SelfPlay::run, "evaluator"_a, "samples"_a, "seconds"_a = 0.0,
             nb::call_guard<nb::gil_scoped_release>(),
             "Plays with a native network until so many samples are ready; False if the time ran "
             "out before.")
        .def("network_changed", &mcts::SelfPlay::network_changed)
        .def("set_simulations", &mcts::SelfPlay::set_simulations, "full"_a, "fast"_a)
        .def("set_resignation", &mcts::SelfPlay::set_resignation, "below"_a)
        .def_prop_ro("ready", &mcts::SelfPlay::ready, "Samples that can be taken.")
        .def("take_samples", &take_samples,
             nb::sig("def take_samples(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
             "Columns of all samples of finished games: observations [S, *shape], legal [L], "
             "policy [L], counts [S], results [S], values [S], ...")
        .def("take_games", &take_games,
             nb::sig("def take_games(self) -> list[dict[str, typing.Any]]"),
             "Finished games: number, start, moves, result (White's), ending.")
        .def_prop_ro(
            "observations",
            [](nb::handle_t<mcts::SelfPlay> self) {
                return leaf_observations(self, nb::cast<mcts::SelfPlay&>(self).batch());
            },
            nb::sig("def observations(self) -> numpy.typing.NDArray[numpy.float32 | numpy.uint8]"))
        .def_prop_ro("legal_actions",
                     [](nb::handle_t<mcts::SelfPlay> self) {
                         auto& batch = nb::cast<mcts::SelfPlay&>(self).batch();
                         return view_array<const std::int32_t>(self, batch.legal_actions.data(),
                                                               {batch.legal_actions.size()});
                     })
        .def_prop_ro("legal_offsets",
                     [](nb::handle_t<mcts::SelfPlay> self) {
                         auto& batch = nb::cast<mcts::SelfPlay&>(self).batch();
                         return view_array<const std::int64_t>(self, batch.legal_offsets.data(),
                                                               {batch.legal_offsets.size()});
                     })
        .def_prop_ro("simulations", counter<&mcts::SelfPlay::simulations>())
        .def_prop_ro("evaluations", counter<&mcts::SelfPlay::evaluations>())
        .def_prop_ro("moves", counter<&mcts::SelfPlay::moves>())
        .def_prop_ro("aborted", counter<&mcts::SelfPlay::aborted>(),
                     "Games given up because the network answered with a NaN or an infinity.")
        .def_prop_ro("resign_checked", counter<&mcts::SelfPlay::resign_checked>())
        .def_prop_ro("resign_wrong", counter<&mcts::SelfPlay::resign_wrong>())
        .def_prop_ro("cache_hits", &mcts::SelfPlay::cache_hits)
        .def("get_state",
             [](const mcts::SelfPlay& play) {
                 const std::string state = play.save();
                 return nb::bytes(state.data(), state.size());
             })
        .def(
            "set_state",
            [](mcts::SelfPlay& play, const nb::bytes& state) {
                play.restore(std::string(state.c_str(), state.size()));
            },
            "state"_a);
}

}  // namespace rookery::bind
