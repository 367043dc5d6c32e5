// Every search parameter with unit and origin: [common] to strong open-source engines, [ours] tuned
// here (docs/engine.md). Margins are in units of the network, depths in plies, reductions in
// 1024ths of a ply.

#pragma once

namespace rookery::alphabeta::parameters {

// --- Aspiration windows ---
inline constexpr int ASPIRATION_DEPTH = 4;  // first depth with a window [common]
inline constexpr int ASPIRATION_DELTA = 12;  // half width [common]
inline constexpr int ASPIRATION_GROWTH = 2;  // delta += delta / this after a failure [common]

// --- Pruning whole nodes ---
inline constexpr int REVERSE_FUTILITY_DEPTH = 9;  // [common]
inline constexpr int REVERSE_FUTILITY_MARGIN = 95;  // per ply [ours]
inline constexpr int RAZORING_DEPTH = 4;  // [common]
inline constexpr int RAZORING_MARGIN = 310;  // per ply [ours]
inline constexpr int NULL_MOVE_DEPTH = 3;  // [common]
inline constexpr int NULL_MOVE_REDUCTION = 4;  // [common]
inline constexpr int NULL_MOVE_DEPTH_DIVISOR = 4;  // one more ply per this depth [common]
inline constexpr int NULL_MOVE_EVAL_DIVISOR =
    200;  // one more ply per this much above beta [common]
inline constexpr int NULL_MOVE_EVAL_MOST = 3;  // [common]
inline constexpr int NULL_MOVE_MARGIN = 190;  // static evaluation must be above beta by this
inline constexpr int NULL_MOVE_MARGIN_SLOPE = 20;  // less this per ply [common]
inline constexpr int NULL_MOVE_VERIFY_DEPTH = 14;  // verified from here on [common]
inline constexpr int PROBCUT_DEPTH = 5;  // [common]
inline constexpr int PROBCUT_MARGIN = 190;  // [common]
inline constexpr int PROBCUT_REDUCTION = 4;  // [common]
inline constexpr int IIR_DEPTH = 4;  // internal iterative reduction [common]

// --- Pruning moves ---
inline constexpr int LATE_MOVE_BASE = 3;  // moves at depth 0 [common]
inline constexpr int FUTILITY_DEPTH = 9;  // reduced depth [common]
inline constexpr int FUTILITY_BASE = 130;  // [ours]
inline constexpr int FUTILITY_MARGIN = 115;  // per reduced ply [ours]
inline constexpr int HISTORY_PRUNING_DEPTH = 5;  // reduced depth [common]
inline constexpr int HISTORY_PRUNING_MARGIN = 3000;  // per ply [common]
inline constexpr int SEE_QUIET_MARGIN = 22;  // times reduced depth squared [common]
inline constexpr int SEE_NOISY_MARGIN = 100;  // per ply [common]

// --- Extensions ---
inline constexpr int SINGULAR_DEPTH = 5;  // [ours]
inline constexpr int SINGULAR_TABLE_DEPTH = 3;  // entry may be this much shallower [common]
inline constexpr int SINGULAR_MARGIN = 16;  // sixteenths of a unit per ply [common]
inline constexpr int DOUBLE_EXTENSION_MARGIN = 18;  // [common]
inline constexpr int DOUBLE_EXTENSIONS_MOST = 8;  // in one line [common]

// --- Late move reductions: base + log(depth) * log(moves) / divisor ---
inline constexpr int LMR_DEPTH = 2;  // least depth [common]
inline constexpr double LMR_QUIET_BASE = 1.10;  // plies [ours]
inline constexpr double LMR_QUIET_DIVISOR = 2.30;  // [common]
inline constexpr double LMR_NOISY_BASE = 0.10;  // [common]
inline constexpr double LMR_NOISY_DIVISOR = 3.20;  // [common]
inline constexpr int LMR_CUT_NODE = 1700;  // [common]
inline constexpr int LMR_PV = 1024;  // less on a former PV [common]
inline constexpr int LMR_NOT_IMPROVING = 900;  // [common]
inline constexpr int LMR_ROOT_MOST = 3072;  // at the root, at most [ours]
inline constexpr int LMR_KILLER = 900;  // less [common]
inline constexpr int LMR_CHECK = 900;  // less for moves that give check [common]
inline constexpr int LMR_TABLE_NOISY = 900;  // the table's move is a capture [common]
inline constexpr int LMR_CUTOFFS = 900;  // the children cut off often [common]
inline constexpr int LMR_HISTORY_DIVISOR = 8;  // history / this [common]
inline constexpr int LMR_NOISY_HISTORY_DIVISOR = 8;  // [common]
inline constexpr int DEEPER_MARGIN = 40;  // search again one ply deeper [common]
inline constexpr int DEEPER_SLOPE = 2;  // per ply [common]

// --- Probability-limited search (move_budget.h) ---
inline constexpr double PLY_PROBABILITY = 0.5;  // one ply is a factor of this [ours]
inline constexpr double STATIC_FIRST = 0.5;  // probability of the first move in the order [ours]
inline constexpr double STATIC_EXPONENT = 0.5;  // of the place, in the probability [ours]
inline constexpr double TABLE_PROBABILITY = 0.5;  // share given to the hash move [ours]
inline constexpr double BUDGET_LEAST_COST = 0.5;  // plies of any move [ours]
inline constexpr double BUDGET_MOST_COST = 8.0;  // plies of any move [ours]
inline constexpr int LEARNED_DEPTH = 3;  // least depth at which a network is asked [ours]

// --- Quiescence ---
inline constexpr int QUIESCENCE_FUTILITY = 230;  // [ours]
inline constexpr int QUIESCENCE_SEE = -20;  // least exchange value out of check [common]

// --- Histories: entries stay within +-HISTORY_LIMIT ---
inline constexpr int HISTORY_LIMIT = 16384;  // [common]
inline constexpr int HISTORY_BONUS_SLOPE = 170;  // per ply [common]
inline constexpr int HISTORY_BONUS_OFFSET = 90;  // [common]
inline constexpr int HISTORY_BONUS_MOST = 1700;  // [common]
inline constexpr int CAPTURE_HISTORY_DIVISOR =
    32;  // in the exchange threshold of captures [common]
inline constexpr int CORRECTION_LIMIT = 1024;  // [common]
inline constexpr int CORRECTION_DIVISOR = 16;  // to centipawns, per table [common]
inline constexpr int CORRECTION_DEPTH_DIVISOR = 8;  // [common]

inline constexpr int FAIL_LOW_BONUS = 60;  // percent, for the quiet move before [common]
inline constexpr int SWING_FACTOR = 5;  // times the gain of the last quiet move [common]
inline constexpr int SWING_MOST = 900;  // [common]

// --- Static evaluation ---
inline constexpr int FIFTY_MOVE_SCALE = 220;  // plies at which it would reach 0 [common]

// --- Time, shares of the soft limit unless said otherwise ---
inline constexpr double TIME_MOVES_LEFT = 22;  // the rest of the clock is spread over [common]
inline constexpr double TIME_INCREMENT = 0.75;  // share of the increment that is spent [common]
inline constexpr double TIME_HARD_FACTOR = 4.0;  // hard limit [common]
inline constexpr double TIME_HARD_SHARE = 0.6;  // of the clock, at most [common]
inline constexpr double TIME_NODE_BASE = 1.9;  // less the share of nodes below the best move
inline constexpr double TIME_NODE_SLOPE = 1.5;  // times this [common]
inline constexpr double TIME_STABILITY_BASE = 1.3;  // less per depth that kept the best move
inline constexpr double TIME_STABILITY_SLOPE = 0.07;  // this [common]
inline constexpr double TIME_DROP_SLOPE = 0.006;  // more per unit that the score fell [common]

}  // namespace rookery::alphabeta::parameters
