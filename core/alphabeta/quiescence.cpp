// Making moves, static evaluation, draws, and quiescence search.

#include "alphabeta/move_picker.h"
#include "alphabeta/worker.h"
#include "rules/game.h"
#include "rules/movegen.h"
#include "rules/see.h"

namespace rookery::alphabeta {

using namespace parameters;

// --- Making moves ---

void Worker::start_keys(Frame& root) {
    root.pawn_key = root.piece_keys[WHITE] = root.piece_keys[BLACK] = 0;
    for (Bitboard all = root.position.occupied(); all;) {
        const Square square = pop_square(all);
        const Piece piece = root.position.board[square];
        Key& key = type_of(piece) == PAWN ? root.pawn_key : root.piece_keys[color_of(piece)];
        key ^= zobrist.piece[piece][square];
    }
}

void Worker::make(int ply, Move move) {
    Frame& now = frame(ply);
    Frame& next = frame(ply + 1);
    const nnue::Changes changes = nnue::changes_of(now.position, move);
    now.move = move;
    now.continuation = &history_->continuation[now.position.board[move.from()]][move.to()];
    next.position = now.position;
    next.position.make(move);
    table_.prefetch(next.position.key);
    next.pawn_key = now.pawn_key;
    next.piece_keys[WHITE] = now.piece_keys[WHITE];
    next.piece_keys[BLACK] = now.piece_keys[BLACK];
    const auto toggle = [&next](nnue::Changes::Change change) {
        Key& key =
            type_of(change.piece) == PAWN ? next.pawn_key : next.piece_keys[color_of(change.piece)];
        key ^= zobrist.piece[change.piece][change.square];
    };
    for (int i = 0; i < changes.removed_count; ++i) toggle(changes.removed[i]);
    for (int i = 0; i < changes.added_count; ++i) toggle(changes.added[i]);
    next.plies_from_null = now.plies_from_null + 1;
    keys_[root_key_ + std::size_t(ply) + 1] = next.position.key;
    accumulators_.push(changes, next.position);
    count_node();
}

void Worker::make_null(int ply) {
    Frame& now = frame(ply);
    Frame& next = frame(ply + 1);
    now.move = Move();
    now.continuation = &history_->continuation[12][0];
    next.position = now.position;
    Position& p = next.position;
    if (p.en_passant != NO_SQUARE) p.key ^= zobrist.en_passant[file_of(p.en_passant)];
    p.en_passant = p.en_passant_pseudo = NO_SQUARE;
    p.side = ~p.side;
    p.key ^= zobrist.white_to_move;
    ++p.halfmove_clock;
    p.last_move = Move();
    table_.prefetch(p.key);
    next.pawn_key = now.pawn_key;
    next.piece_keys[WHITE] = now.piece_keys[WHITE];
    next.piece_keys[BLACK] = now.piece_keys[BLACK];
    next.plies_from_null = 0;
    keys_[root_key_ + std::size_t(ply) + 1] = p.key;
    accumulators_.push_null();
    count_node();
}

// Called before each move: whether a limit or stop() ends the search.
bool Worker::out_of_nodes() {
    if (stopped_) return true;
    const std::uint64_t count = nodes();
    if (node_limit_ && count >= node_limit_) return stopped_ = true;
    if ((count & check_mask_) == 0) {
        if (stop_.load(std::memory_order_relaxed)) return stopped_ = true;
        if (time_ && time_->hard_limit_reached()) return stopped_ = true;
        if (poll_ && *poll_) {
            constexpr auto POLL_INTERVAL = std::chrono::milliseconds(20);
            const auto now = Clock::now();
            if (now - last_poll_ >= POLL_INTERVAL) {
                last_poll_ = now;
                if ((*poll_)()) return stopped_ = true;
            }
        }
    }
    return false;
}

// --- Evaluating positions ---

Score Worker::evaluate_batch(int ply, int depth) {
    using enum BatchValues::Siblings;
    const Frame& parent = frame(ply - 1);
    const bool has_siblings = ply > 0 && parent.move;  // not after a null move
    return values_->evaluate(frame(ply).position, has_siblings ? &parent.position : nullptr,
                             depth < 0 && !parent.in_check ? NOISY : ALL);
}

// One repetition inside the tree is a draw; a position from before the root must have occurred
// twice, as in the rules.
bool Worker::is_draw(int ply) const {
    const Frame& now = frame(ply);
    const Position& p = now.position;
    if (p.halfmove_clock >= FIFTY_MOVES_PLIES && (!now.in_check || has_legal_move(p))) return true;
    if (p.insufficient_material()) return true;
    const std::size_t present = root_key_ + std::size_t(ply);
    const std::size_t reach =
        std::min({std::size_t(p.halfmove_clock), std::size_t(now.plies_from_null), present});
    bool seen = false;
    for (std::size_t back = 4; back <= reach; back += 2) {
        if (keys_[present - back] != p.key) continue;
        if (back < std::size_t(ply) || seen) return true;
        seen = true;
    }
    return false;
}

// Fades towards the fifty-move draw, plus the corrections learned from earlier searches.
Score Worker::corrected(int ply, Score raw) const {
    const Frame& now = frame(ply);
    const Position& p = now.position;
    const int faded = raw *
                      (FIFTY_MOVE_SCALE - int(std::min(p.halfmove_clock, FIFTY_MOVES_PLIES))) /
                      FIFTY_MOVE_SCALE;
    const History& h = *history_;
    const int correction =
        h.pawn_correction[p.side][History::correction_index(now.pawn_key)] +
        h.piece_correction[p.side][WHITE][History::correction_index(now.piece_keys[WHITE])] +
        h.piece_correction[p.side][BLACK][History::correction_index(now.piece_keys[BLACK])] +
        h.move_correction[p.side]
                         [h.moves_index(frame(ply - 1).continuation, frame(ply - 2).continuation)];
    return std::clamp(faded + correction * tuned_.correction_weight / 1024, -MAX_EVALUATION,
                      MAX_EVALUATION);
}

void Worker::set_line(int ply, Move move) {
    Frame& now = frame(ply);
    const Frame& next = frame(ply + 1);
    now.line[0] = move;
    const int rest = std::min(next.line_length, MAX_PLY - 1);
    std::copy_n(next.line, rest, now.line + 1);
    now.line_length = rest + 1;
}

template <bool PV> Score Worker::quiescence(int ply, Score alpha, Score beta, int depth) {
    Frame& now = frame(ply);
    const Position& p = now.position;
    if constexpr (PV) {
        now.line_length = 0;
        selective_depth_ = std::max(selective_depth_, ply);
    }
    if (stopped_) return DRAW;

    // Step 1. Draws and the maximum ply.
    const NodeInfo info(p);
    now.in_check = info.checkers != 0;
    if (is_draw(ply)) return DRAW;
    if (ply >= MAX_PLY - 1) return now.in_check ? DRAW : corrected(ply, evaluate(ply));

    // Step 2. Transposition table.
    TableEntry entry;
    const bool hit = table_.probe(p.key, ply, entry);
    const bool table_pv = PV || (hit && entry.pv);
    if (!PV && hit && entry.score != NO_SCORE &&
        (entry.bound & (entry.score >= beta ? BOUND_LOWER : BOUND_UPPER)))
        return entry.score;
    const Move table_move =
        hit && is_legal(p, info, entry.move) && (now.in_check || is_noisy(p, entry.move))
            ? entry.move
            : Move();

    // Step 3. Stand pat: the static evaluation is a lower bound.
    Score best = -INFINITE, raw = NO_SCORE, futility = -INFINITE;
    if (now.in_check) {
        now.evaluation = NO_SCORE;
    } else {
        raw = hit && entry.evaluation != NO_SCORE ? entry.evaluation : evaluate(ply, depth);
        raw = std::clamp(raw, -MAX_EVALUATION, MAX_EVALUATION);
        best = now.evaluation = corrected(ply, raw);
        if (hit && entry.score != NO_SCORE && !is_mate(entry.score) &&
            (entry.bound & (entry.score > best ? BOUND_LOWER : BOUND_UPPER)))
            best = entry.score;
        if (best >= beta) {
            if (!hit) table_.store(p.key, ply, Move(), best, raw, -1, BOUND_LOWER, table_pv);
            return best;
        }
        alpha = std::max(alpha, best);
        futility = best + tuned_.quiescence_futility;
    }

    // Step 4. Captures and promotions; in check all moves.
    const Score old_alpha = alpha;
    const Continuation* continuations[3] = {
        frame(ply - 1).continuation, frame(ply - 2).continuation, frame(ply - 4).continuation};
    MovePicker picker(p, info, *history_, continuations, table_move, now.in_check, QUIESCENCE_SEE);
    Move best_move;
    int count = 0;
    while (const Move move = picker.next()) {
        ++count;
        if (selective_ && best > -MATE_BOUND) {
            // One evasion is enough once only quiet ones and losing captures are left.
            if (now.in_check && count > 1 && !is_noisy(p, move)) picker.skip_quiets();
            // Futility: even winning the piece for free does not reach alpha.
            if (!now.in_check && futility <= alpha && move.kind() == Move::NORMAL &&
                !gives_check(p, info, move)) {
                const int gain = PIECE_VALUE[type_of(p.board[move.to()])];
                if (futility + gain <= alpha) {
                    best = std::max(best, futility + gain);
                    continue;
                }
                if (!exchange_at_least(p, move, 1)) {
                    best = std::max(best, futility);
                    continue;
                }
            }
        }
        if (out_of_nodes()) return DRAW;
        make(ply, move);
        const Score score = -quiescence<PV>(ply + 1, -beta, -alpha, depth - 1);
        unmake();
        if (stopped_) return DRAW;
        if (score > best) {
            best = score;
            if (score > alpha) {
                best_move = move;
                if constexpr (PV) set_line(ply, move);
                if (score >= beta) break;
                alpha = score;
            }
        }
    }
    if (now.in_check && count == 0) return ply - MATE;

    const Bound bound = best >= beta             ? BOUND_LOWER
                        : PV && best > old_alpha ? BOUND_EXACT
                                                 : BOUND_UPPER;
    table_.store(p.key, ply, best_move, best, raw, 0, bound, table_pv);
    return best;
}

template Score Worker::quiescence<true>(int, Score, Score, int);
template Score Worker::quiescence<false>(int, Score, Score, int);

}  // namespace rookery::alphabeta
