#include "blind/judge.h"

#include <algorithm>
#include <cmath>

#include "rules/movegen.h"

namespace rookery::blind {

namespace {

constexpr std::uint64_t LEAST_NODES = 16, MOST_NODES = 4000;  // of one search
constexpr double WIN = 1.0, MATE = 0.97;
constexpr double SCORE_SCALE = 400.0;  // units of score per unit of logit (nnue/network.h)
constexpr std::size_t HASH_MEBIBYTES = 16;

double win_chance(double score) { return 1.0 / (1.0 + std::exp(-score / SCORE_SCALE)); }

}  // namespace

Judge::Judge(nnue::NetworkPtr network, JudgeOptions options)
    : engine_(std::move(network), 1, HASH_MEBIBYTES), options_(options) {}

std::vector<float> Judge::values(std::span<const Board> boards, std::span<const Move> requests) {
    std::vector<float> found(boards.size() * requests.size());
    if (found.empty()) return found;
    const std::uint64_t share = std::clamp(options_.nodes / found.size(), LEAST_NODES, MOST_NODES);
    std::vector<std::pair<Move, float>> known;  // requests often become the same move
    for (std::size_t b = 0; b < boards.size(); ++b) {
        known.clear();
        for (std::size_t r = 0; r < requests.size(); ++r) {
            const Move taken = resolve(boards[b], requests[r]);
            auto same = std::ranges::find(known, taken, &std::pair<Move, float>::first);
            if (same == known.end()) {
                known.emplace_back(taken, float(value(boards[b], taken, share)));
                same = known.end() - 1;
            }
            found[b * requests.size() + r] = same->second;
        }
    }
    return found;
}

double Judge::value(const Board& board, Move taken, std::uint64_t nodes) {
    const Color us = board.side;
    Board after = board;
    after.make(taken);
    if (!after.has_king(~us)) return WIN;
    if (after.attacked_by(~us, after.king(us))) return options_.exposed_king;
    const bool check = after.attacked_by(us, after.king(~us));
    const Position position = position_of(after);
    double chance = MATE;
    if (has_legal_move(position)) {
        alphabeta::Limits limits;
        limits.nodes = nodes;
        engine_.prepare();
        chance = 1.0 - win_chance(engine_.search(position, {}, limits).score);
        chance = std::clamp(chance, 1.0 - MATE, MATE);
    } else if (!check) {
        chance = 0.5;  // a stalemate is none here: the opponent passes
    }
    return check ? chance + options_.unseen_check * (WIN - chance) : chance;
}

}  // namespace rookery::blind
