// Players that need no network and no search, and whole games between them. They are the
// lowest rungs of every rating ladder and play thousands of games a second.

#pragma once

#include <string_view>
#include <vector>

#include "rules/game.h"

namespace rookery::peers {

enum class Bot : std::uint8_t {
    RANDOM,      // any legal move
    GREEDY,      // the most material after its own move, captures and promotions alike
    GREEDY_SAFE  // mates in one; weighs the reply that captures best; avoids draws when ahead
};
inline constexpr std::string_view BOT_NAMES[] = {"random", "greedy", "greedy-safe"};

// Own pieces minus the opponent's, in centipawns (PIECE_VALUE of see.h); kings count nothing.
[[nodiscard]] int material_balance(const Position& position, Color view);

// The balance for the side to move once everything that pays to be captured or promoted has been
// (a search of captures, promotions and all answers to check; other threats are not seen).
[[nodiscard]] int settled_material(const Position& position);

// Throws std::invalid_argument naming the known bots.
[[nodiscard]] Bot find_bot(std::string_view name);
// One of `moves`, which must not be empty; equally good ones are chosen among at random.
[[nodiscard]] Move choose_move(Bot bot, const Position& position, const RepetitionKeys& keys,
                               const MoveList& moves, Random& random);

// The same for a game that is not over (else throws MoveError), with a random stream of this seed.
[[nodiscard]] Move choose_move(Bot bot, const Game& game, std::uint64_t seed);

struct BotGame {
    Ending ending = Ending::NONE;  // PLY_CAP if cut off
    int result = 0;                // 1 White won, -1 Black won, 0 draw or cut off
    std::vector<Move> moves;       // from the given start on
};
// Plays on from a game under way (its history counts) until it ends, claims made as they
// occur, or for at most max_plies (0: no limit).
[[nodiscard]] BotGame play_bots(Bot white, Bot black, const Game& start, int max_plies,
                                Random random);

}  // namespace rookery::peers
