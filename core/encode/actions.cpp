#include "encode/actions.h"

#include <array>
#include <stdexcept>

#include "base/choose.h"
#include "rules/movegen.h"

namespace rookery::encode {

namespace {

constexpr int KNIGHT_STEPS[8][2] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
                                    {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

// Plane by oriented origin and destination, for all but under-promotions.
constexpr auto PLANES = [] {
    std::array<std::array<std::int8_t, 64>, 64> planes{};
    for (auto& row : planes) row.fill(-1);
    for (Square from = 0; from < 64; ++from) {
        const auto set = [&](int df, int dr, int plane) {
            const int file = file_of(from) + df, rank = rank_of(from) + dr;
            if (file >= 0 && file < 8 && rank >= 0 && rank < 8)
                planes[std::size_t(from)][std::size_t(make_square(file, rank))] =
                    std::int8_t(plane);
        };
        for (int i = 0; i < 8; ++i) {
            for (int distance = 1; distance < 8; ++distance)
                set(distance * DIRECTIONS[i][0], distance * DIRECTIONS[i][1], 7 * i + distance - 1);
            set(KNIGHT_STEPS[i][0], KNIGHT_STEPS[i][1], 56 + i);
        }
    }
    return planes;
}();

constexpr int FIRST_UNDERPROMOTION = 64;

int az_action(const Position& position, Move move) {
    const Color us = position.side;
    Square to = move.to();
    if (move.kind() == Move::CASTLING && !position.chess960)
        to = castled_king(us, to > move.from());
    const Square from = position.rules.oriented(move.from(), us);
    to = position.rules.oriented(to, us);
    int plane = PLANES[std::size_t(from)][std::size_t(to)];
    if (move.kind() == Move::PROMOTION && move.promotion() != QUEEN)
        plane = FIRST_UNDERPROMOTION + 3 * (move.promotion() - KNIGHT) +
                (file_of(to) - file_of(from) + 1);
    return from * AZ_PLANES + plane;
}

// The bits of a move: its two squares, and the one that promotions and castlings have in common.
constexpr unsigned SQUARES_OF_MOVE = 64 * 64 - 1;
constexpr unsigned NOT_PLAIN = (Move::PROMOTION & Move::CASTLING) << 14;
static_assert(!(Move::EN_PASSANT & Move::PROMOTION));

// The actions of all moves but castlings and promotions, by origin + 64 * destination of the
// board as it is, for White and for Black on the standard board.
constexpr auto PLAIN_ACTIONS = [] {
    std::array<std::array<std::int32_t, 64 * 64>, 2> actions{};
    for (Square from = 0; from < 64; ++from)
        for (Square to = 0; to < 64; ++to) {
            const int action = from * AZ_PLANES + PLANES[std::size_t(from)][std::size_t(to)];
            for (const Color us : {WHITE, BLACK})
                actions[us][std::size_t(oriented(from, us) + 64 * oriented(to, us))] =
                    std::int32_t(action);
        }
    return actions;
}();

void list_az_actions(const Position& position, LegalActions& legal) {
    legal.count = legal.moves.size();
    const Move* const moves = legal.moves.begin();
    const bool standard = position.rules == BoardRules();
    const auto& plain = PLAIN_ACTIONS[position.side];
    // First as if all were plain, without a branch for each; then the few others.
    unsigned kinds = 0;
    for (int i = 0; i < legal.count; ++i) {
        legal.actions[i] = plain[moves[i].bits() & SQUARES_OF_MOVE];
        kinds |= moves[i].bits();
    }
    if (standard && !(kinds & NOT_PLAIN)) return;
    for (int i = 0; i < legal.count; ++i)
        if (!standard || moves[i].bits() & NOT_PLAIN)
            legal.actions[i] = az_action(position, moves[i]);
}

int kpk_action(const Position& position, Move move) {
    const Color view = pawn_side(position);
    const Square from = oriented(move.from(), view), to = oriented(move.to(), view);
    const PieceType type = type_of(position.board[move.from()]);
    const bool underpromotion = move.kind() == Move::PROMOTION && move.promotion() != QUEEN;
    if (type == KING && move.kind() == Move::NORMAL)
        return PLANES[std::size_t(from)][std::size_t(to)] / 7;
    if (type == PAWN && file_of(from) == file_of(to) && !underpromotion)
        return to - from == 8 ? 8 : 9;
    return NO_ACTION;
}

}  // namespace

Color pawn_side(const Position& position) {
    return position.pieces(BLACK) & ~position.by_type[KING] ? BLACK : WHITE;
}

bool is_kpk(const Position& position) {
    return count_bits(position.occupied()) == 3 && count_bits(position.by_type[PAWN]) == 1;
}

ActionSpace find_action_space(std::string_view name) {
    return choose<ActionSpace>("action space", name, ACTION_SPACE_NAMES);
}

int action_count(ActionSpace space) {
    switch (space) {
        case ActionSpace::AZ4672: return AZ_ACTIONS;
        case ActionSpace::AZ4673: return AZ_ACTIONS + 1;
        case ActionSpace::KPK: return 10;
    }
    return 0;
}

int action_of(ActionSpace space, const Position& position, Move legal_move) {
    return space == ActionSpace::KPK ? kpk_action(position, legal_move)
                                     : az_action(position, legal_move);
}

void list_actions(ActionSpace space, const Position& position, const RepetitionKeys& keys,
                  LegalActions& legal) {
    legal.moves.clear();
    legal.count = 0;
    if (space == ActionSpace::KPK) {
        for (const Move move : legal_moves(position)) {
            const int action = kpk_action(position, move);
            if (action == NO_ACTION) continue;
            legal.moves.add(move);
            legal.actions[legal.count++] = action;
        }
        return;
    }
    generate_legal(position, legal.moves);
    list_az_actions(position, legal);
    if (space == ActionSpace::AZ4673 && can_claim_draw(position, keys))
        legal.actions[legal.count++] = CLAIM_DRAW_ACTION;
}

void list_actions(ActionSpace space, const Game& game, LegalActions& legal) {
    if (space == ActionSpace::KPK && !is_kpk(game.now()))
        throw MoveError("kpk actions need king and pawn against king, not " +
                        material_signature(game.now()));
    list_actions(space, game.now(), game.keys(), legal);
}

std::optional<Move> move_of(ActionSpace space, const Game& game, std::int64_t action) {
    LegalActions legal;
    list_actions(space, game, legal);
    for (int i = 0; i < legal.count; ++i)
        if (legal.actions[i] == action)
            return i < legal.moves.size() ? std::optional(legal.moves[i]) : std::nullopt;
    throw MoveError("action " + std::to_string(action) + " is illegal in '" + to_fen(game.now()) +
                    "'");
}

void write_mask(ActionSpace space, const Game& game, std::uint8_t* mask) {
    LegalActions legal;
    list_actions(space, game, legal);
    if (legal.moves.empty() && !has_legal_move(game.now()))
        throw MoveError("the game is over in '" + to_fen(game.now()) +
                        "': there is no legal action to mask");
    std::fill_n(mask, std::size_t(action_count(space)), std::uint8_t(0));
    for (int i = 0; i < legal.count; ++i) mask[legal.actions[i]] = 1;
}

}  // namespace rookery::encode
