// Positions with history: repetitions, draw claims, the end of the game.
//
// RepetitionKeys is the minimum that the rules need, for hot loops; Game keeps all positions and
// can take moves back. Endings follow python-chess's Board.outcome().

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "rules/position.h"

namespace rookery {

// Keys of the positions before the current one, oldest first.
class RepetitionKeys {
  public:
    void push(Key key) { keys_.push_back(key); }
    void pop() { keys_.pop_back(); }
    void clear() { keys_.clear(); }
    [[nodiscard]] std::size_t size() const { return keys_.size(); }
    [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
    // Occurrences of a key `distance`, distance + 2, ... plies before the end of the list, at most
    // `reach` plies back.
    [[nodiscard]] int count(Key key, std::size_t distance, std::size_t reach) const {
        int found = 0;
        const std::size_t limit = std::min(reach, keys_.size());
        for (std::size_t back = distance; back <= limit; back += 2)
            found += keys_[keys_.size() - back] == key;
        return found;
    }

  private:
    std::vector<Key> keys_;
};

inline constexpr std::uint32_t FIFTY_MOVES_PLIES = 100;
inline constexpr std::uint32_t SEVENTYFIVE_MOVES_PLIES = 150;

// Makes the move and updates keys and `repetitions`.
void make_with_history(Position& position, RepetitionKeys& keys, Move move);

enum class Ending : std::uint8_t {
    NONE,
    CHECKMATE,
    STALEMATE,
    INSUFFICIENT_MATERIAL,
    SEVENTYFIVE_MOVES,
    FIVEFOLD_REPETITION,
    FIFTY_MOVES,
    THREEFOLD_REPETITION,
    DRAW_CLAIMED,  // by an action
    PLY_LIMIT,     // a draw by the rules of an environment
    PROMOTION,     // a win by the rules of the king-and-pawn environment
    PLY_CAP,       // truncated, no result
};
inline constexpr const char* ENDING_NAMES[] = {"none",
                                               "checkmate",
                                               "stalemate",
                                               "insufficient_material",
                                               "seventyfive_moves",
                                               "fivefold_repetition",
                                               "fifty_moves",
                                               "threefold_repetition",
                                               "draw_claimed",
                                               "ply_limit",
                                               "promotion",
                                               "ply_cap"};

// --- Claims, as in python-chess: also by announcing a move ---
[[nodiscard]] bool can_claim_threefold(const Position& position, const RepetitionKeys& keys);
[[nodiscard]] bool can_claim_fifty_moves(const Position& position);
[[nodiscard]] bool can_claim_draw(const Position& position, const RepetitionKeys& keys);

// How claims end a game.
enum class Claims : std::uint8_t {
    OFF,        // only the automatic fivefold and seventy-five-move draws
    OCCURRED,   // also on a third occurrence, or when the clock reaches 100
    ANNOUNCED,  // also if the player to move could claim by announcing a move (python-chess)
};
// legal_count: the number of legal moves, which most callers already know.
[[nodiscard]] Ending find_ending(const Position& position, const RepetitionKeys& keys,
                                 int legal_count, Claims claims);

// King and pawn against king, up to the promotion: a promoted piece wins unless it can be captured
// at once (the pawn's side to move: it was not).
[[nodiscard]] bool won_by_promotion(const Position& position);

// A uniformly random position with this material ("KRvK") that is legal and not over; throws
// std::invalid_argument for a malformed or dead signature.
enum class StartSide : std::uint8_t { WHITE_MOVES, BLACK_MOVES, EITHER };
[[nodiscard]] StartSide find_start_side(std::string_view name);  // white, black, random
[[nodiscard]] Position random_position(const std::string& material, StartSide side, Random& random,
                                       BoardRules rules = {});

struct MoveError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// The legal move with this UCI text (find_uci); throws MoveError.
[[nodiscard]] Move require_uci(const Position& position, std::string_view text);
// The same for standard algebraic notation (find_san).
[[nodiscard]] Move require_san(const Position& position, std::string_view text);

class Game {
  public:
    explicit Game(const Position& start) : positions_{start} {}

    [[nodiscard]] const Position& now() const { return positions_.back(); }
    [[nodiscard]] const Position& start() const { return positions_.front(); }
    [[nodiscard]] const RepetitionKeys& keys() const { return keys_; }
    [[nodiscard]] std::size_t ply() const { return moves_.size(); }
    [[nodiscard]] const std::vector<Move>& moves() const { return moves_; }
    // The position `back` plies ago.
    [[nodiscard]] const Position& past(std::size_t back) const {
        return positions_[positions_.size() - 1 - back];
    }
    [[nodiscard]] Ending ending(Claims claims) const;

    void push(Move legal_move);
    void pop();

  private:
    std::vector<Position> positions_;
    std::vector<Move> moves_;
    RepetitionKeys keys_;
};

// Plays up to `plies` uniformly random legal moves until the game ends (claims off). Returns the
// plies played.
int play_random(Game& game, int plies, Random& random);

}  // namespace rookery
