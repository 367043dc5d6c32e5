#include "rules/mate.h"

#include <algorithm>

#include "rules/game.h"
#include "rules/movegen.h"

namespace rookery {

namespace {

constexpr std::uint64_t STOP_MASK = (1 << 14) - 1;       // nodes between two calls of `stopping`
constexpr std::size_t MOST_REMEMBERED = std::size_t(1) << 22;  // entries of a table, about 250 MB

}  // namespace

bool MateSearch::count_node() {
    if (stopped_) return false;
    if (++nodes_ > node_limit_ || ((nodes_ & STOP_MASK) == 0 && stopping_ && stopping_()))
        stopped_ = true;
    return !stopped_;
}

bool MateSearch::attack(const Position& position, int moves, Move* best,
                        const std::vector<Move>& only) {
    // The clock and castling rights are part of what decides, but only the rights of the key; near
    // the fifty-move limit nothing is remembered.
    const bool remember = !best && position.halfmove_clock + 2 * moves < FIFTY_MOVES_PLIES;
    if (remember) {
        const auto known = refuted_.find(position.key);
        if (known != refuted_.end() && known->second >= moves) return false;
        const auto proof = proven_.find(position.key);
        if (proof != proven_.end() && proof->second <= moves) return true;
    }
    // Checks first; the last move must be one.
    for (const bool checking : {true, false}) {
        if (!checking && moves == 1) break;
        for (const Move move : legal_moves(position)) {
            if (!only.empty() && std::ranges::find(only, move) == only.end()) continue;
            Position next = position;
            next.make(move);
            if (next.in_check() != checking) continue;
            if (!count_node()) return false;
            if (defend(next, moves - 1)) {
                if (best) *best = move;
                if (remember && proven_.size() < MOST_REMEMBERED) {
                    int& fewest = proven_.try_emplace(position.key, moves).first->second;
                    fewest = std::min(fewest, moves);
                }
                return true;
            }
        }
    }
    if (remember && !stopped_ && refuted_.size() < MOST_REMEMBERED) {
        int& most = refuted_[position.key];
        most = std::max(most, moves);
    }
    return false;
}

bool MateSearch::defend(const Position& position, int moves) {
    if (moves == 0) return position.in_check() && !has_legal_move(position);
    const MoveList replies = legal_moves(position);
    if (replies.empty()) return position.in_check();
    if (position.halfmove_clock >= FIFTY_MOVES_PLIES || position.insufficient_material())
        return false;
    return std::all_of(replies.begin(), replies.end(), [&](const Move reply) {
        Position next = position;
        next.make(reply);
        return count_node() && attack(next, moves);
    });
}

// Appends the mate in exactly `moves`, which exists.
void MateSearch::add_line(const Position& position, int moves, std::vector<Move>& line,
                          const std::vector<Move>& only) {
    Move best;
    if (!attack(position, moves, &best, only)) return;
    line.push_back(best);
    Position next = position;
    next.make(best);
    add_reply(next, moves - 1, line);
}

void MateSearch::add_reply(const Position& position, int moves, std::vector<Move>& line) {
    Move longest;
    Position after;
    int left = 0;
    for (const Move reply : legal_moves(position)) {
        Position here = position;
        here.make(reply);
        int need = 1;
        while (need < moves && !attack(here, need)) ++need;
        if (need > left) longest = reply, after = here, left = need;
    }
    if (!longest) return;
    line.push_back(longest);
    add_line(after, left, line, {});
}

std::vector<Move> MateSearch::resist(const Position& position, int moves) {
    std::vector<Move> line;
    add_reply(position, moves, line);
    return line;
}

std::vector<Move> MateSearch::find(const Position& position, int moves,
                                   const std::vector<Move>& only) {
    std::vector<Move> line;
    for (int count = 1; count <= moves && !stopped_; ++count) {
        Move best;
        if (!attack(position, count, &best, only)) continue;
        add_line(position, count, line, only);
        if (line.empty()) line = {best};  // stopped meanwhile
        break;
    }
    return line;
}

}  // namespace rookery
