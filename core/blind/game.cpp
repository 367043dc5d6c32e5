#include "blind/game.h"

#include "rules/game.h"

namespace rookery::blind {

namespace {

Ending ending_of(const Board& board, const Limits& limits) {
    if (!board.has_king(WHITE) || !board.has_king(BLACK)) return Ending::KING_CAPTURE;
    if (limits.full_turns && board.fullmove_number > limits.full_turns) return Ending::TURN_LIMIT;
    if (limits.reversible_moves && board.halfmove_clock >= limits.reversible_moves)
        return Ending::MOVE_LIMIT;
    return Ending::NONE;
}

}  // namespace

Game::Game(const Board& start, Limits limits)
    : board_(start),
      limits_(limits),
      white_(WHITE, start),
      black_(BLACK, start),
      ending_(ending_of(start, limits)) {
    if (ending_ != Ending::NONE)
        phase_ = Phase::OVER;
    else
        knowledge_of(board_.side).opponent_moved(NO_SQUARE);
}

void Game::require(Phase phase) const {
    if (phase_ == phase) return;
    const std::string now = phase_ == Phase::OVER
                                ? "the game is over"
                                : std::string("this is the ") + PHASE_NAMES[int(phase_)] + " phase";
    throw MoveError(now + "; " + PHASE_NAMES[int(phase)] + "() belongs to the " +
                    PHASE_NAMES[int(phase)] + " phase");
}

Window Game::sense(Square centre) {
    require(Phase::SENSE);
    Window window;
    window.fill(OFF_BOARD);
    if (centre != NO_SQUARE) window = look(board_, centre);
    knowledge_of(board_.side).sensed(centre, window);
    phase_ = Phase::MOVE;
    return window;
}

MoveResult Game::move(Move request) {
    require(Phase::MOVE);
    const Color us = board_.side;
    MoveResult result{resolve(board_, request)};
    result.capture = capture_square(board_, result.taken);
    board_.make(result.taken);
    knowledge_of(us).moved(request, result.taken, result.capture);
    ending_ = ending_of(board_, limits_);
    phase_ = ending_ == Ending::NONE ? Phase::SENSE : Phase::OVER;
    if (ending_ == Ending::KING_CAPTURE)
        winner_ = us;
    else if (ending_ == Ending::NONE)
        knowledge_of(~us).opponent_moved(result.capture);
    return result;
}

}  // namespace rookery::blind
