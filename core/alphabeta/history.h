// History tables of one thread.
//
//   butterfly     [side][from][to]                     quiet moves
//   capture       [piece][to][captured type]           captures and promotions
//   continuation  [earlier piece][its to][piece][to]   quiet moves after a move 1, 2 or 4 plies ago
//   counter       [earlier piece][its to]              the last quiet reply that caused a cutoff
//   corrections   [side][hash]                         search result minus static evaluation, by
//                                                      pawns, each side's pieces, last two moves
//
// Entries stay within +-limit: h += bonus - h * |bonus| / limit.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "alphabeta/parameters.h"
#include "alphabeta/types.h"

namespace rookery::alphabeta {

using HistoryEntry = std::int16_t;

inline void update_entry(HistoryEntry& entry, int bonus, int limit) {
    entry = HistoryEntry(entry + bonus - entry * std::abs(bonus) / limit);
}

// Quiet replies to one move.
using Continuation = HistoryEntry[12][64];

struct History {
    static constexpr int CORRECTION_SIZE = 1 << 14;  // power of two

    HistoryEntry butterfly[2][64 * 64];
    HistoryEntry capture[12][64][7];
    // Piece 12: no earlier move (a null move, or before the root).
    Continuation continuation[13][64];
    Move counter[13][64];
    HistoryEntry pawn_correction[2][CORRECTION_SIZE];
    HistoryEntry piece_correction[2][2][CORRECTION_SIZE];  // [side to move][whose pieces]
    HistoryEntry move_correction[2][CORRECTION_SIZE];  // by the last two moves

    void clear() { std::memset(static_cast<void*>(this), 0, sizeof *this); }

    [[nodiscard]] const HistoryEntry& quiet(Color side, Move move) const {
        return butterfly[side][move.bits() & 0xFFF];
    }
    [[nodiscard]] HistoryEntry& quiet(Color side, Move move) {
        return butterfly[side][move.bits() & 0xFFF];
    }
    // Hash of the last two moves, identified by their continuation tables.
    [[nodiscard]] std::size_t moves_index(const Continuation* last,
                                          const Continuation* before) const {
        const auto number = [this](const Continuation* table) {
            return std::size_t(table - &continuation[0][0]);
        };
        return (877 * number(last) + number(before)) & (CORRECTION_SIZE - 1);
    }

    static void update(HistoryEntry& entry, int bonus) {
        update_entry(entry, bonus, parameters::HISTORY_LIMIT);
    }
    static std::size_t correction_index(Key key) {
        return std::size_t(key) & (CORRECTION_SIZE - 1);
    }
};

}  // namespace rookery::alphabeta
