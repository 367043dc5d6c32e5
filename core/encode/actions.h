// Moves as action indices; described in src/rookery/encodings/.
//
//   az4672  origin square * 73 + plane, in the mover's orientation (AlphaZero):
//           planes  0-55  queen-like: 7 * direction + distance - 1; N NE E SE S SW W NW
//                  56-63  knight: (rank, file) steps (2,1) (1,2) (-1,2) (-2,1) and mirrored
//                  64-72  under-promotion: 3 * {N, B, R} + {file - 1, straight, file + 1}
//           Castling is the king's two-square move; in Chess960 its move onto the rook.
//   az4673  the same; 4672 claims a draw.
//   kpk     ten actions in the orientation of the pawn's side: king steps N NE E SE S SW W NW,
//           pawn one step (promoting to a queen), pawn two steps. Under-promotions have no
//           action.

#pragma once

#include <optional>
#include <string_view>

#include "rules/game.h"

namespace rookery::encode {

// (file, rank) steps of the eight directions N NE E SE S SW W NW.
inline constexpr int DIRECTIONS[8][2] = {{0, 1},  {1, 1},   {1, 0},  {1, -1},
                                         {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};

enum class ActionSpace : std::uint8_t { AZ4672, AZ4673, KPK };

inline constexpr int AZ_PLANES = 73;
inline constexpr int AZ_ACTIONS = 64 * AZ_PLANES;
inline constexpr int CLAIM_DRAW_ACTION = AZ_ACTIONS;
inline constexpr int NO_ACTION = -1;
inline constexpr std::string_view ACTION_SPACE_NAMES[] = {"az4672", "az4673", "kpk"};

// Throws std::invalid_argument with the known spaces.
[[nodiscard]] ActionSpace find_action_space(std::string_view name);
[[nodiscard]] int action_count(ActionSpace space);
// NO_ACTION for a move that the space lacks.
[[nodiscard]] int action_of(ActionSpace space, const Position& position, Move legal_move);

// Legal actions and their moves, in the order of generation.
struct LegalActions {
    MoveList moves;
    int actions[MAX_MOVES + 1];
    int count = 0;  // moves.size(), or one more with a draw claim (az4673) at the end
};
void list_actions(ActionSpace space, const Position& position, const RepetitionKeys& keys,
                  LegalActions& legal);

// --- Of a game; with kpk all throw MoveError for other material ---
void list_actions(ActionSpace space, const Game& game, LegalActions& legal);
// Empty for a draw claim; throws MoveError for an illegal action.
[[nodiscard]] std::optional<Move> move_of(ActionSpace space, const Game& game, std::int64_t action);
// 1 for legal actions, 0 elsewhere [action_count]; throws MoveError if the game is over.
void write_mask(ActionSpace space, const Game& game, std::uint8_t* mask);

// The side with the pawn in KPK, whose view kpk uses.
[[nodiscard]] Color pawn_side(const Position& position);
// Whether the material is king and pawn against king.
[[nodiscard]] bool is_kpk(const Position& position);

}  // namespace rookery::encode
