// Positions with a past: repetitions, draw claims, the end of the game.
//
// RepetitionKeys is the least that the rules need and serves the hot loops; Game keeps all
// positions and can take moves back. Endings follow python-chess's Board.outcome().

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "rules/position.h"

namespace rookery {

// Keys of the positions before the present one, oldest first.
class RepetitionKeys {
  public:
    void push(Key key) { keys_.push_back(key); }
    void pop() { keys_.pop_back(); }
    void clear() { keys_.clear(); }
    [[nodiscard]] std::size_t size() const { return keys_.size(); }
    [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
    // How often a position with this key stood `distance`, distance + 2, ... plies before the
    // end of the list, looking back at most `reach` plies from the end.
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

// Makes the move and keeps keys and `repetitions` up to date.
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
    PLY_LIMIT,     // a draw by the rules of an environment, not of chess
    PROMOTION,     // a win by the rules of the king-and-pawn environment
    PLY_CAP,       // cut off: a truncation, no result
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

// --- Claims, as python-chess: also by a move that the player to move could announce ---
[[nodiscard]] bool can_claim_threefold(const Position& position, const RepetitionKeys& keys);
[[nodiscard]] bool can_claim_fifty_moves(const Position& position);
[[nodiscard]] bool can_claim_draw(const Position& position, const RepetitionKeys& keys);

// How claims end a game.
enum class Claims : std::uint8_t {
    OFF,        // only the automatic fivefold and seventy-five-move draws
    OCCURRED,   // also when a position has stood three times or the clock reached 100
    ANNOUNCED,  // also when the player to move could claim by announcing a move (python-chess)
};
// legal_count: the number of legal moves, which callers mostly know already.
[[nodiscard]] Ending find_ending(const Position& position, const RepetitionKeys& keys,
                                 int legal_count, Claims claims);

// A uniformly random position with this material ("KRvK"), legal and not yet over; throws
// std::invalid_argument if the text is not such a signature.
enum class StartSide : std::uint8_t { WHITE_MOVES, BLACK_MOVES, EITHER };
[[nodiscard]] StartSide find_start_side(std::string_view name);  // white, black, random
[[nodiscard]] Position random_position(const std::string& material, StartSide side, Random& random);

struct MoveError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// The legal move with this UCI text (find_uci); throws MoveError.
[[nodiscard]] Move require_uci(const Position& position, std::string_view text);

class Game {
  public:
    explicit Game(const Position& start) : positions_{start} {}

    [[nodiscard]] const Position& now() const { return positions_.back(); }
    [[nodiscard]] const Position& start() const { return positions_.front(); }
    [[nodiscard]] const RepetitionKeys& keys() const { return keys_; }
    [[nodiscard]] std::size_t ply() const { return moves_.size(); }
    [[nodiscard]] const std::vector<Move>& moves() const { return moves_; }
    // Present position first; `back` counts plies into the past.
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

// Plays uniformly random legal moves, at most `plies`, until the game ends (claims off). Returns
// the plies played.
int play_random(Game& game, int plies, Random& random);

}  // namespace rookery
