// Moves of one side as if only `occupied` squares were taken, in the order of reconchess.
//
// A list takes moves one by one: step(from, to) an ordinary one and step_if(from, to, whether),
// both without a promotion; nameless(from, to) a promotion that names no piece; promotion(from, to,
// type); castling(king, rook). Templates, since listing requests is most of the referee's time: a
// list that wants actions as well makes them here, while origin and kind are at hand.

#pragma once

#include "blind/board.h"

namespace rookery::blind {

inline constexpr Bitboard LAST_RANKS = rank_mask(0) | rank_mask(7);
inline constexpr PieceType PROMOTIONS[] = {QUEEN, ROOK, BISHOP, KNIGHT};  // as python-chess has it

inline Square pop_last(Bitboard& set) {
    const Square square = 63 - std::countl_zero(set);
    set ^= bit(square);
    return square;
}

inline Square rook_home(Color color, bool kingside) {
    return make_square(kingside ? 7 : 0, color == WHITE ? 0 : 7);
}

template <class List> void add_piece_moves(const Board& board, Bitboard occupied, List& list) {
    const Bitboard own = board.by_color[board.side];
    const Bitboard diagonal = board.by_type[BISHOP] | board.by_type[QUEEN];
    const Bitboard straight = board.by_type[ROOK] | board.by_type[QUEEN];
    for (Bitboard pieces = own & ~board.by_type[PAWN]; pieces;) {
        const Square from = pop_last(pieces);
        // All ones if the piece moves like that: branches on kinds of pieces would be guessed
        // badly.
        const auto is = [from](Bitboard set) { return -(set >> from & 1); };
        const Bitboard slides = is(diagonal), rolls = is(straight);
        Bitboard targets = (knight_attacks(from) & is(board.by_type[KNIGHT])) |
                           (king_attacks(from) & is(board.by_type[KING])) |
                           (bishop_attacks(from, occupied & slides) & slides) |
                           (rook_attacks(from, occupied & rolls) & rolls);
        for (targets &= ~own; targets;) list.step(from, pop_last(targets));
    }
}

// Castlings for which the squares between king and rook are free.
template <class List> void add_castlings(const Board& board, Bitboard occupied, List& list) {
    const Square king = make_square(4, board.side == WHITE ? 0 : 7);
    for (const bool kingside : {true, false}) {
        const Square rook = rook_home(board.side, kingside);
        if (board.castling >> castling_bit(board.side, kingside) & 1 &&
            !(between(king, rook) & occupied))
            list.castling(king, rook);
    }
}

template <class List> void add_pawn_move(Square from, Square to, List& list) {
    if (bit(to) & LAST_RANKS)
        for (const PieceType type : PROMOTIONS) list.promotion(from, to, type);
    else
        list.step(from, to);
}

template <class List> void add_pushes(const Board& board, Bitboard occupied, List& list) {
    const Bitboard pawns = board.pieces(board.side, PAWN);
    const int forward = board.side == WHITE ? 8 : -8;
    const auto step = [&](Bitboard set) {
        return (board.side == WHITE ? set << 8 : set >> 8) & ~occupied;
    };
    const Bitboard single = step(pawns);
    const Bitboard twice = step(single & rank_mask(board.side == WHITE ? 2 : 5));
    for (Bitboard targets = single; targets;) {
        const Square to = pop_last(targets);
        add_pawn_move(to - forward, to, list);
    }
    for (Bitboard targets = twice; targets;) {
        const Square to = pop_last(targets);
        list.step(to - 2 * forward, to);
    }
}

// Every diagonal step of a pawn; onto the last rank also without a piece's name.
template <class List> void add_pawn_diagonals(const Board& board, List& list) {
    const Bitboard own = board.by_color[board.side];
    const int forward = board.side == WHITE ? 8 : -8;
    const Bitboard promoting = rank_mask(board.side == WHITE ? 6 : 1);
    for (Bitboard pawns = board.pieces(board.side, PAWN); pawns;) {
        const Square from = pop_square(pawns);
        Bitboard targets = pawn_attacks(board.side, from) & ~own;
        if (!(bit(from) & promoting)) {
            for (const Square to : {from + forward - 1, from + forward + 1})
                list.step_if(from, to, targets >> to & 1);
            continue;
        }
        while (targets) {
            const Square to = pop_square(targets);
            list.nameless(from, to);
            for (int i = 3; i >= 0; --i) list.promotion(from, to, PROMOTIONS[i]);
        }
    }
}

// What list_requests() lists.
template <class List> void add_requests(const Board& board, List& list) {
    const Bitboard own = board.by_color[board.side];
    add_piece_moves(board, own, list);
    add_castlings(board, own, list);
    add_pushes(board, own, list);
    add_pawn_diagonals(board, list);
}

}  // namespace rookery::blind
