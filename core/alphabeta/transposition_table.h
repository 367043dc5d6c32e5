// The transposition table, shared by all threads. A bucket is one cache line of four entries:
//
//   word 0: key ^ word 1
//   word 1: move 16 | score 16 | static evaluation 16 | depth 8 | age 5, PV 1, bound 2
//
// Access is lock-free with relaxed atomics. An entry torn between two writers does not match its
// key; should one match by chance, its move is verified before it is made. Mate scores are stored
// relative to the entry's position.

#pragma once

#include <atomic>
#include <cstdint>

#include "alphabeta/types.h"
#include "base/aligned.h"

namespace rookery::alphabeta {

enum Bound : std::uint8_t { BOUND_NONE = 0, BOUND_UPPER = 1, BOUND_LOWER = 2, BOUND_EXACT = 3 };

struct TableEntry {
    Move move;
    Score score = NO_SCORE;
    Score evaluation = NO_SCORE;
    int depth = 0;
    Bound bound = BOUND_NONE;
    bool pv = false;
};

class TranspositionTable {
  public:
    // Rounded down to whole buckets, at least one. key_mask is for tests: fewer bits cause
    // collisions.
    explicit TranspositionTable(std::size_t bytes, Key key_mask = ~Key(0));

    // Not during a search. If there is no memory, resize() throws and keeps the old table.
    void resize(std::size_t bytes);
    void clear();
    [[nodiscard]] std::size_t bytes() const { return buckets_.size() * sizeof(Bucket); }

    void new_search() { age_ = (age_ + 1) & AGE_MASK; }

    // `ply`: distance from the root of the search.
    [[nodiscard]] bool probe(Key key, int ply, TableEntry& entry) const;
    void store(Key key, int ply, Move move, Score score, Score evaluation, int depth, Bound bound,
               bool pv);
    void prefetch(Key key) const { __builtin_prefetch(&bucket(key)); }
    // Share of the table written by the current search, per mille.
    [[nodiscard]] int full_per_mille() const;

  private:
    static constexpr int ENTRIES = 4;
    static constexpr std::uint8_t AGE_MASK = 31;
    struct Entry {
        std::atomic<std::uint64_t> check{0};
        std::atomic<std::uint64_t> data{0};
    };
    struct alignas(CACHE_LINE) Bucket {
        Entry entries[ENTRIES];
    };
    [[nodiscard]] const Bucket& bucket(Key key) const {
        return buckets_[std::size_t((static_cast<unsigned __int128>(key) * buckets_.size()) >> 64)];
    }
    [[nodiscard]] Bucket& bucket(Key key) {
        return const_cast<Bucket&>(std::as_const(*this).bucket(key));
    }

    AlignedArray<Bucket> buckets_;
    Key key_mask_;
    std::uint8_t age_ = 0;
};

}  // namespace rookery::alphabeta
