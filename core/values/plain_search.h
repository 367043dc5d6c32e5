// Alpha-beta to a fixed depth and nothing else: no quiescence, no table, no extensions.
//
// The search of Inman and Ezra Marin (2022). A leaf is judged by one of two evaluators, drawn at
// random (their epsilon). The leaves below one node are evaluated in batches, good captures first;
// a batch after a cutoff is not needed. Values need not be in [-1, 1] here.

#pragma once

#include <vector>

#include "base/random.h"
#include "rules/game.h"
#include "values/evaluator.h"

namespace rookery::values {

struct PlainResult {
    Move best;
    float value = 0;  // for the side to move; a mate in n plies is MATE - n
    std::vector<Move> line;  // principal variation
    std::uint64_t leaves = 0;  // evaluated
};

class PlainSearch {
  public:
    static constexpr float MATE = 10'000;
    static constexpr int MAX_DEPTH = 8;

    // `other` judges a share of the leaves; it may be null if the share is 0.
    PlainSearch(BatchEvaluatorPtr evaluator, BatchEvaluatorPtr other = nullptr);

    // The position must not be over. Throws std::invalid_argument for a depth outside 1 ..
    // MAX_DEPTH or a share without a second evaluator.
    [[nodiscard]] PlainResult search(const Position& root, const RepetitionKeys& keys, int depth,
                                     double other_share, Random& random);

  private:
    struct Child {
        Move move;
        int order;
        Position position;
        float value;
        bool known;  // the game is over
    };

    float node(const Position& position, int depth, int ply, float alpha, float beta);
    std::vector<Child> children(const Position& position, int depth, int ply);
    void judge(std::vector<Child>& children, std::size_t first, std::size_t last);
    void judge_by(const BatchEvaluator& evaluator, std::vector<Child>& children,
                  const std::vector<std::size_t>& chosen);

    BatchEvaluatorPtr evaluator_, other_;
    double other_share_ = 0;
    Random* random_ = nullptr;
    RepetitionKeys keys_;
    std::uint64_t leaves_ = 0;
    std::vector<Move> lines_[MAX_DEPTH + 1];
    Move refutations_[MAX_DEPTH + 1];  // last move that was best at this ply
};

}  // namespace rookery::values
