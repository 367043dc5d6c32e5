// Standard algebraic notation (PGN standard, section 8.2.3).

#pragma once

#include <string>
#include <string_view>

#include "rules/position.h"
#include "rules/types.h"

namespace rookery {

// The move must be legal. "Nbd2", "exd6", "O-O+", "e8=Q#".
[[nodiscard]] std::string to_san(const Position& position, Move move);
// The legal move with this SAN, or no move. The signs of check, mate and comment ("+", "#", "!?")
// may be missing, the "=" of a promotion too, and castling may be written with zeros. More
// disambiguation than needed is accepted; an ambiguous text is no move.
[[nodiscard]] Move find_san(const Position& position, std::string_view text);

}  // namespace rookery
