// Rules without Game: perft, Zobrist keys, random positions.

#include <nanobind/stl/function.h>

#include "bind/bind.h"
#include "rules/boards.h"
#include "rules/mate.h"
#include "rules/movegen.h"
#include "rules/perft.h"

namespace rookery::bind {

namespace {

template <class Work>
auto with_position(const nb::str& fen, int depth, bool chess960, int least, const Work& work) {
    check_perft_depth(depth, least);
    const Position position = parse_fen(text_of(fen), chess960);
    const nb::gil_scoped_release release;
    return work(position);
}

// (moves, nodes, whether it came to an end)
std::tuple<std::vector<std::string>, std::uint64_t, bool> find_mate(
    const Game& game, int moves, std::uint64_t nodes, const std::vector<std::string>& only,
    const std::optional<std::function<bool()>>& stopping) {
    const Position position = game.now();
    std::vector<Move> allowed;
    for (const std::string& uci : only) allowed.push_back(require_uci(position, uci));
    MateSearch search(nodes, [&stopping] {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return stopping && *stopping && (*stopping)();
    });
    std::vector<Move> line;
    {
        const nb::gil_scoped_release release;
        line = search.find(position, moves, allowed);
    }
    return {to_uci(position, line), search.nodes(), !search.stopped()};
}

}  // namespace

void bind_rules(nb::module_& m) {
    m.attr("STARTING_FEN") = std::string(STARTING_FEN);
    m.attr("ENDINGS") = nb::tuple(
        nb::cast(std::vector<std::string>(std::begin(ENDING_NAMES), std::end(ENDING_NAMES))));
    nb::exception<FenError>(m, "FenError", PyExc_ValueError);
    nb::exception<MoveError>(m, "MoveError", PyExc_ValueError);
    m.def(
        "set_zobrist_keys",
        [](const std::array<Key, ZOBRIST_KEY_COUNT>& keys) { set_zobrist_keys(keys); }, "keys"_a,
        "Installs Polyglot's 781 numbers; call before creating positions.");
    m.def(
        "perft",
        [](const nb::str& fen, int depth, bool chess960) {
            return with_position(fen, depth, chess960, 0,
                                 [&](const Position& p) { return perft(p, depth); });
        },
        "fen"_a, "depth"_a, "chess960"_a = false, "Leaf nodes of the legal move tree.");
    m.def(
        "perft_divide",
        [](const nb::str& fen, int depth, bool chess960) {
            return with_position(fen, depth, chess960, 1,
                                 [&](const Position& p) { return perft_divide(p, depth); });
        },
        "fen"_a, "depth"_a, "chess960"_a = false, "Perft of each legal move.");
    nb::class_<PerftTable>(m, "PerftTable", "Perft with a hash table, for long runs.")
        .def(nb::init<std::size_t>(), "megabytes"_a)
        .def(
            "count",
            [](PerftTable& table, const nb::str& fen, int depth, bool chess960) {
                return with_position(fen, depth, chess960, 0,
                                     [&](const Position& p) { return table.count(p, depth); });
            },
            "fen"_a, "depth"_a, "chess960"_a = false,
            "As perft, but transpositions are counted once.");
    m.def("find_mate", &find_mate, "game"_a, "moves"_a, "nodes"_a = 10'000'000,
          "only"_a = std::vector<std::string>(), "stopping"_a = nb::none(),
          "(line, nodes, complete): the shortest forced mate in at most `moves` moves, exactly, in "
          "UCI with the longest resistance; empty if there is none. complete is False if the node "
          "limit or `stopping`, called every few milliseconds, ended it first.");
    m.def(
        "random_position",
        [](const std::string& material, std::uint64_t seed, std::string_view side,
           std::string_view board) {
            Random random(seed);
            const BoardRules rules = find_board(board).rules;
            return to_fen(random_position(material, find_start_side(side), random, rules));
        },
        "material"_a, "seed"_a, "side"_a = "white", "board"_a = STANDARD_BOARD,
        "FEN of a uniformly random open position with this material, such as KRvK.");
}

}  // namespace rookery::bind
