// Legal move generation: checks and pins are computed first, so no move has to be made and tested.
// One generator serves lists and counts (perft) through a sink.

#pragma once

#include "rules/position.h"
#include "rules/types.h"

namespace rookery {

// Appends all legal moves; the order is the same on every machine.
void generate_legal(const Position& position, MoveList& list);
[[nodiscard]] MoveList legal_moves(const Position& position);
// Several times faster than listing them.
[[nodiscard]] int count_legal(const Position& position);
[[nodiscard]] bool has_legal_move(const Position& position);

// The same on boards other than the standard one (movegen_boards.cpp); the others call these.
void generate_on_board(const Position& position, MoveList& list);
[[nodiscard]] int count_on_board(const Position& position);
[[nodiscard]] std::uint64_t perft_on_board(const Position& position, int depth);

// The legal move with this UCI text, or no move. Castling may be the king's two-square step or king
// takes rook.
[[nodiscard]] Move find_uci(const Position& position, std::string_view text);

// Leaf nodes of the legal move tree, counted in bulk at the last ply.
[[nodiscard]] std::uint64_t perft(const Position& position, int depth);

}  // namespace rookery
