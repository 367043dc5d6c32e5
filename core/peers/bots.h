// Bots without network or search, and games between them: the bottom of every rating ladder.

#pragma once

#include <string_view>
#include <vector>

#include "rules/game.h"

namespace rookery::peers {

enum class Bot : std::uint8_t {
    RANDOM,      // any legal move
    GREEDY,      // the most material after its own move
    GREEDY_SAFE  // mates in one; considers the best capturing reply; avoids draws when ahead
};
inline constexpr std::string_view BOT_NAMES[] = {"random", "greedy", "greedy-safe"};

// Own pieces minus the opponent's in centipawns (PIECE_VALUE of see.h), without kings.
[[nodiscard]] int material_balance(const Position& position, Color view);

// The balance for the side to move after a quiescence search of captures, promotions and check
// evasions.
[[nodiscard]] int settled_material(const Position& position);

// Throws std::invalid_argument with the known bots.
[[nodiscard]] Bot find_bot(std::string_view name);
// One of `moves`, which must not be empty; ties are broken at random.
[[nodiscard]] Move choose_move(Bot bot, const Position& position, const RepetitionKeys& keys,
                               const MoveList& moves, Random& random);

// The same for a game; throws MoveError if it is over.
[[nodiscard]] Move choose_move(Bot bot, const Game& game, std::uint64_t seed);

struct BotGame {
    Ending ending = Ending::NONE;  // PLY_CAP if cut off
    int result = 0;                // 1 White won, -1 Black won, 0 draw or cut off
    std::vector<Move> moves;       // from the given start
};
// Continues a game (its history counts) until it ends, claims made as they occur, or for at most
// max_plies (0: no limit).
[[nodiscard]] BotGame play_bots(Bot white, Bot black, const Game& start, int max_plies,
                                Random random);

}  // namespace rookery::peers
