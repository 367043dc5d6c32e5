// Boards of other sizes.

#include "rules/boards.h"
#include "bind/bind.h"

namespace rookery::bind {

void bind_boards(nb::module_& m) {
    nb::exception<BoardError>(m, "BoardError", PyExc_ValueError);
    m.attr("STANDARD_BOARD") = std::string(STANDARD_BOARD);
    nb::class_<Board>(m, "Board", "A board: its rules and its start position.")
        .def_ro("name", &Board::name)
        .def_ro("start", &Board::start, "FEN; empty if only the rules are known.")
        .def_prop_ro("files", [](const Board& board) { return board.rules.files(); })
        .def_prop_ro("ranks", [](const Board& board) { return board.rules.ranks(); })
        .def_prop_ro(
            "double_step", [](const Board& board) { return board.rules.double_step(); },
            "Whether pawns may take two steps from their second rank.")
        .def_prop_ro(
            "promotions",
            [](const Board& board) {
                std::string letters;
                for (const PieceType type : {QUEEN, ROOK, BISHOP, KNIGHT})
                    if (board.rules.promotes_to(type)) letters += PIECE_LETTERS[6 + type];
                return letters;
            },
            "Letters of what pawns become, such as qrbn.")
        .def_prop_ro(
            "rules", [](const Board& board) { return board_name(board.rules); },
            "Name of the rules, as Game.board gives it.")
        .def("__repr__", [](const Board& board) { return "Board('" + board.name + "')"; });
    m.def("find_board", &find_board, "text"_a,
          "The board with this name or description; raises BoardError.");
    m.def("known_boards", &known_boards, "The boards with a name.");
    m.def("board_names", &board_names, "board"_a, "All names of a known board.");
}

}  // namespace rookery::bind
