// The root's position: following a game, reusing the subtree, saving.

#include <algorithm>

#include "mcts/tree.h"

namespace rookery::mcts {

void Tree::set_game(const Game& game) {
    const auto same_start = [&] {
        const Position& other = game.start();
        return start_.key == other.key && start_.halfmove_clock == other.halfmove_clock &&
               start_.fullmove_number == other.fullmove_number;
    };
    const std::vector<Move>& moves = game.moves();
    if (same_start() && moves.size() >= moves_.size() &&
        std::equal(moves_.begin(), moves_.end(), moves.begin())) {
        for (std::size_t i = moves_.size(); i < moves.size(); ++i) advance(moves[i]);
        return;
    }
    restart(game.start(), moves);
}

void Tree::restart(const Position& start, const std::vector<Move>& moves) {
    forget();
    start_ = root_ = start;
    moves_.clear();
    past_.clear();
    keys_.clear();
    for (const Move move : moves) advance(move);
}

void Tree::forget() {
    nodes_.clear();
    edges_.clear();
    full_ = false;
    reset_search();
}

void Tree::reset_search() {
    prepared_ = false;
    root_priors_.clear();
    gumbel_.clear();
    start_visits_.clear();
    pending_count_ = 0;
    started_ = finished_ = 0;
}

void Tree::advance(Move move) {
    std::uint32_t child = NONE;
    if (root_ready())
        for (const Edge& edge : root_edges())
            if (edge.move == move && has_child(edge)) child = edge.child;
    past_.push_back(root_);
    if (past_.size() > encode::MAX_HISTORY - 1) past_.erase(past_.begin());
    moves_.push_back(move);
    make_with_history(root_, keys_, move);
    if (child == NONE) return forget();
    compact(child);
    reset_search();
}

// Keeps the subtree of a node and moves it to the front. Children come after their parents, so one
// pass finds all of it and overwrites nothing that is still to be moved.
void Tree::compact(std::uint32_t new_root) {
    std::vector<std::uint32_t> moved(nodes_.size(), NONE);
    std::vector<std::uint16_t> depth(nodes_.size(), 0);
    std::vector<bool> kept(nodes_.size(), false);
    kept[new_root] = true;
    std::uint32_t nodes = 0, edges = 0;
    for (std::size_t i = new_root; i < nodes_.size(); ++i) {
        if (!kept[i]) continue;
        Node node = nodes_[i];
        for (std::uint32_t j = 0; j < node.edge_count; ++j) {
            Edge edge = edges_[node.first_edge + j];
            // A cycle that begins before the new root is no longer a repetition in the tree.
            if (edge.status == EdgeStatus::REPEAT && edge.child > std::uint32_t(depth[i]) + 1) {
                edge.status = EdgeStatus::OPEN;
                edge.child = NONE;
            }
            if (has_child(edge)) {
                kept[edge.child] = true;
                depth[edge.child] = std::uint16_t(depth[i] + 1);
            }
            edges_[edges + j] = edge;
        }
        node.first_edge = edges;
        edges += node.edge_count;
        moved[i] = nodes;
        nodes_[nodes++] = node;
    }
    nodes_.resize(nodes);
    edges_.resize(edges);
    for (Edge& edge : edges_)
        if (has_child(edge)) edge.child = moved[edge.child];
    full_ = false;
}

// --- Saving ---

// visit(field, ...) of everything that is saved after the game, in the order of the file.
template <class Self, class Visit> void Tree::visit_state(Self& tree, const Visit& visit) {
    auto& s = tree.settings_;
    visit(tree.nodes_, tree.edges_, s.simulations, s.noise, s.gumbel_scale, s.seed, s.stop_early,
          tree.prepared_, tree.root_priors_, tree.root_logits_, tree.gumbel_, tree.start_visits_,
          tree.schedule_, tree.started_, tree.finished_, tree.full_);
}

void Tree::save(StateWriter& out) const {
    out.put(start_, moves_);
    visit_state(*this, [&](const auto&... fields) { out.put(fields...); });
}

void Tree::load(StateReader& in) {
    const auto start = in.take<Position>();
    restart(start, in.take<std::vector<Move>>());
    visit_state(*this, [&](auto&... fields) { in.take(fields...); });
}

}  // namespace rookery::mcts
