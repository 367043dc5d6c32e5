#include "alphabeta/parameters.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace rookery::alphabeta {

namespace {

constexpr ParameterRange RANGES[] = {
    {"aspiration_delta", &Parameters::aspiration_delta, 6, 40},
    {"reverse_futility_margin", &Parameters::reverse_futility_margin, 40, 200},
    {"razoring_margin", &Parameters::razoring_margin, 100, 700},
    {"null_move_eval_divisor", &Parameters::null_move_eval_divisor, 60, 500},
    {"null_move_margin", &Parameters::null_move_margin, 50, 400},
    {"null_move_margin_slope", &Parameters::null_move_margin_slope, 5, 50},
    {"probcut_margin", &Parameters::probcut_margin, 80, 400},
    {"futility_base", &Parameters::futility_base, 20, 300},
    {"futility_margin", &Parameters::futility_margin, 40, 250},
    {"history_pruning_margin", &Parameters::history_pruning_margin, 1000, 8000},
    {"see_quiet_margin", &Parameters::see_quiet_margin, 8, 60},
    {"see_noisy_margin", &Parameters::see_noisy_margin, 30, 250},
    {"quiescence_futility", &Parameters::quiescence_futility, 80, 500},
    {"singular_margin", &Parameters::singular_margin, 4, 48},
    {"double_extension_margin", &Parameters::double_extension_margin, 0, 60},
    {"lmr_quiet_base", &Parameters::lmr_quiet_base, 40, 180},
    {"lmr_quiet_divisor", &Parameters::lmr_quiet_divisor, 150, 350},
    {"lmr_noisy_base", &Parameters::lmr_noisy_base, -60, 100},
    {"lmr_noisy_divisor", &Parameters::lmr_noisy_divisor, 200, 500},
    {"lmr_cut_node", &Parameters::lmr_cut_node, 600, 3000},
    {"lmr_pv", &Parameters::lmr_pv, 200, 2200},
    {"lmr_not_improving", &Parameters::lmr_not_improving, 0, 2000},
    {"lmr_killer", &Parameters::lmr_killer, 0, 2000},
    {"lmr_check", &Parameters::lmr_check, 0, 2000},
    {"lmr_table_noisy", &Parameters::lmr_table_noisy, 0, 2000},
    {"lmr_cutoffs", &Parameters::lmr_cutoffs, 0, 2000},
    {"lmr_history", &Parameters::lmr_history, 40, 300},
    {"lmr_noisy_history", &Parameters::lmr_noisy_history, 40, 300},
    {"deeper_margin", &Parameters::deeper_margin, 10, 100},
    {"history_bonus_slope", &Parameters::history_bonus_slope, 60, 400},
    {"history_bonus_most", &Parameters::history_bonus_most, 600, 4000},
    {"fail_low_bonus", &Parameters::fail_low_bonus, 0, 150},
    {"swing_factor", &Parameters::swing_factor, 1, 20},
    {"correction_weight", &Parameters::correction_weight, 20, 160},
};
static_assert(std::size(RANGES) * sizeof(int) == sizeof(Parameters), "every parameter is listed");

}  // namespace

std::span<const ParameterRange> parameter_ranges() { return RANGES; }

void set_parameter(Parameters& parameters, std::string_view name, int value) {
    for (const ParameterRange& range : RANGES) {
        if (range.name != name) continue;
        if (value < range.least || value > range.most)
            throw std::invalid_argument(std::string(name) + " = " + std::to_string(value) +
                                        " is not " + std::to_string(range.least) + " to " +
                                        std::to_string(range.most));
        parameters.*range.value = value;
        return;
    }
    throw std::invalid_argument("unknown search parameter '" + std::string(name) + "'");
}

Reductions::Reductions(const Parameters& parameters) {
    const double bases[] = {parameters.lmr_quiet_base / 100.0, parameters.lmr_noisy_base / 100.0};
    const double divisors[] = {parameters.lmr_quiet_divisor / 100.0,
                               parameters.lmr_noisy_divisor / 100.0};
    for (const int noisy : {0, 1})
        for (int depth = 1; depth <= MOST; ++depth)
            for (int count = 1; count <= MOST; ++count) {
                const double logs = std::log(depth) * std::log(count);
                values_[noisy][depth][count] = int(1024 * (bases[noisy] + logs / divisors[noisy]));
            }
}

}  // namespace rookery::alphabeta
