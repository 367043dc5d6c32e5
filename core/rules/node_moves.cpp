#include "rules/node_moves.h"

#include "rules/stages.h"

namespace rookery {

using stages::diagonal_sliders;
using stages::single_shields;
using stages::straight_sliders;

NodeInfo::NodeInfo(const Position& p) {
    const Color us = p.side, them = ~us;
    const Square own = p.king(us), other = p.king(them);
    const Bitboard occupied = p.occupied();
    checkers = p.attackers_to(own, occupied) & p.pieces(them);
    pinned = single_shields(p, own, them, p.pieces(us));
    discoverers = single_shields(p, other, us, p.pieces(us));
    check_squares[PAWN] = pawn_attacks(them, other);
    check_squares[KNIGHT] = knight_attacks(other);
    check_squares[BISHOP] = bishop_attacks(other, occupied);
    check_squares[ROOK] = rook_attacks(other, occupied);
    check_squares[QUEEN] = check_squares[BISHOP] | check_squares[ROOK];
    check_squares[KING] = 0;
}

void generate_noisy(const Position& position, const NodeInfo& info, MoveList& list) {
    if (!position.rules.standard()) [[unlikely]]
        return generate_noisy_on_board(position, info, list);
    stages::generate_for_side<true>(position, StandardRules{}, info, list);
}

void generate_quiet(const Position& position, const NodeInfo& info, MoveList& list) {
    if (!position.rules.standard()) [[unlikely]]
        return generate_quiet_on_board(position, info, list);
    stages::generate_for_side<false>(position, StandardRules{}, info, list);
}

bool is_legal(const Position& position, const NodeInfo& info, Move move) {
    if (!position.rules.standard()) [[unlikely]]
        return is_legal_on_board(position, info, move);
    return stages::is_legal(position, StandardRules{}, info, move);
}

bool gives_check(const Position& p, const NodeInfo& info, Move move) {
    const Square from = move.from(), to = move.to(), other = p.king(~p.side);
    const Color us = p.side;
    if (move.kind() == Move::CASTLING) {
        const bool kingside = to > from;
        const Square rook_to = castled_rook(us, kingside);
        const Bitboard after = (p.occupied() & ~(bit(from) | bit(to))) | bit(rook_to) |
                               bit(castled_king(us, kingside));
        // A first-rank slider behind the rook or king cannot be uncovered in standard chess; in
        // Chess960 it can.
        const Bitboard straight = (straight_sliders(p, us) & ~bit(to)) | bit(rook_to);
        return rook_attacks(other, after) & straight;
    }
    const PieceType type =
        move.kind() == Move::PROMOTION ? move.promotion() : type_of(p.board[from]);
    if (move.kind() == Move::PROMOTION) {
        // The pawn no longer blocks the promoted piece's view backwards.
        if (piece_attacks(type, to, p.occupied() ^ bit(from)) & bit(other)) return true;
    } else if (info.check_squares[type] & bit(to)) {
        return true;
    }
    if (info.discoverers & bit(from) && !(line(from, other) & bit(to))) return true;
    if (move.kind() == Move::EN_PASSANT) {
        const Bitboard after =
            (p.occupied() ^ bit(from) ^ bit(en_passant_victim(to, us))) | bit(to);
        return (bishop_attacks(other, after) & diagonal_sliders(p, us)) |
               (rook_attacks(other, after) & straight_sliders(p, us));
    }
    return false;
}

}  // namespace rookery
