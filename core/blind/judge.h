// What the engine thinks of a side's requests on boards that may be the true one.
//
// Chess has checks, blind chess does not, so three cases are decided here: a request that captures
// the king wins; a board on which the opponent could then capture ours is nearly lost; everything
// else is a legal chess position with the opponent to move, which the engine searches.

#pragma once

#include <span>
#include <vector>

#include "alphabeta/engine.h"
#include "blind/board.h"

namespace rookery::blind {

struct JudgeOptions {
    std::uint64_t nodes = 40'000;  // of all searches of one call together
    double exposed_king = 0.03;    // value of a board on which our king can be captured
    // What a check is worth: the opponent may not see it. Share of the way from the engine's value
    // to a win.
    double unseen_check = 0.2;
};

class Judge {
  public:
    Judge(nnue::NetworkPtr network, JudgeOptions options);

    void new_game() { engine_.new_game(); }
    // Values [boards, requests] in [0, 1], the side to move's chance to win: of each request (no
    // move: a pass) on each board. All boards have the same own pieces and side to move.
    [[nodiscard]] std::vector<float> values(std::span<const Board> boards,
                                            std::span<const Move> requests);

  private:
    [[nodiscard]] double value(const Board& board, Move taken, std::uint64_t nodes);

    alphabeta::Engine engine_;
    JudgeOptions options_;
};

}  // namespace rookery::blind
