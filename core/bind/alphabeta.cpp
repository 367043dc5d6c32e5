// The alpha-beta engine and its bench.

#include "alphabeta/bench.h"
#include "alphabeta/engine.h"
#include "bind/bind.h"
#include "nets/move_net.h"

namespace rookery::bind {

namespace {

using alphabeta::Engine;

struct NamedLine {
    int score;
    const char* bound;
    std::vector<std::string> moves;
};
struct NamedResult : alphabeta::Result {
    std::string best_move;
    std::vector<NamedLine> named_lines;
    int hash_full;
};

NamedResult named(const Position& root, const alphabeta::Result& result, const Engine& engine) {
    static constexpr const char* BOUND_NAMES[] = {"exact", "lower", "upper"};
    NamedResult answer{
        result, result.best ? to_uci(root, result.best) : "", {}, engine.hash_full()};
    for (const alphabeta::Line& line : result.lines)
        answer.named_lines.push_back(
            {line.score, BOUND_NAMES[line.bound], to_uci(root, line.moves)});
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

    alphabeta::Report on_depth;
    if (!report.is_none())
        on_depth = [&](const alphabeta::Result& result) {
            const nb::gil_scoped_acquire acquire;
            report(named(root, result, engine));
        };
    // Only Python's main thread receives signals; others need not wait for the GIL.
    const nb::module_ threading = nb::module_::import_("threading");
    alphabeta::Poll check_signals;
    if (threading.attr("current_thread")().is(threading.attr("main_thread")()))
        check_signals = [] {
            const nb::gil_scoped_acquire acquire;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            return false;
        };
    alphabeta::Result result;
    {
        const nb::gil_scoped_release release;
        result = engine.search(root, keys, limits, on_depth, check_signals);
    }
    return named(root, result, engine);
}

}  // namespace

void bind_alphabeta(nb::module_& m) {
    nb::class_<NamedLine>(m, "SearchLine", "One variation.")
        .def_ro("score", &NamedLine::score, "Side to move, 400 per unit of logit; see mate_moves.")
        .def_prop_ro("bound", [](const NamedLine& line) { return std::string(line.bound); })
        .def_ro("moves", &NamedLine::moves, "UCI.");
    nb::class_<NamedResult>(m, "SearchResult", "Result of a search.")
        .def_ro("best", &NamedResult::best_move, "UCI; empty if there is no legal move.")
        .def_ro("lines", &NamedResult::named_lines, "Best first.")
        .def_ro("score", &NamedResult::score)
        .def_ro("depth", &NamedResult::depth)
        .def_ro("selective_depth", &NamedResult::selective_depth)
        .def_ro("nodes", &NamedResult::nodes)
        .def_ro("seconds", &NamedResult::seconds)
        .def_ro("late_seconds", &NamedResult::late_seconds,
                "How long it went on beyond the most that the clock allowed.")
        .def_ro("hash_full", &NamedResult::hash_full, "Per mille.");

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
        .def(
            "set_probabilities",
            [](Engine& engine, const std::optional<std::string>& kind,
               const std::shared_ptr<nets::MoveNet>& network) {
                using alphabeta::MoveBudget;
                engine.set_budget(
                    kind ? std::make_shared<const MoveBudget>(MoveBudget::find_kind(*kind), network)
                         : nullptr);
            },
            "kind"_a.none(), "network"_a.none() = nb::none(),
            "Limits the search by the product of move probabilities instead of the depth: "
            "'uniform', 'static', or 'learned' with a network. None: the depth.")
        .def("set_selective", &Engine::set_selective, "selective"_a, "extend_checks"_a = true,
             "False: every move is searched to the full depth, and with `extend_checks` one ply "
             "deeper for each check in the line.")
        .def(
            "set_parameters",
            [](Engine& engine, const std::map<std::string, int>& values) {
                engine.set_parameters(parameters_of(values));
            },
            "values"_a, "Search parameters by name; those not named have their default.")
        .def("new_game", &Engine::new_game, "Clears the hash table and the histories.")
        .def("prepare", &Engine::prepare,
             "Call before each search: later calls of stop() apply to it.")
        .def("search", &search_game, "game"_a, "depth"_a = 0, "nodes"_a = 0, "soft_nodes"_a = 0,
             "movetime"_a = 0.0, "clock"_a = -1.0, "increment"_a = 0.0, "moves_to_go"_a = 0,
             "overhead"_a = 0.01, "lines"_a = 1, "search_moves"_a = std::vector<std::string>(),
             "pondering"_a = false, "report"_a = nb::none(),
             "Searches until a limit is reached or stop() is called; times in seconds, 0 and a "
             "negative clock mean no limit. report is called with a SearchResult after each depth.")
        .def("stop", &Engine::stop, "Thread-safe.")
        .def("ponderhit", &Engine::ponderhit, "Thread-safe.");

    m.def(
        "search_parameters",
        [] {
            std::map<std::string, std::tuple<int, int, int>> ranges;
            const alphabeta::Parameters defaults;
            for (const auto& range : alphabeta::parameter_ranges())
                ranges[std::string(range.name)] = {defaults.*range.value, range.least, range.most};
            return ranges;
        },
        "{name: (value, least, most)} of the search parameters that can be set.");
    m.def(
        "mate_moves",
        [](int score) -> std::optional<int> {
            return alphabeta::is_mate(score) ? std::optional(alphabeta::mate_moves(score))
                                             : std::nullopt;
        },
        "score"_a,
        "Full moves to mate of a score, negative for being mated; None for other scores.");
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
