// The alpha-beta engine: its search, and the bench.

#include <nanobind/stl/variant.h>

#include <exception>

#include "alphabeta/bench.h"
#include "alphabeta/engine.h"
#include "alphabeta/observation_values.h"
#include "bind/bind.h"

namespace rookery::bind {

namespace {

using alphabeta::Engine;
using AnyEvaluator =
    std::variant<std::shared_ptr<nnue::Network>, std::shared_ptr<alphabeta::ObservationEvaluator>>;
alphabeta::Evaluator evaluator_of(const AnyEvaluator& any) {
    return std::visit([](const auto& made) -> alphabeta::Evaluator { return made; }, any);
}

// A line as Python sees it: score for the side to move, bound, UCI moves.
struct NamedLine {
    int score;
    const char* bound;
    std::vector<std::string> moves;
};
struct NamedResult {
    alphabeta::Result result;
    std::string best;
    std::vector<NamedLine> lines;
};

NamedResult named(const Position& root, const alphabeta::Result& result) {
    static constexpr const char* BOUND_NAMES[] = {"exact", "lower", "upper"};
    NamedResult answer{result, result.best ? to_uci(root, result.best) : std::string(), {}};
    for (const alphabeta::Line& line : result.lines)
        answer.lines.push_back({line.score, BOUND_NAMES[line.bound], to_uci(root, line.moves)});
    return answer;
}

NamedResult search_game(Engine& engine, const Game& game, int depth, std::uint64_t nodes,
                        std::uint64_t soft_nodes, double movetime, double clock, double increment,
                        int moves_to_go, double overhead, int lines,
                        const std::vector<std::string>& search_moves, bool pondering,
                        const nb::object& report) {
    const Position root = game.now();
    const std::vector<Key> keys = game.keys().keys();
    std::vector<Move> only;
    for (const std::string& uci : search_moves) only.push_back(require_uci(root, uci));
    alphabeta::Limits limits;
    limits.depth = depth;
    limits.nodes = nodes;
    limits.soft_nodes = soft_nodes;
    limits.move_seconds = movetime;
    limits.clock_seconds = clock;
    limits.increment_seconds = increment;
    limits.moves_to_go = moves_to_go;
    limits.overhead_seconds = overhead;
    limits.lines = lines;
    limits.search_moves = only;
    limits.pondering = pondering;

    // Exceptions of Python wait until the threads of the search have ended.
    std::exception_ptr failure;
    alphabeta::Report on_depth;
    if (!report.is_none())
        on_depth = [&](const alphabeta::Result& result) {
            const nb::gil_scoped_acquire acquire;
            try {
                if (!failure) report(named(root, result));
            } catch (...) {
                failure = std::current_exception();
                engine.stop();
            }
        };
    // Only the main thread of Python is told of signals; others need not wait for the GIL.
    const nb::module_ threading = nb::module_::import_("threading");
    const bool is_main = threading.attr("current_thread")().is(threading.attr("main_thread")());
    const alphabeta::Poll check_signals = [&] {
        const nb::gil_scoped_acquire acquire;
        if (!failure && PyErr_CheckSignals() != 0) {
            try {
                nb::raise_python_error();
            } catch (...) {
                failure = std::current_exception();
            }
        }
        return bool(failure);
    };
    alphabeta::Result result;
    {
        const nb::gil_scoped_release release;
        result = engine.search(root, keys, limits, on_depth,
                               is_main ? check_signals : alphabeta::Poll());
    }
    if (failure) std::rethrow_exception(failure);
    return named(root, result);
}

}  // namespace

void bind_alphabeta(nb::module_& m) {
    nb::class_<NamedLine>(m, "SearchLine", "One line of play.")
        .def_ro("score", &NamedLine::score, "Side to move, 400 per unit of logit; see mate_moves.")
        .def_prop_ro("bound", [](const NamedLine& line) { return std::string(line.bound); })
        .def_ro("moves", &NamedLine::moves, "UCI.");
    nb::class_<NamedResult>(m, "SearchResult", "What a search found.")
        .def_ro("best", &NamedResult::best, "UCI; empty if there is no legal move.")
        .def_ro("lines", &NamedResult::lines, "Best first.")
        .def_prop_ro("score", [](const NamedResult& r) { return r.result.score; })
        .def_prop_ro("depth", [](const NamedResult& r) { return r.result.depth; })
        .def_prop_ro("selective_depth",
                     [](const NamedResult& r) { return r.result.selective_depth; })
        .def_prop_ro("nodes", [](const NamedResult& r) { return r.result.nodes; })
        .def_prop_ro("seconds", [](const NamedResult& r) { return r.result.seconds; })
        .def_prop_ro("hash_full", [](const NamedResult& r) { return r.result.hash_full; });

    nb::class_<Engine>(m, "Engine", "Alpha-beta search; see core/alphabeta/engine.h.")
        .def(
            "__init__",
            [](Engine* self, const AnyEvaluator& evaluator, int threads, std::size_t hash) {
                new (self) Engine(evaluator_of(evaluator), threads, hash);
            },
            "evaluator"_a, "threads"_a = 1, "hash"_a = 16, "hash: MiB of transposition table.")
        .def("set_threads", &Engine::set_threads, "threads"_a)
        .def("set_hash", &Engine::set_hash, "mebibytes"_a)
        .def(
            "set_evaluator",
            [](Engine& engine, const AnyEvaluator& evaluator) {
                engine.set_evaluator(evaluator_of(evaluator));
            },
            "evaluator"_a)
        .def("new_game", &Engine::new_game, "Forget everything.")
        .def("prepare", &Engine::prepare, "Call before each search; stop() counts from here on.")
        .def("search", &search_game, "game"_a, "depth"_a = 0, "nodes"_a = 0, "soft_nodes"_a = 0,
             "movetime"_a = 0.0, "clock"_a = -1.0, "increment"_a = 0.0, "moves_to_go"_a = 0,
             "overhead"_a = 0.01, "lines"_a = 1, "search_moves"_a = std::vector<std::string>(),
             "pondering"_a = false, "report"_a = nb::none(),
             "Search until a limit is met or stop() is called; times in seconds, 0 and a negative "
             "clock mean no limit. report is called with a SearchResult after each depth.")
        .def("stop", &Engine::stop, "From any thread.")
        .def("ponderhit", &Engine::ponderhit, "From any thread.");

    m.attr("MATE_SCORE") = alphabeta::MATE;
    m.def(
        "mate_moves",
        [](int score) -> std::optional<int> {
            return alphabeta::is_mate(score) ? std::optional(alphabeta::mate_moves(score))
                                             : std::nullopt;
        },
        "score"_a, "Full moves to mate of a score, negative for being mated; None if it is none.");
    m.def(
        "bench_positions",
        [] {
            std::vector<std::string> fens;
            for (const std::string_view fen : alphabeta::bench_positions()) fens.emplace_back(fen);
            return fens;
        },
        "The positions of bench().");
    m.def(
        "bench",
        [](const std::shared_ptr<nnue::Network>& network, int depth) {
            const nb::gil_scoped_release release;
            const alphabeta::BenchResult result =
                alphabeta::bench(network ? network : alphabeta::bench_network(),
                                 depth > 0 ? depth : alphabeta::BENCH_DEPTH);
            return std::pair(result.nodes, result.seconds);
        },
        "network"_a.none() = nb::none(), "depth"_a = 0,
        "(nodes, seconds) of a fixed search; without a network the nodes are the signature.");
}

}  // namespace rookery::bind
