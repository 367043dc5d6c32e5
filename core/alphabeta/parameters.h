// Every search parameter with unit and origin: [common] to strong open-source engines, [ours] tuned
// here (docs/engine.md). Margins are in units of the network, depths in plies, reductions in
// 1024ths of a ply unless said otherwise.
//
// Parameters holds those that `rookery spsa` tunes: each engine has its own values, so that two of
// them can play each other. The others are constants.

#pragma once

#include <span>
#include <string_view>

namespace rookery::alphabeta {

struct Parameters {
    // --- Aspiration windows ---
    int aspiration_delta = 12;  // half width [common]

    // --- Pruning whole nodes ---
    int reverse_futility_margin = 95;  // per ply [ours]
    int razoring_margin = 310;  // per ply [ours]
    int null_move_eval_divisor = 200;  // one more ply per this much above beta [common]
    int null_move_margin = 190;  // static evaluation must be above beta by this
    int null_move_margin_slope = 20;  // less this per ply [common]
    int probcut_margin = 190;  // [common]

    // --- Pruning moves ---
    int futility_base = 130;  // [ours]
    int futility_margin = 115;  // per reduced ply [ours]
    int history_pruning_margin = 3000;  // per ply [common]
    int see_quiet_margin = 22;  // times reduced depth squared [common]
    int see_noisy_margin = 100;  // per ply [common]
    int quiescence_futility = 230;  // [ours]

    // --- Extensions ---
    int singular_margin = 16;  // sixteenths of a unit per ply [common]
    int double_extension_margin = 18;  // [common]

    // --- Late move reductions: base + log(depth) * log(moves) / divisor ---
    int lmr_quiet_base = 110;  // hundredths of a ply [ours]
    int lmr_quiet_divisor = 230;  // hundredths [common]
    int lmr_noisy_base = 10;  // hundredths of a ply [common]
    int lmr_noisy_divisor = 320;  // hundredths [common]
    int lmr_cut_node = 1700;  // [common]
    int lmr_pv = 1024;  // less on a former PV [common]
    int lmr_not_improving = 900;  // [common]
    int lmr_killer = 900;  // less [common]
    int lmr_check = 900;  // less for moves that give check [common]
    int lmr_table_noisy = 900;  // the table's move is a capture [common]
    int lmr_cutoffs = 900;  // the children cut off often [common]
    int lmr_history = 128;  // less, 1024ths of the history of a quiet move [common]
    int lmr_noisy_history = 128;  // less, 1024ths of the history of a capture [common]
    int deeper_margin = 40;  // search again one ply deeper [common]

    // --- Histories ---
    int history_bonus_slope = 170;  // per ply [common]
    int history_bonus_most = 1700;  // [common]
    int fail_low_bonus = 60;  // percent, for the quiet move before [common]
    int swing_factor = 5;  // times the gain of the last quiet move [common]
    int correction_weight = 64;  // 1024ths of the sum of all tables [common]

    bool operator==(const Parameters&) const = default;
};

// A parameter by name, with the values that make sense.
struct ParameterRange {
    std::string_view name;
    int Parameters::* value;
    int least, most;
};
// All of them, in the order of the struct.
[[nodiscard]] std::span<const ParameterRange> parameter_ranges();
// Throws std::invalid_argument for an unknown name or a value outside its range.
void set_parameter(Parameters& parameters, std::string_view name, int value);

// Reductions in 1024ths of a ply, by depth and move number.
class Reductions {
  public:
    explicit Reductions(const Parameters& parameters);
    [[nodiscard]] int operator()(bool noisy, int depth, int count) const {
        return values_[noisy][depth < MOST ? depth : MOST][count < MOST ? count : MOST];
    }

  private:
    static constexpr int MOST = 63;  // larger depths and move numbers count as this
    int values_[2][MOST + 1][MOST + 1] = {};
};

namespace parameters {

// --- Aspiration windows ---
inline constexpr int ASPIRATION_DEPTH = 4;  // first depth with a window [common]
inline constexpr int ASPIRATION_GROWTH = 2;  // delta += delta / this after a failure [common]

// --- Pruning whole nodes ---
inline constexpr int REVERSE_FUTILITY_DEPTH = 9;  // [common]
inline constexpr int RAZORING_DEPTH = 4;  // [common]
inline constexpr int NULL_MOVE_DEPTH = 3;  // [common]
inline constexpr int NULL_MOVE_REDUCTION = 4;  // [common]
inline constexpr int NULL_MOVE_DEPTH_DIVISOR = 4;  // one more ply per this depth [common]
inline constexpr int NULL_MOVE_EVAL_MOST = 3;  // [common]
inline constexpr int NULL_MOVE_VERIFY_DEPTH = 14;  // verified from here on [common]
inline constexpr int PROBCUT_DEPTH = 5;  // [common]
inline constexpr int PROBCUT_REDUCTION = 4;  // [common]
inline constexpr int IIR_DEPTH = 4;  // internal iterative reduction [common]

// --- Pruning moves ---
inline constexpr int LATE_MOVE_BASE = 3;  // moves at depth 0 [common]
inline constexpr int FUTILITY_DEPTH = 9;  // reduced depth [common]
inline constexpr int HISTORY_PRUNING_DEPTH = 5;  // reduced depth [common]
inline constexpr int QUIESCENCE_SEE = -20;  // least exchange value out of check [common]

// --- Extensions ---
inline constexpr int SINGULAR_DEPTH = 5;  // [ours]
inline constexpr int SINGULAR_TABLE_DEPTH = 3;  // entry may be this much shallower [common]
inline constexpr int DOUBLE_EXTENSIONS_MOST = 8;  // in one line [common]

// --- Late move reductions ---
inline constexpr int LMR_DEPTH = 2;  // least depth [common]
inline constexpr int LMR_ROOT_MOST = 3072;  // at the root, at most [ours]
inline constexpr int DEEPER_SLOPE = 2;  // per ply [common]

// --- Probability-limited search (move_budget.h) ---
inline constexpr double PLY_PROBABILITY = 0.5;  // one ply is a factor of this [ours]
inline constexpr double STATIC_FIRST = 0.5;  // probability of the first move in the order [ours]
inline constexpr double STATIC_EXPONENT = 0.5;  // of the place, in the probability [ours]
inline constexpr double TABLE_PROBABILITY = 0.5;  // share given to the hash move [ours]
inline constexpr double BUDGET_LEAST_COST = 0.5;  // plies of any move [ours]
inline constexpr double BUDGET_MOST_COST = 8.0;  // plies of any move [ours]
inline constexpr int LEARNED_DEPTH = 3;  // least depth at which a network is asked [ours]

// --- Histories: entries stay within +-HISTORY_LIMIT ---
inline constexpr int HISTORY_LIMIT = 16384;  // [common]
inline constexpr int HISTORY_BONUS_OFFSET = 90;  // [common]
inline constexpr int CAPTURE_HISTORY_DIVISOR =
    32;  // in the exchange threshold of captures [common]
inline constexpr int CORRECTION_LIMIT = 1024;  // [common]
inline constexpr int CORRECTION_DEPTH_DIVISOR = 8;  // [common]
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

}  // namespace parameters

}  // namespace rookery::alphabeta
