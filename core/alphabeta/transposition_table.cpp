#include "alphabeta/transposition_table.h"

#include <algorithm>

namespace rookery::alphabeta {

namespace {

constexpr std::uint8_t AGE_SHIFT = 3;
constexpr std::uint8_t PV_BIT = 4;
constexpr std::uint8_t BOUND_BITS = 3;
// Depths may be slightly negative (quiescence); stored as a byte above 0.
constexpr int DEPTH_OFFSET = 8;

constexpr std::uint64_t pack(Move move, Score score, Score evaluation, int depth,
                             std::uint8_t flags) {
    return std::uint64_t(move.bits()) | std::uint64_t(std::uint16_t(score)) << 16 |
           std::uint64_t(std::uint16_t(evaluation)) << 32 |
           std::uint64_t(std::uint8_t(depth + DEPTH_OFFSET)) << 48 | std::uint64_t(flags) << 56;
}
constexpr std::uint8_t flags_of(std::uint64_t data) { return std::uint8_t(data >> 56); }
constexpr int depth_of(std::uint64_t data) { return int(data >> 48 & 0xFF) - DEPTH_OFFSET; }
constexpr Move move_of(std::uint64_t data) { return Move::from_bits(std::uint16_t(data)); }

// Mate scores relative to the position instead of the root; with -ply the inverse.
constexpr Score to_table(Score score, int ply) {
    if (score == NO_SCORE) return score;
    if (score >= MATE_BOUND) return score + ply;
    if (score <= -MATE_BOUND) return score - ply;
    return score;
}

}  // namespace

TranspositionTable::TranspositionTable(std::size_t bytes, Key key_mask) : key_mask_(key_mask) {
    resize(bytes);
}

void TranspositionTable::resize(std::size_t bytes) {
    // The old table is freed only when the new one is certain, but before that one is written, so
    // that they are never in memory together.
    auto larger = AlignedArray<Bucket>::reserved(std::max<std::size_t>(1, bytes / sizeof(Bucket)));
    std::swap(buckets_, larger);
    larger = AlignedArray<Bucket>();
    buckets_.zero();
    age_ = 0;
}

void TranspositionTable::clear() {
    for (std::size_t i = 0; i < buckets_.size(); ++i)
        for (Entry& entry : buckets_[i].entries) {
            entry.check.store(0, std::memory_order_relaxed);
            entry.data.store(0, std::memory_order_relaxed);
        }
    age_ = 0;
}

bool TranspositionTable::probe(Key key, int ply, TableEntry& found) const {
    key &= key_mask_;
    for (const Entry& entry : bucket(key).entries) {
        const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
        if ((entry.check.load(std::memory_order_relaxed) ^ data) != key || data == 0) continue;
        found.move = move_of(data);
        found.score = to_table(std::int16_t(data >> 16), -ply);
        found.evaluation = std::int16_t(data >> 32);
        found.depth = depth_of(data);
        found.bound = Bound(flags_of(data) & BOUND_BITS);
        found.pv = flags_of(data) & PV_BIT;
        return true;
    }
    return false;
}

void TranspositionTable::store(Key key, int ply, Move move, Score score, Score evaluation,
                               int depth, Bound bound, bool pv) {
    key &= key_mask_;
    Entry* target = nullptr;
    int least = 1 << 20;
    for (Entry& entry : bucket(key).entries) {
        const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
        const int age_distance = (age_ - (flags_of(data) >> AGE_SHIFT)) & AGE_MASK;
        if ((entry.check.load(std::memory_order_relaxed) ^ data) == key && data != 0) {
            // In the same search a much shallower result replaces a deeper one only if exact.
            if (bound != BOUND_EXACT && age_distance == 0 && depth + 2 * pv + 4 <= depth_of(data))
                return;
            if (!move) move = move_of(data);
            target = &entry;
            break;
        }
        // Replace old and shallow entries first; one search of age weighs four plies.
        const int worth = data == 0 ? -1000 : depth_of(data) - 4 * age_distance;
        if (worth < least) {
            least = worth;
            target = &entry;
        }
    }
    const auto flags = std::uint8_t(age_ << AGE_SHIFT | (pv ? PV_BIT : 0) | bound);
    const std::uint64_t data = pack(move, to_table(score, ply), evaluation, depth, flags);
    target->check.store(key ^ data, std::memory_order_relaxed);
    target->data.store(data, std::memory_order_relaxed);
}

int TranspositionTable::full_per_mille() const {
    const std::size_t sample = std::min<std::size_t>(buckets_.size(), 250);
    int used = 0;
    for (std::size_t i = 0; i < sample; ++i)
        for (const Entry& entry : buckets_[i].entries) {
            const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
            used += data != 0 && flags_of(data) >> AGE_SHIFT == age_;
        }
    return int(std::size_t(used) * 1000 / (sample * ENTRIES));
}

}  // namespace rookery::alphabeta
