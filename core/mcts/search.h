// A search of one position: a tree with its batch of leaves and its cache, as a player uses it.
//
// Either Python asks the network (gather, evaluate, apply, until done) or run() does all of it
// with a native evaluator. stop() may be called from another thread; everything else is for one
// thread at a time.

#pragma once

#include <atomic>

#include "mcts/tree.h"

namespace rookery::mcts {

// An evaluator answered with something that is not a number.
struct EvaluationError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Search {
  public:
    // `observation` may be empty: then nothing is encoded.
    Search(std::string_view observation, const TreeOptions& options, std::size_t cache_megabytes);

    // Throws MoveError if the game has no legal move.
    void set_game(const Game& game);
    // The network has changed.
    void forget();
    void begin(const SearchSettings& settings, std::vector<Move> only);

    // Descends until `most` leaves wait, the way is blocked by one that waits already, or the
    // search is done. Returns how many wait.
    std::size_t gather(std::size_t most);
    // Answers to all of them: logits [total legal], values [leaves]. Throws EvaluationError, or
    // std::invalid_argument for other lengths.
    void apply(std::span<const float> logits, std::span<const float> values);
    [[nodiscard]] bool done() const { return tree.done(); }

    // Searches until done, stopped, or out of time (0: no limit); `leaves` at a time. Returns
    // whether it is done.
    bool run(const encode::NativeEvaluator& evaluator, std::size_t leaves, double seconds);
    void stop() { stopped_ = true; }

    // The tree once its root has been evaluated; throws std::invalid_argument before.
    [[nodiscard]] const Tree& evaluated_tree() const;

    Tree tree;
    encode::LeafBatch batch;
    EvaluationCache cache;

  private:
    std::atomic<bool> stopped_ = false;
    std::vector<float> logits_, values_;
};

}  // namespace rookery::mcts
