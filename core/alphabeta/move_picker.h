// Staged move ordering: hash move; captures that do not lose material, by victim and capture
// history; killer; counter move; quiet moves by history; losing captures. Moves are generated when
// their stage is reached. next() returns each legal move once, then no move.

#pragma once

#include "alphabeta/history.h"
#include "rules/node_moves.h"

namespace rookery::alphabeta {

class MovePicker {
  public:
    // Main search. continuations: histories of the moves 1, 2 and 4 plies ago.
    MovePicker(const Position& position, const NodeInfo& info, const History& history,
               const Continuation* const continuations[3], Move table_move, Move killer,
               Move counter);
    // Quiescence (`quiets` only in check) and ProbCut: noisy moves whose exchange gains at least
    // `threshold`.
    MovePicker(const Position& position, const NodeInfo& info, const History& history,
               const Continuation* const continuations[3], Move table_move, bool quiets,
               int threshold);

    [[nodiscard]] Move next();
    // Skips all remaining quiet moves.
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
