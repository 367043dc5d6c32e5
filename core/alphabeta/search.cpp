// The main search: principal variation search of one node, step by step.

#include "alphabeta/move_picker.h"
#include "alphabeta/worker.h"
#include "rules/see.h"

namespace rookery::alphabeta {

using namespace parameters;

namespace {

bool has_pieces(const Position& p, Color color) {
    return p.pieces(color) & ~(p.by_type[PAWN] | p.by_type[KING]);
}

}  // namespace

// Score for the side to move at `ply`: exact within (alpha, beta), otherwise a bound. cut_node:
// expected to fail high, so late moves are reduced more.
template <Worker::Node KIND>
Score Worker::search(int ply, int depth, Score alpha, Score beta, bool cut_node) {
    constexpr bool ROOT = KIND == Node::ROOT;
    constexpr bool PV = KIND != Node::CUT_OR_ALL;

    // Step 1. Leaves.
    if (depth <= 0) return quiescence<PV>(ply, alpha, beta, 0);
    depth = std::min(depth, MAX_PLY - 1);
    Frame& now = frame(ply);
    Frame& next = frame(ply + 1);
    const Position& p = now.position;
    now.line_length = 0;
    if (stopped_) return DRAW;
    if constexpr (PV) selective_depth_ = std::max(selective_depth_, ply);
    const NodeInfo info(p);
    now.in_check = info.checkers != 0;

    // Step 2. Draws, the maximum ply, mate distance pruning.
    if constexpr (!ROOT) {
        if (is_draw(ply)) return DRAW;
        if (ply >= MAX_PLY - 2) return now.in_check ? DRAW : corrected(ply, evaluate(ply));
        alpha = std::max(alpha, ply - MATE);
        beta = std::min(beta, MATE - ply - 1);
        if (alpha >= beta) return alpha;
    }

    // Step 3. Transposition table. Its move is verified: another position may have the same key.
    const bool singular_search = bool(now.excluded);
    TableEntry entry;
    const bool hit = !singular_search && table_.probe(p.key, ply, entry);
    Move table_move;
    if (ROOT && completed_depth_ > 0)
        table_move = root_moves_[std::size_t(line_index_)].line[0];
    else if (hit && is_legal(p, info, entry.move))
        table_move = entry.move;
    const bool table_noisy = table_move && is_noisy(p, table_move);
    if (!singular_search) now.table_pv = PV || (hit && entry.pv);
    if (!PV && hit && entry.depth >= depth && entry.score != NO_SCORE && p.halfmove_clock < 90 &&
        (entry.bound & (entry.score >= beta ? BOUND_LOWER : BOUND_UPPER))) {
        if (entry.score >= beta && table_move && !table_noisy)
            update_quiet(ply, table_move, history_bonus(depth));
        return entry.score;
    }

    // Step 4. Static evaluation.
    Score raw = NO_SCORE, guess = NO_SCORE;  // guess: the best estimate, table included
    if (now.in_check) {
        now.evaluation = NO_SCORE;
    } else if (singular_search) {
        guess = now.evaluation;
    } else {
        raw = hit && entry.evaluation != NO_SCORE ? entry.evaluation : evaluate(ply);
        raw = std::clamp(raw, -MAX_EVALUATION, MAX_EVALUATION);
        guess = now.evaluation = corrected(ply, raw);
        if (hit && entry.score != NO_SCORE &&
            (entry.bound & (entry.score > guess ? BOUND_LOWER : BOUND_UPPER)))
            guess = entry.score;
        else if (!hit)
            table_.store(p.key, ply, Move(), NO_SCORE, raw, -2, BOUND_NONE, now.table_pv);
    }
    // The change in evaluation updates the history of the opponent's last quiet move.
    if (!ROOT && !now.in_check && !singular_search && frame(ply - 1).move &&
        frame(ply - 1).evaluation != NO_SCORE &&
        !is_noisy(frame(ply - 1).position, frame(ply - 1).move)) {
        const int gain =
            std::clamp(-tuned_.swing_factor * (frame(ply - 1).evaluation + now.evaluation),
                       -SWING_MOST, SWING_MOST);
        History::update(history_->quiet(~p.side, frame(ply - 1).move), gain);
    }
    const Score earlier = frame(ply - 2).evaluation != NO_SCORE ? frame(ply - 2).evaluation
                                                                : frame(ply - 4).evaluation;
    const bool improving = !now.in_check && earlier != NO_SCORE && now.evaluation > earlier;
    now.double_extensions = ROOT ? 0 : frame(ply - 1).double_extensions;
    next.killer = Move();
    next.excluded = Move();
    frame(ply + 2).cutoffs = 0;

    const Continuation* continuations[3] = {
        frame(ply - 1).continuation, frame(ply - 2).continuation, frame(ply - 4).continuation};

    if (!PV && selective_ && !now.in_check && !singular_search) {
        // Step 5. Reverse futility: far above beta.
        if (depth < REVERSE_FUTILITY_DEPTH && guess >= beta && !is_mate(guess) &&
            guess - tuned_.reverse_futility_margin * (depth - improving) >= beta && !is_mate(beta))
            return (guess + beta) / 2;

        // Step 6. Razoring: far below alpha, only captures can help.
        if (depth < RAZORING_DEPTH && guess + tuned_.razoring_margin * depth < alpha) {
            const Score score = quiescence<false>(ply, alpha, alpha + 1, 0);
            if (stopped_) return DRAW;
            if (score <= alpha && !is_mate(score)) return score;
        }

        // Step 7. Null move: if passing fails high, a move will too. Not in pawn endgames
        // (zugzwang); verified at high depth.
        if (depth >= NULL_MOVE_DEPTH && guess >= beta && frame(ply - 1).move &&
            now.evaluation >=
                beta + tuned_.null_move_margin - tuned_.null_move_margin_slope * depth &&
            has_pieces(p, p.side) && ply >= null_verification_ply_ && beta > -MATE_BOUND) {
            const int reduction =
                NULL_MOVE_REDUCTION + depth / NULL_MOVE_DEPTH_DIVISOR +
                std::min((guess - beta) / tuned_.null_move_eval_divisor, NULL_MOVE_EVAL_MOST);
            if (out_of_nodes()) return DRAW;
            make_null(ply);
            Score score =
                -search<Node::CUT_OR_ALL>(ply + 1, depth - reduction, -beta, -beta + 1, !cut_node);
            unmake();
            if (stopped_) return DRAW;
            if (score >= beta) {
                if (score >= MATE_BOUND) score = beta;  // not a proven mate
                if (null_verification_ply_ || depth < NULL_MOVE_VERIFY_DEPTH) return score;
                null_verification_ply_ = ply + 3 * (depth - reduction) / 4;
                const Score verified =
                    search<Node::CUT_OR_ALL>(ply, depth - reduction, beta - 1, beta, false);
                null_verification_ply_ = 0;
                if (stopped_) return DRAW;
                if (verified >= beta) return score;
            }
        }

        // Step 8. ProbCut: a capture exceeds beta by a margin in a shallow search.
        const Score probcut_beta = beta + tuned_.probcut_margin - 50 * improving;
        if (depth >= PROBCUT_DEPTH && !is_mate(beta) &&
            !(hit && entry.depth >= depth - 3 && entry.score != NO_SCORE &&
              entry.score < probcut_beta)) {
            MovePicker captures(p, info, *history_, continuations,
                                table_noisy ? table_move : Move(), false,
                                probcut_beta - now.evaluation);
            while (const Move move = captures.next()) {
                if (out_of_nodes()) return DRAW;
                make(ply, move);
                Score score = -quiescence<false>(ply + 1, -probcut_beta, -probcut_beta + 1, 0);
                if (score >= probcut_beta && !stopped_)
                    score = -search<Node::CUT_OR_ALL>(ply + 1, depth - PROBCUT_REDUCTION,
                                                      -probcut_beta, -probcut_beta + 1, !cut_node);
                unmake();
                if (stopped_) return DRAW;
                if (score >= probcut_beta) {
                    table_.store(p.key, ply, move, score, raw, depth - PROBCUT_REDUCTION + 1,
                                 BOUND_LOWER, now.table_pv);
                    return is_mate(score) ? score : score - (probcut_beta - beta);
                }
            }
        }
    }

    // Step 9. Internal iterative reduction if there is no hash move.
    if (selective_ && depth >= IIR_DEPTH && !table_move && !singular_search && (PV || cut_node))
        --depth;

    // Step 10. Loop over all moves.
    const Move previous = frame(ply - 1).move;
    const Move counter =
        previous ? history_->counter[p.board[previous.to()]][previous.to()] : Move();
    MovePicker picker(p, info, *history_, continuations, table_move, now.killer, counter);
    const Score old_alpha = alpha;
    Score best = -INFINITE;
    Move best_move;
    Move quiets[64], noisies[32];
    int quiet_count = 0, noisy_count = 0, count = 0;
    if (budget_) [[unlikely]]
        budget_->prepare(p, info, depth, table_move, costs_[std::size_t(ply)]);

    while (const Move move = picker.next()) {
        if (move == now.excluded) continue;
        RootMove* root_move = nullptr;
        if constexpr (ROOT) {
            for (int i = line_index_; i < root_count_ && !root_move; ++i)
                if (root_moves_[std::size_t(i)].move == move)
                    root_move = &root_moves_[std::size_t(i)];
            if (!root_move) continue;
        }
        ++count;
        const bool noisy = is_noisy(p, move);
        const bool checks = gives_check(p, info, move);
        const int history = noisy ? capture_entry(p, move) : quiet_history(ply, move);
        int reduction = reductions_(noisy, depth, count);
        if (budget_) [[unlikely]]
            reduction = budget_->cost(costs_[std::size_t(ply)], move, count) - 1024;

        // Step 11. Pruning of late and unpromising moves.
        if (!ROOT && selective_ && best > -MATE_BOUND && has_pieces(p, p.side)) {
            const int reduced =
                std::max(0, depth - 1 - (reduction - history * tuned_.lmr_history / 1024) / 1024);
            if (!noisy && !checks) {
                if (!budget_ && count >= (LATE_MOVE_BASE + depth * depth) / (2 - improving))
                    picker.skip_quiets();
                if (reduced < HISTORY_PRUNING_DEPTH &&
                    history < -tuned_.history_pruning_margin * depth)
                    continue;
                // This move only: later quiet moves may give check.
                if (!now.in_check && reduced < FUTILITY_DEPTH &&
                    now.evaluation + tuned_.futility_base + tuned_.futility_margin * reduced <=
                        alpha)
                    continue;
                if (!exchange_at_least(p, move, -tuned_.see_quiet_margin * reduced * reduced))
                    continue;
            } else if (!exchange_at_least(p, move, -tuned_.see_noisy_margin * depth)) {
                continue;
            }
        }

        // Step 12. Extensions: of checks in a full search, otherwise singular ones. Singular: all
        // other moves fail low against a bit less than the table's score. If even they reach beta,
        // this node fails high anyway (multi-cut).
        int extension = extend_checks_ && checks && ply < 2 * root_depth_;
        if (!ROOT && move == table_move && !singular_search && selective_ && !budget_ &&
            depth >= SINGULAR_DEPTH && ply < 2 * root_depth_ && hit &&
            entry.depth >= depth - SINGULAR_TABLE_DEPTH && entry.bound & BOUND_LOWER &&
            entry.score != NO_SCORE && !is_mate(entry.score)) {
            const Score singular_beta = entry.score - tuned_.singular_margin * depth / 16;
            now.excluded = move;
            const Score score = search<Node::CUT_OR_ALL>(ply, (depth - 1) / 2, singular_beta - 1,
                                                         singular_beta, cut_node);
            now.excluded = Move();
            if (stopped_) return DRAW;
            if (score < singular_beta) {
                extension = 1;
                if (!PV && score < singular_beta - tuned_.double_extension_margin &&
                    now.double_extensions < DOUBLE_EXTENSIONS_MOST) {
                    extension = 2;
                    ++now.double_extensions;
                }
            } else if (singular_beta >= beta) {
                return singular_beta;
            } else if (entry.score >= beta) {
                extension = -2;
            } else if (cut_node) {
                extension = -1;
            }
        }

        // Step 13. Make the move and search it.
        if (out_of_nodes()) return DRAW;
        const std::uint64_t nodes_before = nodes();
        make(ply, move);
        int new_depth = depth - 1 + extension;
        Score score = NO_SCORE;

        // Step 14. Late move reduction with a null window; re-search if it fails high. A budget
        // reduces by the move's probability instead, in fractions of a ply.
        if (budget_) [[unlikely]] {
            if (count == 1) {
                // A probable first move is searched deeper.
                const int gain = ply < 2 * root_depth_ ? std::max(0, -reduction) : 0;
                new_depth += (now.fraction + gain) >> 10;
                next.fraction = (now.fraction + gain) & 1023;
            } else {
                const int budget = std::max(0, 1024 * new_depth + now.fraction - reduction);
                next.fraction = budget & 1023;
                score = -search<Node::CUT_OR_ALL>(ply + 1, budget >> 10, -alpha - 1, -alpha, true);
                next.fraction = now.fraction;
                if (score > alpha && budget >> 10 < new_depth && !stopped_)
                    score = -search<Node::CUT_OR_ALL>(ply + 1, new_depth, -alpha - 1, -alpha,
                                                      !cut_node);
            }
            if (!PV && count == 1)
                score =
                    -search<Node::CUT_OR_ALL>(ply + 1, new_depth, -alpha - 1, -alpha, !cut_node);
        } else if (selective_ && depth >= LMR_DEPTH && count > 1 + ROOT) {
            reduction += cut_node ? tuned_.lmr_cut_node : 0;
            reduction -= now.table_pv ? tuned_.lmr_pv + PV * 512 : 0;
            reduction += improving ? 0 : tuned_.lmr_not_improving;
            reduction -= checks ? tuned_.lmr_check : 0;
            reduction -= !noisy && (move == now.killer || move == counter) ? tuned_.lmr_killer : 0;
            reduction += table_noisy && !noisy ? tuned_.lmr_table_noisy : 0;
            reduction += next.cutoffs > 3 ? tuned_.lmr_cutoffs : 0;
            reduction -= history * (noisy ? tuned_.lmr_noisy_history : tuned_.lmr_history) / 1024;
            // At the root, find sacrifices early.
            if constexpr (ROOT) reduction = std::min(reduction, LMR_ROOT_MOST);
            const int reduced = std::clamp(new_depth - reduction / 1024, 1, new_depth + 1);
            score = -search<Node::CUT_OR_ALL>(ply + 1, reduced, -alpha - 1, -alpha, true);
            if (score > alpha && reduced < new_depth && !stopped_) {
                const bool deeper = score > best + tuned_.deeper_margin + DEEPER_SLOPE * new_depth;
                const bool shallower = score < best + new_depth;
                if constexpr (!ROOT) new_depth += deeper - shallower;
                if (new_depth > reduced)
                    score = -search<Node::CUT_OR_ALL>(ply + 1, new_depth, -alpha - 1, -alpha,
                                                      !cut_node);
            }
        } else if (!PV || count > 1) {
            score = -search<Node::CUT_OR_ALL>(ply + 1, new_depth, -alpha - 1, -alpha, !cut_node);
        }
        if (PV && (count == 1 || score > alpha) && !stopped_)
            score = -search<Node::PV>(ply + 1, new_depth, -beta, -alpha, false);
        unmake();
        if (stopped_) return DRAW;

        if constexpr (ROOT) {
            root_move->nodes += nodes() - nodes_before;
            if (count == 1 || score > alpha) {
                root_move->score = score;
                root_move->selective_depth = selective_depth_;
                root_move->bound = score >= beta    ? Line::LOWER
                                   : score <= alpha ? Line::UPPER
                                                    : Line::EXACT;
                root_move->line[0] = move;
                const int rest = std::min(next.line_length, MAX_PLY - 1);
                std::copy_n(next.line, rest, root_move->line + 1);
                root_move->line_length = rest + 1;
            } else {
                root_move->score = -INFINITE;  // failed low
            }
        }

        // Step 15. A new best move, or a beta cutoff.
        if (score > best) {
            best = score;
            if (score > alpha) {
                best_move = move;
                if constexpr (PV && !ROOT) set_line(ply, move);
                if (score >= beta) {
                    ++now.cutoffs;
                    break;
                }
                alpha = score;
            }
        }
        if (move != best_move) {
            if (noisy && noisy_count < 32) noisies[noisy_count++] = move;
            if (!noisy && quiet_count < 64) quiets[quiet_count++] = move;
        }
    }

    // Step 16. Checkmate or stalemate. (A singular search excludes a legal move.)
    if (count == 0) {
        if (singular_search) return alpha;
        return now.in_check ? ply - MATE : DRAW;
    }

    // Step 17. Update histories, table and corrections.
    if (best_move && best >= beta)
        update_histories(now, ply, best_move, depth, quiets, quiet_count, noisies, noisy_count);
    // All moves failed low: the opponent's last quiet move was good.
    if (!ROOT && best <= old_alpha && previous && !is_noisy(frame(ply - 1).position, previous))
        update_quiet(ply - 1, previous, history_bonus(depth) * tuned_.fail_low_bonus / 100);
    if (!singular_search) {
        const Bound bound = best >= beta             ? BOUND_LOWER
                            : PV && best > old_alpha ? BOUND_EXACT
                                                     : BOUND_UPPER;
        if (!ROOT || line_index_ == 0)
            table_.store(p.key, ply, best_move, best, raw, depth, bound, now.table_pv);
        // Results of captures say little about the static evaluation.
        if (!now.in_check && !(best_move && is_noisy(p, best_move)) && !is_mate(best) &&
            !(bound == BOUND_LOWER && best <= now.evaluation) &&
            !(bound == BOUND_UPPER && best >= now.evaluation))
            update_corrections(ply, depth, best);
    }
    return best;
}

template Score Worker::search<Worker::Node::ROOT>(int, int, Score, Score, bool);

}  // namespace rookery::alphabeta
