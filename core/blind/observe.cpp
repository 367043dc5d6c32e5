#include "blind/observe.h"

#include <algorithm>
#include <cmath>

#include "blind/list_moves.h"
#include "encode/actions.h"

namespace rookery::blind {

namespace {

// Planes of the present, in this order; src/rookery/blind/observation.py says what they mean.
enum Plane {
    OWN = 0,               // 6
    THEIRS = 6,            // 6
    UNKNOWN_PIECE = 12,
    FRESHNESS = 13,
    SENSED_NOW = 14,
    CAPTURED_HERE = 15,
    CASTLE_SHORT = 16,
    CASTLE_LONG = 17,
    MOVE_PHASE = 18,
    AS_WHITE = 19,
    TURN_NUMBER = 20,
    PIECES_LEFT = 21,
    REQUEST_FROM = 22,
    REQUEST_TO = 23,
};
static_assert(REQUEST_TO + 1 == CURRENT_PLANES);

constexpr float FADING = 0.85F;       // freshness of a memory lost every turn
constexpr float LONG_GAME = 100.0F;   // turns

class Writer {
  public:
    Writer(Color color, float* planes) : color_(color), planes_(planes) {}
    void set(int plane, Square square, float value = 1.0F) {
        if (square != NO_SQUARE) planes_[64 * plane + oriented(square, color_)] = value;
    }
    void set_all(int plane, Bitboard squares) {
        while (squares) set(plane, pop_square(squares));
    }
    void fill(int plane, float value) { std::fill_n(planes_ + 64 * plane, 64, value); }

  private:
    Color color_;
    float* planes_;
};

void write_turn(Writer& writer, int first, const Turn& turn, Color color) {
    writer.set(first, turn.opponent_capture);
    if (turn.sense != NO_SQUARE) {
        writer.set_all(first + 1, window_mask(turn.sense));
        for (int i = 0; i < 9; ++i) {
            const Piece piece = turn.window[std::size_t(i)];
            if (piece < NO_PIECE && color_of(piece) != color)
                writer.set(first + 2, window_square(turn.sense, i));
        }
    }
    if (turn.taken) {
        writer.set(first + 3, turn.taken.from());
        writer.set(first + 4, turn.taken.to());
    }
    writer.set(first + 5, turn.capture);
}

}  // namespace

void write_planes(const Knowledge& knowledge, float* planes) {
    std::fill_n(planes, PLANES * 64, 0.0F);
    const Color color = knowledge.color();
    const auto turns = knowledge.turns();
    const int now = int(turns.size()) - 1;
    Writer writer(color, planes);
    for (int type = PAWN; type <= KING; ++type)
        writer.set_all(OWN + type, knowledge.own().pieces(color, PieceType(type)));
    for (Square square = 0; square < 64; ++square) {
        const Piece piece = knowledge.remembered(square);
        if (piece == Knowledge::UNKNOWN_PIECE)
            writer.set(UNKNOWN_PIECE, square);
        else if (piece != NO_PIECE)
            writer.set(THEIRS + type_of(piece), square);
        writer.set(FRESHNESS, square,
                   std::pow(FADING, float(now - knowledge.remembered_at(square))));
    }
    const auto flag = [&](int plane, bool on) {
        if (on) writer.fill(plane, 1.0F);
    };
    flag(CASTLE_SHORT, knowledge.own().castling >> castling_bit(color, true) & 1);
    flag(CASTLE_LONG, knowledge.own().castling >> castling_bit(color, false) & 1);
    flag(AS_WHITE, color == WHITE);
    writer.fill(PIECES_LEFT, float(knowledge.opponent_pieces()) / 16);
    writer.fill(TURN_NUMBER, std::min(1.0F, float(std::max(now, 0)) / LONG_GAME));
    if (now < 0) return;
    const Turn& turn = turns[std::size_t(now)];
    writer.set(CAPTURED_HERE, turn.opponent_capture);
    if (turn.sense != NO_SQUARE) writer.set_all(SENSED_NOW, window_mask(turn.sense));
    flag(MOVE_PHASE, knowledge.has_sensed());
    if (now > 0 && turns[std::size_t(now - 1)].requested) {
        writer.set(REQUEST_FROM, turns[std::size_t(now - 1)].requested.from());
        writer.set(REQUEST_TO, turns[std::size_t(now - 1)].requested.to());
    }
    for (int back = 1; back <= HISTORY_TURNS && back <= now; ++back)
        write_turn(writer, CURRENT_PLANES + (back - 1) * HISTORY_PLANES,
                   turns[std::size_t(now - back)], color);
}

int sense_action(Color color, Square centre) {
    return centre == NO_SQUARE ? NO_SQUARE : oriented(centre, color);
}
Square sense_of(Color color, int action) {
    return action == NO_SQUARE ? NO_SQUARE : oriented(action, color);
}

namespace {

int action_of(Color color, Move request) {
    Position position = empty_board();  // only its side matters
    position.side = color;
    return encode::action_of(encode::ActionSpace::AZ4672, position, request);
}

// Actions by origin and destination of steps that are neither promotions nor castlings. By origin,
// so that the moves of one piece are neighbours.
using StepActions = std::array<std::array<std::int16_t, 64>, 64>;
const StepActions& step_actions(Color color) {
    static const auto tables = [] {
        std::array<StepActions, 2> made;
        for (const Color mover : {WHITE, BLACK})
            for (Square from = 0; from < 64; ++from)
                for (Square to = 0; to < 64; ++to)
                    made[mover][std::size_t(from)][std::size_t(to)] =
                        std::int16_t(action_of(mover, Move(from, to)));
        return made;
    }();
    return tables[color];
}

// Requests with their actions (list_moves.h).
struct MovesAndActions {
    Color color;
    const StepActions& steps;
    Move* moves;
    std::int32_t* actions;
    std::size_t count = 0;

    void add(Move request, int action, bool whether = true) {
        moves[count] = request;
        actions[count] = action;
        count += whether;
    }
    void step_if(Square from, Square to, bool whether) {
        add(Move(from, to), steps[std::size_t(from)][std::size_t(to)], whether);
    }
    void step(Square from, Square to) { step_if(from, to, true); }
    void nameless(Square, Square) {}  // the same action as the queen's
    void castling(Square king, Square rook) {
        const Move request(king, rook, Move::CASTLING);
        add(request, action_of(color, request));
    }
    void promotion(Square from, Square to, PieceType type) {
        const Move request(from, to, Move::PROMOTION, type);
        add(request, action_of(color, request));
    }
};

}  // namespace

int move_action(Color color, Move request) {
    return request ? action_of(color, request) : PASS_ACTION;
}

std::size_t list_move_actions(const Knowledge& knowledge, Move* moves, std::int32_t* actions) {
    const Color color = knowledge.color();
    MovesAndActions list{color, step_actions(color), moves, actions};
    add_requests(knowledge.own(), list);
    list.add(Move(), PASS_ACTION);
    return list.count;
}

}  // namespace rookery::blind
