#include "mcts/evaluation_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/memory.h"
#include "base/random.h"

namespace rookery::mcts {

EvaluationCache::EvaluationCache(std::size_t megabytes) {
    if (megabytes > MAX_MEGABYTES)
        throw std::invalid_argument("option cache_megabytes is " + std::to_string(megabytes) +
                                    "; it must be in 0 .. " + std::to_string(MAX_MEGABYTES));
    const std::size_t bytes = megabytes << 20, fit = bytes / sizeof(Entry);
    allocate("an evaluation cache of " + std::to_string(megabytes) + " MB", double(bytes), [&] {
        if (fit) entries_.resize(std::bit_floor(fit));
    });
}

Key EvaluationCache::key_of(const encode::LeafBatch& batch) {
    std::uint64_t hash = mix(batch.keys.back(), 2);
    const std::size_t size = batch.observation_bytes();
    const std::uint8_t* data = batch.observations.data() + batch.observations.size() - size;
    for (std::size_t at = 0; at < size; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, data + at, std::min<std::size_t>(8, size - at));
        hash = mix(hash, word);
    }
    return hash;
}

const EvaluationCache::Entry* EvaluationCache::find(Key key, int count) {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[key & (entries_.size() - 1)];
    if (entry.count != count || entry.key != key) return nullptr;
    ++hits;
    return &entry;
}

void EvaluationCache::store(Key key, float value, const float* priors, int count) {
    if (entries_.empty() || count > MAX_PRIORS) return;
    Entry& entry = entries_[key & (entries_.size() - 1)];
    entry.key = key;
    entry.value = value;
    entry.count = count;
    std::copy(priors, priors + count, entry.priors);
}

void EvaluationCache::clear() {
    for (Entry& entry : entries_) entry.count = 0;
    hits = 0;
}

}  // namespace rookery::mcts
