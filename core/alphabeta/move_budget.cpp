#include "alphabeta/move_budget.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "alphabeta/parameters.h"
#include "base/choose.h"

namespace rookery::alphabeta {

using namespace parameters;

namespace {

int cost_of(double probability) {
    const double plies = std::log(probability) / std::log(PLY_PROBABILITY);
    return int(1024 * std::clamp(plies, BUDGET_LEAST_COST, BUDGET_MOST_COST));
}

// By place in the move order, as a power law.
struct StaticCosts {
    int by_place[MAX_MOVES + 1] = {};
    StaticCosts() {
        for (int place = 1; place <= MAX_MOVES; ++place)
            by_place[place] = cost_of(STATIC_FIRST * std::pow(place, -STATIC_EXPONENT));
    }
};
const StaticCosts static_costs;

}  // namespace

MoveBudget::Kind MoveBudget::find_kind(std::string_view name) {
    return choose<Kind>("probabilities", name, {"uniform", "static", "learned"});
}

MoveBudget::MoveBudget(Kind kind, std::shared_ptr<const nets::MoveProbabilities> network)
    : kind_(kind), network_(std::move(network)) {
    if ((kind == Kind::LEARNED) != bool(network_))
        throw std::invalid_argument(network_ ? "only learned probabilities use a move network"
                                             : "learned probabilities need a move network");
}

void MoveBudget::prepare(const Position& position, const NodeInfo& info, int depth, Move table_move,
                         MoveCosts& costs) const {
    costs.learned = network_ && depth >= LEARNED_DEPTH;
    if (!costs.learned) return;
    costs.moves.clear();
    generate_noisy(position, info, costs.moves);
    generate_quiet(position, info, costs.moves);
    const auto count = std::size_t(costs.moves.size());
    std::array<float, MAX_MOVES> probabilities;
    network_->probabilities(position, info, {costs.moves.begin(), count},
                            {probabilities.data(), count});
    // What an earlier search found counts as much as the network.
    const double others = table_move ? 1 - TABLE_PROBABILITY : 1;
    for (std::size_t i = 0; i < count; ++i) {
        const bool is_table = table_move && costs.moves[int(i)] == table_move;
        costs.costs[i] = std::int16_t(
            cost_of(others * double(probabilities[i]) + (is_table ? TABLE_PROBABILITY : 0)));
    }
}

int MoveBudget::cost(const MoveCosts& costs, Move move, int place) const {
    if (kind_ == Kind::UNIFORM) return 1024;
    if (!costs.learned) return static_costs.by_place[place];
    const auto found = std::find(costs.moves.begin(), costs.moves.end(), move);
    return costs.costs[std::size_t(found - costs.moves.begin())];
}

}  // namespace rookery::alphabeta
