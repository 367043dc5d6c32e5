// Monte Carlo tree search as AlphaZero does it, one tree.
//
// The caller drives it: descend() walks from the root to a leaf and either finishes the
// simulation by itself (an end of the game, a cached answer) or puts the leaf into a LeafBatch;
// complete() hands in the network's answer. Many trees can fill one batch, and one tree can put
// several leaves into it: leaves under way count as lost ("virtual loss") so that the next
// descent looks elsewhere. One tree is used by one thread at a time.
//
// Memory: two pools, addressed by number, reserved once up to the limit. A node is an *expanded*
// position; its edges lie side by side. Nodes and their edges are added together, so that a
// child always comes after its parent in both pools and the part that stays after a move can be
// slid to the front.
//
//   nodes_  [ root | n1 | n2 | n3 | ... ]
//              |      |
//   edges_  [ e4 d4 Nf3 ... | e5 c5 ... | ... ]
//              |
//              +-- child: number of a node, NONE while the move was not expanded
//
// Values are in [-1, 1]. An edge speaks for the side that moves along it, a node for its side to
// move. A node's visits are 1 (its own evaluation) plus those of its edges.
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
    // An edge without visits is expected to be worth the node's value less this times the root
    // of the policy that was visited already (lc0).
    double fpu_reduction = 0.33, root_fpu_reduction = 0.0;
    // Imaginary drawn visits of every edge: Q = W / (n + draw_visits). 1 as in paper 002, and
    // then unvisited edges are worth 0.
    double draw_visits = 0;
    double policy_temperature = 1.0;  // logits are divided by it, everywhere
    double root_temperature = 1.0;    // once more at the root
    double noise_alpha = 0.3, noise_share = 0.25;  // Dirichlet, where a search asks for noise
    int gumbel_actions = 0;  // moves considered at the root; 0: PUCT there too
    double c_visit = 50, c_scale = 1;  // of Gumbel's sigma, for q in [0, 1]
    bool proofs = true;                // mates are propagated and never searched twice
    bool twofold_draw = true;          // a position that repeats within the tree is a draw
    std::size_t megabytes = 64;
};

// Throws std::invalid_argument naming the option that makes no sense.
void check_options(const TreeOptions& options);
// Sets an option by its name above (true and false are 1 and 0); throws std::invalid_argument if
// there is none of that name or the number does not fit its type.
void set_option(TreeOptions& options, std::string_view name, double value);

// What one search is asked for.
struct SearchSettings {
    int simulations = 100;     // descents after the root's own evaluation
    bool noise = false;        // Dirichlet noise on the root's priors
    double gumbel_scale = 0;   // 1 while learning; 0: the same move every time
    std::uint64_t seed = 0;    // of noise and Gumbel
    bool stop_early = false;   // once no other move can get more visits (PUCT only)
};

enum class EdgeStatus : std::uint8_t {
    OPEN,
    DRAW,    // by the rules
    REPEAT,  // a draw because the position repeats one of the tree; `child` is the cycle in plies
    WON,  // the side that moves along this edge mates by force
    LOST,  // it is mated by force
};

class Tree {
  public:
    static constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
    static constexpr int MAX_LEAVES = 255;  // under way at a time

    struct Edge {
        double value_sum;  // of the mover
        float prior;  // [0, 1]; those of a node sum to 1
        std::uint32_t visits;
        std::uint32_t child;
        Move move;
        EdgeStatus status;
        std::uint8_t in_flight;  // leaves below it that wait for their answer
    };
    struct Node {
        double value_sum;  // of the side to move; includes its own evaluation
        float value;  // its own evaluation
        std::uint32_t visits;
        std::uint32_t first_edge;
        std::uint16_t edge_count;
        std::uint16_t mate_plies;  // of a proven node
        std::uint16_t in_flight;
        bool sorted;  // edges by falling prior; done at the first descent through the node
        std::uint8_t unused[5];  // named, so that saved states are the same byte by byte
    };
    enum class Step : std::uint8_t {
        DONE,  // the simulation is complete
        PENDING,  // a leaf was added to the batch
        COLLISION,  // the way leads to a leaf that waits already; nothing was counted
    };

    explicit Tree(const TreeOptions& options);

    // --- Where it stands ---
    // Goes to the present position of an unfinished game; what the tree knows about it is kept
    // if the game continues from where the tree stood.
    void set_game(const Game& game);
    // The move must be legal at the root. Nothing may be pending.
    void advance(Move move);
    // Forgets all evaluations (the network has changed) but not the position.
    void forget();
    [[nodiscard]] const Position& root_position() const { return root_; }

    // --- Searching ---
    void begin(const SearchSettings& settings);
    // With root moves named, only these are searched (Gumbel: only these are considered).
    void restrict_root(std::vector<Move> moves) { allowed_ = std::move(moves); }
    // Must not be called when done() or when MAX_LEAVES wait.
    Step descend(encode::LeafBatch& batch, EvaluationCache* cache);
    [[nodiscard]] std::size_t pending() const { return pending_count_; }
    // The answer to the pending leaf of this number, in the order of descend(). False, and the
    // tree can no longer be used before set_game or forget, if it is not finite.
    bool complete(std::size_t number, const float* logits, float value, EvaluationCache* cache);
    void clear_pending() { pending_count_ = 0; }
    // All simulations are under way or done, or more would change nothing.
    [[nodiscard]] bool done() const;
    [[nodiscard]] int simulations_done() const { return finished_; }

    // --- Looking at the root; valid once it has been evaluated ---
    [[nodiscard]] bool root_ready() const { return !nodes_.empty(); }
    [[nodiscard]] std::span<const Edge> root_edges() const { return edges_of(nodes_[0]); }
    [[nodiscard]] double root_value() const;  // mean of all simulations; +-1 if proven
    [[nodiscard]] const std::vector<double>& root_priors() const { return root_priors_; }
    [[nodiscard]] EdgeStatus root_status() const;  // WON or LOST if proven, else OPEN
    // Plies to the mate of a proven edge, this move included.
    [[nodiscard]] int mate_plies(const Edge& edge) const;
    // Index of the move to play: mates first, then visits, then value.
    [[nodiscard]] std::size_t best_edge() const;
    // What Gumbel's sequential halving settled on; best_edge() without Gumbel.
    [[nodiscard]] std::size_t final_edge() const;
    // Targets for learning [edges]: visit shares, or Gumbel's improved policy.
    [[nodiscard]] std::vector<float> policy_target() const;
    // Moves of the most visited line that begins with a root edge, that move first. Throws
    // std::invalid_argument for an edge that does not exist.
    [[nodiscard]] std::vector<Move> line(std::size_t root_edge) const;

    // --- Looking anywhere ---
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

    // Descending.
    std::uint32_t select(std::uint32_t node, bool at_root);
    std::uint32_t select_gumbel() const;
    void sort_edges(Node& node);
    [[nodiscard]] double exploration(std::uint32_t visits) const;
    Step visit_leaf(Edge& edge, encode::LeafBatch& batch, EvaluationCache* cache);
    bool find_end(Edge& edge, const MoveList& moves, int depth) const;
    [[nodiscard]] encode::EncodeView view_of_leaf(std::size_t depth) const;
    [[nodiscard]] bool is_allowed(Move move) const;
    // Growing.
    std::uint32_t expand(std::span<const Move> moves, const float* priors, float value);
    bool priors_of(const float* logits, std::size_t count);
    void back_up(const std::vector<PathEntry>& path, double value);
    void prove(const std::vector<PathEntry>& path);
    void mark_in_flight(const std::vector<PathEntry>& path, int change);
    // The root.
    void prepare_root();
    // Written into scores_, which it returns.
    const std::vector<double>& completed_scores(bool with_gumbel) const;
    void compact(std::uint32_t new_root);
    void reset_search();

    TreeOptions options_;
    std::vector<Node> nodes_;
    std::vector<Edge> edges_;
    std::size_t node_limit_, edge_limit_;
    bool full_ = false;
    std::vector<double> exploration_table_;

    Position start_;  // of the game
    std::vector<Move> moves_;  // from there to the root
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
    std::vector<std::int32_t> schedule_;  // visits that the move chosen by simulation i has
    std::vector<Move> allowed_;
    int started_ = 0, finished_ = 0, max_depth_ = 0;

    std::vector<PathEntry> path_;  // of the descent under way
    std::vector<Position> line_;  // root_ and the positions below it along path_
    std::vector<Pending> pending_;  // the first pending_count_ are valid
    std::size_t pending_count_ = 0;
    std::vector<float> priors_;  // scratch
};

}  // namespace rookery::mcts
