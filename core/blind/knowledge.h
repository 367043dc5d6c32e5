// What one side knows of a game: everything the referee has told it, and nothing else.
//
// A value: it can be copied, compared and hashed. A player decides from it alone, so a program that
// only hears the referee (a reconchess bot) can build it by the same three calls as Game does.

#pragma once

#include <span>
#include <vector>

#include "blind/board.h"

namespace rookery::blind {

// One turn of this side as it saw it.
struct Turn {
    std::uint8_t opponent_capture = NO_SQUARE;  // where the opponent has just captured a piece
    std::uint8_t sense = NO_SQUARE;  // the centre asked for
    std::uint8_t capture = NO_SQUARE;  // where this side then captured a piece
    bool sensed = false, moved = false;  // what of the turn is done
    Window window{};  // of `sense`
    Move requested, taken;  // no move: a pass

    bool operator==(const Turn&) const = default;
};

class Knowledge {
  public:
    Knowledge(Color color, const Board& start);

    // --- What the referee tells, in this order every turn; otherwise they throw MoveError ---
    void opponent_moved(Square capture);
    // No centre: nothing was sensed.
    void sensed(Square centre, const Window& window);
    void moved(Move requested, Move taken, Square capture);

    [[nodiscard]] Color color() const { return color_; }
    [[nodiscard]] const Board& start() const { return start_; }
    // This side's pieces and rights alone, with this side to move.
    [[nodiscard]] const Board& own() const { return own_; }
    [[nodiscard]] std::span<const Turn> turns() const { return turns_; }
    // Whether the sense of the present turn has been answered.
    [[nodiscard]] bool has_sensed() const { return !turns_.empty() && turns_.back().sensed; }
    // Requests that this side may make.
    [[nodiscard]] MoveList requests() const;
    [[nodiscard]] int opponent_pieces() const { return opponent_pieces_; }

    // --- Memory of each square: the last certain thing known of the opponent there ---
    // An opponent's piece, NO_PIECE for none, or UNKNOWN_PIECE after it captured there.
    static constexpr Piece UNKNOWN_PIECE = 14;
    [[nodiscard]] Piece remembered(Square square) const { return memory_[square]; }
    // The turn (an index into turns()) at which it was true; -1 for the start.
    [[nodiscard]] int remembered_at(Square square) const { return memory_turn_[square]; }

    [[nodiscard]] Key key() const { return key_; }
    bool operator==(const Knowledge& other) const {
        return color_ == other.color_ && start_ == other.start_ && turns_ == other.turns_;
    }

  private:
    void remember(Square square, Piece piece);
    void note(Key what);
    // Squares that a resolved request proves empty.
    [[nodiscard]] Bitboard proven_empty(Move requested, Move taken) const;

    Color color_;
    Board start_, own_;
    std::vector<Turn> turns_;
    int opponent_pieces_;
    // By square; the last entry takes what is said of NO_SQUARE, and is never read.
    std::array<Piece, 65> memory_;
    std::array<std::int16_t, 65> memory_turn_;
    Key key_;
};

}  // namespace rookery::blind
