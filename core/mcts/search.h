// Tree search of one position, for players: a tree with its batch and its cache.
//
// Either the caller evaluates the leaves (gather, evaluate, apply, until done), or run() does so
// with a native evaluator. stop() is thread-safe; everything else throws std::logic_error while
// another thread is using the search.

#pragma once

#include <atomic>

#include "base/busy.h"
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
    // `only`: UCI moves; none: all.
    void begin(const SearchSettings& settings, const std::vector<std::string>& only = {});

    // Descends until `most` leaves are pending, a descent collides with one of them, or the search
    // is done. Returns the number of pending leaves.
    std::size_t gather(std::size_t most);
    // Their evaluations: logits [total legal], values [leaves]. Throws EvaluationError, or
    // std::invalid_argument for other lengths.
    void apply(std::span<const float> logits, std::span<const float> values);

    // Searches until done, stopped or out of time (0: no limit), in batches of `leaves`. Returns
    // whether it is done.
    bool run(const encode::NativeEvaluator& evaluator, std::size_t leaves, double seconds);
    void stop() { stopped_ = true; }

    // work(*this) while no other thread can use the search.
    template <class Work> decltype(auto) with(const Work& work) {
        const Busy busy = use();
        return work(*this);
    }
    // Throws std::invalid_argument before the root has been evaluated.
    [[nodiscard]] const Tree& evaluated_tree() const;

    // --- Inside with() ---
    Tree tree;
    encode::LeafBatch batch;  // never reallocated
    EvaluationCache cache;

  private:
    [[nodiscard]] Busy use() {
        return {busy_, "another thread is using this search; only stop() may be called meanwhile"};
    }
    std::size_t gather_leaves(std::size_t most);
    void apply_values(std::span<const float> logits, std::span<const float> values);

    std::atomic<bool> stopped_ = false;
    std::atomic<bool> busy_ = false;
    std::vector<float> logits_, values_;
};

}  // namespace rookery::mcts
