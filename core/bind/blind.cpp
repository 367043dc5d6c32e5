// Reconnaissance blind chess: the referee, what each side knows, many games at once.

#include "bind/bind.h"
#include "blind/belief.h"
#include "blind/game.h"
#include "blind/judge.h"
#include "blind/vector_games.h"

namespace rookery::bind {

namespace {

using blind::Knowledge;
using OptionalSquare = std::optional<int>;
using OptionalMove = std::optional<std::string>;
using Sight = std::vector<std::pair<int, std::optional<std::string>>>;  // squares and pieces

Square square_of(const OptionalSquare& square) {
    if (!square) return NO_SQUARE;
    if (*square < 0 || *square > 63)
        throw MoveError("square " + std::to_string(*square) + " is not one of 0 to 63, or None");
    return *square;
}
OptionalSquare optional_square(Square square) {
    return square == NO_SQUARE ? OptionalSquare() : OptionalSquare(square);
}
OptionalMove optional_move(Move move) {
    return move ? OptionalMove(blind::to_uci(move)) : OptionalMove();
}
Color color_of_bool(bool white) { return white ? WHITE : BLACK; }

Sight sight_of(Square centre, const blind::Window& window) {
    Sight sight;
    if (centre == NO_SQUARE) return sight;
    for (int i = 0; i < 9; ++i) {
        const Square square = blind::window_square(centre, i);
        const Piece piece = window[std::size_t(i)];
        if (square == NO_SQUARE) continue;
        sight.emplace_back(square, piece == NO_PIECE ? std::optional<std::string>()
                                                     : std::string(1, PIECE_LETTERS[piece]));
    }
    return sight;
}

blind::Window window_of(Square centre, const Sight& sight) {
    blind::Window window;
    window.fill(blind::OFF_BOARD);
    for (const auto& [square, letter] : sight) {
        Piece piece = NO_PIECE;
        if (letter) {
            const auto at = std::string_view(PIECE_LETTERS).find(*letter);
            if (letter->size() != 1 || at >= 12)
                throw MoveError("'" + *letter + "' is not the letter of a piece");
            piece = Piece(at);
        }
        int index = 0;
        while (index < 9 && (centre == NO_SQUARE || blind::window_square(centre, index) != square))
            ++index;
        if (index == 9)
            throw MoveError("square " + std::to_string(square) + " is outside the sensed window");
        window[std::size_t(index)] = piece;
    }
    return window;
}

// A request, or a taken move, by its UCI text; `own` has the side's pieces alone.
Move require_request(const blind::Board& own, const OptionalMove& uci) {
    if (!uci) return Move();
    const Move move = blind::find_request(own, *uci);
    if (!move) throw MoveError("'" + *uci + "' is not a move that this side may ask for");
    return move;
}

Move require_taken(const Knowledge& knowledge, const OptionalMove& uci, Square capture) {
    Move move = require_request(knowledge.own(), uci);
    if (move && capture != NO_SQUARE && capture != move.to())
        move = Move(move.from(), move.to(), Move::EN_PASSANT);
    return move;
}

std::vector<std::string> request_names(const MoveList& list) {
    std::vector<std::string> names;
    for (const Move move : list) names.push_back(blind::to_uci(move));
    return names;
}

nb::dict turn_of(const blind::Turn& turn) {
    nb::dict found;
    found["opponent_capture"] = optional_square(turn.opponent_capture);
    found["sensed"] = turn.sensed;
    found["sense"] = optional_square(turn.sense);
    found["sight"] = turn.sensed ? sight_of(turn.sense, turn.window) : Sight();
    found["moved"] = turn.moved;
    found["requested"] = optional_move(turn.requested);
    found["taken"] = optional_move(turn.taken);
    found["capture"] = optional_square(turn.capture);
    return found;
}

Numpy<float> planes_of(const Knowledge& knowledge) {
    std::vector<float> planes(blind::PLANES * 64);
    blind::write_planes(knowledge, planes.data());
    return owned_array(std::move(planes), {blind::PLANES, 8, 8});
}

struct Requests {
    std::vector<Move> moves;
    std::vector<std::int32_t> actions;
};

Requests requests_of(const Knowledge& knowledge) {
    Requests requests{std::vector<Move>(blind::MOST_REQUESTS),
                      std::vector<std::int32_t>(blind::MOST_REQUESTS)};
    const std::size_t count =
        blind::list_move_actions(knowledge, requests.moves.data(), requests.actions.data());
    requests.moves.resize(count);
    requests.actions.resize(count);
    return requests;
}

Numpy<std::int32_t> action_array(const Knowledge& knowledge) {
    return owned_array(requests_of(knowledge).actions);
}

OptionalMove move_of_action(const Knowledge& knowledge, int action) {
    const Requests requests = requests_of(knowledge);
    for (std::size_t i = 0; i < requests.actions.size(); ++i)
        if (requests.actions[i] == action) return optional_move(requests.moves[i]);
    throw MoveError("action " + std::to_string(action) + " is not one that this side may ask for");
}

void bind_knowledge(nb::module_& m) {
    nb::class_<Knowledge>(
        m, "BlindKnowledge",
        "What one side of a blind game knows: a value; see core/blind/knowledge.h.")
        .def(
            "__init__",
            [](Knowledge* self, bool white, const std::string& fen) {
                new (self) Knowledge(color_of_bool(white),
                                     blind::board_of(parse_fen(fen, false, BoardRules())));
            },
            "white"_a, "fen"_a = std::string(STARTING_FEN))
        .def(
            "opponent_moved",
            [](Knowledge& k, OptionalSquare capture) { k.opponent_moved(square_of(capture)); },
            "capture"_a.none())
        .def(
            "sensed",
            [](Knowledge& k, OptionalSquare centre, const Sight& sight) {
                k.sensed(square_of(centre), window_of(square_of(centre), sight));
            },
            "square"_a.none(), "sight"_a)
        .def(
            "moved",
            [](Knowledge& k, const OptionalMove& requested, const OptionalMove& taken,
               OptionalSquare capture) {
                const Square square = square_of(capture);
                k.moved(require_request(k.own(), requested), require_taken(k, taken, square),
                        square);
            },
            "requested"_a.none(), "taken"_a.none(), "capture"_a.none())
        .def_prop_ro("white", [](const Knowledge& k) { return k.color() == WHITE; })
        .def_prop_ro("turn_count", [](const Knowledge& k) { return k.turns().size(); })
        .def_prop_ro("has_sensed", &Knowledge::has_sensed)
        .def_prop_ro(
            "own_fen", [](const Knowledge& k) { return blind::to_fen(k.own()); },
            "This side's pieces alone.")
        .def_prop_ro("start_fen", [](const Knowledge& k) { return blind::to_fen(k.start()); })
        .def_prop_ro("opponent_pieces", &Knowledge::opponent_pieces)
        .def(
            "remembered",
            [](const Knowledge& k, int square) -> std::pair<std::optional<std::string>, int> {
                const Square known = square_of(square);
                const Piece piece = k.remembered(known);
                std::optional<std::string> letter;
                if (piece == Knowledge::UNKNOWN_PIECE)
                    letter = "?";
                else if (piece != NO_PIECE)
                    letter = std::string(1, PIECE_LETTERS[piece]);
                return {letter, k.remembered_at(known)};
            },
            "square"_a,
            "The last opponent's piece known there (None: none, '?': it captured there), and the "
            "turn it was known (-1: the start).")
        .def(
            "turn",
            [](const Knowledge& k, std::size_t index) {
                if (index >= k.turns().size()) throw nb::index_error("no such turn");
                return turn_of(k.turns()[index]);
            },
            "index"_a, nb::sig("def turn(self, index: int) -> dict[str, typing.Any]"))
        .def("requests", [](const Knowledge& k) { return request_names(k.requests()); })
        .def("move_actions", &action_array, "int32; the pass is the last.")
        .def("move_of_action", &move_of_action, "action"_a)
        .def(
            "action_of",
            [](const Knowledge& k, const OptionalMove& uci) {
                return blind::move_action(k.color(), require_request(k.own(), uci));
            },
            "uci"_a.none())
        .def("planes", &planes_of, "float32 [planes, 8, 8], in this side's orientation.")
        .def("copy", [](const Knowledge& k) { return Knowledge(k); })
        .def("__copy__", [](const Knowledge& k) { return Knowledge(k); })
        .def(
            "__deepcopy__", [](const Knowledge& k, nb::handle) { return Knowledge(k); }, "memo"_a)
        .def("__hash__", [](const Knowledge& k) { return std::int64_t(k.key() >> 2); })
        .def(
            "__eq__", [](const Knowledge& a, const Knowledge& b) { return a == b; }, "other"_a,
            nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
}

void bind_game_class(nb::module_& m) {
    using blind::Game;
    nb::class_<Game>(
        m, "BlindGame",
        "The referee of a blind game; see core/blind/game.h. Squares are 0 (a1) to 63.")
        .def(
            "__init__",
            [](Game* self, const std::string& fen, std::uint32_t move_limit,
               std::uint32_t turn_limit) {
                new (self) Game(blind::board_of(parse_fen(fen, false, BoardRules())),
                                {move_limit, turn_limit});
            },
            "fen"_a = std::string(STARTING_FEN), "move_limit"_a = 100, "turn_limit"_a = 0,
            "move_limit: half-move clock that draws; turn_limit: full turns; 0: none.")
        .def_prop_ro("white_to_move", [](const Game& g) { return g.side() == WHITE; })
        .def_prop_ro("phase",
                     [](const Game& g) { return std::string(blind::PHASE_NAMES[int(g.phase())]); })
        .def_prop_ro("is_over", [](const Game& g) { return g.phase() == blind::Phase::OVER; })
        .def(
            "fen", [](const Game& g) { return blind::to_fen(g.board()); }, "The true board.")
        .def("move_actions",
             [](const Game& g) {
                 MoveList list;
                 blind::list_requests(g.board(), list);
                 return request_names(list);
             })
        .def(
            "sense",
            [](Game& g, OptionalSquare square) {
                const Square centre = square_of(square);
                return sight_of(centre, g.sense(centre));
            },
            "square"_a.none(), "The squares of the window with the letters of their pieces.")
        .def(
            "move",
            [](Game& g, const OptionalMove& uci) {
                const auto result = g.move(require_request(g.board(), uci));
                return std::pair(optional_move(result.taken), optional_square(result.capture));
            },
            "uci"_a.none(), "The move that was taken (None: a pass) and the square of a capture.")
        .def(
            "outcome",
            [](const Game& g) -> std::optional<std::pair<std::string, std::optional<bool>>> {
                if (g.ending() == blind::Ending::NONE) return std::nullopt;
                std::optional<bool> winner;
                if (g.winner()) winner = *g.winner() == WHITE;
                return std::pair(std::string(blind::ENDING_NAMES[int(g.ending())]), winner);
            },
            "None, or (ending, whether White won; None for a draw).")
        .def(
            "knowledge",
            [](const Game& g, bool white) { return g.knowledge(color_of_bool(white)); }, "white"_a,
            "A copy of what that side knows.")
        .def("copy", [](const Game& g) { return Game(g); })
        .def("__copy__", [](const Game& g) { return Game(g); })
        .def("__deepcopy__", [](const Game& g, nb::handle) { return Game(g); }, "memo"_a);
}

template <class T>
void step(blind::VectorGames& games, const Input<const T, nb::ndim<1>>& actions) {
    const std::vector<std::int64_t> copy(actions.data(), actions.data() + actions.size());
    const nb::gil_scoped_release release;
    games.step(copy);
}

void bind_vector(nb::module_& m) {
    using blind::VectorGames;
    const auto vector_of = [](auto VectorGames::* member) {
        return [member](nb::handle self) {
            auto& values = nb::cast<VectorGames&>(self).*member;
            using T = std::remove_reference_t<decltype(values[0])>;
            return view_array<const T>(self, values.data(), {values.size()});
        };
    };
    nb::class_<VectorGames>(m, "BlindVectorGames",
                            "Blind games stepped together; see core/blind/vector_games.h.")
        .def(
            "__init__",
            [](VectorGames* self, int num_games, std::uint32_t move_limit, std::uint32_t turn_limit,
               bool observe) {
                new (self) VectorGames({num_games, {move_limit, turn_limit}, observe});
            },
            "num_games"_a, "move_limit"_a = 100, "turn_limit"_a = 0, "observe"_a = true)
        .def("reset", &VectorGames::reset)
        .def("step", &step<std::int64_t>, "actions"_a.noconvert())
        .def("step", &step<std::int32_t>, "actions"_a.noconvert())
        .def_prop_ro("num_games", &VectorGames::size)
        .def_prop_ro(
            "phase",
            [](const VectorGames& g) { return std::string(blind::PHASE_NAMES[int(g.phase())]); })
        .def_prop_ro("observations",
                     [](nb::handle self) {
                         auto& games = nb::cast<VectorGames&>(self);
                         const std::size_t count = games.observes() ? games.size() : 0;
                         return view_array<const float>(self, games.observations.data(),
                                                        {count, blind::PLANES, 8, 8});
                     })
        .def_prop_ro("legal_actions",
                     [](nb::handle self) {
                         const auto actions = nb::cast<VectorGames&>(self).legal_actions();
                         return view_array<const std::int32_t>(self, actions.data(),
                                                               {actions.size()});
                     })
        .def_prop_ro("legal_offsets", vector_of(&VectorGames::legal_offsets))
        .def_prop_ro("rewards", vector_of(&VectorGames::rewards))
        .def_prop_ro("terminations", vector_of(&VectorGames::terminations))
        .def_prop_ro("to_move", vector_of(&VectorGames::to_move))
        .def_prop_ro("endings", vector_of(&VectorGames::endings))
        .def_prop_ro("results", vector_of(&VectorGames::results))
        .def(
            "knowledge",
            [](const VectorGames& g, std::size_t index) {
                if (index >= g.size()) throw nb::index_error("no such game");
                return g.game(index).knowledge(g.game(index).side());
            },
            "index"_a, "A copy of what the side to act in this game knows.")
        .def(
            "fen",
            [](const VectorGames& g, std::size_t index) {
                if (index >= g.size()) throw nb::index_error("no such game");
                return blind::to_fen(g.game(index).board());
            },
            "index"_a)
        .def("get_state", [](const VectorGames& g) { return bytes_of(g.save()); })
        .def(
            "set_state",
            [](VectorGames& g, const nb::bytes& state) {
                g.restore(std::string(state.c_str(), state.size()));
            },
            "state"_a);
}

struct Boards {
    std::vector<blind::Board> list;
};

// A number for what a sense of each of the 36 inner squares would show, uint64 [N, 36].
Numpy<std::uint64_t> window_keys(const Boards& boards) {
    std::vector<std::uint64_t> keys;
    for (const blind::Board& board : boards.list)
        for (int rank = 1; rank < 7; ++rank)
            for (int file = 1; file < 7; ++file) {
                std::uint64_t key = 0;
                for (const Piece piece : blind::look(board, make_square(file, rank)))
                    key = key * 13 + piece;
                keys.push_back(key);
            }
    return owned_array(std::move(keys), {boards.list.size(), 36});
}

// Share of the boards with each piece of PIECE_LETTERS on each square, float32 [12, 64].
Numpy<float> occupancy(const Boards& boards) {
    std::vector<float> shares(12 * 64);
    for (const blind::Board& board : boards.list)
        for (Bitboard set = board.occupied(); set;) {
            const Square square = pop_square(set);
            shares[std::size_t(64 * board.piece_at(square) + square)] += 1.0F;
        }
    for (float& share : shares) share /= float(std::max<std::size_t>(boards.list.size(), 1));
    return owned_array(std::move(shares), {12, 64});
}

void bind_belief(nb::module_& m) {
    nb::class_<Boards>(m, "BlindBoards", "Boards that may be the true one.")
        .def("__len__", [](const Boards& boards) { return boards.list.size(); })
        .def("window_keys", &window_keys,
             "A number for what a sense of each of the 36 inner squares, from b2 to g7 rank by "
             "rank, would show: uint64 [boards, 36].")
        .def("occupancy", &occupancy,
             "Share of the boards with each of PNBRQKpnbrqk on each square: float32 [12, 64].")
        .def("fens", [](const Boards& boards) {
            std::vector<std::string> fens;
            for (const blind::Board& board : boards.list) fens.push_back(blind::to_fen(board));
            return fens;
        });
    using blind::Belief;
    nb::class_<Belief>(m, "BlindBelief",
                       "The boards that fit what a side knows; see core/blind/belief.h.")
        .def(nb::init<const Knowledge&, std::size_t, std::uint64_t>(), "knowledge"_a,
             "capacity"_a = 30'000, "seed"_a = 0)
        .def("update", &Belief::update, "knowledge"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("__len__", [](const Belief& b) { return b.boards().size(); })
        .def_prop_ro("complete", &Belief::complete)
        .def_prop_ro("repairs", &Belief::repairs)
        .def("boards",
             [](const Belief& b) { return Boards{{b.boards().begin(), b.boards().end()}}; })
        .def(
            "sample",
            [](Belief& b, std::size_t count, double endangered) {
                return Boards{b.sample(count, endangered)};
            },
            "count"_a, "endangered"_a = 0.0, nb::call_guard<nb::gil_scoped_release>(),
            "Distinct boards with this side to move; before the sense, after any of the "
            "opponent's possible moves. endangered: share of the places for boards on which our "
            "king "
            "could be captured, if there are so many.");
    using blind::Judge;
    nb::class_<Judge>(m, "BlindJudge", "The engine's opinion of requests; see core/blind/judge.h.")
        .def(
            "__init__",
            [](Judge* self, const std::shared_ptr<nnue::Network>& network, std::uint64_t nodes,
               double exposed_king, double unseen_check) {
                new (self) Judge(network, {nodes, exposed_king, unseen_check});
            },
            "network"_a, "nodes"_a = blind::JudgeOptions().nodes,
            "exposed_king"_a = blind::JudgeOptions().exposed_king,
            "unseen_check"_a = blind::JudgeOptions().unseen_check)
        .def("new_game", &Judge::new_game)
        .def(
            "values",
            [](Judge& judge, const Boards& boards, const Knowledge& knowledge) {
                const std::vector<Move> moves = requests_of(knowledge).moves;
                std::vector<float> values;
                {
                    const nb::gil_scoped_release release;
                    values = judge.values(boards.list, moves);
                }
                return owned_array(std::move(values), {boards.list.size(), moves.size()});
            },
            "boards"_a, "knowledge"_a,
            "float32 [boards, requests + 1] in [0, 1]: chance to win after each request of "
            "knowledge.move_actions(), the pass last.");
}

}  // namespace

void bind_blind(nb::module_& m) {
    bind_belief(m);
    bind_knowledge(m);
    bind_game_class(m);
    bind_vector(m);
    m.attr("BLIND_PLANES") = blind::PLANES;
    m.attr("BLIND_SENSE_ACTIONS") = blind::SENSE_ACTIONS;
    m.attr("BLIND_MOVE_ACTIONS") = blind::MOVE_ACTIONS;
}

}  // namespace rookery::bind
