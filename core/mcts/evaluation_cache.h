// Answers of a network that need not be asked for again.
//
// The key is made of the position's identity *and* of the encoded observation: whatever the
// network can see (repetitions, clocks, history) tells two entries apart, whatever it cannot see
// does not, and legal moves always belong to the position. One entry per slot; a newer one
// replaces an older one. Not safe for two threads at once.
//
//   entry: key | value | count of legal moves | priors [MAX_PRIORS] in the order of generation

#pragma once

#include <cstdint>
#include <vector>

#include "encode/leaf_batch.h"

namespace rookery::mcts {

class EvaluationCache {
  public:
    static constexpr int MAX_PRIORS = 64;  // positions with more legal moves are not kept
    struct Entry {
        Key key = 0;
        float value = 0;
        std::int32_t count = 0;  // 0: empty
        float priors[MAX_PRIORS];
    };

    // 0 megabytes: keeps nothing.
    explicit EvaluationCache(std::size_t megabytes);

    // Key of the last position of a batch.
    [[nodiscard]] static Key key_of(const encode::LeafBatch& batch);
    // Null if it is not there.
    [[nodiscard]] const Entry* find(Key key, int count);
    void store(Key key, float value, const float* priors, int count);
    // To be called whenever the network changes.
    void clear();

    std::uint64_t hits = 0, misses = 0;

  private:
    std::vector<Entry> entries_;  // a power of two, or none
};

}  // namespace rookery::mcts
