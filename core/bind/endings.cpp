// States of small endgames.

#include "bind/bind.h"
#include "endings/ending_states.h"

namespace rookery::bind {

namespace {

using endings::EndingStates;
using Values = Input<const std::uint8_t, nb::ndim<1>>;

Numpy<std::uint8_t> squares(const EndingStates& states) {
    std::vector<std::uint8_t> flat;
    flat.reserve(states.size() * endings::MAX_ENDING_PIECES);
    for (const endings::EndingSquares& row : states.squares())
        flat.insert(flat.end(), row.begin(), row.end());
    return owned_array(std::move(flat), {states.size(), std::size_t(endings::MAX_ENDING_PIECES)});
}

template <class Work> Numpy<std::uint8_t> without_gil(const Work& work) {
    std::vector<std::uint8_t> result;
    {
        const nb::gil_scoped_release release;
        result = work();
    }
    return owned_array(std::move(result));
}

}  // namespace

void bind_endings(nb::module_& m) {
    m.attr("NOT_WON") = int(endings::NOT_WON);
    nb::class_<EndingStates>(m, "EndingStates",
                             "All positions of endgames against a bare king, mirror images merged. "
                             "A value is the number "
                             "of its own moves in which the strong side wins, or NOT_WON.")
        .def(
            "__init__",
            [](EndingStates* self, const std::vector<std::string>& endings, std::string_view goal) {
                const endings::EndingGoal found = endings::find_goal(goal);
                const nb::gil_scoped_release release;
                new (self) EndingStates(endings, found);
            },
            "endings"_a, "goal"_a = "mate",
            "endings such as KPvK, with all endings they lead to; goal: mate or promotion.")
        .def("__len__", &EndingStates::size)
        .def_prop_ro("endings", &EndingStates::endings)
        .def("squares", &squares,
             "[N, 4]: strong king, its other pieces, weak king, in the strong side's view, padded "
             "with 0.")
        .def(
            "ending_of", [](const EndingStates& s) { return owned_array(s.ending_of()); },
            "[N]: index into endings.")
        .def(
            "strong_to_move", [](const EndingStates& s) { return owned_array(s.strong_to_move()); },
            "[N]: 1 where the strong side is to move.")
        .def(
            "backup",
            [](const EndingStates& s, const Values& values) {
                return without_gil([&] { return s.backup(span_of(values)); });
            },
            "values"_a,
            "One ply of minimax: the mover's best value after its moves, or the result where the "
            "game is over.")
        .def(
            "play",
            [](const EndingStates& s, const Values& values, bool strong_is_greedy) {
                return without_gil([&] { return s.play(span_of(values), strong_is_greedy); });
            },
            "values"_a, "strong_is_greedy"_a,
            "Results of games in which one side is greedy by these values and the other perfect.")
        .def(
            "find", [](const EndingStates& s, const Game& game) { return s.find(game.now()); },
            "game"_a,
            "The state of a position, with either colour as the strong side; -1 if there is none.")
        .def(
            "fen", [](const EndingStates& s, std::size_t i) { return to_fen(s.position(i)); },
            "state"_a, "The position with White as the strong side.");
}

}  // namespace rookery::bind
