#include "peers/bots.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/choose.h"
#include "rules/movegen.h"
#include "rules/see.h"

namespace rookery::peers {

namespace {

constexpr int DRAW_SCORE = -10;  // at equal material a draw is the last choice
constexpr int MATE_SCORE = 1'000'000;

int material(const Position& p, Color color) {
    int sum = 0;
    for (int type = PAWN; type < KING; ++type)
        sum += PIECE_VALUE[type] * count_bits(p.pieces(color, PieceType(type)));
    return sum;
}

int greedy_score(const Position& position, Move move) {
    Position next = position;
    next.make(move);
    return material_balance(next, position.side);
}

int safe_score(const Position& position, const RepetitionKeys& keys, Move move) {
    Position next = position;
    RepetitionKeys next_keys = keys;
    make_with_history(next, next_keys, move);
    const MoveList replies = legal_moves(next);
    const Ending ending = find_ending(next, next_keys, replies.size(), Claims::OCCURRED);
    if (ending == Ending::CHECKMATE) return MATE_SCORE;
    if (ending != Ending::NONE || next.repetitions > 0) return DRAW_SCORE;
    int worst = 0;
    for (const Move reply : replies)
        if (next.is_capture(reply) || reply.kind() == Move::PROMOTION)
            worst = std::max(worst, static_exchange(next, reply));
    return material_balance(next, position.side) - worst;
}

constexpr int MAX_SETTLING_PLIES = 24;  // captures run out, check evasions may not

int settle(const Position& position, int alpha, int beta, int ply) {
    const int balance = material_balance(position, position.side);
    if (ply == MAX_SETTLING_PLIES) return balance;
    const bool in_check = position.in_check();
    int best = in_check ? -MATE_SCORE : balance;  // stand pat
    for (const Move move : legal_moves(position)) {
        if (best >= beta) break;
        const bool changes = position.is_capture(move) || move.kind() == Move::PROMOTION;
        if (!in_check && (!changes || static_exchange(position, move) < 0)) continue;
        Position next = position;
        next.make(move);
        best = std::max(best, -settle(next, -beta, -std::max(alpha, best), ply + 1));
    }
    return best;
}

}  // namespace

int settled_material(const Position& position) {
    return settle(position, -MATE_SCORE, MATE_SCORE, 0);
}

int material_balance(const Position& position, Color view) {
    return material(position, view) - material(position, ~view);
}

Bot find_bot(std::string_view name) { return choose<Bot>("bot", name, BOT_NAMES); }

Move choose_move(Bot bot, const Position& position, const RepetitionKeys& keys,
                 const MoveList& moves, Random& random) {
    if (bot == Bot::RANDOM) return moves[int(random.below(std::uint32_t(moves.size())))];
    Move best;
    int best_score = std::numeric_limits<int>::min();
    std::uint32_t equals = 0;
    for (const Move move : moves) {
        const int score =
            bot == Bot::GREEDY ? greedy_score(position, move) : safe_score(position, keys, move);
        if (score < best_score) continue;
        if (score > best_score) equals = 0;
        best_score = score;
        // Each of the k best moves seen so far stays with probability 1 / k.
        if (random.below(++equals) == 0) best = move;
    }
    return best;
}

Move choose_move(Bot bot, const Game& game, std::uint64_t seed) {
    const MoveList moves = legal_moves(game.now());
    if (moves.empty()) throw MoveError("the game is over in '" + to_fen(game.now()) + "'");
    Random random(seed);
    return choose_move(bot, game.now(), game.keys(), moves, random);
}

BotGame play_bots(Bot white, Bot black, const Game& start, int max_plies, Random random) {
    BotGame game;
    Position position = start.now();
    RepetitionKeys keys = start.keys();
    while (true) {
        const MoveList moves = legal_moves(position);
        game.ending = find_ending(position, keys, moves.size(), Claims::OCCURRED);
        if (game.ending == Ending::NONE && max_plies && int(game.moves.size()) >= max_plies)
            game.ending = Ending::PLY_CAP;
        if (game.ending != Ending::NONE) break;
        const Bot bot = position.side == WHITE ? white : black;
        const Move move = choose_move(bot, position, keys, moves, random);
        game.moves.push_back(move);
        make_with_history(position, keys, move);
        if (position.halfmove_clock == 0) keys.clear();
    }
    if (game.ending == Ending::CHECKMATE) game.result = position.side == WHITE ? -1 : 1;
    return game;
}

}  // namespace rookery::peers
