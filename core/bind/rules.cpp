// Rules without Game: perft, Zobrist keys, random positions.

#include "bind/bind.h"
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
    m.def(
        "random_position",
        [](const std::string& material, std::uint64_t seed, std::string_view side) {
            Random random(seed);
            return to_fen(random_position(material, find_start_side(side), random));
        },
        "material"_a, "seed"_a, "side"_a = "white",
        "FEN of a uniformly random open position with this material, such as KRvK.");
}

}  // namespace rookery::bind
