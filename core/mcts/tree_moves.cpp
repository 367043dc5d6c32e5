// Where the tree stands: going on with a game, keeping the part that is still of use, saving.

#include <algorithm>

#include "mcts/tree.h"

namespace rookery::mcts {

// --- Where it stands ---

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
    forget();
    start_ = root_ = game.start();
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

// Keeps the tree below a node and slides it to the front. Children come after their parents, so
// one pass in order finds all of it, and nothing is overwritten before it was moved.
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

void Tree::save(StateWriter& out) const {
    out.put(start_);
    out.put_all(moves_);
    out.put_all(nodes_);
    out.put_all(edges_);
    out.put(settings_.simulations);
    out.put(settings_.noise);
    out.put(settings_.gumbel_scale);
    out.put(settings_.seed);
    out.put(settings_.stop_early);
    out.put(prepared_);
    out.put_all(root_priors_);
    out.put_all(root_logits_);
    out.put_all(gumbel_);
    out.put_all(start_visits_);
    out.put_all(schedule_);
    out.put(started_);
    out.put(finished_);
    out.put(full_);
}

void Tree::load(StateReader& in) {
    forget();
    start_ = root_ = in.take<Position>();
    moves_.clear();
    past_.clear();
    keys_.clear();
    std::vector<Move> moves;
    in.take_all(moves);
    for (const Move move : moves) advance(move);
    in.take_all(nodes_);
    in.take_all(edges_);
    settings_.simulations = in.take<int>();
    settings_.noise = in.take<bool>();
    settings_.gumbel_scale = in.take<double>();
    settings_.seed = in.take<std::uint64_t>();
    settings_.stop_early = in.take<bool>();
    prepared_ = in.take<bool>();
    in.take_all(root_priors_);
    in.take_all(root_logits_);
    in.take_all(gumbel_);
    in.take_all(start_visits_);
    in.take_all(schedule_);
    started_ = in.take<int>();
    finished_ = in.take<int>();
    full_ = in.take<bool>();
}

}  // namespace rookery::mcts
