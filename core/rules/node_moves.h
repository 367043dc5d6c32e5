// Staged move generation for searches: noisy moves (captures, en passant, promotions to a queen)
// and quiet moves (all others) separately, and legality of a single move from a table. Both stages
// together are exactly the legal moves. NodeInfo holds what all functions share, once per node.

#pragma once

#include "rules/position.h"

namespace rookery {

struct NodeInfo {
    Bitboard checkers;     // pieces that give check to the side to move
    Bitboard pinned;       // own pieces pinned to the own king
    Bitboard discoverers;  // own pieces whose move may give a discovered check
    Bitboard check_squares[6];  // by piece type: from where an own piece gives check

    explicit NodeInfo(const Position& position);
};

// Appends; `info` must be of this position.
void generate_noisy(const Position& position, const NodeInfo& info, MoveList& list);
void generate_quiet(const Position& position, const NodeInfo& info, MoveList& list);

// For any 16-bit value, such as a move from a hash table.
[[nodiscard]] bool is_legal(const Position& position, const NodeInfo& info, Move move);
// The same on boards other than the standard one (movegen_boards.cpp); the others call these.
void generate_noisy_on_board(const Position& position, const NodeInfo& info, MoveList& list);
void generate_quiet_on_board(const Position& position, const NodeInfo& info, MoveList& list);
[[nodiscard]] bool is_legal_on_board(const Position& position, const NodeInfo& info, Move move);

// For a legal move.
[[nodiscard]] bool gives_check(const Position& position, const NodeInfo& info, Move move);

[[nodiscard]] inline bool is_noisy(const Position& position, Move move) {
    return position.is_capture(move) ||
           (move.kind() == Move::PROMOTION && move.promotion() == QUEEN);
}

}  // namespace rookery
