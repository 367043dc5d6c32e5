#include "blind/knowledge.h"

#include <algorithm>

#include "base/random.h"
#include "rules/game.h"

namespace rookery::blind {

Knowledge::Knowledge(Color color, const Board& start)
    : color_(color),
      start_(start),
      own_(start),
      opponent_pieces_(count_bits(start.by_color[~color])),
      memory_{},
      memory_turn_{},
      key_(mix(start.key(), color)) {
    own_.side = color;
    own_.en_passant = NO_SQUARE;
    own_.castling &= color == WHITE ? 0b0011 : 0b1100;
    for (Square square = 0; square < 64; ++square) {
        const Piece piece = start.piece_at(square);
        const bool theirs = piece != NO_PIECE && color_of(piece) != color;
        memory_[std::size_t(square)] = theirs ? piece : NO_PIECE;
        memory_turn_[std::size_t(square)] = -1;
        if (theirs) own_.remove(square);
    }
}

void Knowledge::note(Key what) { key_ = mix(key_, what); }

void Knowledge::remember(Square square, Piece piece) {
    memory_[std::size_t(square)] = piece;
    memory_turn_[std::size_t(square)] =
        std::int16_t(std::min<std::size_t>(turns_.size() - 1, 32767));
}

void Knowledge::opponent_moved(Square capture) {
    if (!turns_.empty() && !turns_.back().moved)
        throw MoveError("opponent_moved() comes after moved() of the turn before");
    turns_.emplace_back();
    turns_.back().opponent_capture = std::uint8_t(capture);
    note(1 + Key(capture));
    if (capture == NO_SQUARE) return;
    own_.remove(capture);
    for (const bool kingside : {true, false})
        if (capture == make_square(kingside ? 7 : 0, color_ == WHITE ? 0 : 7))
            own_.castling &= std::uint8_t(~(1 << castling_bit(color_, kingside)));
    remember(capture, Knowledge::UNKNOWN_PIECE);
}

void Knowledge::sensed(Square centre, const Window& window) {
    if (turns_.empty() || turns_.back().sensed)
        throw MoveError("sensed() comes once a turn, after opponent_moved()");
    Turn& turn = turns_.back();
    turn.sense = std::uint8_t(centre);
    turn.sensed = true;
    note(100 + Key(centre));
    if (centre == NO_SQUARE) return;
    turn.window = window;
    Key seen = 0;
    for (int i = 0; i < 9; ++i) {
        const Piece piece = window[std::size_t(i)];
        seen = seen * 16 + piece;
        const bool theirs = piece < NO_PIECE && color_of(piece) != color_;
        remember(window_square(centre, i), theirs ? piece : NO_PIECE);
    }
    note(seen);
}

Bitboard Knowledge::proven_empty(Move requested, Move taken) const {
    if (!requested || requested.kind() == Move::CASTLING) return 0;
    const Square from = requested.from(), to = requested.to();
    if (!taken)  // a pawn found nothing on its diagonal
        return bit(from) & own_.by_type[PAWN] && file_of(from) != file_of(to) ? bit(to) : 0;
    return between(from, taken.to());
}

void Knowledge::moved(Move requested, Move taken, Square capture) {
    if (turns_.empty() || !turns_.back().sensed || turns_.back().moved)
        throw MoveError("moved() comes once a turn, after sensed()");
    Turn& turn = turns_.back();
    turn.requested = requested;
    turn.taken = taken;
    turn.capture = std::uint8_t(capture);
    turn.moved = true;
    note(Key(requested.bits()) | Key(taken.bits()) << 16 | Key(capture) << 32);
    for (Bitboard empty = proven_empty(requested, taken); empty;)
        remember(pop_square(empty), NO_PIECE);
    if (capture != NO_SQUARE) {
        remember(capture, NO_PIECE);
        --opponent_pieces_;
    }
    if (taken) {
        remember(taken.to(), NO_PIECE);
        own_.make(taken);
    }
    own_.side = color_;
    own_.en_passant = NO_SQUARE;
}

MoveList Knowledge::requests() const {
    MoveList list;
    list_requests(own_, list);
    return list;
}

}  // namespace rookery::blind
