// Options, selection, expansion and backup. The root: tree_root.cpp; tree reuse: tree_moves.cpp.

#include "mcts/tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/memory.h"
#include "rules/movegen.h"

namespace rookery::mcts {

namespace {

constexpr std::size_t EDGES_PER_NODE = 32;  // assumed by the memory limit
constexpr std::size_t TABLE_SIZE = 4096;    // visit counts with a cached exploration factor

// exp(x) for x <= 0 with a relative error of 2e-7, in a form that compilers vectorise: 2^n by its
// bits, the rest by a polynomial (Cephes).
inline float exponential(float x) {
    x = std::max(x, -80.0f);
    const auto n = std::int32_t(x * 1.44269504f - 0.5f);
    const float whole = float(n);
    const float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * std::bit_cast<float>((n + 127) << 23);
}

struct NumberOption {
    std::string_view name;
    double TreeOptions::* member;
    bool positive;  // otherwise 0 or more
};
constexpr NumberOption NUMBER_OPTIONS[] = {
    {"c_init", &TreeOptions::c_init, false},
    {"c_base", &TreeOptions::c_base, true},
    {"c_factor", &TreeOptions::c_factor, false},
    {"fpu_reduction", &TreeOptions::fpu_reduction, false},
    {"root_fpu_reduction", &TreeOptions::root_fpu_reduction, false},
    {"draw_visits", &TreeOptions::draw_visits, false},
    {"policy_temperature", &TreeOptions::policy_temperature, true},
    {"root_temperature", &TreeOptions::root_temperature, true},
    {"noise_alpha", &TreeOptions::noise_alpha, true},
    {"noise_share", &TreeOptions::noise_share, false},
    {"c_visit", &TreeOptions::c_visit, false},
    {"c_scale", &TreeOptions::c_scale, false},
};

}  // namespace

void set_option(TreeOptions& o, std::string_view name, double value) {
    for (const NumberOption& option : NUMBER_OPTIONS)
        if (option.name == name) {
            o.*option.member = value;
            return;
        }
    const auto whole = [&](double least, double most) {
        if (!(value >= least && value <= most && value == std::floor(value)))
            throw std::invalid_argument("option " + std::string(name) + " is " +
                                        std::to_string(value) +
                                        "; it must be a whole number of its range");
        return value;
    };
    if (name == "gumbel_actions")
        o.gumbel_actions = int(whole(0, 1e9));
    else if (name == "proofs")
        o.proofs = whole(0, 1) != 0;
    else if (name == "twofold_draw")
        o.twofold_draw = whole(0, 1) != 0;
    else if (name == "megabytes")
        o.megabytes = std::size_t(whole(0, 1e9));
    else
        throw std::invalid_argument("a tree search has no option '" + std::string(name) + "'");
}

void check_options(const TreeOptions& o) {
    const auto require = [](bool good, std::string_view name, double value, const char* range) {
        if (!good)
            throw std::invalid_argument("option " + std::string(name) + " is " +
                                        std::to_string(value) + "; it must be " + range);
    };
    for (const auto& [name, member, positive] : NUMBER_OPTIONS)
        require(std::isfinite(o.*member) && (positive ? o.*member > 0 : o.*member >= 0), name,
                o.*member, positive ? "above 0" : "0 or more");
    require(o.noise_share <= 1, "noise_share", o.noise_share, "in [0, 1]");
    require(o.gumbel_actions >= 0, "gumbel_actions", o.gumbel_actions, "0 or more");
    require(o.megabytes >= 1 && o.megabytes <= 65536, "megabytes", double(o.megabytes),
            "in 1 .. 65536");
}

Tree::Tree(const TreeOptions& options)
    : options_(options), start_(start_position()), root_(start_position()) {
    check_options(options);
    const std::size_t bytes = options.megabytes << 20;
    node_limit_ = bytes / (sizeof(Node) + EDGES_PER_NODE * sizeof(Edge));
    edge_limit_ = node_limit_ * EDGES_PER_NODE;
    // Reserved memory costs nothing until it is written, and the pools never move.
    allocate("a search tree of " + std::to_string(options.megabytes) + " MB", double(bytes), [&] {
        nodes_.reserve(node_limit_);
        edges_.reserve(edge_limit_);
    });
    exploration_table_.resize(TABLE_SIZE, -1.0);
}

// --- Selection ---

double Tree::exploration(std::uint32_t visits) const {
    const auto compute = [&] {
        const double n = visits;
        const double growth = std::log((1.0 + n + options_.c_base) / options_.c_base);
        return (growth * options_.c_factor + options_.c_init) * std::sqrt(n);
    };
    if (visits >= TABLE_SIZE) return compute();
    double& entry = const_cast<double&>(exploration_table_[visits]);
    if (entry < 0) entry = compute();
    return entry;
}

// By descending prior, ties in the order of generation. Done at the second visit, which most nodes
// never get.
void Tree::sort_edges(Node& node) {
    node.sorted = true;
    Edge* edges = edges_.data() + node.first_edge;
    std::array<std::uint64_t, MAX_MOVES> order;
    for (std::uint32_t i = 0; i < node.edge_count; ++i)
        // Non-negative floats sort like their bits.
        order[i] = std::uint64_t(~std::bit_cast<std::uint32_t>(edges[i].prior)) << 32 | i;
    std::sort(order.begin(), order.begin() + node.edge_count);
    std::array<Edge, MAX_MOVES> before;
    std::copy(edges, edges + node.edge_count, before.begin());
    for (std::uint32_t i = 0; i < node.edge_count; ++i) edges[i] = before[order[i] & 0xFFFFFFFF];
}

bool Tree::is_allowed(Move move) const {
    return allowed_.empty() || std::find(allowed_.begin(), allowed_.end(), move) != allowed_.end();
}

// The first edge with the largest Q + U. Below the root the visited edges are always the first
// ones: among unvisited edges the one with the largest prior is selected.
std::uint32_t Tree::select(std::uint32_t index, bool at_root) {
    Node& node = nodes_[index];
    if (!node.sorted) sort_edges(node);
    const Edge* edges = edges_.data() + node.first_edge;
    const double factor = exploration(node.visits + node.in_flight);
    const double draws = options_.draw_visits;
    const auto prior = [&](std::uint32_t i) {
        return at_root ? root_priors_[i] : double(edges[i].prior);
    };
    double best_score = -std::numeric_limits<double>::infinity();
    std::uint32_t best = NONE;
    double visited_policy = 0;
    std::uint32_t unvisited = node.edge_count;
    for (std::uint32_t i = 0; i < node.edge_count; ++i) {
        const Edge& edge = edges[i];
        const double n = edge.visits + edge.in_flight;
        if (n == 0) {
            unvisited = std::min(unvisited, i);
            if (at_root) continue;
            break;
        }
        visited_policy += edge.prior;
        if (edge.status == EdgeStatus::LOST || (at_root && !is_allowed(edge.move))) continue;
        const double q = (edge.value_sum - edge.in_flight) / (n + draws);
        const double score = q + factor * prior(i) / (1 + n);
        if (score > best_score) best_score = score, best = i;
    }
    if (unvisited == node.edge_count)
        return best == NONE ? node.first_edge : node.first_edge + best;
    double expected = 0;
    if (draws == 0) {
        const double reduction = at_root ? options_.root_fpu_reduction : options_.fpu_reduction;
        expected = node.value_sum / node.visits - reduction * std::sqrt(visited_policy);
    }
    const std::uint32_t last = at_root ? node.edge_count : unvisited + 1;
    for (std::uint32_t i = unvisited; i < last; ++i) {
        if (edges[i].visits + edges[i].in_flight > 0) continue;
        if (at_root && !is_allowed(edges[i].move)) continue;
        const double score = expected + factor * prior(i);
        if (score > best_score) best_score = score, best = i;
    }
    return node.first_edge + (best == NONE ? 0 : best);
}

Tree::Step Tree::descend(encode::LeafBatch& batch, EvaluationCache* cache) {
    path_.clear();
    line_.clear();
    line_.push_back(root_);
    if (nodes_.empty()) {
        if (pending_count_) return Step::COLLISION;
        Edge nowhere{};
        return visit_leaf(nowhere, batch, cache);
    }
    if (!prepared_) prepare_root();
    // 1. Select edges down to one that is not expanded or ends the game.
    std::uint32_t node = 0;
    Edge* edge = nullptr;
    do {
        const bool at_root = path_.empty();
        const std::uint32_t chosen =
            at_root && !schedule_.empty() ? select_gumbel() : select(node, at_root);
        edge = &edges_[chosen];
        path_.push_back({node, chosen});
        line_.push_back(line_.back());
        make_with_history(line_.back(), keys_, edge->move);
        node = edge->child;
    } while (edge->status == EdgeStatus::OPEN && edge->child != NONE);
    max_depth_ = std::max(max_depth_, int(path_.size()));
    // 2. Evaluate it and back its value up.
    Step step = Step::DONE;
    if (edge->status != EdgeStatus::OPEN) {
        const double value = edge->status == EdgeStatus::WON    ? 1
                             : edge->status == EdgeStatus::LOST ? -1
                                                                : 0;
        back_up(path_, -value);
    } else if (edge->in_flight) {
        step = Step::COLLISION;
    } else {
        step = visit_leaf(*edge, batch, cache);
    }
    for (std::size_t i = 0; i < path_.size(); ++i) keys_.pop();
    if (step != Step::COLLISION) ++started_;
    if (step == Step::DONE) ++finished_;
    return step;
}

encode::EncodeView Tree::view_of_leaf(std::size_t depth) const {
    encode::EncodeView view{};
    view.keys = &keys_;
    for (std::size_t back = 0; back <= depth && view.count < encode::MAX_HISTORY; ++back)
        view.positions[view.count++] = &line_[depth - back];
    for (std::size_t back = 0; back < past_.size() && view.count < encode::MAX_HISTORY; ++back)
        view.positions[view.count++] = &past_[past_.size() - 1 - back];
    return view;
}

// Whether the game ends with this edge, or is treated as ended.
bool Tree::find_end(Edge& edge, const MoveList& moves, int depth) const {
    const Position& position = line_.back();
    if (moves.empty()) {
        edge.status = position.in_check() ? EdgeStatus::WON : EdgeStatus::DRAW;
        return true;
    }
    if (position.insufficient_material() || position.repetitions >= 2 ||
        position.halfmove_clock >= FIFTY_MOVES_PLIES) {
        edge.status = EdgeStatus::DRAW;
        return true;
    }
    if (!options_.twofold_draw || position.repetitions == 0) return false;
    for (int cycle = 4; cycle <= depth; cycle += 2)
        if (keys_.keys()[keys_.size() - std::size_t(cycle)] == position.key) {
            edge.status = EdgeStatus::REPEAT;
            edge.child = std::uint32_t(cycle);
            return true;
        }
    return false;
}

Tree::Step Tree::visit_leaf(Edge& edge, encode::LeafBatch& batch, EvaluationCache* cache) {
    const bool is_root = path_.empty();
    const MoveList moves = legal_moves(line_.back());
    if (!is_root && find_end(edge, moves, int(path_.size()))) {
        const bool mate = edge.status == EdgeStatus::WON;
        back_up(path_, mate ? -1.0 : 0.0);
        if (mate) prove(path_);
        return Step::DONE;
    }
    batch.add(view_of_leaf(path_.size()), moves);
    const Key key = cache ? EvaluationCache::key_of(batch) : 0;
    const auto* known = cache ? cache->find(key, moves.size()) : nullptr;
    if (known) {
        batch.drop_last();
        const std::uint32_t child =
            expand({moves.begin(), moves.end()}, known->priors, known->value);
        if (!is_root) {
            edge.child = child;
            back_up(path_, known->value);
        }
        return Step::DONE;
    }
    if (pending_.size() == pending_count_) pending_.emplace_back();
    Pending& leaf = pending_[pending_count_++];
    leaf.path = path_;
    leaf.moves.assign(moves.begin(), moves.end());
    leaf.cache_key = key;
    mark_in_flight(path_, +1);
    return Step::PENDING;
}

// --- Expansion and backup ---

bool Tree::priors_of(const float* logits, std::size_t count) {
    priors_.resize(count);
    float largest = logits[0];
    bool finite = true;
    for (std::size_t i = 0; i < count; ++i) {
        finite &= std::abs(logits[i]) <= std::numeric_limits<float>::max();
        largest = std::max(largest, logits[i]);
    }
    if (!finite) return false;
    const float scale = float(1.0 / options_.policy_temperature);
    for (std::size_t i = 0; i < count; ++i) priors_[i] = exponential((logits[i] - largest) * scale);
    float total = 0;
    for (const float prior : priors_) total += prior;
    for (float& prior : priors_) prior /= total;
    return true;
}

bool Tree::complete(std::size_t number, const float* logits, float value, EvaluationCache* cache) {
    const Pending& leaf = pending_[number];
    if (!std::isfinite(value) || !priors_of(logits, leaf.moves.size())) return false;
    value = std::clamp(value, -1.0f, 1.0f);
    if (cache) cache->store(leaf.cache_key, value, priors_.data(), int(leaf.moves.size()));
    const std::uint32_t child = expand(leaf.moves, priors_.data(), value);
    if (leaf.path.empty()) return true;
    edges_[leaf.path.back().edge].child = child;
    mark_in_flight(leaf.path, -1);
    back_up(leaf.path, value);
    ++finished_;
    return true;
}

// The index of the new node, or NONE if the memory limit is reached: then the simulation counts
// but the tree no longer grows.
std::uint32_t Tree::expand(std::span<const Move> moves, const float* priors, float value) {
    if (nodes_.size() >= node_limit_ || edges_.size() + moves.size() > edge_limit_) {
        full_ = true;
        return NONE;
    }
    Node node{};
    node.value_sum = node.value = value;
    node.visits = 1;
    node.first_edge = std::uint32_t(edges_.size());
    node.edge_count = std::uint16_t(moves.size());
    edges_.resize(edges_.size() + moves.size());
    Edge* edge = edges_.data() + node.first_edge;
    for (std::size_t i = 0; i < moves.size(); ++i, ++edge)
        *edge = {0.0, priors[i], 0, NONE, moves[i], EdgeStatus::OPEN, 0};
    nodes_.push_back(node);
    return std::uint32_t(nodes_.size() - 1);
}

void Tree::mark_in_flight(const std::vector<PathEntry>& path, int change) {
    for (const PathEntry& entry : path) {
        nodes_[entry.node].in_flight = std::uint16_t(nodes_[entry.node].in_flight + change);
        edges_[entry.edge].in_flight = std::uint8_t(edges_[entry.edge].in_flight + change);
    }
}

void Tree::abandon_pending() {
    for (std::size_t i = 0; i < pending_count_; ++i) {
        if (pending_[i].path.empty()) continue;  // the root
        mark_in_flight(pending_[i].path, -1);
        --started_;
    }
    pending_count_ = 0;
}

// `value`: for the side to move at the end of the path.
void Tree::back_up(const std::vector<PathEntry>& path, double value) {
    for (std::size_t i = path.size(); i-- > 0;) {
        value = -value;
        Edge& edge = edges_[path[i].edge];
        Node& node = nodes_[path[i].node];
        edge.value_sum += value;
        ++edge.visits;
        node.value_sum += value;
        ++node.visits;
    }
}

// The last edge of the path mates. A node with a winning move makes the move to it a loss; a node
// whose moves all lose makes the move to it a win.
void Tree::prove(const std::vector<PathEntry>& path) {
    if (!options_.proofs) return;
    for (std::size_t i = path.size(); i-- > 0;) {
        Node& node = nodes_[path[i].node];
        const Edge& edge = edges_[path[i].edge];
        int plies = mate_plies(edge);
        if (edge.status == EdgeStatus::LOST) {
            for (const Edge& other : edges_of(node)) {
                if (other.status != EdgeStatus::LOST) return;
                plies = std::max(plies, mate_plies(other));
            }
        }
        node.mate_plies = std::uint16_t(plies);
        if (i == 0) return;
        edges_[path[i - 1].edge].status =
            edge.status == EdgeStatus::WON ? EdgeStatus::LOST : EdgeStatus::WON;
    }
}

int Tree::mate_plies(const Edge& edge) const {
    return 1 + (has_child(edge) ? nodes_[edge.child].mate_plies : 0);
}

}  // namespace rookery::mcts
