// Hands out the legal moves of a node, best guesses first, making as few of them as possible.
//
// Stages: the table's move; captures that do not lose material (most valuable victim and capture
// history); the killer and the counter move; quiet moves by their histories; captures that lose
// material. next() returns each move once, then no move. For quiescence the quiet stages are
// left out unless the side to move is in check.

#pragma once

#include "alphabeta/history.h"
#include "alphabeta/node_moves.h"

namespace rookery::alphabeta {

class MovePicker {
  public:
    // Of the main search. continuations: tables of the moves 1, 2 and 4 plies ago.
    MovePicker(const Position& position, const NodeInfo& info, const History& history,
               const Continuation* const continuations[3], Move table_move, Move killer,
               Move counter);
    // Of quiescence (`quiets` in check only) and of ProbCut: noisy moves whose exchange is worth at
    // least `threshold`.
    MovePicker(const Position& position, const NodeInfo& info, const History& history,
               const Continuation* const continuations[3], Move table_move, bool quiets,
               int threshold);

    [[nodiscard]] Move next();
    // From now on leave out quiet moves.
    void skip_quiets() { skip_quiets_ = true; }

  private:
    enum class Stage {
        TABLE,
        MAKE_NOISY,
        GOOD_NOISY,
        KILLER,
        COUNTER,
        MAKE_QUIET,
        QUIET,
        BAD_NOISY,
        DONE
    };

    void score_noisy();
    void score_quiets(int first);
    Move take_best(int end);

    const Position& position_;
    const NodeInfo& info_;
    const History& history_;
    const Continuation* continuations_[3];
    Move table_move_, killer_, counter_;
    int threshold_ = 0;
    bool quiets_;
    bool only_good_;
    bool skip_quiets_ = false;
    Stage stage_;
    int at_ = 0;
    int bad_end_ = 0;  // moves_[0, bad_end_) are captures that lose material
    MoveList list_;
    Move moves_[MAX_MOVES];
    int scores_[MAX_MOVES];
    int end_ = 0;
};

}  // namespace rookery::alphabeta
