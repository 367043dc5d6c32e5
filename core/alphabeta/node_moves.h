// Moves as a search wants them: captures first, quiet moves only if they are needed, and single
// remembered moves (from the table, killers) tested without generating any.
//
// NodeInfo holds what all of these need to know about a position, computed once per node.
// noisy = captures, en passant and promotions to a queen; quiet = everything else. Together they
// are exactly the legal moves.

#pragma once

#include "rules/position.h"

namespace rookery::alphabeta {

struct NodeInfo {
    Bitboard checkers;     // pieces that give check to the side to move
    Bitboard pinned;       // the mover's pieces that shield its king
    Bitboard discoverers;  // the mover's pieces that shield the other king from the mover's sliders
    Bitboard check_squares[6];  // by type of the mover's pieces: from where they would give check

    explicit NodeInfo(const Position& position);
};

// Appends; `info` must be of this position.
void generate_noisy(const Position& position, const NodeInfo& info, MoveList& list);
void generate_quiet(const Position& position, const NodeInfo& info, MoveList& list);

// Whether any 16-bit value is a legal move here: for moves remembered from elsewhere.
[[nodiscard]] bool is_legal(const Position& position, const NodeInfo& info, Move move);

// Whether a legal move checks the opponent.
[[nodiscard]] bool gives_check(const Position& position, const NodeInfo& info, Move move);

[[nodiscard]] inline bool is_noisy(const Position& position, Move move) {
    return position.is_capture(move) ||
           (move.kind() == Move::PROMOTION && move.promotion() == QUEEN);
}

}  // namespace rookery::alphabeta
