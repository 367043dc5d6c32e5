// AlphaZero's tree search: one tree.
//
// descend() selects a leaf and either completes the simulation (end of the game, cached
// evaluation) or adds the leaf to a LeafBatch; complete() takes the network's evaluation. Several
// trees can share a batch, and one tree can have several pending leaves, each with a virtual loss.
// Not thread-safe.
//
// Memory: two pools, addressed by index, reserved once up to the limit. A node is an *expanded*
// position; its edges are contiguous. A child always comes after its parent in both pools, so that
// a subtree can be moved to the front after a move.
//
//   nodes_  [ root | n1 | n2 | n3 | ... ]
//              |      |
//   edges_  [ e4 d4 Nf3 ... | e5 c5 ... | ... ]
//              |
//              +-- child: index of a node, NONE until expanded
//
// Values are in [-1, 1]: of an edge for the side making the move, of a node for its side to move. A
// node's visits are 1 (its own evaluation) plus those of its edges.
//
// Silver et al. 2018 (PUCT); Danihelka et al. 2022 (Gumbel); Winands et al. 2008 (proofs).

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/serial.h"
#include "encode/leaf_batch.h"
#include "mcts/evaluation_cache.h"

namespace rookery::mcts {

struct TreeOptions {
    // PUCT: (log((1 + N + c_base) / c_base) * c_factor + c_init) * P * sqrt(N) / (1 + n).
    double c_init = 1.745, c_base = 38739, c_factor = 3.894;  // lc0's; AlphaZero: 1.25, 19652, 1
    // First-play urgency: an unvisited edge has the node's value minus this times the square root
    // of the visited policy (lc0).
    double fpu_reduction = 0.33, root_fpu_reduction = 0.0;
    // Virtual draws of every edge: Q = W / (n + draw_visits). If not 0, unvisited edges have Q = 0.
    // Vanhoutte 2022 uses 1.
    double draw_visits = 0;
    double policy_temperature = 1.0;  // divides the logits at every node
    double root_temperature = 1.0;  // divides them again at the root
    double noise_alpha = 0.3, noise_share = 0.25;  // Dirichlet noise, see SearchSettings
    int gumbel_actions = 0;  // moves considered at the root; 0: PUCT at the root too
    double c_visit = 50, c_scale = 1;  // of Gumbel's sigma, for q in [0, 1]
    bool proofs = true;  // propagate proven mates
    bool twofold_draw = true;  // a repetition within the tree is a draw
    std::size_t megabytes = 64;
};

// Throws std::invalid_argument with the name of an invalid option.
void check_options(const TreeOptions& options);
// Sets an option by its name above (bools are 0 and 1); throws std::invalid_argument for an unknown
// name or a number that does not fit the type.
void set_option(TreeOptions& options, std::string_view name, double value);

struct SearchSettings {
    int simulations = 100;  // in addition to the root's evaluation
    bool noise = false;  // Dirichlet noise on the root's priors
    double gumbel_scale = 0;  // 1 in training; 0: deterministic
    std::uint64_t seed = 0;  // of noise and Gumbel
    bool stop_early = false;  // once no other move can get more visits (PUCT only)
};

enum class EdgeStatus : std::uint8_t {
    OPEN,
    DRAW,  // by the rules
    REPEAT,  // a draw by repetition within the tree; `child` is the cycle in plies
    WON,  // this move mates by force
    LOST,  // this move is mated by force
};

class Tree {
  public:
    static constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
    static constexpr int MAX_LEAVES = 255;  // pending at a time

    struct Edge {
        double value_sum;  // for the side making the move
        float prior;  // [0, 1]; those of a node sum to 1
        std::uint32_t visits;
        std::uint32_t child;
        Move move;
        EdgeStatus status;
        std::uint8_t in_flight;  // pending leaves below it
    };
    struct Node {
        double value_sum;  // for the side to move; includes its own evaluation
        float value;  // its own evaluation
        std::uint32_t visits;
        std::uint32_t first_edge;
        std::uint16_t edge_count;
        std::uint16_t mate_plies;  // of a proven node
        std::uint16_t in_flight;
        bool sorted;  // edges by descending prior; done at the first selection
        std::uint8_t unused[5];  // explicit padding, so that saved states are reproducible
    };
    enum class Step : std::uint8_t {
        DONE,  // the simulation is complete
        PENDING,  // a leaf was added to the batch
        COLLISION,  // selected a leaf that is already pending; nothing was counted
    };

    explicit Tree(const TreeOptions& options);

    // --- Position; nothing may be pending ---
    // Sets the root to an unfinished game, reusing the subtree if the game continues the old one.
    void set_game(const Game& game);
    // The move must be legal at the root.
    void advance(Move move);
    // Drops the tree but not the position: the network has changed.
    void forget();
    [[nodiscard]] const Position& root_position() const { return root_; }

    // --- Searching ---
    void begin(const SearchSettings& settings);
    // Searches only these root moves; empty: all.
    void restrict_root(std::vector<Move> moves) { allowed_ = std::move(moves); }
    // Not to be called when done() or with MAX_LEAVES pending.
    Step descend(encode::LeafBatch& batch, EvaluationCache* cache);
    [[nodiscard]] std::size_t pending() const { return pending_count_; }
    // The evaluation of a pending leaf, numbered in the order of descend(). False if it is not
    // finite; then only set_game() and forget() may follow.
    bool complete(std::size_t number, const float* logits, float value, EvaluationCache* cache);
    // Once all are completed.
    void clear_pending() { pending_count_ = 0; }
    // Takes back leaves that will not be completed.
    void abandon_pending();
    // All simulations are done or pending, or more would change nothing.
    [[nodiscard]] bool done() const;
    [[nodiscard]] int simulations_done() const { return finished_; }

    // --- The root, once it has been evaluated ---
    [[nodiscard]] bool root_ready() const { return !nodes_.empty(); }
    [[nodiscard]] std::span<const Edge> root_edges() const { return edges_of(nodes_[0]); }
    [[nodiscard]] double root_value() const;  // mean of all simulations; +-1 if proven
    [[nodiscard]] const std::vector<double>& root_priors() const { return root_priors_; }
    [[nodiscard]] EdgeStatus root_status() const;  // WON or LOST if proven, else OPEN
    // Plies to the mate of a proven edge, including its move.
    [[nodiscard]] int mate_plies(const Edge& edge) const;
    // Index of the move to play: mates first, then visits, then value.
    [[nodiscard]] std::size_t best_edge() const;
    // The choice of Gumbel's sequential halving; best_edge() without Gumbel.
    [[nodiscard]] std::size_t final_edge() const;
    // [edges] visit shares, or Gumbel's improved policy.
    [[nodiscard]] std::vector<float> policy_target() const;
    // The most visited variation that starts with a root edge. Throws std::invalid_argument for an
    // edge that does not exist.
    [[nodiscard]] std::vector<Move> line(std::size_t root_edge) const;

    // --- Any node ---
    [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
    [[nodiscard]] std::span<const Edge> edges_of(const Node& node) const {
        return {edges_.data() + node.first_edge, node.edge_count};
    }
    [[nodiscard]] static bool has_child(const Edge& edge) {
        return edge.child != NONE && edge.status != EdgeStatus::REPEAT;
    }
    [[nodiscard]] bool full() const { return full_; }
    [[nodiscard]] int max_depth() const { return max_depth_; }

    // --- Saving; nothing may be pending ---
    void save(StateWriter& out) const;
    void load(StateReader& in);

  private:
    struct PathEntry {
        std::uint32_t node, edge;
    };
    struct Pending {
        std::vector<PathEntry> path;
        std::vector<Move> moves;
        Key cache_key;
    };

    std::uint32_t select(std::uint32_t node, bool at_root);
    std::uint32_t select_gumbel() const;
    void sort_edges(Node& node);
    [[nodiscard]] double exploration(std::uint32_t visits) const;
    Step visit_leaf(Edge& edge, encode::LeafBatch& batch, EvaluationCache* cache);
    bool find_end(Edge& edge, const MoveList& moves, int depth) const;
    [[nodiscard]] encode::EncodeView view_of_leaf(std::size_t depth) const;
    [[nodiscard]] bool is_allowed(Move move) const;
    std::uint32_t expand(std::span<const Move> moves, const float* priors, float value);
    bool priors_of(const float* logits, std::size_t count);
    void back_up(const std::vector<PathEntry>& path, double value);
    void prove(const std::vector<PathEntry>& path);
    void mark_in_flight(const std::vector<PathEntry>& path, int change);
    void prepare_root();
    // Returns scores_.
    const std::vector<double>& completed_scores(bool with_gumbel) const;
    void compact(std::uint32_t new_root);
    void reset_search();
    void restart(const Position& start, const std::vector<Move>& moves);
    template <class Self, class Visit> static void visit_state(Self& tree, const Visit& visit);

    TreeOptions options_;
    std::vector<Node> nodes_;
    std::vector<Edge> edges_;
    std::size_t node_limit_, edge_limit_;
    bool full_ = false;
    std::vector<double> exploration_table_;

    Position start_;  // of the game
    std::vector<Move> moves_;  // from start_ to the root
    Position root_;
    std::vector<Position> past_;  // before the root, oldest first, at most MAX_HISTORY - 1
    RepetitionKeys keys_;  // of all positions before the root; longer during a descent

    SearchSettings settings_;
    bool prepared_ = false;
    std::vector<double> root_priors_;  // [edges] with noise
    std::vector<double> root_logits_;  // [edges] logarithms of root_priors_
    std::vector<double> gumbel_;  // [edges]
    mutable std::vector<double> scores_;  // [edges] scratch
    std::vector<std::uint32_t> start_visits_;  // [edges] before this search
    std::vector<std::int32_t> schedule_;  // of sequential halving, see tree_root.cpp
    std::vector<Move> allowed_;
    int started_ = 0, finished_ = 0, max_depth_ = 0;

    std::vector<PathEntry> path_;  // of the current descent
    std::vector<Position> line_;  // root_ and the positions along path_
    std::vector<Pending> pending_;  // the first pending_count_ are valid
    std::size_t pending_count_ = 0;
    std::vector<float> priors_;  // scratch
};

}  // namespace rookery::mcts
