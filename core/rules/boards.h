// The boards that games are played on: rules and a start position, found by name or description.
//
// A description has parts separated by ';'. The first is a name, a size such as 5x6 (files x
// ranks), or the FEN of a start position, which also gives the size. Then may follow
// "double-step" (pawns may take two steps from their second rank) and "promote=qrbn" (what pawns
// become). Without them a board other than standard has no double step, and all four promotions.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/position.h"

namespace rookery {

struct Board {
    std::string name;   // canonical; a description for boards of one's own
    std::string start;  // FEN; empty if only the rules are known
    BoardRules rules;
};

struct BoardError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline constexpr std::string_view STANDARD_BOARD = "standard";

// Throws BoardError; the FEN of a start position may throw FenError.
[[nodiscard]] Board find_board(std::string_view text);
[[nodiscard]] const std::vector<Board>& known_boards();
// All names of a known board, the canonical one first.
[[nodiscard]] const std::vector<std::string>& board_names(const Board& known);
// The known board with these rules; else their description, without a start position.
[[nodiscard]] std::string board_name(BoardRules rules);
// Throws BoardError if the board has no start position.
[[nodiscard]] Position start_position(const Board& board);

// --- What a FEN tells of its board ---
[[nodiscard]] bool is_board_size(std::string_view text);  // such as 5x6
// Files of the first rank, and ranks, of a FEN's placement.
[[nodiscard]] std::pair<int, int> size_of_placement(std::string_view placement);
// The rules of the known board of this size.
[[nodiscard]] std::optional<BoardRules> rules_of_size(int files, int ranks);

}  // namespace rookery
