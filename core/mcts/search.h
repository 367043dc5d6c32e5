// Tree search of one position, for players: a tree with its batch and its cache.
//
// Either the caller evaluates the leaves (gather, evaluate, apply, until done), or run() does so
// with a native evaluator. Only stop() is thread-safe.

#pragma once

#include <atomic>

#include "mcts/tree.h"

namespace rookery::mcts {

// An evaluator returned a NaN or an infinity.
struct EvaluationError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Search {
  public:
    // An empty `observation` encodes nothing.
    Search(std::string_view observation, const TreeOptions& options, std::size_t cache_megabytes);

    // Throws MoveError if the game has no legal move.
    void set_game(const Game& game);
    // Call when the network has changed.
    void forget();
    void begin(const SearchSettings& settings, std::vector<Move> only);

    // Descends until `most` leaves are pending, a descent collides with one of them, or the search
    // is done. Returns the number of pending leaves.
    std::size_t gather(std::size_t most);
    // Their evaluations: logits [total legal], values [leaves]. Throws EvaluationError, or
    // std::invalid_argument for other lengths.
    void apply(std::span<const float> logits, std::span<const float> values);
    [[nodiscard]] bool done() const { return tree.done(); }

    // Searches until done, stopped or out of time (0: no limit), in batches of `leaves`. Returns
    // done().
    bool run(const encode::NativeEvaluator& evaluator, std::size_t leaves, double seconds);
    void stop() { stopped_ = true; }

    // Throws std::invalid_argument before the root has been evaluated.
    [[nodiscard]] const Tree& evaluated_tree() const;

    Tree tree;
    encode::LeafBatch batch;
    EvaluationCache cache;

  private:
    std::atomic<bool> stopped_ = false;
    std::vector<float> logits_, values_;
};

}  // namespace rookery::mcts
