#include "solve/solver.h"

#include "rules/movegen.h"

namespace rookery::solve {

Solution Solver::solve(const Position& position) {
    Solution solution;
    if (!has_legal_move(position)) {
        solution.value = position.in_check() ? Value::LOSS : Value::DRAW;
        return solution;
    }
    if (position.insufficient_material()) {
        solution.value = Value::DRAW;
        return solution;
    }
    if (graph_ && graph_->find(position)) return from_graph(position);
    solution = find_mates(position);
    if (solution.value != Value::UNKNOWN) return solution;
    auto graph = std::make_unique<GameGraph>(position, options_.positions, stopping_);
    if (!graph->complete()) return solution;
    graph_ = std::move(graph);
    return from_graph(position);
}

Solution Solver::find_mates(const Position& position) {
    MateSearch search(options_.nodes, stopping_);
    Solution solution;
    for (int moves = 1; moves <= options_.moves && !search.stopped(); ++moves) {
        if (search.mates(position, moves)) {
            solution.line = search.find(position, moves);
            solution.value = Value::WIN;
        } else if (search.mated(position, moves)) {
            solution.line = search.resist(position, moves);
            solution.value = Value::LOSS;
        }
        if (solution.value == Value::UNKNOWN) continue;
        solution.mate_in = moves;
        break;
    }
    solution.nodes = search.nodes();
    return solution;
}

Solution Solver::from_graph(const Position& position) {
    const Outcome known = graph_->find(position).value_or(Outcome{});
    Solution solution;
    solution.value = known.value;
    solution.mate_in = (known.plies + 1) / 2;
    solution.line = graph_->line(position);
    solution.nodes = graph_->size();
    solution.exhausted = true;
    return solution;
}

}  // namespace rookery::solve
