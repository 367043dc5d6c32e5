// Self-play by tree search, and its samples.

#include "mcts/selfplay.h"
#include "bind/bind.h"
#include "rules/boards.h"

namespace rookery::bind {

namespace {

using mcts::SelfPlay;
using mcts::SelfPlayGame;
using mcts::SelfPlaySamples;

void init(SelfPlay* self, int games, std::string observation, std::uint64_t seed, int simulations,
          int fast_simulations, double full_share, bool reuse, double temperature,
          double late_temperature, int temperature_plies, int max_plies, double random_share,
          std::pair<int, int> random_plies, const std::vector<std::string>& start_fens,
          double starts_share, double resign_below, int resign_moves, double resign_check_share,
          int judge_from, int judge_every, std::size_t cache_megabytes, const nb::dict& tree,
          std::string_view board) {
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
    o.start = start_position(find_board(board));
    o.starts = parse_fens(start_fens, o.start.rules);
    o.starts_share = starts_share;
    o.resign_below = resign_below;
    o.resign_moves = resign_moves;
    o.resign_check_share = resign_check_share;
    o.judge_from = judge_from;
    o.judge_every = judge_every;
    o.cache_megabytes = cache_megabytes;
    for (const auto& [name, value] : tree) set_option(o.tree, name, value);
    new (self) SelfPlay(std::move(o));
}

void apply(SelfPlay& play, const Input<const float, nb::ndim<1>>& logits,
           const Input<const float, nb::ndim<1>>& values) {
    const nb::gil_scoped_release release;
    const Busy busy = play.use();
    play.apply(span_of(logits), span_of(values));
}

// A method that only one thread at a time may be in; a second one gets a RuntimeError.
template <class Result, class... Arguments> auto alone(Result (SelfPlay::*method)(Arguments...)) {
    return [method](SelfPlay& self, Arguments... arguments) -> Result {
        const Busy busy = self.use();
        return (self.*method)(std::forward<Arguments>(arguments)...);
    };
}
template <class Result> auto alone(Result (SelfPlay::*method)() const) {
    return [method](const SelfPlay& self) -> Result {
        const Busy busy = self.use();
        return (self.*method)();
    };
}

template <auto Member> auto column() {
    return [](nb::handle_t<SelfPlaySamples> self) {
        auto& values = nb::cast<SelfPlaySamples&>(self).*Member;
        return view_array(self, values.data(), {values.size()});
    };
}

void bind_samples(nb::module_& m) {
    nb::class_<SelfPlaySamples>(
        m, "SelfPlaySamples",
        "Columns of S samples of finished games with L legal actions in all; views of one object.")
        .def("__len__", &SelfPlaySamples::size)
        .def_prop_ro(
            "observations",
            [](nb::handle_t<SelfPlaySamples> self) {
                auto& s = nb::cast<SelfPlaySamples&>(self);
                return observation_view(self, s.layout, s.layout->encode_bytes, s.observations,
                                        s.size());
            },
            nb::sig(OBSERVATIONS_SIGNATURE), "[S, *shape], bytes where the layout allows them.")
        .def_prop_ro("legal", column<&SelfPlaySamples::legal>(), "int32 [L], legal actions.")
        .def_prop_ro("policy", column<&SelfPlaySamples::policy>(),
                     "float32 [L], policy targets; they sum to 1 for each sample.")
        .def_prop_ro("counts", column<&SelfPlaySamples::counts>(),
                     "int64 [S], legal actions of each.")
        .def_prop_ro("results", column<&SelfPlaySamples::results>(),
                     "float32 [S], -1, 0, 1 for the side to move; in between if cut off.")
        .def_prop_ro("values", column<&SelfPlaySamples::values>(),
                     "float32 [S], root values of the searches.")
        .def_prop_ro("surprise", column<&SelfPlaySamples::surprise>(),
                     "float32 [S], KL divergence of the policy before from the target.")
        .def_prop_ro("plies_left", column<&SelfPlaySamples::plies_left>(),
                     "int32 [S], to the end of the game.")
        .def_prop_ro("plies", column<&SelfPlaySamples::plies>(), "int32 [S], since its start.")
        .def_prop_ro("games", column<&SelfPlaySamples::games>(), "int64 [S], number of the game.");
    nb::class_<SelfPlayGame>(m, "SelfPlayGame", "A finished game.")
        .def(nb::init<std::int64_t, std::string, std::vector<std::string>, int, std::string>(),
             "number"_a, "start"_a, "moves"_a, "result"_a, "ending"_a)
        .def_ro("number", &SelfPlayGame::number)
        .def_ro("start", &SelfPlayGame::start, "FEN.")
        .def_ro("moves", &SelfPlayGame::moves, "UCI.")
        .def_ro("result", &SelfPlayGame::result, "1 White won, -1 Black won, 0 drawn or cut off.")
        .def_ro("ending", &SelfPlayGame::ending, "One of ENDINGS, 'resignation' or 'adjudication'.")
        .def(
            "__eq__", [](const SelfPlayGame& a, const SelfPlayGame& b) { return a == b; },
            nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
}

}  // namespace

void bind_selfplay(nb::module_& m) {
    bind_samples(m);
    nb::class_<SelfPlay> play(
        m, "SelfPlay",
        "Parallel self-play games with tree search; options as in core/mcts/selfplay.h, `tree` as "
        "for MctsSearch.");
    bind_leaves(play, [](nb::handle self) -> auto& {
        auto& games = nb::cast<SelfPlay&>(self);
        const Busy busy = games.use();
        return games.batch();
    });
    play.def("__init__", &init, "games"_a, "observation"_a = "tactical70", "seed"_a = 0,
             nb::kw_only(), "simulations"_a = 64, "fast_simulations"_a = 16, "full_share"_a = 1.0,
             "reuse"_a = true, "temperature"_a = 1.0, "late_temperature"_a = 0.25,
             "temperature_plies"_a = 30, "max_plies"_a = 400, "random_share"_a = 0.0,
             "random_plies"_a = std::pair{0, 0}, "start_fens"_a = std::vector<std::string>(),
             "starts_share"_a = 0.0, "resign_below"_a = -2.0, "resign_moves"_a = 3,
             "resign_check_share"_a = 0.1, "judge_from"_a = 0, "judge_every"_a = 0,
             "cache_megabytes"_a = 32, "tree"_a = nb::dict(), "board"_a = STANDARD_BOARD)
        .def("gather", alone(&SelfPlay::gather), nb::call_guard<nb::gil_scoped_release>(),
             "Advances every game until it needs the network; returns the number of leaves.")
        .def("apply", &apply, "logits"_a, "values"_a,
             "Evaluations of the gathered leaves: logits float32 [L], values [B].")
        .def("run", alone(&SelfPlay::run), "evaluator"_a, "samples"_a, "seconds"_a = 0.0,
             "until_moves"_a = ~std::uint64_t(0), nb::call_guard<nb::gil_scoped_release>(),
             "Plays with a native network until `samples` are ready or `moves` has reached "
             "`until_moves`; False if the time ran out or a game waits to be judged.")
        .def("unjudged", alone(&SelfPlay::unjudged),
             "Slot and FEN of the games that wait to be judged.")
        .def("judge", alone(&SelfPlay::judge), "slot"_a, "white_value"_a,
             "Ends a waiting game; the value in [-1, 1] becomes the target of its samples.")
        .def("play_on", alone(&SelfPlay::play_on), "slot"_a, "Continues a waiting game.")
        .def("network_changed", alone(&SelfPlay::network_changed))
        .def("set_simulations", alone(&SelfPlay::set_simulations), "full"_a, "fast"_a)
        .def("set_resignation", alone(&SelfPlay::set_resignation), "below"_a)
        .def_prop_ro("ready", alone(&SelfPlay::ready), "Samples of finished games.")
        .def("take_samples", alone(&SelfPlay::take_samples),
             "All samples of games that have finished.")
        .def("take_games", alone(&SelfPlay::take_games), "All games that have finished.")
        .def_ro("simulations", &SelfPlay::simulations)
        .def_ro("evaluations", &SelfPlay::evaluations)
        .def_ro("moves", &SelfPlay::moves)
        .def_ro("aborted", &SelfPlay::aborted,
                "Games abandoned because the network returned a NaN or an infinity.")
        .def_ro("resign_checked", &SelfPlay::resign_checked)
        .def_ro("resign_wrong", &SelfPlay::resign_wrong)
        .def_prop_ro("cache_hits", alone(&SelfPlay::cache_hits))
        .def("get_state",
             [](const SelfPlay& self) {
                 const Busy busy = self.use();
                 return bytes_of(self.save());
             })
        .def(
            "set_state",
            [](SelfPlay& self, const nb::bytes& state) {
                const Busy busy = self.use();
                self.restore(std::string(state.c_str(), state.size()));
            },
            "state"_a);
}

}  // namespace rookery::bind
