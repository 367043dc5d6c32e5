// Game with its encodings, functions over batches of games, names of layouts.

#include <algorithm>

#include "bind/bind.h"
#include "encode/actions.h"
#include "encode/encode.h"
#include "nnue/network.h"
#include "rules/boards.h"
#include "rules/movegen.h"
#include "rules/san.h"

namespace rookery::bind {

namespace {

using Outcome = std::pair<std::string, std::optional<bool>>;

Position make_start(const std::optional<nb::str>& fen, bool chess960,
                    const std::optional<std::string>& name) {
    if (!name) return fen ? parse_fen(text_of(*fen), chess960) : start_position();
    const Board board = find_board(*name);
    return fen ? parse_fen(text_of(*fen), chess960, board.rules) : start_position(board);
}

void push_action(Game& game, std::int64_t action, std::string_view space) {
    const auto move = encode::move_of(encode::find_action_space(space), game, action);
    if (!move) throw MoveError("a draw claim ends the game; it is not a move to push");
    game.push(*move);
}

int action_of(const Game& game, std::string_view uci, std::string_view space) {
    const int action = encode::action_of(encode::find_action_space(space), game.now(),
                                         require_uci(game.now(), uci));
    if (action == encode::NO_ACTION)
        throw MoveError("move '" + std::string(uci) + "' has no action in " + std::string(space));
    return action;
}

Numpy<bool> action_mask(const Game& game, std::string_view space_name) {
    const encode::ActionSpace space = encode::find_action_space(space_name);
    const auto width = std::size_t(encode::action_count(space));
    auto* mask = new bool[width];
    nb::capsule owner(mask, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
    encode::write_mask(space, game, reinterpret_cast<std::uint8_t*>(mask));
    return Numpy<bool>(mask, {width}, owner);
}

std::optional<Outcome> outcome(const Game& game, bool claim_draw) {
    const Ending ending = game.ending(claim_draw ? Claims::ANNOUNCED : Claims::OFF);
    if (ending == Ending::NONE) return std::nullopt;
    std::optional<bool> winner;
    if (ending == Ending::CHECKMATE) winner = game.now().side == BLACK;
    return Outcome{ENDING_NAMES[std::size_t(ending)], winner};
}

// --- Batches ---

void encode_batch(const Games& games, std::string_view name, nb::handle target) {
    const encode::ObservationLayout& layout = encode::find_observation(name);
    const AnyArray out = require_array(target, batch_shape(games.size(), layout.shape));
    const bool floats = out.dtype() == nb::dtype<float>();
    const bool bytes = out.dtype() == nb::dtype<std::uint8_t>();
    if (!floats && !(bytes && layout.encode_bytes))
        throw std::invalid_argument("observation " + std::string(name) + " needs an array of " +
                                    (layout.encode_bytes ? "float32 or uint8" : "float32"));
    for (const Game* game : require_games(games)) encode::check_encodable(layout, game->now());
    const nb::gil_scoped_release release;
    auto* data = static_cast<std::uint8_t*>(out.data());
    for (std::size_t i = 0; i < games.size(); ++i)
        layout.write(encode::view_of(*games[i]), bytes, data + i * layout.memory(bytes));
}

std::pair<Numpy<std::int32_t>, Numpy<std::int64_t>> legal_actions_batch(
    const Games& games, std::string_view space_name) {
    const encode::ActionSpace space = encode::find_action_space(space_name);
    std::vector<std::int32_t> actions;
    std::vector<std::int64_t> offsets{0};
    require_games(games);
    {
        const nb::gil_scoped_release release;
        for (const Game* game : games) {
            encode::LegalActions legal;
            encode::list_actions(space, *game, legal);
            actions.insert(actions.end(), legal.actions, legal.actions + legal.count);
            offsets.push_back(std::int64_t(actions.size()));
        }
    }
    return {owned_array(std::move(actions)), owned_array(std::move(offsets))};
}

void action_masks_batch(const Games& games, nb::handle target, std::string_view space_name) {
    const encode::ActionSpace space = encode::find_action_space(space_name);
    const auto width = std::size_t(encode::action_count(space));
    const AnyArray out = require_array(target, {require_games(games).size(), width});
    if (out.dtype() != nb::dtype<bool>() && out.dtype() != nb::dtype<std::uint8_t>())
        throw std::invalid_argument("out must be an array of bool or uint8");
    auto* data = static_cast<std::uint8_t*>(out.data());
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < games.size(); ++i)
        encode::write_mask(space, *games[i], data + i * width);
}

}  // namespace

void bind_game(nb::module_& m) {
    nb::class_<Game>(m, "Game", "A position with its history.")
        .def(
            "__init__",
            [](Game* self, const std::optional<nb::str>& fen, bool chess960,
               const std::optional<std::string>& board) {
                new (self) Game(make_start(fen, chess960, board));
            },
            "fen"_a = nb::none(), "chess960"_a = false, "board"_a = nb::none(),
            "Without a FEN the start position of the board. Without a board, the size of the FEN "
            "tells which of the known ones it is.")
        .def(
            "fen", [](const Game& g) { return to_fen(g.now()); },
            "FEN, with an en passant square only if a capture is legal.")
        .def(
            "epd", [](const Game& g) { return to_epd(g.now()); }, "The first four FEN fields.")
        .def_prop_ro("start_fen", [](const Game& g) { return to_fen(g.start()); })
        .def_prop_ro(
            "turn", [](const Game& g) { return g.now().side == WHITE; },
            "True if White is to move.")
        .def_prop_ro(
            "board", [](const Game& g) { return board_name(g.now().rules); },
            "Name of the board, or the description of its rules if it has none.")
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
            "push", [](Game& g, std::string_view uci) { g.push(require_uci(g.now(), uci)); },
            "uci"_a, "Makes a move; raises MoveError if it is illegal.")
        .def(
            "san",
            [](const Game& g, std::string_view uci) {
                return to_san(g.now(), require_uci(g.now(), uci));
            },
            "uci"_a, "Standard algebraic notation of a legal move, such as Nbd2.")
        .def(
            "push_san", [](Game& g, std::string_view san) { g.push(require_san(g.now(), san)); },
            "san"_a, "Makes a move given in standard algebraic notation; raises MoveError.")
        .def(
            "pgn",
            [](nb::handle self, const nb::kwargs& tags) {
                return nb::module_::import_("rookery.data.pgn").attr("text_of")(self, tags);
            },
            "tags"_a, nb::sig("def pgn(self, **tags: str) -> str"),
            "The game so far as PGN; tags such as White='Anna' are added to its headers.")
        .def(
            "pop",
            [](Game& g) {
                if (g.ply() == 0) throw nb::index_error("no move to take back");
                const Move move = g.moves().back();
                g.pop();
                return to_uci(g.now(), move);
            },
            "Takes the last move back and returns it.")
        .def(
            "moves", [](const Game& g) { return to_uci(g.start(), g.moves()); },
            "Moves since the start in UCI notation.")
        .def("copy", [](const Game& g) { return Game(g); })
        .def_prop_ro(
            "repetitions", [](const Game& g) { return g.now().repetitions + 1; },
            "Occurrences of the position, including this one.")
        .def_prop_ro("is_threefold", [](const Game& g) { return g.now().repetitions >= 2; })
        .def_prop_ro("is_fivefold", [](const Game& g) { return g.now().repetitions >= 4; })
        .def_prop_ro("is_fifty_moves",
                     [](const Game& g) {
                         return g.now().halfmove_clock >= FIFTY_MOVES_PLIES &&
                                has_legal_move(g.now());
                     })
        .def_prop_ro("is_seventyfive_moves",
                     [](const Game& g) {
                         return g.now().halfmove_clock >= SEVENTYFIVE_MOVES_PLIES &&
                                has_legal_move(g.now());
                     })
        .def_prop_ro(
            "is_won_by_promotion", [](const Game& g) { return won_by_promotion(g.now()); },
            "KPK with promotion as the goal: promoted to a piece that cannot be captured.")
        .def_prop_ro("is_insufficient_material",
                     [](const Game& g) { return g.now().insufficient_material(); })
        .def(
            "can_claim_threefold",
            [](const Game& g) { return can_claim_threefold(g.now(), g.keys()); },
            "Also by announcing a move that completes the repetition.")
        .def("can_claim_fifty_moves", [](const Game& g) { return can_claim_fifty_moves(g.now()); })
        .def("can_claim_draw", [](const Game& g) { return can_claim_draw(g.now(), g.keys()); })
        .def("outcome", &outcome, "claim_draw"_a = false,
             "(termination, winner) if the game is over, else None; winner is True for White.")
        .def(
            "legal_actions",
            [](const Game& g, std::string_view actions) {
                encode::LegalActions legal;
                encode::list_actions(encode::find_action_space(actions), g, legal);
                return owned_array(
                    std::vector<std::int32_t>(legal.actions, legal.actions + legal.count));
            },
            "actions"_a = "az4672", "Legal actions, int32 [L], in the order of legal_moves().")
        .def("action_mask", &action_mask, "actions"_a = "az4672",
             "bool [A]; raises MoveError when no move is left.")
        .def("action_of", &action_of, "uci"_a, "actions"_a = "az4672")
        .def(
            "move_of",
            [](const Game& g, std::int64_t action, std::string_view actions) {
                const auto move = encode::move_of(encode::find_action_space(actions), g, action);
                return move ? to_uci(g.now(), *move) : std::string("draw");
            },
            "action"_a, "actions"_a = "az4672",
            "UCI move of a legal action; 'draw' for the draw claim.")
        .def("push_action", &push_action, "action"_a, "actions"_a = "az4672")
        .def(
            "encode",
            [](const Game& g, std::string_view observation) {
                const encode::ObservationLayout& layout = encode::find_observation(observation);
                encode::check_encodable(layout, g.now());
                std::vector<float> values(layout.size());
                layout.encode(encode::view_of(g), values.data());
                return owned_array(std::move(values), layout.shape);
            },
            "observation"_a, "Observation, float32, in the shape of the layout.")
        .def(
            "nnue_features",
            [](const Game& g) {
                const auto features = [&](Color view) {
                    const nnue::Features f = nnue::active_features(g.now(), view);
                    return owned_array(std::vector<std::int32_t>(f.indices, f.indices + f.count));
                };
                return std::pair{features(g.now().side), features(~g.now().side)};
            },
            "Active features of nnue768, int32 [pieces] each: mover's view, opponent's view.")
        .def("__repr__", [](const Game& g) { return "Game('" + to_fen(g.now()) + "')"; });

    m.def("observation_names", [] {
        std::vector<std::string> names;
        for (const auto& layout : encode::observation_layouts()) names.emplace_back(layout.name);
        return names;
    });
    m.def(
        "observation_shape",
        [](std::string_view name) {
            return nb::tuple(nb::cast(encode::find_observation(name).shape));
        },
        "name"_a, nb::sig("def observation_shape(name: str) -> tuple[int, ...]"));
    m.def(
        "observation_allows_uint8",
        [](std::string_view name) {
            return encode::find_observation(name).encode_bytes != nullptr;
        },
        "name"_a);
    m.def("action_names", [] {
        return std::vector<std::string>(std::begin(encode::ACTION_SPACE_NAMES),
                                        std::end(encode::ACTION_SPACE_NAMES));
    });
    m.def(
        "action_count",
        [](std::string_view name) { return encode::action_count(encode::find_action_space(name)); },
        "name"_a);
    m.def("encode_batch", &encode_batch, "games"_a, "observation"_a, "out"_a,
          nb::sig("def encode_batch(games: collections.abc.Sequence[Game], observation: str, "
                  "out: numpy.typing.NDArray[typing.Any]) -> None"),
          "Writes observations into out [N, *shape].");
    m.def("legal_actions_batch", &legal_actions_batch, "games"_a, "actions"_a = "az4672",
          "Flat legal actions int32 [total] and offsets int64 [N + 1].");
    m.def("action_masks_batch", &action_masks_batch, "games"_a, "out"_a, "actions"_a = "az4672",
          nb::sig("def action_masks_batch(games: collections.abc.Sequence[Game], "
                  "out: numpy.typing.NDArray[typing.Any], actions: str = \"az4672\") -> None"),
          "Writes masks into out [N, A], bool or uint8.");
}

}  // namespace rookery::bind
