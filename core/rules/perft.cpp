#include "rules/perft.h"

#include <bit>
#include <stdexcept>
#include <string>

#include "base/memory.h"
#include "base/random.h"
#include "rules/movegen.h"

namespace rookery {

namespace {
// Below this depth counting anew is faster than looking up.
constexpr int MIN_TABLE_DEPTH = 2;
constexpr std::size_t MAX_MEGABYTES = 1024 * 1024;
}  // namespace

void check_perft_depth(int depth, int least) {
    if (depth < least || depth > MAX_PERFT_DEPTH)
        throw std::invalid_argument("depth " + std::to_string(depth) + " is not in " +
                                    std::to_string(least) + " .. " +
                                    std::to_string(MAX_PERFT_DEPTH));
}

std::map<std::string, std::uint64_t> perft_divide(const Position& position, int depth) {
    std::map<std::string, std::uint64_t> counts;
    for (const Move move : legal_moves(position)) {
        Position next = position;
        next.make(move);
        counts[to_uci(position, move)] = perft(next, depth - 1);
    }
    return counts;
}

PerftTable::PerftTable(std::size_t megabytes) {
    if (megabytes < 1 || megabytes > MAX_MEGABYTES)
        throw std::invalid_argument("a perft table of " + std::to_string(megabytes) +
                                    " MB is not in 1 .. " + std::to_string(MAX_MEGABYTES));
    const std::size_t bytes = megabytes * 1024 * 1024;
    allocate("a perft table of " + std::to_string(megabytes) + " MB", double(bytes),
             [&] { entries_.resize(std::bit_floor(bytes / sizeof(Entry))); });
}

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
