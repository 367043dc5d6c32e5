// The solver.

#include "solve/solver.h"

#include <nanobind/stl/function.h>

#include "bind/bind.h"

namespace rookery::bind {

namespace {

constexpr const char* VALUES[] = {"unknown", "loss", "draw", "win"};

// Python's signals and the caller's own wish end a search.
std::function<bool()> interruptible(const std::optional<std::function<bool()>>& stopping) {
    return [stopping] {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return stopping && *stopping && (*stopping)();
    };
}

}  // namespace

void bind_solve(nb::module_& m) {
    using solve::Solution;
    using solve::Solver;
    nb::class_<Solution>(m, "Solution", "The proven value of a position.")
        .def_prop_ro(
            "value", [](const Solution& s) { return VALUES[std::size_t(s.value)]; },
            "'win', 'draw' or 'loss' of the side to move; 'unknown' within the limits.")
        .def_ro("mate_in", &Solution::mate_in, "Moves of the winning side; 0: no mate.")
        .def_ro("nodes", &Solution::nodes)
        .def_ro("exhausted", &Solution::exhausted,
                "Whether all positions that can follow were looked at.");
    nb::class_<Solver>(m, "Solver",
                       "Proves values by forced mates, or by all positions that can follow.")
        .def(
            "__init__",
            [](Solver* self, int moves, std::uint64_t nodes, std::size_t positions,
               const std::optional<std::function<bool()>>& stopping) {
                new (self) Solver({moves, nodes, positions}, interruptible(stopping));
            },
            "moves"_a = 12, "nodes"_a = 5'000'000, "positions"_a = 2'000'000,
            "stopping"_a = nb::none(),
            "Mates of at most `moves` moves, with `nodes` for each position; all positions that "
            "can follow, if they are at most `positions`. `stopping` is called now and then.")
        .def(
            "solve",
            [](Solver& solver, const Game& game) {
                const Position position = game.now();
                Solution solution;
                {
                    const nb::gil_scoped_release release;
                    solution = solver.solve(position);
                }
                std::vector<std::string> line = to_uci(position, solution.line);
                return std::pair{std::move(solution), std::move(line)};
            },
            "game"_a, "The solution and its line in UCI, with the longest resistance.");
}

}  // namespace rookery::bind
