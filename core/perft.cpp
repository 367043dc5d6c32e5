#include "perft.h"

#include <algorithm>
#include <bit>

#include "movegen.h"
#include "random.h"

namespace rookery {

namespace {
// Below this depth counting anew is faster than looking up.
constexpr int MIN_TABLE_DEPTH = 2;
}  // namespace

PerftTable::PerftTable(std::size_t megabytes)
    : entries_(std::bit_floor(std::max<std::size_t>(1, megabytes * 1024 * 1024 / sizeof(Entry)))) {}

std::uint64_t PerftTable::count(const Position& position, int depth) {
    if (depth < MIN_TABLE_DEPTH) return perft(position, depth);
    std::uint64_t salt = std::uint64_t(depth);
    const Key key = position.key ^ splitmix64(salt);
    Entry& entry = entries_[key & (entries_.size() - 1)];
    if (entry.key == key) return entry.nodes;
    std::uint64_t nodes = 0;
    for (const Move move : legal_moves(position)) {
        Position next = position;
        next.make(move);
        nodes += count(next, depth - 1);
    }
    entry = {key, nodes};
    return nodes;
}

}  // namespace rookery
