#include "alphabeta/move_picker.h"

#include "rules/see.h"

namespace rookery::alphabeta {

MovePicker::MovePicker(const Position& position, const NodeInfo& info, const History& history,
                       const Continuation* const continuations[3], Move table_move, Move killer,
                       Move counter)
    : MovePicker(position, info, history, continuations, table_move, true, 0) {
    killer_ = killer;
    counter_ = counter;
}

MovePicker::MovePicker(const Position& position, const NodeInfo& info, const History& history,
                       const Continuation* const continuations[3], Move table_move, bool quiets,
                       int threshold)
    : position_(position),
      info_(info),
      history_(history),
      continuations_{continuations[0], continuations[1], continuations[2]},
      table_move_(table_move),
      threshold_(threshold),
      quiets_(quiets),
      stage_(table_move ? Stage::TABLE : Stage::MAKE_NOISY) {}

void MovePicker::score_noisy() {
    for (int i = at_; i < end_; ++i) {
        const Move move = moves_[i];
        const PieceType captured = position_.captured_type(move);
        scores_[i] = 16 * PIECE_VALUE[captured] +
                     history_.capture[position_.board[move.from()]][move.to()][captured];
        if (move.kind() == Move::PROMOTION)
            scores_[i] += move.promotion() == QUEEN ? 16 * PIECE_VALUE[QUEEN] : -(1 << 20);
    }
}

void MovePicker::score_quiets(int first) {
    for (int i = first; i < end_; ++i) {
        const Move move = moves_[i];
        const Piece piece = position_.board[move.from()];
        scores_[i] = history_.quiet(position_.side, move) + (*continuations_[0])[piece][move.to()] +
                     (*continuations_[1])[piece][move.to()] +
                     (*continuations_[2])[piece][move.to()] / 2;
        // Safe checks are worth a look early.
        if (info_.check_squares[type_of(piece)] & bit(move.to())) scores_[i] += 4096;
    }
}

// Swaps the best of moves_[at_, end) to the front and takes it.
Move MovePicker::take_best(int end) {
    int best = at_;
    for (int i = at_ + 1; i < end; ++i)
        if (scores_[i] > scores_[best]) best = i;
    std::swap(moves_[at_], moves_[best]);
    std::swap(scores_[at_], scores_[best]);
    return moves_[at_++];
}

Move MovePicker::next() {
    switch (stage_) {
        case Stage::TABLE: stage_ = Stage::MAKE_NOISY; return table_move_;
        case Stage::MAKE_NOISY:
            list_.clear();
            generate_noisy(position_, info_, list_);
            for (const Move move : list_)
                if (move != table_move_) moves_[end_++] = move;
            score_noisy();
            stage_ = Stage::GOOD_NOISY;
            [[fallthrough]];
        case Stage::GOOD_NOISY:
            while (at_ < end_) {
                const Move move = take_best(end_);
                // A capture with a good record may lose a little.
                const int demanded =
                    quiets_ ? -scores_[at_ - 1] / parameters::CAPTURE_HISTORY_DIVISOR / 16
                            : threshold_;
                if (exchange_at_least(position_, move, demanded)) return move;
                moves_[bad_end_++] = move;
            }
            if (!quiets_) {
                stage_ = Stage::DONE;
                return Move();
            }
            stage_ = Stage::KILLER;
            [[fallthrough]];
        case Stage::KILLER:
            stage_ = Stage::COUNTER;
            if (!skip_quiets_ && killer_ && killer_ != table_move_ &&
                !is_noisy(position_, killer_) && is_legal(position_, info_, killer_))
                return killer_;
            [[fallthrough]];
        case Stage::COUNTER:
            stage_ = Stage::MAKE_QUIET;
            if (!skip_quiets_ && counter_ && counter_ != table_move_ && counter_ != killer_ &&
                !is_noisy(position_, counter_) && is_legal(position_, info_, counter_))
                return counter_;
            [[fallthrough]];
        case Stage::MAKE_QUIET:
            if (!skip_quiets_) {
                list_.clear();
                generate_quiet(position_, info_, list_);
                at_ = end_ = bad_end_;
                for (const Move move : list_)
                    if (move != table_move_ && move != killer_ && move != counter_)
                        moves_[end_++] = move;
                score_quiets(at_);
            } else {
                at_ = end_;
            }
            stage_ = Stage::QUIET;
            [[fallthrough]];
        case Stage::QUIET:
            if (at_ < end_ && !skip_quiets_) return take_best(end_);
            stage_ = Stage::BAD_NOISY;
            at_ = 0;
            [[fallthrough]];
        case Stage::BAD_NOISY:
            if (at_ < bad_end_) return moves_[at_++];
            stage_ = Stage::DONE;
            [[fallthrough]];
        case Stage::DONE: return Move();
    }
    return Move();
}

}  // namespace rookery::alphabeta
