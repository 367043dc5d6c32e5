// The vectorised environment.

#include "env/vector_env.h"
#include "base/choose.h"
#include "bind/bind.h"
#include "rules/boards.h"

namespace rookery::bind {

namespace {

void init_vector_games(env::VectorGames* self, int num_games, std::string observation,
                       std::string_view actions, std::uint64_t seed, std::string_view claims,
                       float win, float loss, float draw, float move, float illegal,
                       std::string_view on_illegal, int max_plies, int draw_after_plies,
                       bool promotion_wins, const std::vector<std::string>& start_fens,
                       std::string material, std::string_view material_side,
                       std::pair<int, int> random_plies, std::string_view dtype, int threads,
                       std::string_view board) {
    env::VectorOptions o;
    o.num_games = num_games;
    o.observation = std::move(observation);
    o.actions = encode::find_action_space(actions);
    o.seed = seed;
    o.claims = env::find_claim_mode(claims);
    o.win = win, o.loss = loss, o.draw = draw, o.move = move, o.illegal = illegal;
    o.illegal_is_penalty = choose<bool>("on_illegal", on_illegal, {"raise", "penalty"});
    o.max_plies = max_plies;
    o.draw_after_plies = draw_after_plies;
    o.promotion_wins = promotion_wins;
    o.start = start_position(find_board(board));
    o.starts = parse_fens(start_fens, o.start.rules);
    o.material = std::move(material);
    o.material_side = find_start_side(material_side);
    std::tie(o.min_random_plies, o.max_random_plies) = random_plies;
    o.byte_observations = choose<bool>("dtype", dtype, {"float32", "uint8"});
    o.threads = threads;
    new (self) env::VectorGames(std::move(o));
}

// int64 is NumPy's default, int32 the type of legal_actions; floats are refused, not rounded.
template <class T> void step(env::VectorGames& games, const Input<const T, nb::ndim<1>>& actions) {
    const std::vector<std::int64_t> copy(actions.data(), actions.data() + actions.size());
    const nb::gil_scoped_release release;
    games.step(copy);
}

Numpy<std::int64_t> bot_actions(env::VectorGames& games, std::string_view bot,
                                const Input<const bool, nb::ndim<1>>& mask) {
    std::vector<std::int64_t> actions;
    {
        const nb::gil_scoped_release release;
        actions = games.bot_actions(peers::find_bot(bot), span_of(mask));
    }
    return owned_array(std::move(actions));
}

template <class T>
nb::object final_observations(const env::VectorGames& games,
                              const std::vector<std::size_t>& indices) {
    std::vector<T> values(indices.size() * games.layout().size());
    {
        const nb::gil_scoped_release release;
        games.final_observations(indices, reinterpret_cast<std::uint8_t*>(values.data()));
    }
    return nb::cast(
        owned_array(std::move(values), batch_shape(indices.size(), games.layout().shape)));
}

// Properties that view a per-game vector of VectorGames.
template <auto Member, class T> auto vector_view() {
    return [](nb::handle_t<env::VectorGames> self) {
        auto& values = nb::cast<env::VectorGames&>(self).*Member;
        return view_array<const T>(self, reinterpret_cast<const T*>(values.data()),
                                   {values.size()});
    };
}

}  // namespace

void bind_vector_games(nb::module_& m) {
    nb::class_<env::VectorGames>(
        m, "VectorGames",
        "N games stepped per call; each action is for the side to move of its game.\n\n"
        "A game that ends restarts within the step. The arrays describe the games after the last "
        "reset or step; they are views that the next call overwrites. docs/envs.md explains the "
        "options and lists every array.")
        .def("__init__", &init_vector_games, "num_games"_a, "observation"_a = "planes19",
             "actions"_a = "az4672", "seed"_a = 0, nb::kw_only(), "claims"_a = "automatic",
             "win"_a = 1.0f, "loss"_a = -1.0f, "draw"_a = 0.0f, "move"_a = 0.0f,
             "illegal"_a = -1.0f, "on_illegal"_a = "raise", "max_plies"_a = 0,
             "draw_after_plies"_a = 0, "promotion_wins"_a = false,
             "start_fens"_a = std::vector<std::string>(), "material"_a = "",
             "material_side"_a = "white", "random_plies"_a = std::pair{0, 0}, "dtype"_a = "float32",
             "threads"_a = 1, "board"_a = STANDARD_BOARD,
             "Start `num_games` games; ValueError for contradictory options.")
        .def("__len__", &env::VectorGames::size, "Number of games.")
        .def(
            "reset",
            [](env::VectorGames& g, std::optional<std::uint64_t> seed,
               const std::vector<std::string>& fens) {
                const auto starts = parse_fens(fens, g.options().start.rules);
                const nb::gil_scoped_release release;
                if (seed) g.seed(*seed);
                g.reset(starts);
            },
            "seed"_a = nb::none(), "fens"_a = std::vector<std::string>(),
            "Restart all games; a seed restarts their random streams, too. `fens` replaces the "
            "start positions this once: one FEN for all games, or one for each.")
        .def("step", &step<std::int64_t>, "actions"_a.noconvert(),
             "Make one ply in every game; actions: int64 or int32 [N], -1 to leave a game as it "
             "is. MoveError for an illegal action, unless on_illegal='penalty'; then no game "
             "moves.")
        .def("step", &step<std::int32_t>, "actions"_a.noconvert())
        .def_prop_ro(
            "observations",
            [](nb::handle_t<env::VectorGames> self) {
                auto& g = nb::cast<env::VectorGames&>(self);
                return observation_view(self, &g.layout(), g.options().byte_observations,
                                        g.observations, g.size());
            },
            nb::sig(OBSERVATIONS_SIGNATURE), "float32 or uint8 [N, *shape], of the side to move.")
        .def_prop_ro(
            "legal_actions",
            [](nb::handle_t<env::VectorGames> self) {
                auto& g = nb::cast<env::VectorGames&>(self);
                return view_array<const std::int32_t>(self, g.legal_actions.data(),
                                                      {g.legal_total()});
            },
            "int32 [total]; game i has legal_actions[legal_offsets[i] : legal_offsets[i + 1]].")
        .def_prop_ro("legal_offsets", vector_view<&env::VectorGames::legal_offsets, std::int64_t>(),
                     "int64 [N + 1], where each game's legal actions begin and end.")
        .def_prop_ro("rewards", vector_view<&env::VectorGames::rewards, float>(),
                     "float32 [N], for the side that moved.")
        .def_prop_ro("opponent_rewards", vector_view<&env::VectorGames::opponent_rewards, float>(),
                     "float32 [N], for the other side: its loss when it is mated.")
        .def_prop_ro("terminations", vector_view<&env::VectorGames::terminations, bool>(),
                     "bool [N], games that ended by the rules with the last step.")
        .def_prop_ro("truncations", vector_view<&env::VectorGames::truncations, bool>(),
                     "bool [N], games that reached max_plies with the last step.")
        .def_prop_ro("to_move", vector_view<&env::VectorGames::to_move, std::uint8_t>(),
                     "uint8 [N], 1 if White is to move.")
        .def_prop_ro("endings", vector_view<&env::VectorGames::endings, std::uint8_t>(),
                     "uint8 [N], index into ENDINGS of how a game ended with the last step.")
        .def_prop_ro("results", vector_view<&env::VectorGames::results, std::int8_t>(),
                     "int8 [N], 1 White won, -1 Black won, 0 draw; valid where terminated.")
        .def_prop_ro("polyglot_keys", vector_view<&env::VectorGames::polyglot_keys, Key>(),
                     "uint64 [N], of the current positions.")
        .def_prop_ro("material", vector_view<&env::VectorGames::material, std::int32_t>(),
                     "int32 [N], White's pieces minus Black's in centipawns.")
        .def_prop_ro("piece_counts", vector_view<&env::VectorGames::piece_counts, std::uint8_t>(),
                     "uint8 [N], pieces on the board, both sides' kings included.")
        .def("bot_actions", &bot_actions, "bot"_a, "mask"_a.noconvert(),
             "Actions int64 [N] of random, greedy or greedy-safe where mask (bool [N]) is set, -1 "
             "elsewhere, as step takes them; uses the games' random streams.")
        .def_prop_ro("plies", vector_view<&env::VectorGames::plies, std::int32_t>(),
                     "int32 [N], of the current games.")
        .def_prop_ro("lengths", vector_view<&env::VectorGames::lengths, std::int32_t>(),
                     "int32 [N], plies of the games that ended with the last step.")
        .def(
            "final_observations",
            [](const env::VectorGames& g, const std::vector<std::size_t>& indices) {
                return g.options().byte_observations ? final_observations<std::uint8_t>(g, indices)
                                                     : final_observations<float>(g, indices);
            },
            "indices"_a,
            nb::sig("def final_observations(self, indices: collections.abc.Sequence[int]) -> "
                    "numpy.typing.NDArray[numpy.float32 | numpy.uint8]"),
            "Last observations [len(indices), *shape] of games that ended with the last step.")
        .def(
            "fens",
            [](const env::VectorGames& g) {
                std::vector<std::string> fens;
                for (std::size_t i = 0; i < g.size(); ++i) fens.push_back(to_fen(g.position(i)));
                return fens;
            },
            "The current positions.")
        .def(
            "fen", [](const env::VectorGames& g, std::size_t i) { return to_fen(g.position(i)); },
            "index"_a, "The current position of one game.")
        .def(
            "final_fen",
            [](const env::VectorGames& g, std::size_t i) { return to_fen(g.final_position(i)); },
            "index"_a, "Last position of the game that ended most recently in this slot.")
        .def(
            "get_state", [](const env::VectorGames& g) { return bytes_of(g.save()); },
            "Games and random streams for an exact resume with the same options.")
        .def(
            "set_state",
            [](env::VectorGames& g, const nb::bytes& state) {
                g.restore(std::string(state.c_str(), state.size()));
            },
            "state"_a,
            "Restore a state of get_state, its observations and legal actions included.");
}

}  // namespace rookery::bind
