// The Python module rookery._core; its parts are in the other files of this folder.

#include "bind/bind.h"

#include "bind/mcts.h"
#include "encode/actions.h"
#include "encode/encode.h"
#include "rules/movegen.h"
#include "rules/perft.h"

namespace rookery::bind {

namespace {

// Each ply takes a stack frame, and no machine will ever count this far.
constexpr int MAX_PERFT_DEPTH = 64;
void require_depth(int depth, int least) {
    if (depth < least || depth > MAX_PERFT_DEPTH)
        throw std::invalid_argument("depth " + std::to_string(depth) + " is not in " +
                                    std::to_string(least) + " .. " +
                                    std::to_string(MAX_PERFT_DEPTH));
}

std::string shape_text(const std::vector<std::size_t>& shape) {
    std::string text;
    for (const std::size_t length : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(length);
    return "(" + text + ")";
}

}  // namespace

AnyArray require_array(nb::handle object, const std::vector<std::size_t>& shape) {
    AnyArray array;
    if (!nb::try_cast(object, array))
        throw std::invalid_argument("out must be a writable NumPy array of a native number type");
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
    // The strides of an array without elements mean nothing.
    if (!contiguous && array.size() > 0) throw std::invalid_argument("out must be C-contiguous");
    return array;
}

std::string_view text_of(const nb::str& text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data) return {data, std::size_t(size)};
    PyErr_Clear();
    throw FenError("bad FEN: the text is not valid Unicode");
}

const Games& require_games(const Games& games) {
    for (std::size_t i = 0; i < games.size(); ++i)
        if (!games[i])
            throw nb::type_error(("game " + std::to_string(i) + " is None, not a Game").c_str());
    return games;
}

}  // namespace rookery::bind

using namespace rookery;
using namespace rookery::bind;

NB_MODULE(_core, m) {
    // A thread that still thinks when the interpreter ends holds objects; that is no news.
    nb::set_leak_warnings(false);
    m.doc() = "Chess rules, encodings and the vector environment, in C++.";
    m.attr("STARTING_FEN") = std::string(STARTING_FEN);
    nb::list endings;
    for (const char* name : ENDING_NAMES) endings.append(nb::str(name));
    m.attr("ENDINGS") = nb::tuple(endings);
    m.def(
        "build_info",
        [] {
#if defined(__BMI2__)
            const std::string sliders = "pext";
#else
            const std::string sliders = "magic";
#endif
#if defined(__AVX512BW__)
            const std::string vectors = "avx512";
#elif defined(__AVX2__)
            const std::string vectors = "avx2";
#elif defined(__ARM_NEON)
            const std::string vectors = "neon";
#else
            const std::string vectors = "baseline";
#endif
            return std::map<std::string, std::string>{{"sliders", sliders}, {"vectors", vectors}};
        },
        "What the compiler was allowed to use: sliders pext or magic, vectors avx512, avx2, "
        "neon or baseline.");
    nb::exception<FenError>(m, "FenError", PyExc_ValueError);
    nb::exception<MoveError>(m, "MoveError", PyExc_ValueError);

    m.def(
        "set_zobrist_keys",
        [](const std::array<Key, ZOBRIST_KEY_COUNT>& keys) { set_zobrist_keys(keys); }, "keys"_a,
        "Installs Polyglot's 781 numbers; call before any position is made.");
    m.def(
        "perft",
        [](const nb::str& fen, int depth, bool chess960) {
            require_depth(depth, 0);
            const Position position = parse_fen(text_of(fen), chess960);
            const nb::gil_scoped_release release;
            return perft(position, depth);
        },
        "fen"_a, "depth"_a, "chess960"_a = false, "Leaf nodes of the legal move tree.");
    nb::class_<PerftTable>(m, "PerftTable", "Counts that perft already knows, for long runs.")
        .def(nb::init<std::size_t>(), "megabytes"_a)
        .def(
            "count",
            [](PerftTable& table, const nb::str& fen, int depth, bool chess960) {
                require_depth(depth, 0);
                const Position position = parse_fen(text_of(fen), chess960);
                const nb::gil_scoped_release release;
                return table.count(position, depth);
            },
            "fen"_a, "depth"_a, "chess960"_a = false,
            "As perft, but positions reached by several move orders are counted once.");
    m.def(
        "perft_divide",
        [](const nb::str& fen, int depth, bool chess960) {
            require_depth(depth, 1);
            const Position position = parse_fen(text_of(fen), chess960);
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
            return play_random(game, plies, random);
        },
        "game"_a, "plies"_a, "seed"_a,
        "Plays uniformly random legal moves until the game ends; returns the plies played.");

    bind_bots(m);
    bind_values(m);
    bind_engine(m);
    bind_vector_games(m);
    bind_training(m);
    bind_mcts(m);
    bind_selfplay(m);
    bind_ending(m);
    bind_pyramid(m);
    bind_policy(m);
    bind_sunfish(m);
}
