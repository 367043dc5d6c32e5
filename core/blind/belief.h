// The boards that fit everything one side knows.
//
// The set is exact until it would exceed its capacity; then a uniform sample of it is kept
// (complete() is false from then on). A sample can lose the true board, so that nothing fits what
// is observed next: then a few hundred of its boards are changed by hand until they do (repairs()
// counts how often). After a sense the boards of a complete set are distinct; all are taken to be
// equally likely.
//
// The opponent's possible moves are not listed before the sense: sample() draws from them, and
// the sense's answer filters them while they are generated.

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/random.h"
#include "blind/knowledge.h"

namespace rookery::blind {

class Belief {
  public:
    // Throws std::invalid_argument for a capacity of 0.
    Belief(const Knowledge& start, std::size_t capacity, std::uint64_t seed);

    // Takes in what `knowledge`, of the same game and side, has learnt since the last call.
    void update(const Knowledge& knowledge);

    // Boards with this side to move; before the sense, those before the opponent's last move.
    [[nodiscard]] std::span<const Board> boards() const { return boards_; }
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] int repairs() const { return repairs_; }
    // Up to `count` distinct boards with this side to move, each as likely as any other: of the set
    // after the sense, of the opponent's possible moves before it. Boards on which our king could
    // be captured get up to `endangered` of the places, if there are so many: an opponent aims for
    // them, so they are likelier than chance has it.
    [[nodiscard]] std::vector<Board> sample(std::size_t count, double endangered = 0);

  private:
    [[nodiscard]] Color us() const { return color_; }
    // Calls with each board after a move (or pass) of the opponent that captures on `capture`.
    template <class Visit>
    void for_each_child(const Board& board, Square capture, const Visit& visit) const;
    [[nodiscard]] std::vector<Board> draw(std::size_t count);
    [[nodiscard]] std::vector<Board> draw_children(std::size_t count);
    void opponent_moved(const Turn& turn);
    void sensed(const Turn& turn);
    void moved(const Turn& turn);
    // --- By hand: changes boards until they fit ---
    void repair(const std::function<void(Board&)>& change);
    void fit_capture(Board& board, Square capture);
    void fit_sense(Board& board, const Turn& turn);
    void fit_move(Board& board, const Turn& turn);
    // Moves the opponent's piece, if any, to a random empty square outside `known`.
    void send_away(Board& board, Square from, Bitboard known);
    // Puts an opponent's piece there (NO_PIECE_TYPE: any but the king), if possible one from
    // outside `known`.
    void bring(Board& board, Square to, PieceType type, Bitboard known);
    [[nodiscard]] Square random_square(Bitboard squares);

    Color color_;
    std::size_t capacity_;
    Random random_;
    std::vector<Board> boards_;
    bool waiting_ = false;  // the opponent has moved, the sense is not answered
    Square capture_ = NO_SQUARE;
    std::size_t turns_ = 0;  // complete turns taken in
    int stage_ = 0;          // what of the next turn is taken in: 0 nothing, 1 capture, 2 sense
    bool complete_ = true;
    int repairs_ = 0;
};

}  // namespace rookery::blind
