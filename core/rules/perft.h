// Perft per move, and perft with a hash table for long runs. Plain perft() is in movegen.h.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rules/position.h"

namespace rookery {

inline constexpr int MAX_PERFT_DEPTH = 64;  // bounds the recursion
// Throws std::invalid_argument if the depth is not in least .. MAX_PERFT_DEPTH.
void check_perft_depth(int depth, int least);

// Perft of each legal move, by UCI; depth >= 1.
[[nodiscard]] std::map<std::string, std::uint64_t> perft_divide(const Position& position,
                                                                int depth);

// Counts transpositions once. It trusts the position's key, so a run also tests the keys.
class PerftTable {
  public:
    // Rounded down to a power of two of entries; throws std::invalid_argument.
    explicit PerftTable(std::size_t megabytes);

    [[nodiscard]] std::uint64_t count(const Position& position, int depth);

  private:
    struct Entry {
        Key key = 0;  // of position and depth
        std::uint64_t nodes = 0;
    };
    std::vector<Entry> entries_;
};

}  // namespace rookery
