// Staged move generation and legality as templates over the rules of a board; for node_moves.cpp
// (standard chess) and movegen_boards.cpp (all other boards), as generate.h.

#pragma once

#include "rules/node_moves.h"

namespace rookery::stages {

inline Bitboard diagonal_sliders(const Position& p, Color color) {
    return p.pieces(color) & (p.by_type[BISHOP] | p.by_type[QUEEN]);
}
inline Bitboard straight_sliders(const Position& p, Color color) {
    return p.pieces(color) & (p.by_type[ROOK] | p.by_type[QUEEN]);
}

// Pieces of `shields` that alone stand between `king` and sliders of `attacker`.
inline Bitboard single_shields(const Position& p, Square king, Color attacker, Bitboard shields) {
    Bitboard snipers = (rook_attacks(king, 0) & straight_sliders(p, attacker)) |
                       (bishop_attacks(king, 0) & diagonal_sliders(p, attacker));
    Bitboard found = 0;
    while (snipers) {
        const Bitboard blockers = between(king, pop_square(snipers)) & p.occupied();
        if (blockers && !(blockers & (blockers - 1))) found |= blockers & shields;
    }
    return found;
}

// Whether the mover's king would stand in check on `to`.
inline bool king_attacked_on(const Position& p, Square to) {
    const Bitboard occupied = p.occupied() ^ bit(p.king(p.side));
    return p.attackers_to(to, occupied) & p.pieces(~p.side) & ~bit(to);
}

inline bool castling_legal(const Position& p, bool kingside) {
    const Color us = p.side;
    const Square king = p.king(us), rook = p.castling_rook[castling_bit(us, kingside)];
    const Square king_to = castled_king(us, kingside), rook_to = castled_rook(us, kingside);
    const Bitboard others = p.occupied() & ~(bit(king) | bit(rook));
    const Bitboard king_path = between(king, king_to) | bit(king_to);
    const Bitboard rook_path = between(rook, rook_to) | bit(rook_to);
    if (others & (king_path | rook_path)) return false;
    for (Bitboard path = king_path & ~bit(king); path;)
        if (king_attacked_on(p, pop_square(path))) return false;
    // Chess960: the castling rook may have shielded the king's destination.
    return !(p.chess960 && (rook_attacks(king_to, others | bit(king_to) | bit(rook_to)) &
                            straight_sliders(p, ~us)));
}

inline void add_from(MoveList& list, Square from, Bitboard targets) {
    while (targets) list.add(Move(from, pop_square(targets)));
}
inline void add_shifted(MoveList& list, Bitboard targets, int shift) {
    while (targets) {
        const Square to = pop_square(targets);
        list.add(Move(to - shift, to));
    }
}
template <class Rules>
void add_promotions(const Rules& rules, MoveList& list, Square from, Square to, bool noisy,
                    bool capture) {
    if (noisy && rules.promotes_to(QUEEN)) list.add(Move(from, to, Move::PROMOTION, QUEEN));
    if (noisy != capture) return;  // capturing under-promotions are noisy, others quiet
    for (const PieceType type : {KNIGHT, ROOK, BISHOP})
        if (rules.promotes_to(type)) list.add(Move(from, to, Move::PROMOTION, type));
}

template <Color Us, bool NOISY, class Rules>
void generate_pawn_stage(const Position& p, const Rules& rules, const NodeInfo& info,
                         Bitboard check_mask, MoveList& list) {
    constexpr int UP = Us == WHITE ? 8 : -8;
    const Bitboard last = rules.last_rank(Us), third = rules.double_step_rank(Us);
    const Bitboard before_last = rules.rank_from(Us, rules.ranks() - 2);
    const auto shift = [](Bitboard b, int by) { return by > 0 ? b << by : b >> -by; };
    const Bitboard empty = ~p.occupied();
    const Bitboard pawns = p.pieces(Us, PAWN);
    const Bitboard free = pawns & ~info.pinned & ~before_last;
    if constexpr (NOISY) {
        const Bitboard targets = p.pieces(~Us) & check_mask;
        add_shifted(list, shift(free & ~FILE_A, UP - 1) & targets, UP - 1);
        add_shifted(list, shift(free & ~FILE_H, UP + 1) & targets, UP + 1);
    } else {
        const Bitboard one = shift(free, UP) & empty;
        add_shifted(list, one & check_mask, UP);
        add_shifted(list, shift(one & third, UP) & empty & check_mask, 2 * UP);
    }
    // Few: pinned pawns, and pawns that promote.
    for (Bitboard special = pawns & (info.pinned | before_last); special;) {
        const Square from = pop_square(special);
        Bitboard mask = check_mask;
        if (info.pinned & bit(from)) mask &= line(p.king(Us), from);
        const Bitboard captures = pawn_attacks(Us, from) & p.pieces(~Us) & mask;
        const Bitboard one = bit(from + UP) & empty;
        Bitboard pushes = one;
        if (one & third) pushes |= shift(one, UP) & empty;
        pushes &= mask;
        if (bit(from) & before_last) {
            for (Bitboard b = captures & last; b;)
                add_promotions(rules, list, from, pop_square(b), NOISY, true);
            for (Bitboard b = pushes & last; b;)
                add_promotions(rules, list, from, pop_square(b), NOISY, false);
        } else {
            add_from(list, from, NOISY ? captures : pushes);
        }
    }
}

template <Color Us, bool NOISY, class Rules>
void generate_stage(const Position& p, const Rules& rules, const NodeInfo& info, MoveList& list) {
    const Square king = p.king(Us);
    const Bitboard occupied = p.occupied();
    const Bitboard wanted = NOISY ? p.pieces(~Us) : ~occupied & rules.squares();
    for (Bitboard b = king_attacks(king) & wanted; b;) {
        const Square to = pop_square(b);
        if (!king_attacked_on(p, to)) list.add(Move(king, to));
    }
    Bitboard check_mask = ~Bitboard(0);
    if (info.checkers) {
        if (info.checkers & (info.checkers - 1)) return;
        check_mask = info.checkers | between(king, first_square(info.checkers));
    }
    const Bitboard targets = wanted & check_mask;
    generate_pawn_stage<Us, NOISY>(p, rules, info, check_mask, list);
    for (Bitboard b = p.pieces(Us, KNIGHT) & ~info.pinned; b;) {
        const Square from = pop_square(b);
        add_from(list, from, knight_attacks(from) & targets);
    }
    const auto sliders = [&](Bitboard pieces, auto attacks) {
        while (pieces) {
            const Square from = pop_square(pieces);
            Bitboard reach = attacks(from, occupied) & targets;
            if (info.pinned & bit(from)) reach &= line(king, from);
            add_from(list, from, reach);
        }
    };
    sliders(p.pieces(Us, BISHOP), bishop_attacks);
    sliders(p.pieces(Us, ROOK), rook_attacks);
    sliders(p.pieces(Us, QUEEN), queen_attacks);
    if constexpr (NOISY) {
        if (p.en_passant != NO_SQUARE)
            for (Bitboard b = pawn_attacks(~Us, p.en_passant) & p.pieces(Us, PAWN); b;) {
                const Square from = pop_square(b);
                if (p.en_passant_is_legal(from, p.en_passant))
                    list.add(Move(from, p.en_passant, Move::EN_PASSANT));
            }
    } else if (!info.checkers && p.castling & (Us == WHITE ? 3 : 12)) {
        for (const bool kingside : {true, false}) {
            const int index = castling_bit(Us, kingside);
            if (p.castling >> index & 1 && castling_legal(p, kingside))
                list.add(Move(king, p.castling_rook[index], Move::CASTLING));
        }
    }
}

template <bool NOISY, class Rules>
void generate_for_side(const Position& position, const Rules& rules, const NodeInfo& info,
                       MoveList& list) {
    if (position.side == WHITE)
        generate_stage<WHITE, NOISY>(position, rules, info, list);
    else
        generate_stage<BLACK, NOISY>(position, rules, info, list);
}

template <class Rules>
bool is_legal(const Position& p, const Rules& rules, const NodeInfo& info, Move move) {
    const Color us = p.side;
    const Square from = move.from(), to = move.to(), king = p.king(us);
    if (!move || !(p.pieces(us) & bit(from))) return false;
    const PieceType type = type_of(p.board[from]);

    if (move.kind() == Move::CASTLING) {
        if (from != king || info.checkers || move.promotion() != KNIGHT) return false;
        for (const bool kingside : {true, false}) {
            const int index = castling_bit(us, kingside);
            if (p.castling >> index & 1 && p.castling_rook[index] == to)
                return castling_legal(p, kingside);
        }
        return false;
    }
    if (move.kind() == Move::EN_PASSANT)
        return type == PAWN && to == p.en_passant && move.promotion() == KNIGHT &&
               pawn_attacks(us, from) & bit(to) && p.en_passant_is_legal(from, p.en_passant);
    if (move.kind() == Move::NORMAL && move.promotion() != KNIGHT) return false;  // unused bits
    if (bit(to) & (p.pieces(us) | ~rules.squares())) return false;
    if (type == KING)
        return move.kind() == Move::NORMAL && king_attacks(king) & bit(to) &&
               !king_attacked_on(p, to);

    if (type == PAWN) {
        const int up = us == WHITE ? 8 : -8;
        const bool promotes = rules.last_rank(us) & bit(to);
        if (promotes != (move.kind() == Move::PROMOTION)) return false;
        if (promotes && !rules.promotes_to(move.promotion())) return false;
        const bool captures = pawn_attacks(us, from) & bit(to) & p.pieces(~us);
        const bool steps = to == from + up && p.board[to] == NO_PIECE;
        const bool jumps = to == from + 2 * up && rules.double_step_rank(us) & bit(from + up) &&
                           p.board[from + up] == NO_PIECE && p.board[to] == NO_PIECE;
        if (!captures && !steps && !jumps) return false;
    } else {
        if (move.kind() != Move::NORMAL) return false;
        if (!(piece_attacks(type, from, p.occupied()) & bit(to))) return false;
    }
    if (info.checkers) {
        if (info.checkers & (info.checkers - 1)) return false;
        if (!((info.checkers | between(king, first_square(info.checkers))) & bit(to))) return false;
    }
    return !(info.pinned & bit(from)) || line(king, from) & bit(to);
}

}  // namespace rookery::stages
