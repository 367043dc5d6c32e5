// Cache of network evaluations. The key hashes the position's key, which determines the legal
// moves, and the encoded observation, which is all the network sees. One entry per slot, always
// replaced. Not thread-safe.
//
//   entry: key | value | count of legal moves | priors [MAX_PRIORS] in the order of generation

#pragma once

#include <cstdint>
#include <vector>

#include "encode/leaf_batch.h"

namespace rookery::mcts {

class EvaluationCache {
  public:
    static constexpr int MAX_PRIORS = 64;  // positions with more legal moves are not stored
    struct Entry {
        Key key = 0;
        float value = 0;
        std::int32_t count = 0;  // 0: empty
        float priors[MAX_PRIORS];
    };

    static constexpr std::size_t MAX_MEGABYTES = 65536;

    // 0 megabytes: stores nothing.
    explicit EvaluationCache(std::size_t megabytes);

    // Key of the last position of a batch.
    [[nodiscard]] static Key key_of(const encode::LeafBatch& batch);
    // Null if not found.
    [[nodiscard]] const Entry* find(Key key, int count);
    void store(Key key, float value, const float* priors, int count);
    // Call whenever the network changes.
    void clear();

    std::uint64_t hits = 0;

  private:
    std::vector<Entry> entries_;  // a power of two, or none
};

}  // namespace rookery::mcts
