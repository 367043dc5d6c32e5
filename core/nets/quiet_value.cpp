#include "nets/quiet_value.h"

#include <algorithm>
#include <cmath>

#include "rules/node_moves.h"
#include "rules/see.h"

namespace rookery::nets {

namespace {

constexpr int MATED = -30000;  // far below every value of a network that is not broken

// Most valuable victim first, then least valuable attacker; quiet replies to check last.
int order_of(const Position& p, Move move) {
    if (!is_noisy(p, move)) return 0;
    const int promotion = move.kind() == Move::PROMOTION ? PIECE_VALUE[move.promotion()] : 0;
    return 16 * (PIECE_VALUE[p.captured_type(move)] + promotion) - type_of(p.board[move.from()]);
}

}  // namespace

void QuietValue::use(const nnue::NetworkPtr& network) {
    if (network == network_) return;
    stack_.set_network(network);
    network_ = network;
}

float QuietValue::evaluate(const Position& position, bool quiescence) {
    stack_.reset();
    nodes_ = 0;
    const int score = quiescence ? search(position, MATED, -MATED, 0) : stack_.evaluate(position);
    // 2 sigmoid(raw) - 1, where the score is VALUE_SCALE * raw.
    return std::tanh(float(score) / float(2 * nnue::VALUE_SCALE));
}

// Score for the side to move: exact within (alpha, beta), otherwise a bound.
int QuietValue::search(const Position& p, int alpha, int beta, int ply) {
    const NodeInfo info(p);
    const bool check = info.checkers != 0;
    const bool leaf = ply >= MOST_PLIES || nodes_ >= MOST_NODES;
    int best = MATED + ply;
    if (!check || leaf) {
        best = stack_.evaluate(p);
        if (leaf || best >= beta) return best;
        alpha = std::max(alpha, best);
    }
    MoveList moves;
    generate_noisy(p, info, moves);
    if (check) generate_quiet(p, info, moves);
    int orders[MAX_MOVES], count = 0;
    Move sorted[MAX_MOVES];
    for (const Move move : moves) {
        if (!check && !exchange_at_least(p, move, 0)) continue;
        const int order = order_of(p, move);
        int place = count++;
        for (; place > 0 && orders[place - 1] < order; --place) {
            orders[place] = orders[place - 1];
            sorted[place] = sorted[place - 1];
        }
        orders[place] = order;
        sorted[place] = move;
    }
    for (int i = 0; i < count; ++i) {
        Position next = p;
        next.make(sorted[i]);
        ++nodes_;
        stack_.push(nnue::changes_of(p, sorted[i]), next);
        const int score = -search(next, -beta, -alpha, ply + 1);
        stack_.pop();
        best = std::max(best, score);
        if (best >= beta) break;
        alpha = std::max(alpha, best);
    }
    return best;
}

}  // namespace rookery::nets
