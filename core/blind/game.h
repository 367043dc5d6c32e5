// The referee: a board that neither side sees, and what each side knows of it.
//
// A turn has two phases, sense and move. Clocks are the arena's business, not the rules'.

#pragma once

#include <optional>

#include "blind/knowledge.h"

namespace rookery::blind {

enum class Phase : std::uint8_t { SENSE, MOVE, OVER };
inline constexpr const char* PHASE_NAMES[] = {"sense", "move", "over"};

enum class Ending : std::uint8_t { NONE, KING_CAPTURE, TURN_LIMIT, MOVE_LIMIT };
inline constexpr const char* ENDING_NAMES[] = {"none", "king_capture", "turn_limit", "move_limit"};

struct Limits {
    std::uint32_t reversible_moves = 100;  // half-move clock that draws; 0: none
    std::uint32_t full_turns = 0;  // turns of both sides after which it is a draw; 0: none
};

struct MoveResult {
    Move taken;
    Square capture = NO_SQUARE;
};

class Game {
  public:
    explicit Game(const Board& start = start_board(), Limits limits = {});

    [[nodiscard]] const Board& board() const { return board_; }
    [[nodiscard]] Color side() const { return board_.side; }
    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] Ending ending() const { return ending_; }
    // Of a game over by king capture.
    [[nodiscard]] std::optional<Color> winner() const { return winner_; }
    [[nodiscard]] const Knowledge& knowledge(Color color) const {
        return color == WHITE ? white_ : black_;
    }
    [[nodiscard]] const Limits& limits() const { return limits_; }

    // Both throw MoveError in another phase. NO_SQUARE senses nothing.
    Window sense(Square centre);
    // `request` must be one of the side's requests, or no move to pass.
    MoveResult move(Move request);

  private:
    [[nodiscard]] Knowledge& knowledge_of(Color color) { return color == WHITE ? white_ : black_; }
    void require(Phase phase) const;

    Board board_;
    Limits limits_;
    Knowledge white_, black_;
    Phase phase_ = Phase::SENSE;
    Ending ending_ = Ending::NONE;
    std::optional<Color> winner_;
};

}  // namespace rookery::blind
