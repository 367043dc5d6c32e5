#include "solve/game_graph.h"

#include <deque>

#include "rules/movegen.h"

namespace rookery::solve {

namespace {
constexpr std::size_t STOP_EVERY = 1 << 14;  // positions between two calls of `stopping`
}

GameGraph::GameGraph(const Position& root, std::size_t most,
                     const std::function<bool()>& stopping) {
    complete_ = explore(root, most, stopping);
    if (complete_) evaluate();
    first_ = {};
    successors_ = {};
}

bool GameGraph::explore(const Position& root, std::size_t most,
                        const std::function<bool()>& stopping) {
    std::deque<Position> waiting{root};
    numbers_[root.key] = 0;
    while (!waiting.empty()) {
        const Position position = waiting.front();
        waiting.pop_front();
        first_.push_back(successors_.size());
        outcomes_.emplace_back();
        if (numbers_.size() > most) return false;
        if (outcomes_.size() % STOP_EVERY == 0 && stopping && stopping()) return false;
        const MoveList moves = legal_moves(position);
        if (moves.empty() || position.insufficient_material()) {
            const bool mated = moves.empty() && position.in_check();
            outcomes_.back().value = mated ? Value::LOSS : Value::DRAW;
            continue;
        }
        for (const Move move : moves) {
            Position next = position;
            next.make(move);
            const auto [entry, added] =
                numbers_.try_emplace(next.key, std::uint32_t(numbers_.size()));
            if (added) waiting.push_back(next);
            successors_.push_back(entry->second);
        }
    }
    first_.push_back(successors_.size());
    return true;
}

// Backwards from the mates, in the order of their distance: a position is won if one successor is
// lost, and lost if all successors are won. What is never reached is drawn.
void GameGraph::evaluate() {
    const std::size_t count = outcomes_.size();
    std::vector<std::uint64_t> begin(count + 1, 0);
    for (const std::uint32_t to : successors_) ++begin[to + 1];
    for (std::size_t i = 0; i < count; ++i) begin[i + 1] += begin[i];
    std::vector<std::uint32_t> predecessors(successors_.size());
    std::vector<std::uint64_t> next = begin;
    for (std::uint32_t from = 0; from < count; ++from)
        for (std::uint64_t i = first_[from]; i < first_[from + 1]; ++i)
            predecessors[next[successors_[i]]++] = from;

    std::vector<std::uint32_t> open(count), queue;
    for (std::uint32_t i = 0; i < count; ++i) {
        open[i] = std::uint32_t(first_[i + 1] - first_[i]);
        if (outcomes_[i].value == Value::LOSS) queue.push_back(i);
    }
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const std::uint32_t here = queue[head];
        const Outcome known = outcomes_[here];
        for (std::uint64_t i = begin[here]; i < begin[here + 1]; ++i) {
            Outcome& before = outcomes_[predecessors[i]];
            if (before.value != Value::UNKNOWN) continue;
            if (known.value == Value::WIN && --open[predecessors[i]] > 0) continue;
            before.value = known.value == Value::WIN ? Value::LOSS : Value::WIN;
            before.plies = known.plies + 1;
            queue.push_back(predecessors[i]);
        }
    }
    for (Outcome& outcome : outcomes_)
        if (outcome.value == Value::UNKNOWN) outcome.value = Value::DRAW;
}

std::optional<Outcome> GameGraph::find(const Position& position) const {
    const auto found = numbers_.find(position.key);
    if (!complete_ || found == numbers_.end()) return std::nullopt;
    return outcomes_[found->second];
}

std::vector<Move> GameGraph::line(Position position) const {
    std::vector<Move> moves;
    for (std::optional<Outcome> now = find(position);
         now && now->value != Value::DRAW && now->plies > 0; now = find(position)) {
        const Value wanted = now->value == Value::WIN ? Value::LOSS : Value::WIN;
        for (const Move move : legal_moves(position)) {
            Position next = position;
            next.make(move);
            const std::optional<Outcome> after = find(next);
            if (!after || after->value != wanted || after->plies != now->plies - 1) continue;
            moves.push_back(move);
            position = next;
            break;
        }
    }
    return moves;
}

}  // namespace rookery::solve
