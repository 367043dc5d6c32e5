// Perft of each move, and perft with a table of counts already known, for suites that would
// otherwise take hours. Plain perft() is in movegen.h.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rules/position.h"

namespace rookery {

// Each ply takes a stack frame, and no machine will ever count this far.
inline constexpr int MAX_PERFT_DEPTH = 64;
// Throws std::invalid_argument if the depth is not in least .. MAX_PERFT_DEPTH.
void check_perft_depth(int depth, int least);

// Perft of each legal move, by UCI; depth >= 1.
[[nodiscard]] std::map<std::string, std::uint64_t> perft_divide(const Position& position,
                                                                int depth);

// Positions that can be reached by several move orders are counted once. The table trusts the
// position's key, so that a run with it also tests the keys.
class PerftTable {
  public:
    // Rounded down to a power of two of 16-byte entries; throws std::invalid_argument.
    explicit PerftTable(std::size_t megabytes);

    [[nodiscard]] std::uint64_t count(const Position& position, int depth);

  private:
    struct Entry {
        Key key = 0;  // of position and depth
        std::uint64_t nodes = 0;
    };
    static std::size_t entry_count(std::size_t megabytes);

    std::vector<Entry> entries_;
};

}  // namespace rookery
