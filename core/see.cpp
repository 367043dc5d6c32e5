#include "see.h"

#include <algorithm>

namespace rookery {

int static_exchange(const Position& p, Move move) {
    if (move.kind() == Move::CASTLING) return 0;
    const Square target = move.to();
    Bitboard occupied = p.occupied() ^ bit(move.from());

    // gains[d]: balance for the side that made capture number d, if the exchange ended there.
    int gains[33];
    gains[0] = PIECE_VALUE[type_of(p.board[target])];
    PieceType standing = type_of(p.board[move.from()]);
    if (move.kind() == Move::EN_PASSANT) {
        gains[0] = PIECE_VALUE[PAWN];
        occupied ^= bit(target ^ 8);
    } else if (move.kind() == Move::PROMOTION) {
        standing = move.promotion();
        gains[0] += PIECE_VALUE[standing] - PIECE_VALUE[PAWN];
    }

    const Bitboard diagonal = p.by_type[BISHOP] | p.by_type[QUEEN];
    const Bitboard straight = p.by_type[ROOK] | p.by_type[QUEEN];
    Bitboard attackers = p.attackers_to(target, occupied) & occupied;
    Color side = ~p.side;
    int depth = 0;
    while (true) {
        const Bitboard ours = attackers & p.pieces(side);
        if (!ours) break;
        int type = PAWN;
        while (!(ours & p.by_type[type])) ++type;
        // The king may not capture into check.
        if (type == KING && attackers & p.pieces(~side)) break;
        ++depth;
        gains[depth] = PIECE_VALUE[standing] - gains[depth - 1];
        standing = PieceType(type);
        occupied ^= bit(first_square(ours & p.by_type[type]));
        // Sliders behind the piece that just captured join in.
        attackers |= bishop_attacks(target, occupied) & diagonal;
        attackers |= rook_attacks(target, occupied) & straight;
        attackers &= occupied;
        side = ~side;
    }
    for (; depth > 0; --depth) gains[depth - 1] = -std::max(-gains[depth - 1], gains[depth]);
    return gains[0];
}

}  // namespace rookery
