// Endings as worlds to learn in.

#include "bind/bind.h"
#include "endings/ending_states.h"

namespace rookery::bind {

namespace {

endings::EndingGoal find_goal(std::string_view name) {
    if (name == "mate") return endings::EndingGoal::MATE;
    if (name == "promotion") return endings::EndingGoal::PROMOTION;
    throw std::invalid_argument("goal is '" + std::string(name) +
                                "'; it must be 'mate' or 'promotion'");
}

using Values = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Numpy<std::uint8_t> backup(const endings::EndingStates& states, const Values& values) {
    if (values.size() != states.size())
        throw std::invalid_argument("there are " + std::to_string(states.size()) + " states, but " +
                                    std::to_string(values.size()) + " values");
    std::vector<std::uint8_t> targets(states.size());
    {
        const nb::gil_scoped_release release;
        states.backup({values.data(), values.size()}, targets);
    }
    return owned_array(std::move(targets), {states.size()});
}

Numpy<std::uint8_t> play(const endings::EndingStates& states, const Values& values, bool strong) {
    if (values.size() != states.size())
        throw std::invalid_argument("there are " + std::to_string(states.size()) + " states, but " +
                                    std::to_string(values.size()) + " values");
    std::vector<std::uint8_t> result;
    {
        const nb::gil_scoped_release release;
        result = states.play({values.data(), values.size()}, strong);
    }
    return owned_array(std::move(result), {states.size()});
}

Numpy<std::uint8_t> squares(const endings::EndingStates& states) {
    std::vector<std::uint8_t> flat;
    flat.reserve(states.size() * endings::MAX_ENDING_PIECES);
    for (const endings::EndingSquares& row : states.squares())
        flat.insert(flat.end(), row.begin(), row.end());
    return owned_array(std::move(flat), {states.size(), std::size_t(endings::MAX_ENDING_PIECES)});
}

std::string fen(const endings::EndingStates& states, std::size_t state) {
    if (state >= states.size())
        throw std::invalid_argument("state " + std::to_string(state) + " is not below " +
                                    std::to_string(states.size()));
    return to_fen(states.position(state));
}

}  // namespace

void bind_ending(nb::module_& m) {
    m.attr("NOT_WON") = int(endings::NOT_WON);
    nb::class_<endings::EndingStates>(
        m, "EndingStates",
        "All positions of endings against a bare king, once for all their mirror images. A value "
        "is the number of its own moves after which the strong side wins, or NOT_WON.")
        .def(
            "__init__",
            [](endings::EndingStates* self, const std::vector<std::string>& endings,
               std::string_view goal) {
                const endings::EndingGoal found = find_goal(goal);
                const nb::gil_scoped_release release;
                new (self) endings::EndingStates(endings, found);
            },
            "endings"_a, "goal"_a = "mate",
            "endings such as KPvK, with all that they lead to; goal: mate or promotion.")
        .def("__len__", &endings::EndingStates::size)
        .def_prop_ro("endings", &endings::EndingStates::endings)
        .def("squares", &squares,
             "[N, 4]: strong king, its other pieces, weak king, as the strong side sees them; "
             "places beyond the last piece are 0.")
        .def(
            "ending_of",
            [](const endings::EndingStates& s) { return owned_array(s.ending_of(), {s.size()}); },
            "[N]: index into endings.")
        .def(
            "strong_to_move",
            [](const endings::EndingStates& s) {
                return owned_array(s.strong_to_move(), {s.size()});
            },
            "[N]: 1 where the strong side is to move.")
        .def("backup", &backup, "values"_a,
             "One ply of minimax: the mover's best value among those after its moves, and what "
             "the rules say where the game is over.")
        .def("play", &play, "values"_a, "strong_is_greedy"_a,
             "How games end in which one side is greedy by these values and the other perfect.")
        .def(
            "find",
            [](const endings::EndingStates& s, const Game& game) { return s.find(game.now()); },
            "game"_a, "The state of a position, whichever colour is strong; -1 if it has none.")
        .def("fen", &fen, "state"_a, "The position with White as the strong side.");
}

}  // namespace rookery::bind
