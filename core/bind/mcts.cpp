// Tree search: the native networks, and the search of one position.

#include <algorithm>
#include <span>

#include "bind/bind.h"
#include "bind/mcts.h"
#include "mcts/search.h"
#include "nets/hash_evaluator.h"
#include "nets/squares_net.h"
#include "rules/movegen.h"

namespace rookery::bind {

namespace {

constexpr const char* STATUS_NAMES[] = {"open", "draw", "repeat", "won", "lost"};

template <class T> using Input = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T> std::span<const T> span_of(const Input<T>& array) {
    return {array.data(), array.size()};
}

Move require_uci(const Position& position, std::string_view uci);

// --- The native network ---

void init_squares_net(nets::SquaresNet* self, std::size_t width, std::size_t key_width,
                      const std::map<std::string, Input<float>>& weights,
                      const Input<std::int64_t>& origins, const Input<std::int64_t>& destinations) {
    const auto find = [&](const char* name) {
        const auto found = weights.find(name);
        if (found == weights.end())
            throw std::invalid_argument(std::string("the weights lack '") + name + "'");
        return span_of(found->second);
    };
    new (self) nets::SquaresNet({width, key_width, find("places.weight"), find("codes.weight"),
                                 find("codes.bias"), find("second.weight"), find("second.bias"),
                                 find("third.weight"), find("third.bias"), find("key.weight"),
                                 find("key.bias"), find("moves.weight"), find("value.weight"),
                                 find("value.bias"), span_of(origins), span_of(destinations)});
}

using Observations = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
std::pair<Numpy<float>, Numpy<float>> evaluate_squares(const nets::SquaresNet& net,
                                                       const Observations& observations,
                                                       const Input<std::int32_t>& legal,
                                                       const Input<std::int64_t>& offsets) {
    const std::size_t count = observations.shape(0);
    const auto steps = span_of(offsets);
    if (observations.shape(1) != 70 || steps.size() != count + 1 || steps[0] != 0 ||
        steps[count] != std::int64_t(legal.size()) || !std::is_sorted(steps.begin(), steps.end()))
        throw std::invalid_argument("observations [B, 70], legal and offsets do not fit together");
    // The network trusts its encoder; arrays from elsewhere are checked here.
    for (const std::int32_t action : span_of(legal))
        if (action < 0 || action >= encode::AZ_ACTIONS)
            throw std::invalid_argument("action " + std::to_string(action) +
                                        " is outside [0, 4672)");
    constexpr int LIMITS[6] = {4, 4, 9, 110, 3, 2};
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < 70; ++j)
            if (observations(i, j) >= (j < 64 ? 156 : LIMITS[j - 64]))
                throw std::invalid_argument("entry " + std::to_string(j) +
                                            " of an observation is not one of tactical70");
    std::vector<float> logits(legal.size()), values(count);
    {
        const nb::gil_scoped_release release;
        net.evaluate(observations.data(), legal.data(), offsets.data(), count, logits.data(),
                     values.data());
    }
    const std::size_t total = logits.size();
    return {owned_array(std::move(logits), {total}), owned_array(std::move(values), {count})};
}

// --- The search of one position ---

void begin(mcts::Search& search, int simulations, bool noise, double gumbel_scale,
           std::uint64_t seed, bool stop_early, const std::vector<std::string>& only) {
    std::vector<Move> moves;
    for (const std::string& uci : only)
        moves.push_back(require_uci(search.tree.root_position(), uci));
    search.begin({simulations, noise, gumbel_scale, seed, stop_early}, std::move(moves));
}

void apply(mcts::Search& search, const Input<float>& logits, const Input<float>& values) {
    if (logits.size() != search.batch.legal_actions.size() || values.size() != search.batch.size())
        throw std::invalid_argument("got " + std::to_string(logits.size()) + " logits and " +
                                    std::to_string(values.size()) + " values for " +
                                    std::to_string(search.batch.legal_actions.size()) +
                                    " legal actions of " + std::to_string(search.batch.size()) +
                                    " leaves");
    const nb::gil_scoped_release release;
    search.apply(logits.data(), values.data());
}

void require_root(const mcts::Search& search) {
    if (!search.tree.root_ready())
        throw std::invalid_argument("the root has not been evaluated yet");
}

nb::dict describe_edge(const mcts::Tree& tree, const Position& position,
                       const mcts::Tree::Edge& edge) {
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

nb::list root_edges(const mcts::Search& search) {
    require_root(search);
    nb::list out;
    const auto edges = search.tree.root_edges();
    for (std::size_t i = 0; i < edges.size(); ++i) {
        nb::dict one = describe_edge(search.tree, search.tree.root_position(), edges[i]);
        one["root_prior"] =
            i < search.tree.root_priors().size() ? search.tree.root_priors()[i] : edges[i].prior;
        out.append(one);
    }
    return out;
}

// Nodes as nested dictionaries, edges with fewer visits left out.
nb::dict describe_node(const mcts::Tree& tree, const mcts::Tree::Node& node,
                       const Position& position, std::uint32_t least, int depth) {
    nb::dict out;
    out["visits"] = node.visits;
    out["value"] = node.value_sum / node.visits;
    out["evaluation"] = node.value;
    out["fen"] = to_fen(position);
    nb::list edges;
    for (const mcts::Tree::Edge& edge : tree.edges_of(node)) {
        if (edge.visits < least) continue;
        nb::dict one = describe_edge(tree, position, edge);
        if (depth > 0 && mcts::Tree::has_child(edge)) {
            Position next = position;
            next.make(edge.move);
            one["node"] = describe_node(tree, tree.nodes()[edge.child], next, least, depth - 1);
        }
        edges.append(one);
    }
    out["edges"] = edges;
    return out;
}

std::vector<std::string> moves_of_line(const mcts::Search& search, std::size_t index) {
    require_root(search);
    if (index >= search.tree.root_edges().size())
        throw std::invalid_argument("there is no root edge " + std::to_string(index));
    std::vector<std::string> out;
    Position position = search.tree.root_position();
    for (const Move move : search.tree.line(index)) {
        out.push_back(to_uci(position, move));
        position.make(move);
    }
    return out;
}

Move require_uci(const Position& position, std::string_view uci) {
    for (const Move move : legal_moves(position))
        if (to_uci(position, move) == uci) return move;
    throw MoveError("move '" + std::string(uci) + "' is illegal in '" + to_fen(position) + "'");
}

void init_search(mcts::Search* self, const std::string& observation, const nb::kwargs& options) {
    nb::dict rest;
    std::size_t cache_megabytes = 16;
    for (const auto& [key, value] : options) {
        if (nb::cast<std::string>(key) == "cache_megabytes")
            cache_megabytes = nb::cast<std::size_t>(value);
        else
            rest[key] = value;
    }
    new (self) mcts::Search(observation, mcts_options(rest), cache_megabytes);
}

}  // namespace

mcts::TreeOptions mcts_options(const nb::dict& options) {
    mcts::TreeOptions o;
    const std::map<std::string, double*> numbers = {
        {"c_init", &o.c_init},
        {"c_base", &o.c_base},
        {"c_factor", &o.c_factor},
        {"fpu_reduction", &o.fpu_reduction},
        {"root_fpu_reduction", &o.root_fpu_reduction},
        {"draw_visits", &o.draw_visits},
        {"policy_temperature", &o.policy_temperature},
        {"root_temperature", &o.root_temperature},
        {"noise_alpha", &o.noise_alpha},
        {"noise_share", &o.noise_share},
        {"c_visit", &o.c_visit},
        {"c_scale", &o.c_scale},
    };
    for (const auto& [key, value] : options) {
        const auto name = nb::cast<std::string>(key);
        if (const auto number = numbers.find(name); number != numbers.end())
            *number->second = nb::cast<double>(value);
        else if (name == "gumbel_actions")
            o.gumbel_actions = nb::cast<int>(value);
        else if (name == "proofs")
            o.proofs = nb::cast<bool>(value);
        else if (name == "twofold_draw")
            o.twofold_draw = nb::cast<bool>(value);
        else if (name == "megabytes")
            o.megabytes = nb::cast<std::size_t>(value);
        else
            throw std::invalid_argument("a tree search has no option '" + name + "'");
    }
    check_options(o);
    return o;
}

nb::object leaf_observations(nb::handle self, encode::LeafBatch& batch) {
    if (!batch.layout) return nb::none();
    const auto shape = batch_shape(batch.size(), batch.layout->shape);
    if (batch.bytes())
        return nb::cast(view_array<std::uint8_t>(self, batch.byte_observations.data(), shape));
    return nb::cast(view_array<float>(self, batch.observations.data(), shape));
}

void bind_mcts(nb::module_& m) {
    nb::exception<mcts::EvaluationError>(m, "EvaluationError", PyExc_ValueError);
    nb::class_<encode::NativeEvaluator>(m, "NativeEvaluator",
                                        "A network that searches call without Python.")
        .def_prop_ro("observation",
                     [](const encode::NativeEvaluator& e) { return std::string(e.observation()); });
    nb::class_<nets::HashEvaluator, encode::NativeEvaluator>(
        m, "HashEvaluator", "Answers with hashes of the position, to measure the tree alone.")
        .def(nb::init<>());
    nb::class_<nets::SquaresNet, encode::NativeEvaluator>(
        m, "SquaresNet", "The network family `squares`, for searches.")
        .def("__init__", &init_squares_net, "width"_a, "key_width"_a, "weights"_a, "origins"_a,
             "destinations"_a, "weights: by their names in torch, float32.")
        .def("evaluate", &evaluate_squares, "observations"_a, "legal"_a, "offsets"_a,
             "Logits [L] and values [B] for observations uint8 [B, 70], legal int32 [L], offsets "
             "int64 [B + 1].");

    nb::class_<mcts::Search>(
        m, "MctsSearch",
        "Tree search of one position. Ask a network by hand (gather, evaluate, apply, until done) "
        "or let run() do it with a native one.")
        .def("__init__", &init_search, "observation"_a, "options"_a,
             nb::sig("def __init__(self, observation: str, **options: float) -> None"),
             "Options: those of TreeOptions (core/mcts/tree.h), and cache_megabytes.")
        .def(
            "set_game", [](mcts::Search& s, const Game& game) { s.set_game(game); }, "game"_a,
            "Goes to the game's position; what the tree knows about it is kept if it can be.")
        .def("forget", &mcts::Search::forget, "To be called when the network has changed.")
        .def("begin", &begin, "simulations"_a, nb::kw_only(), "noise"_a = false,
             "gumbel_scale"_a = 0.0, "seed"_a = 0, "stop_early"_a = false,
             "only"_a = std::vector<std::string>(), "Starts a search; `only` are UCI moves.")
        .def("gather", &mcts::Search::gather, "most"_a = 1,
             nb::call_guard<nb::gil_scoped_release>(),
             "Collects up to `most` leaves for the network; returns how many there are, maybe none "
             "although the search is not done.")
        .def("apply", &apply, "logits"_a, "values"_a,
             "Answers to the gathered leaves: float32 [L] and [B].")
        .def("run", &mcts::Search::run, "evaluator"_a, "leaves"_a = 1, "seconds"_a = 0.0,
             nb::call_guard<nb::gil_scoped_release>(),
             "Searches until done, stopped or out of time; returns whether it is done.")
        .def("stop", &mcts::Search::stop, "Makes a running search return; from any thread.")
        .def_prop_ro("done", &mcts::Search::done)
        .def_prop_ro("simulations", [](const mcts::Search& s) { return s.tree.simulations_done(); })
        .def_prop_ro("nodes", [](const mcts::Search& s) { return s.tree.nodes().size(); })
        .def_prop_ro(
            "full", [](const mcts::Search& s) { return s.tree.full(); },
            "Whether the memory limit has stopped the growth.")
        .def_prop_ro("max_depth", [](const mcts::Search& s) { return s.tree.max_depth(); })
        .def_prop_ro("cache_hits", [](const mcts::Search& s) { return s.cache.hits; })
        .def_prop_ro("cache_misses", [](const mcts::Search& s) { return s.cache.misses; })
        .def_prop_ro(
            "observations",
            [](nb::handle_t<mcts::Search> self) {
                return leaf_observations(self, nb::cast<mcts::Search&>(self).batch);
            },
            nb::sig("def observations(self) -> numpy.typing.NDArray[numpy.float32 | numpy.uint8]"),
            "Of the gathered leaves; valid until apply.")
        .def_prop_ro("legal_actions",
                     [](nb::handle_t<mcts::Search> self) {
                         auto& batch = nb::cast<mcts::Search&>(self).batch;
                         return view_array<const std::int32_t>(self, batch.legal_actions.data(),
                                                               {batch.legal_actions.size()});
                     })
        .def_prop_ro("legal_offsets",
                     [](nb::handle_t<mcts::Search> self) {
                         auto& batch = nb::cast<mcts::Search&>(self).batch;
                         return view_array<const std::int64_t>(self, batch.legal_offsets.data(),
                                                               {batch.legal_offsets.size()});
                     })
        .def("root_edges", &root_edges,
             nb::sig("def root_edges(self) -> list[dict[str, typing.Any]]"),
             "All legal moves with prior, visits, value (of the mover), status, mate_plies.")
        .def_prop_ro(
            "root_value",
            [](const mcts::Search& s) {
                require_root(s);
                return s.tree.root_value();
            },
            "[-1, 1], of the side to move.")
        .def(
            "best_edge",
            [](const mcts::Search& s) {
                require_root(s);
                return s.tree.final_edge();
            },
            "Index into root_edges of the move to play.")
        .def(
            "policy_target",
            [](const mcts::Search& s) {
                require_root(s);
                auto target = s.tree.policy_target();
                const std::size_t count = target.size();
                return owned_array(std::move(target), {count});
            },
            "float32 [edges], what a policy should learn from this search.")
        .def("line", &moves_of_line, "edge"_a,
             "UCI moves of the most visited line through a root edge.")
        .def(
            "tree",
            [](const mcts::Search& s, std::uint32_t least, int depth) {
                require_root(s);
                return describe_node(s.tree, s.tree.nodes()[0], s.tree.root_position(), least,
                                     depth);
            },
            "least_visits"_a = 1, "depth"_a = 1000,
            nb::sig("def tree(self, least_visits: int = 1, depth: int = 1000) -> dict[str, "
                    "typing.Any]"),
            "The whole tree as nested dictionaries.");
}

}  // namespace rookery::bind
