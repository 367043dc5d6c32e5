// The root: noise, Gumbel's sequential halving, move choice, policy targets.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "mcts/tree.h"
#include "rules/movegen.h"

namespace rookery::mcts {

namespace {

constexpr double SMALLEST_PRIOR = 1e-30;  // keeps its logarithm finite
constexpr int LONGEST_SCHEDULE = 1 << 20;  // simulations; searches by the clock ask for billions

int rank(const Tree::Edge& edge) {
    return edge.status == EdgeStatus::WON ? 2 : edge.status == EdgeStatus::LOST ? 0 : 1;
}

double normal(Random& random) {  // Box and Muller
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    return radius * std::cos(6.283185307179586 * random.uniform());
}

// Marsaglia and Tsang 2000; below a shape of 1 boosted by a power of a uniform number.
double gamma(double shape, Random& random) {
    if (shape < 1.0)
        return gamma(shape + 1.0, random) * std::pow(1.0 - random.uniform(), 1.0 / shape);
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
        const double x = normal(random), v = std::pow(1.0 + c * x, 3.0);
        if (v <= 0) continue;
        if (std::log(1.0 - random.uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v)))
            return d * v;
    }
}

// Danihelka et al. 2022, figure 1: simulation i goes to the best considered move with schedule[i]
// visits. The number of considered moves halves while their visits double.
std::vector<std::int32_t> halving_schedule(int considered, int simulations) {
    std::vector<std::int32_t> schedule;
    if (considered <= 1) {
        schedule.resize(std::size_t(simulations));
        std::iota(schedule.begin(), schedule.end(), 0);
        return schedule;
    }
    const int phases = int(std::ceil(std::log2(double(considered))));
    std::int32_t visits = 0;
    while (int(schedule.size()) < simulations) {
        const int extra = std::max(1, simulations / (phases * considered));
        for (int i = 0; i < extra; ++i, ++visits)
            schedule.insert(schedule.end(), std::size_t(considered), visits);
        considered = std::max(2, considered / 2);
    }
    schedule.resize(std::size_t(simulations));
    return schedule;
}

}  // namespace

void Tree::begin(const SearchSettings& settings) {
    settings_ = settings;
    prepared_ = false;
    started_ = finished_ = 0;
    max_depth_ = 0;
    schedule_.clear();
    if (root_ready()) prepare_root();
}

void Tree::prepare_root() {
    prepared_ = true;
    Node& root = nodes_[0];
    if (!root.sorted) sort_edges(root);  // a reused root keeps its order: visited edges first
    const auto edges = root_edges();
    // A mate in one is found even without simulations.
    if (options_.proofs)
        for (std::size_t i = 0; i < edges.size(); ++i) {
            Position next = root_;
            next.make(edges[i].move);
            if (next.in_check() && !has_legal_move(next))
                edges_[root.first_edge + i].status = EdgeStatus::WON;
        }
    Random random(settings_.seed);
    root_priors_.resize(edges.size());
    double total = 0;
    for (std::size_t i = 0; i < edges.size(); ++i)
        total += root_priors_[i] =
            options_.root_temperature == 1.0
                ? double(edges[i].prior)
                : std::pow(double(edges[i].prior), 1.0 / options_.root_temperature);
    for (double& prior : root_priors_) prior /= total;
    start_visits_.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) start_visits_[i] = edges[i].visits;
    if (settings_.noise && options_.gumbel_actions == 0) {
        std::vector<double> noise(edges.size());
        double sum = 0;
        for (double& one : noise) sum += one = gamma(options_.noise_alpha, random);
        for (std::size_t i = 0; i < edges.size() && sum > 0; ++i)
            root_priors_[i] = (1 - options_.noise_share) * root_priors_[i] +
                              options_.noise_share * noise[i] / sum;
    }
    root_logits_.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i)
        root_logits_[i] = std::log(std::max(root_priors_[i], SMALLEST_PRIOR));
    gumbel_.assign(edges.size(), 0.0);
    schedule_.clear();
    if (options_.gumbel_actions == 0) return;
    if (settings_.gumbel_scale > 0)
        for (double& one : gumbel_)
            one = -settings_.gumbel_scale * std::log(-std::log(1.0 - random.uniform()));
    int allowed = 0;
    for (const Edge& edge : edges) allowed += is_allowed(edge.move);
    schedule_ = halving_schedule(std::min(options_.gumbel_actions, allowed),
                                 std::min(settings_.simulations, LONGEST_SCHEDULE));
}

// gumbel + logit + sigma(q) of every root edge, with the mixed value of the root where an edge
// has no visits (Danihelka et al. 2022, equations 8 and 33).
const std::vector<double>& Tree::completed_scores(bool with_gumbel) const {
    const auto edges = root_edges();
    double visits = 0, most = 0, policy = 0, weighted = 0;
    const auto value_of = [](const Edge& edge) {
        if (edge.status == EdgeStatus::WON) return 1.0;
        if (edge.status == EdgeStatus::LOST) return -1.0;
        return (edge.value_sum - edge.in_flight) / (edge.visits + edge.in_flight);
    };
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const double n = edges[i].visits + edges[i].in_flight;
        visits += n;
        most = std::max(most, n);
        if (n == 0) continue;
        policy += root_priors_[i];
        weighted += root_priors_[i] * value_of(edges[i]);
    }
    double mixed = nodes_[0].value;
    if (policy > 0) mixed = (mixed + visits * weighted / policy) / (1 + visits);
    scores_.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const double q = edges[i].visits + edges[i].in_flight ? value_of(edges[i]) : mixed;
        scores_[i] = root_logits_[i] + (options_.c_visit + most) * options_.c_scale * (q + 1) / 2;
        if (with_gumbel) scores_[i] += gumbel_[i];
    }
    return scores_;
}

std::uint32_t Tree::select_gumbel() const {
    const auto edges = root_edges();
    const std::vector<double>& scores = completed_scores(true);
    const auto wanted =
        std::uint32_t(schedule_[std::min(std::size_t(started_), schedule_.size() - 1)]);
    std::uint32_t best = NONE, fallback = NONE;
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
        if (!is_allowed(edges[i].move)) continue;
        if (fallback == NONE || scores[i] > scores[fallback]) fallback = i;
        const std::uint32_t visits = edges[i].visits + edges[i].in_flight - start_visits_[i];
        if (visits == wanted && (best == NONE || scores[i] > scores[best])) best = i;
    }
    // With pending leaves no move may have the wanted number of visits; then take the best one.
    return nodes_[0].first_edge + (best == NONE ? fallback : best);
}

EdgeStatus Tree::root_status() const {
    bool all_lost = true;
    for (const Edge& edge : root_edges()) {
        if (!is_allowed(edge.move)) continue;
        if (edge.status == EdgeStatus::WON) return EdgeStatus::WON;
        all_lost &= edge.status == EdgeStatus::LOST;
    }
    return all_lost ? EdgeStatus::LOST : EdgeStatus::OPEN;
}

bool Tree::done() const {
    if (!root_ready()) return false;
    if (started_ >= settings_.simulations) return true;
    if (options_.proofs && root_status() != EdgeStatus::OPEN) return true;
    if (!settings_.stop_early || options_.gumbel_actions > 0) return false;
    std::uint32_t first = 0, second = 0;
    for (const Edge& edge : root_edges()) {
        const std::uint32_t n = edge.visits;
        if (n > first)
            second = first, first = n;
        else
            second = std::max(second, n);
    }
    return int(first - second) > settings_.simulations - started_ + int(pending_count_);
}

double Tree::root_value() const {
    if (options_.proofs) {
        const EdgeStatus status = root_status();
        if (status == EdgeStatus::WON) return 1;
        if (status == EdgeStatus::LOST) return -1;
    }
    return nodes_[0].value_sum / nodes_[0].visits;
}

std::size_t Tree::best_edge() const {
    const auto edges = root_edges();
    // The shortest mate, else the most visited, else the longest resistance.
    const auto better = [&](std::size_t a, std::size_t b) {
        const Edge &x = edges[a], &y = edges[b];
        if (rank(x) != rank(y)) return rank(x) > rank(y);
        if (rank(x) == 2 && mate_plies(x) != mate_plies(y)) return mate_plies(x) < mate_plies(y);
        if (rank(x) == 0 && mate_plies(x) != mate_plies(y)) return mate_plies(x) > mate_plies(y);
        if (x.visits != y.visits) return x.visits > y.visits;
        if (x.visits && x.value_sum != y.value_sum) return x.value_sum > y.value_sum;
        return x.prior > y.prior;
    };
    std::size_t best = edges.size();
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (is_allowed(edges[i].move) && (best == edges.size() || better(i, best))) best = i;
    return best == edges.size() ? 0 : best;
}

std::size_t Tree::final_edge() const {
    if (options_.gumbel_actions == 0 || !prepared_ || root_status() != EdgeStatus::OPEN)
        return best_edge();
    const auto edges = root_edges();
    const std::vector<double>& scores = completed_scores(true);
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (is_allowed(edges[i].move)) most = std::max(most, edges[i].visits - start_visits_[i]);
    std::size_t best = edges.size();
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (!is_allowed(edges[i].move) || edges[i].status == EdgeStatus::LOST) continue;
        if (edges[i].visits - start_visits_[i] != most) continue;
        if (best == edges.size() || scores[i] > scores[best]) best = i;
    }
    return best == edges.size() ? best_edge() : best;
}

std::vector<float> Tree::policy_target() const {
    const auto edges = root_edges();
    std::vector<float> target(edges.size(), 0.0f);
    const EdgeStatus status = root_status();
    if (options_.proofs && status == EdgeStatus::WON) {
        target[best_edge()] = 1;
        return target;
    }
    double total = 0;
    std::vector<double> weights(edges.size(), 0.0);
    if (options_.gumbel_actions > 0 && prepared_) {
        const std::vector<double>& scores = completed_scores(false);
        const double largest = *std::max_element(scores.begin(), scores.end());
        for (std::size_t i = 0; i < edges.size(); ++i) weights[i] = std::exp(scores[i] - largest);
    } else {
        // Visits of a proven loss only measure how long the proof took.
        for (std::size_t i = 0; i < edges.size(); ++i)
            if (edges[i].status != EdgeStatus::LOST || status == EdgeStatus::LOST)
                weights[i] = edges[i].visits;
    }
    for (const double weight : weights) total += weight;
    if (total == 0)  // no simulations: the prior policy
        for (std::size_t i = 0; i < edges.size(); ++i) total += weights[i] = edges[i].prior;
    for (std::size_t i = 0; i < edges.size(); ++i) target[i] = float(weights[i] / total);
    return target;
}

std::vector<Move> Tree::line(std::size_t root_edge) const {
    if (root_edge >= root_edges().size())
        throw std::invalid_argument("there is no root edge " + std::to_string(root_edge));
    std::vector<Move> moves;
    const Edge* edge = &root_edges()[root_edge];
    while (true) {
        moves.push_back(edge->move);
        if (!has_child(*edge)) return moves;
        const Edge* next = nullptr;
        for (const Edge& candidate : edges_of(nodes_[edge->child])) {
            if (candidate.visits == 0) continue;
            // Among lost moves the longest resistance.
            if (!next || rank(candidate) > rank(*next) ||
                (rank(candidate) == rank(*next) &&
                 (rank(candidate) == 0 ? mate_plies(candidate) > mate_plies(*next)
                                       : candidate.visits > next->visits)))
                next = &candidate;
        }
        if (!next) return moves;
        edge = next;
    }
}

}  // namespace rookery::mcts
