#include "rules/see.h"

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
        occupied ^= bit(en_passant_victim(target, p.side));
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

bool exchange_at_least(const Position& p, Move move, int threshold) {
    if (move.kind() == Move::CASTLING) return threshold <= 0;
    const Square target = move.to();
    Bitboard occupied = p.occupied() ^ bit(move.from());
    PieceType standing = type_of(p.board[move.from()]);
    int gained = PIECE_VALUE[type_of(p.board[target])];
    if (move.kind() == Move::EN_PASSANT) {
        gained = PIECE_VALUE[PAWN];
        occupied ^= bit(en_passant_victim(target, p.side));
    } else if (move.kind() == Move::PROMOTION) {
        standing = move.promotion();
        gained += PIECE_VALUE[standing] - PIECE_VALUE[PAWN];
    }
    // `balance`: surplus over its threshold of the side that has just captured; it must stay at or
    // above 0 even if the capturing piece is lost.
    int balance = gained - threshold;
    if (balance < 0) return false;
    balance -= PIECE_VALUE[standing];
    if (balance >= 0) return true;

    const Bitboard diagonal = p.by_type[BISHOP] | p.by_type[QUEEN];
    const Bitboard straight = p.by_type[ROOK] | p.by_type[QUEEN];
    Bitboard attackers = p.attackers_to(target, occupied) & occupied;
    Color side = ~p.side;
    bool mover_ahead = true;  // the result if the side to capture stops here
    while (true) {
        const Bitboard ours = attackers & p.pieces(side);
        if (!ours) return mover_ahead;
        int type = PAWN;
        while (!(ours & p.by_type[type])) ++type;
        // The king may not capture into check.
        if (type == KING && attackers & p.pieces(~side)) return mover_ahead;
        mover_ahead = !mover_ahead;
        // For the side that captures now: it wins the piece there, and may lose its own.
        balance = -balance - 1 - PIECE_VALUE[type];
        if (balance >= 0) return mover_ahead;
        occupied ^= bit(first_square(ours & p.by_type[type]));
        if (type == PAWN || type == BISHOP || type == QUEEN)
            attackers |= bishop_attacks(target, occupied) & diagonal;
        if (type == ROOK || type == QUEEN) attackers |= rook_attacks(target, occupied) & straight;
        attackers &= occupied;
        side = ~side;
    }
}

}  // namespace rookery
