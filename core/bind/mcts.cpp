// The tree search of one position.

#include "bind/bind.h"
#include "mcts/search.h"

namespace rookery::bind {

namespace {

using mcts::Search;
using mcts::Tree;

constexpr const char* STATUS_NAMES[] = {"open", "draw", "repeat", "won", "lost"};

void init(Search* self, const std::string& observation, const nb::kwargs& options) {
    mcts::TreeOptions tree;
    std::size_t cache_megabytes = 16;
    for (const auto& [key, value] : options)
        if (nb::cast<std::string>(key) == "cache_megabytes")
            cache_megabytes = nb::cast<std::size_t>(value);
        else
            set_option(tree, key, value);
    new (self) Search(observation, tree, cache_megabytes);
}

void begin(Search& search, int simulations, bool noise, double gumbel_scale, std::uint64_t seed,
           bool stop_early, const std::vector<std::string>& only) {
    search.begin({simulations, noise, gumbel_scale, seed, stop_early}, only);
}

void apply(Search& search, const Input<const float>& logits, const Input<const float>& values) {
    const nb::gil_scoped_release release;
    search.apply(span_of(logits), span_of(values));
}

// A property or method that reads the search while no other thread can use it.
template <class Read> auto reading(Read read) {
    return [read](Search& search) { return search.with(read); };
}

// --- The tree as dictionaries ---

nb::dict describe_edge(const Tree& tree, const Position& position, const Tree::Edge& edge) {
    nb::dict out;
    out["move"] = to_uci(position, edge.move);
    out["action"] = encode::action_of(encode::ActionSpace::AZ4672, position, edge.move);
    out["prior"] = edge.prior;
    out["visits"] = edge.visits;
    out["value"] = edge.visits ? nb::cast(edge.value_sum / edge.visits) : nb::none();
    out["status"] = STATUS_NAMES[std::size_t(edge.status)];
    const bool mate = edge.status == mcts::EdgeStatus::WON || edge.status == mcts::EdgeStatus::LOST;
    out["mate_plies"] = mate ? nb::cast(tree.mate_plies(edge)) : nb::none();
    return out;
}

nb::list root_edges(Search& search) {
    const Tree& tree = search.evaluated_tree();
    const auto& priors = tree.root_priors();
    nb::list out;
    for (const Tree::Edge& edge : tree.root_edges()) {
        nb::dict one = describe_edge(tree, tree.root_position(), edge);
        one["root_prior"] = out.size() < priors.size() ? priors[out.size()] : edge.prior;
        out.append(one);
    }
    return out;
}

// Omits edges with fewer visits than `least`.
nb::dict describe_node(const Tree& tree, const Tree::Node& node, const Position& position,
                       std::uint32_t least, int depth) {
    nb::dict out;
    out["visits"] = node.visits;
    out["value"] = node.value_sum / node.visits;
    out["evaluation"] = node.value;
    out["fen"] = to_fen(position);
    nb::list edges;
    for (const Tree::Edge& edge : tree.edges_of(node)) {
        if (edge.visits < least) continue;
        nb::dict one = describe_edge(tree, position, edge);
        if (depth > 0 && Tree::has_child(edge)) {
            Position next = position;
            next.make(edge.move);
            one["node"] = describe_node(tree, tree.nodes()[edge.child], next, least, depth - 1);
        }
        edges.append(one);
    }
    out["edges"] = edges;
    return out;
}

nb::dict whole_tree(Search& search, std::uint32_t least, int depth) {
    return search.with([&](const Search& s) {
        const Tree& tree = s.evaluated_tree();
        return describe_node(tree, tree.nodes()[0], tree.root_position(), least, depth);
    });
}

std::vector<std::string> line(Search& search, std::size_t edge) {
    return search.with([&](const Search& s) {
        return to_uci(s.tree.root_position(), s.evaluated_tree().line(edge));
    });
}

}  // namespace

void set_option(mcts::TreeOptions& options, nb::handle name, nb::handle value) {
    mcts::set_option(options, nb::cast<std::string>(name), nb::cast<double>(value));
}

void bind_mcts(nb::module_& m) {
    nb::exception<mcts::EvaluationError>(m, "EvaluationError", PyExc_ValueError);
    nb::class_<Search> search(
        m, "MctsSearch",
        "Tree search of one position. Call a network yourself (gather, evaluate, apply, until "
        "done), or let run() call a native one. While one thread uses it, another may only stop() "
        "it and gets a RuntimeError for anything else.");
    bind_leaves(search, [](nb::handle self) -> auto& {
        return nb::cast<Search&>(self).with([](Search& s) -> auto& { return s.batch; });
    });
    search
        .def("__init__", &init, "observation"_a, "options"_a,
             nb::sig("def __init__(self, observation: str, **options: float) -> None"),
             "Options: those of TreeOptions (core/mcts/tree.h), and cache_megabytes.")
        .def("set_game", &Search::set_game, "game"_a,
             "Moves the root to the game's position, reusing the subtree where possible.")
        .def("forget", &Search::forget, "Call when the network has changed.")
        .def("begin", &begin, "simulations"_a, nb::kw_only(), "noise"_a = false,
             "gumbel_scale"_a = 0.0, "seed"_a = 0, "stop_early"_a = false,
             "only"_a = std::vector<std::string>(), "Starts a search; `only` are UCI moves.")
        .def("gather", &Search::gather, "most"_a = 1, nb::call_guard<nb::gil_scoped_release>(),
             "Collects up to `most` leaves for the network; returns their number, which may be 0 "
             "before the search is done.")
        .def("apply", &apply, "logits"_a, "values"_a,
             "Evaluations of the gathered leaves: logits float32 [L], values [B].")
        .def("run", &Search::run, "evaluator"_a, "leaves"_a = 1, "seconds"_a = 0.0,
             nb::call_guard<nb::gil_scoped_release>(),
             "Searches until done, stopped or out of time; returns whether it is done.")
        .def("stop", &Search::stop, "Stops a running search; thread-safe.")
        .def_prop_ro("done", reading([](const Search& s) { return s.tree.done(); }))
        .def_prop_ro("simulations",
                     reading([](const Search& s) { return s.tree.simulations_done(); }))
        .def_prop_ro("nodes", reading([](const Search& s) { return s.tree.nodes().size(); }))
        .def_prop_ro("full", reading([](const Search& s) { return s.tree.full(); }),
                     "Whether the memory limit was reached.")
        .def_prop_ro("max_depth", reading([](const Search& s) { return s.tree.max_depth(); }))
        .def_prop_ro("cache_hits", reading([](const Search& s) { return s.cache.hits; }))
        .def("root_edges", reading(&root_edges),
             nb::sig("def root_edges(self) -> list[dict[str, typing.Any]]"),
             "All legal moves with prior, visits, value (for the mover), status, mate_plies.")
        .def_prop_ro("root_value",
                     reading([](const Search& s) { return s.evaluated_tree().root_value(); }),
                     "[-1, 1], for the side to move.")
        .def("best_edge", reading([](const Search& s) { return s.evaluated_tree().final_edge(); }),
             "Index into root_edges of the move to play.")
        .def("policy_target", reading([](const Search& s) {
                 return owned_array(s.evaluated_tree().policy_target());
             }),
             "float32 [edges], the policy target of this search.")
        .def("line", &line, "edge"_a,
             "UCI moves of the most visited variation through a root edge.")
        .def("tree", &whole_tree, "least_visits"_a = 1, "depth"_a = 1000,
             nb::sig("def tree(self, least_visits: int = 1, depth: int = 1000) -> dict[str, "
                     "typing.Any]"),
             "The whole tree as nested dictionaries.");
}

}  // namespace rookery::bind
