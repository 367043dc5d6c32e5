// Updates after a node: histories of the moves tried, corrections of the static evaluation.

#include "alphabeta/history.h"

#include "alphabeta/worker.h"
#include "rules/node_moves.h"

namespace rookery::alphabeta {

using namespace parameters;

int Worker::history_bonus(int depth) const {
    return std::min(tuned_.history_bonus_slope * depth - HISTORY_BONUS_OFFSET,
                    tuned_.history_bonus_most);
}

int Worker::quiet_history(int ply, Move move) const {
    const Position& p = frame(ply).position;
    const Piece piece = p.board[move.from()];
    return history_->quiet(p.side, move) + (*frame(ply - 1).continuation)[piece][move.to()] +
           (*frame(ply - 2).continuation)[piece][move.to()];
}

HistoryEntry& Worker::capture_entry(const Position& p, Move move) const {
    return history_->capture[p.board[move.from()]][move.to()][p.captured_type(move)];
}

void Worker::update_quiet(int ply, Move move, int bonus) {
    const Position& p = frame(ply).position;
    const Piece piece = p.board[move.from()];
    History::update(history_->quiet(p.side, move), bonus);
    for (const int back : {1, 2, 4})
        if (frame(ply - back).move)
            History::update((*frame(ply - back).continuation)[piece][move.to()], bonus);
}

void Worker::update_histories(Frame& now, int ply, Move best, int depth, const Move* quiets,
                              int quiet_count, const Move* noisy, int noisy_count) {
    const Position& p = now.position;
    const int bonus = history_bonus(depth);
    if (is_noisy(p, best)) {
        History::update(capture_entry(p, best), bonus);
    } else {
        now.killer = best;
        const Frame& before = frame(ply - 1);
        if (before.move) history_->counter[p.board[before.move.to()]][before.move.to()] = best;
        update_quiet(ply, best, bonus);
        for (int i = 0; i < quiet_count; ++i) update_quiet(ply, quiets[i], -bonus);
    }
    for (int i = 0; i < noisy_count; ++i) History::update(capture_entry(p, noisy[i]), -bonus);
}

void Worker::update_corrections(int ply, int depth, Score score) {
    const Frame& now = frame(ply);
    const Color side = now.position.side;
    const int bonus = std::clamp((score - now.evaluation) * depth / CORRECTION_DEPTH_DIVISOR,
                                 -CORRECTION_LIMIT / 4, CORRECTION_LIMIT / 4);
    History& h = *history_;
    update_entry(h.pawn_correction[side][History::correction_index(now.pawn_key)], bonus,
                 CORRECTION_LIMIT);
    for (const Color whose : {WHITE, BLACK})
        update_entry(
            h.piece_correction[side][whose][History::correction_index(now.piece_keys[whose])],
            bonus, CORRECTION_LIMIT);
    update_entry(h.move_correction[side][h.moves_index(frame(ply - 1).continuation,
                                                       frame(ply - 2).continuation)],
                 bonus, CORRECTION_LIMIT);
}

}  // namespace rookery::alphabeta
