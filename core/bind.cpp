// The Python module rookery._core: names, arguments, docstrings, GIL guards. No logic.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "actions.h"
#include "encode.h"
#include "game.h"
#include "movegen.h"
#include "vector_env.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace rookery;

namespace {

using Outcome = std::pair<std::string, std::optional<bool>>;
template <class T> using Numpy = nb::ndarray<nb::numpy, T>;

// --- Arrays ---

template <class T> Numpy<T> owned_array(std::vector<T> values, std::vector<std::size_t> shape) {
    auto* heap = new std::vector<T>(std::move(values));
    nb::capsule owner(heap, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Numpy<T>(heap->data(), shape.size(), shape.data(), owner);
}

// A view of memory that belongs to `self`.
template <class T>
nb::ndarray<nb::numpy, T> view_array(nb::handle self, T* data, std::vector<std::size_t> shape) {
    return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), self);
}

std::vector<std::size_t> batch_shape(std::size_t count, const std::vector<std::size_t>& shape) {
    std::vector<std::size_t> result{count};
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
    std::string text;
    for (const std::size_t length : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(length);
    return "(" + text + ")";
}

// Writable, C-contiguous and of this shape, or an error that says what was expected.
using AnyArray = nb::ndarray<nb::device::cpu>;
void check_array(const AnyArray& array, const std::vector<std::size_t>& shape) {
    std::vector<std::size_t> given;
    bool contiguous = true;
    std::int64_t stride = 1;
    for (std::size_t i = array.ndim(); i-- > 0;) {
        given.insert(given.begin(), array.shape(i));
        contiguous &= array.shape(i) <= 1 || array.stride(i) == stride;
        stride *= std::int64_t(array.shape(i));
    }
    if (given != shape)
        throw std::invalid_argument("out has shape " + shape_text(given) + " instead of " +
                                    shape_text(shape));
    if (!contiguous) throw std::invalid_argument("out must be C-contiguous");
}

// --- Games ---

Game new_game(std::string_view fen, bool chess960) { return Game(parse_fen(fen, chess960)); }

Move require_move(const Game& game, std::string_view uci) {
    const Move move = find_uci(game.now(), uci);
    if (!move)
        throw MoveError("move '" + std::string(uci.substr(0, 16)) + "' is illegal in '" +
                        to_fen(game.now()) + "'");
    return move;
}

bool can_claim_draw(const Game& game) {
    return can_claim_fifty_moves(game.now()) || can_claim_threefold(game.now(), game.keys());
}

void list_game_actions(const Game& game, ActionSpace space, LegalActions& legal) {
    if (space == ActionSpace::KPK && !is_kpk(game.now()))
        throw MoveError("kpk actions need king and pawn against king, not " +
                        material_signature(game.now()));
    const bool claimable = space == ActionSpace::AZ4673 && can_claim_draw(game);
    list_actions(space, game.now(), claimable, legal);
}

// The move of a legal action; nothing for a draw claim.
std::optional<Move> require_action(const Game& game, ActionSpace space, std::int64_t action) {
    LegalActions legal;
    list_game_actions(game, space, legal);
    for (int i = 0; i < legal.count; ++i)
        if (legal.actions[i] == action)
            return i < legal.moves.size() ? std::optional(legal.moves[i]) : std::nullopt;
    throw MoveError("action " + std::to_string(action) + " is illegal in '" + to_fen(game.now()) +
                    "'");
}

void push_action(Game& game, std::int64_t action, std::string_view space) {
    const auto move = require_action(game, find_action_space(space), action);
    if (!move) throw MoveError("a draw claim ends the game; it is not a move to push");
    game.push(*move);
}

template <class T> void write_mask(const Game& game, ActionSpace space, T* mask) {
    LegalActions legal;
    list_game_actions(game, space, legal);
    if (legal.moves.empty() && !has_legal_move(game.now()))
        throw MoveError("the game is over in '" + to_fen(game.now()) +
                        "': there is no legal action to mask");
    std::fill_n(mask, std::size_t(action_count(space)), T(0));
    for (int i = 0; i < legal.count; ++i) mask[legal.actions[i]] = T(1);
}

std::optional<Outcome> outcome(const Game& game, bool claim_draw) {
    const Ending ending = game.ending(claim_draw ? Claims::ANNOUNCED : Claims::OFF);
    if (ending == Ending::NONE) return std::nullopt;
    std::optional<bool> winner;
    if (ending == Ending::CHECKMATE) winner = game.now().side == BLACK;
    return Outcome{ENDING_NAMES[std::size_t(ending)], winner};
}

std::vector<std::string> uci_moves(const Game& game) {
    std::vector<std::string> moves;
    for (std::size_t i = 0; i < game.ply(); ++i)
        moves.push_back(to_uci(game.past(game.ply() - i), game.moves()[i]));
    return moves;
}

// --- Batches ---

void encode_batch(const std::vector<const Game*>& games, std::string_view name,
                  const AnyArray& out) {
    const ObservationLayout& layout = find_observation(name);
    check_array(out, batch_shape(games.size(), layout.shape));
    const bool floats = out.dtype() == nb::dtype<float>();
    const bool bytes = out.dtype() == nb::dtype<std::uint8_t>();
    if (!floats && !(bytes && layout.encode_bytes))
        throw std::invalid_argument("observation " + std::string(name) + " needs an array of " +
                                    (layout.encode_bytes ? "float32 or uint8" : "float32"));
    for (const Game* game : games) check_encodable(layout, game->now());
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < games.size(); ++i) {
        const EncodeView view = view_of(*games[i]);
        if (floats)
            layout.encode(view, static_cast<float*>(out.data()) + i * layout.size());
        else
            layout.encode_bytes(view, static_cast<std::uint8_t*>(out.data()) + i * layout.size());
    }
}

std::pair<Numpy<std::int32_t>, Numpy<std::int64_t>> legal_actions_batch(
    const std::vector<const Game*>& games, std::string_view space_name) {
    const ActionSpace space = find_action_space(space_name);
    std::vector<std::int32_t> actions;
    std::vector<std::int64_t> offsets{0};
    for (const Game* game : games) {
        LegalActions legal;
        list_game_actions(*game, space, legal);
        actions.insert(actions.end(), legal.actions, legal.actions + legal.count);
        offsets.push_back(std::int64_t(actions.size()));
    }
    const std::size_t total = actions.size(), rows = offsets.size();
    return {owned_array(std::move(actions), {total}), owned_array(std::move(offsets), {rows})};
}

void action_masks_batch(const std::vector<const Game*>& games, const AnyArray& out,
                        std::string_view space_name) {
    const ActionSpace space = find_action_space(space_name);
    const auto width = std::size_t(action_count(space));
    check_array(out, {games.size(), width});
    if (out.dtype() != nb::dtype<bool>() && out.dtype() != nb::dtype<std::uint8_t>())
        throw std::invalid_argument("out must be an array of bool or uint8");
    auto* data = static_cast<std::uint8_t*>(out.data());
    for (std::size_t i = 0; i < games.size(); ++i) write_mask(*games[i], space, data + i * width);
}

// --- Vector environment ---

template <class Enum>
Enum choose(std::string_view option, std::string_view value,
            std::initializer_list<std::pair<std::string_view, Enum>> choices) {
    std::string known;
    for (const auto& [name, result] : choices) {
        if (name == value) return result;
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument(std::string(option) + " '" + std::string(value) +
                                "' is unknown; known are " + known);
}

StartSide find_side(std::string_view value) {
    return choose<StartSide>("side", value,
                             {{"white", StartSide::WHITE_MOVES},
                              {"black", StartSide::BLACK_MOVES},
                              {"random", StartSide::EITHER}});
}

void init_vector_games(VectorGames* self, int num_games, std::string observation,
                       std::string_view actions, std::uint64_t seed, std::string_view claims,
                       float win, float loss, float draw, float move, float illegal,
                       std::string_view on_illegal, int max_plies, int draw_after_plies,
                       bool promotion_wins, const std::vector<std::string>& start_fens,
                       std::string material, std::string_view material_side,
                       std::pair<int, int> random_plies, std::string_view dtype, int threads) {
    VectorOptions o;
    o.num_games = num_games;
    o.observation = std::move(observation);
    o.actions = find_action_space(actions);
    o.seed = seed;
    o.claims = choose<ClaimMode>("claims", claims,
                                 {{"automatic", ClaimMode::AUTOMATIC},
                                  {"action", ClaimMode::ACTION},
                                  {"off", ClaimMode::OFF}});
    o.win = win, o.loss = loss, o.draw = draw, o.move = move, o.illegal = illegal;
    o.illegal_is_penalty =
        choose<bool>("on_illegal", on_illegal, {{"raise", false}, {"penalty", true}});
    o.max_plies = max_plies;
    o.draw_after_plies = draw_after_plies;
    o.promotion_wins = promotion_wins;
    for (const std::string& fen : start_fens) o.starts.push_back(parse_fen(fen));
    o.material = std::move(material);
    o.material_side = find_side(material_side);
    std::tie(o.min_random_plies, o.max_random_plies) = random_plies;
    o.byte_observations = choose<bool>("dtype", dtype, {{"float32", false}, {"uint8", true}});
    o.threads = threads;
    new (self) VectorGames(std::move(o));
}

using Actions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
void step(VectorGames& games, const Actions& actions) {
    if (actions.shape(0) != games.size())
        throw std::invalid_argument("step got " + std::to_string(actions.shape(0)) +
                                    " actions for " + std::to_string(games.size()) + " games");
    const nb::gil_scoped_release release;
    games.step(actions.data());
}

nb::object final_observations(const VectorGames& games, const std::vector<std::size_t>& indices) {
    const std::size_t size = games.layout().size();
    const auto shape = batch_shape(indices.size(), games.layout().shape);
    for (const std::size_t index : indices)
        if (index >= games.size() || !(games.terminations[index] || games.truncations[index]))
            throw std::invalid_argument("game " + std::to_string(index) +
                                        " did not end with the last step");
    const auto write = [&](auto values) {
        for (std::size_t i = 0; i < indices.size(); ++i)
            games.final_observation(indices[i], values.data() + i * size);
        return nb::cast(owned_array(std::move(values), shape));
    };
    return games.options().byte_observations
               ? write(std::vector<std::uint8_t>(indices.size() * size))
               : write(std::vector<float>(indices.size() * size));
}

// Properties that view a per-game vector of VectorGames.
template <auto Member, class T> auto vector_view() {
    return [](nb::handle_t<VectorGames> self) {
        auto& values = nb::cast<VectorGames&>(self).*Member;
        return view_array<T>(self, reinterpret_cast<T*>(values.data()), {values.size()});
    };
}

void bind_game(nb::module_& m) {
    nb::class_<Game>(m, "Game", "A position with its history; moves can be made and taken back.")
        .def(
            "__init__",
            [](Game* self, std::string_view fen, bool chess960) {
                new (self) Game(new_game(fen, chess960));
            },
            "fen"_a = STARTING_FEN, "chess960"_a = false)
        .def(
            "fen", [](const Game& g) { return to_fen(g.now()); },
            "FEN; the en passant square is given only where a capture is legal.")
        .def(
            "epd", [](const Game& g) { return to_epd(g.now()); }, "The first four FEN fields.")
        .def_prop_ro("start_fen", [](const Game& g) { return to_fen(g.start()); })
        .def_prop_ro(
            "turn", [](const Game& g) { return g.now().side == WHITE; },
            "True if White is to move.")
        .def_prop_ro("chess960", [](const Game& g) { return g.now().chess960; })
        .def_prop_ro(
            "halfmove_clock", [](const Game& g) { return g.now().halfmove_clock; },
            "Plies since the last capture or pawn move.")
        .def_prop_ro("fullmove_number", [](const Game& g) { return g.now().fullmove_number; })
        .def_prop_ro("ply", &Game::ply, "Plies played since the start of this game.")
        .def_prop_ro(
            "key", [](const Game& g) { return g.now().key; },
            "64-bit identity of the position for repetitions.")
        .def_prop_ro("polyglot_key", [](const Game& g) { return g.now().polyglot_key(); })
        .def(
            "piece_at",
            [](const Game& g, int square) {
                if (square < 0 || square > 63)
                    throw std::invalid_argument("square " + std::to_string(square) +
                                                " is not in 0 .. 63");
                const Piece piece = g.now().board[square];
                return piece == NO_PIECE ? std::string() : std::string(1, PIECE_LETTERS[piece]);
            },
            "square"_a, "Letter of the piece (upper case for White), or an empty string.")
        .def("piece_count", [](const Game& g) { return count_bits(g.now().occupied()); })
        .def(
            "material", [](const Game& g) { return material_signature(g.now()); },
            "White's pieces, then Black's, such as KRvK.")
        .def_prop_ro("in_check", [](const Game& g) { return g.now().in_check(); })
        .def(
            "legal_moves",
            [](const Game& g) {
                std::vector<std::string> moves;
                for (const Move move : legal_moves(g.now())) moves.push_back(to_uci(g.now(), move));
                return moves;
            },
            "All legal moves in UCI notation.")
        .def("legal_count", [](const Game& g) { return count_legal(g.now()); })
        .def(
            "is_legal",
            [](const Game& g, std::string_view uci) { return bool(find_uci(g.now(), uci)); },
            "uci"_a)
        .def(
            "push", [](Game& g, std::string_view uci) { g.push(require_move(g, uci)); }, "uci"_a,
            "Makes a move; an illegal one raises MoveError and changes nothing.")
        .def(
            "pop",
            [](Game& g) {
                if (g.ply() == 0) throw nb::index_error("no move to take back");
                const Move move = g.moves().back();
                g.pop();
                return to_uci(g.now(), move);
            },
            "Takes the last move back and returns it.")
        .def("moves", &uci_moves, "Moves since the start in UCI notation.")
        .def("copy", [](const Game& g) { return Game(g); })
        .def_prop_ro(
            "repetitions", [](const Game& g) { return g.now().repetitions + 1; },
            "How often the position has stood on the board, now included.")
        .def_prop_ro("is_threefold", [](const Game& g) { return g.now().repetitions >= 2; })
        .def_prop_ro("is_fivefold", [](const Game& g) { return g.now().repetitions >= 4; })
        .def_prop_ro(
            "is_fifty_moves",
            [](const Game& g) { return g.now().halfmove_clock >= 100 && has_legal_move(g.now()); })
        .def_prop_ro(
            "is_seventyfive_moves",
            [](const Game& g) { return g.now().halfmove_clock >= 150 && has_legal_move(g.now()); })
        .def_prop_ro("is_insufficient_material",
                     [](const Game& g) { return g.now().insufficient_material(); })
        .def(
            "can_claim_threefold",
            [](const Game& g) { return can_claim_threefold(g.now(), g.keys()); },
            "Also by announcing a move that completes the repetition.")
        .def("can_claim_fifty_moves", [](const Game& g) { return can_claim_fifty_moves(g.now()); })
        .def("can_claim_draw", &can_claim_draw)
        .def("outcome", &outcome, "claim_draw"_a = false,
             "(termination, winner) if the game is over, else None; winner is True for White.")
        .def(
            "legal_actions",
            [](const Game& g, std::string_view actions) {
                LegalActions legal;
                list_game_actions(g, find_action_space(actions), legal);
                return owned_array(
                    std::vector<std::int32_t>(legal.actions, legal.actions + legal.count),
                    {std::size_t(legal.count)});
            },
            "actions"_a = "az4672", "Legal actions, int32 [L], in the order of legal_moves().")
        .def(
            "action_mask",
            [](const Game& g, std::string_view actions) {
                const ActionSpace space = find_action_space(actions);
                const auto width = std::size_t(action_count(space));
                auto* mask = new bool[width];
                nb::capsule owner(mask, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
                write_mask(g, space, mask);
                return Numpy<bool>(mask, {width}, owner);
            },
            "actions"_a = "az4672", "bool [A]; raises MoveError when no move is left.")
        .def(
            "action_of",
            [](const Game& g, std::string_view uci, std::string_view actions) {
                const int action =
                    action_of(find_action_space(actions), g.now(), require_move(g, uci));
                if (action == NO_ACTION)
                    throw MoveError("move '" + std::string(uci) + "' has no action in " +
                                    std::string(actions));
                return action;
            },
            "uci"_a, "actions"_a = "az4672")
        .def(
            "move_of",
            [](const Game& g, std::int64_t action, std::string_view actions) {
                const auto move = require_action(g, find_action_space(actions), action);
                return move ? to_uci(g.now(), *move) : std::string("draw");
            },
            "action"_a, "actions"_a = "az4672",
            "UCI move of a legal action; 'draw' for the draw claim.")
        .def("push_action", &push_action, "action"_a, "actions"_a = "az4672")
        .def(
            "encode",
            [](const Game& g, std::string_view observation) {
                const ObservationLayout& layout = find_observation(observation);
                check_encodable(layout, g.now());
                std::vector<float> values(layout.size());
                layout.encode(view_of(g), values.data());
                return owned_array(std::move(values), layout.shape);
            },
            "observation"_a, "Observation, float32, in the shape of the layout.")
        .def(
            "nnue_features",
            [](const Game& g) {
                const auto features = [&](Color view) {
                    const NnueFeatures f = nnue768_features(g.now(), view);
                    return owned_array(std::vector<std::int32_t>(f.indices, f.indices + f.count),
                                       {std::size_t(f.count)});
                };
                return std::pair{features(g.now().side), features(~g.now().side)};
            },
            "Active nnue768 inputs, int32 [pieces] each: mover's view, opponent's view.")
        .def("__repr__", [](const Game& g) { return "Game('" + to_fen(g.now()) + "')"; });
}

void bind_vector_games(nb::module_& m) {
    nb::class_<VectorGames>(
        m, "VectorGames",
        "Many games stepped per call; each action is for the side to move. The arrays are views "
        "that the next call overwrites.")
        .def("__init__", &init_vector_games, "num_games"_a, "observation"_a = "planes19",
             "actions"_a = "az4672", "seed"_a = 0, nb::kw_only(), "claims"_a = "automatic",
             "win"_a = 1.0f, "loss"_a = -1.0f, "draw"_a = 0.0f, "move"_a = 0.0f,
             "illegal"_a = -1.0f, "on_illegal"_a = "raise", "max_plies"_a = 0,
             "draw_after_plies"_a = 0, "promotion_wins"_a = false,
             "start_fens"_a = std::vector<std::string>(), "material"_a = "",
             "material_side"_a = "white", "random_plies"_a = std::pair{0, 0}, "dtype"_a = "float32",
             "threads"_a = 1)
        .def("__len__", &VectorGames::size)
        .def(
            "reset",
            [](VectorGames& g, std::optional<std::uint64_t> seed) {
                const nb::gil_scoped_release release;
                seed ? g.reset(*seed) : g.reset();
            },
            "seed"_a = nb::none())
        .def("step", &step, "actions"_a, "actions: int64 [N].")
        .def_prop_ro(
            "observations",
            [](nb::handle_t<VectorGames> self) -> nb::object {
                auto& g = nb::cast<VectorGames&>(self);
                const auto shape = batch_shape(g.size(), g.layout().shape);
                if (g.options().byte_observations)
                    return nb::cast(view_array<std::uint8_t>(self, g.byte_observations(), shape));
                return nb::cast(view_array<float>(self, g.observations(), shape));
            },
            nb::sig("def observations(self) -> numpy.typing.NDArray[numpy.float32 | numpy.uint8]"),
            "[N, *shape]")
        .def_prop_ro(
            "legal_actions",
            [](nb::handle_t<VectorGames> self) {
                auto& g = nb::cast<VectorGames&>(self);
                return view_array<std::int32_t>(self, g.legal_actions.data(),
                                                {std::size_t(g.legal_offsets.back())});
            },
            "int32 [total]; game i has legal_actions[legal_offsets[i] : legal_offsets[i + 1]].")
        .def_prop_ro("legal_offsets", vector_view<&VectorGames::legal_offsets, std::int64_t>())
        .def_prop_ro("rewards", vector_view<&VectorGames::rewards, float>(),
                     "float32 [N], for the side that moved.")
        .def_prop_ro("opponent_rewards", vector_view<&VectorGames::opponent_rewards, float>())
        .def_prop_ro("terminations", vector_view<&VectorGames::terminations, bool>())
        .def_prop_ro("truncations", vector_view<&VectorGames::truncations, bool>())
        .def_prop_ro("to_move", vector_view<&VectorGames::to_move, std::uint8_t>(),
                     "uint8 [N], 1 if White is to move.")
        .def_prop_ro("endings", vector_view<&VectorGames::endings, std::uint8_t>(),
                     "uint8 [N], index into ENDINGS of how a game ended with the last step.")
        .def_prop_ro("results", vector_view<&VectorGames::results, std::int8_t>(),
                     "int8 [N], 1 White won, -1 Black won, 0 draw; valid where terminated.")
        .def_prop_ro("plies", vector_view<&VectorGames::plies, std::int32_t>())
        .def_prop_ro("lengths", vector_view<&VectorGames::lengths, std::int32_t>(),
                     "int32 [N], plies of the games that ended with the last step.")
        .def("final_observations", &final_observations, "indices"_a,
             nb::sig("def final_observations(self, indices: collections.abc.Sequence[int]) -> "
                     "numpy.typing.NDArray[numpy.float32 | numpy.uint8]"),
             "Last observations [len(indices), *shape] of games that ended with the last step.")
        .def("fens",
             [](const VectorGames& g) {
                 std::vector<std::string> fens;
                 for (std::size_t i = 0; i < g.size(); ++i) fens.push_back(to_fen(g.position(i)));
                 return fens;
             })
        .def(
            "fen", [](const VectorGames& g, std::size_t i) { return to_fen(g.position(i)); },
            "index"_a)
        .def(
            "final_fen",
            [](const VectorGames& g, std::size_t i) { return to_fen(g.final_position(i)); },
            "index"_a, "Last position of the game that ended most recently in this slot.")
        .def(
            "get_state",
            [](const VectorGames& g) {
                const std::string state = g.save();
                return nb::bytes(state.data(), state.size());
            },
            "Games and random streams for an exact resume with the same options.")
        .def(
            "set_state",
            [](VectorGames& g, const nb::bytes& state) {
                g.restore(std::string(state.c_str(), state.size()));
            },
            "state"_a);
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Chess rules, encodings and the vector environment, in C++.";
    m.attr("STARTING_FEN") = std::string(STARTING_FEN);
    nb::list endings;
    for (const char* name : ENDING_NAMES) endings.append(nb::str(name));
    m.attr("ENDINGS") = nb::tuple(endings);
    nb::exception<FenError>(m, "FenError", PyExc_ValueError);
    nb::exception<MoveError>(m, "MoveError", PyExc_ValueError);

    m.def(
        "set_zobrist_keys",
        [](const std::array<Key, ZOBRIST_KEY_COUNT>& keys) { set_zobrist_keys(keys); }, "keys"_a,
        "Installs Polyglot's 781 numbers; call before any position is made.");
    m.def(
        "perft",
        [](std::string_view fen, int depth, bool chess960) {
            if (depth < 0) throw std::invalid_argument("depth must not be negative");
            const Position position = parse_fen(fen, chess960);
            const nb::gil_scoped_release release;
            return perft(position, depth);
        },
        "fen"_a, "depth"_a, "chess960"_a = false, "Leaf nodes of the legal move tree.");
    m.def(
        "perft_divide",
        [](std::string_view fen, int depth, bool chess960) {
            if (depth < 1) throw std::invalid_argument("depth must be at least 1");
            const Position position = parse_fen(fen, chess960);
            std::map<std::string, std::uint64_t> counts;
            const nb::gil_scoped_release release;
            for (const Move move : legal_moves(position)) {
                Position next = position;
                next.make(move);
                counts[to_uci(position, move)] = perft(next, depth - 1);
            }
            return counts;
        },
        "fen"_a, "depth"_a, "chess960"_a = false, "Perft of each legal move.");

    bind_game(m);
    m.def("encode_batch", &encode_batch, "games"_a, "observation"_a, "out"_a,
          "Writes observations into out [N, *shape], an array of the caller.");
    m.def("legal_actions_batch", &legal_actions_batch, "games"_a, "actions"_a = "az4672",
          "Flat legal actions int32 [total] and offsets int64 [N + 1].");
    m.def("action_masks_batch", &action_masks_batch, "games"_a, "out"_a, "actions"_a = "az4672",
          "Writes masks into out [N, A], bool or uint8.");
    m.def("observation_names", [] {
        std::vector<std::string> names;
        for (const auto& layout : observation_layouts()) names.emplace_back(layout.name);
        return names;
    });
    m.def(
        "observation_shape",
        [](std::string_view name) { return nb::tuple(nb::cast(find_observation(name).shape)); },
        "name"_a, nb::sig("def observation_shape(name: str) -> tuple[int, ...]"));
    m.def(
        "observation_allows_uint8",
        [](std::string_view name) { return find_observation(name).encode_bytes != nullptr; },
        "name"_a);
    m.def("action_names", [] {
        return std::vector<std::string>(std::begin(ACTION_SPACE_NAMES),
                                        std::end(ACTION_SPACE_NAMES));
    });
    m.def(
        "action_count", [](std::string_view name) { return action_count(find_action_space(name)); },
        "name"_a);

    m.def(
        "random_position",
        [](const std::string& material, std::uint64_t seed, std::string_view side) {
            Random random(seed);
            return to_fen(random_position(material, find_side(side), random));
        },
        "material"_a, "seed"_a, "side"_a = "white",
        "FEN of a uniformly random open position with this material, such as KRvK.");
    m.def(
        "play_random_plies",
        [](Game& game, int plies, std::uint64_t seed) {
            Random random(seed);
            int played = 0;
            while (played < plies && game.ending(Claims::OFF) == Ending::NONE) {
                const MoveList moves = legal_moves(game.now());
                game.push(moves[int(random.below(std::uint32_t(moves.size())))]);
                ++played;
            }
            return played;
        },
        "game"_a, "plies"_a, "seed"_a,
        "Plays uniformly random legal moves until the game ends; returns the plies played.");

    bind_vector_games(m);
}
