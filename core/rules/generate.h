// The legal move generator, as a template over the rules of a board; for movegen.cpp, which
// instantiates it for standard chess, and movegen_boards.cpp, for all other boards. The two are
// compiled apart: standard chess is inlined as if there were no other board.

#pragma once

#include "rules/movegen.h"

namespace rookery::generator {

// A sink receives moves in groups; `shift` is destination minus origin.
struct ListSink {
    MoveList& list;
    void from_square(Square from, Bitboard targets) {
        list.add_each(targets, [from](Square to) { return Move(from, to); });
    }
    void by_shift(Bitboard targets, int shift) {
        list.add_each(targets, [shift](Square to) { return Move(to - shift, to); });
    }
    template <class Rules> void promotions(const Rules& rules, Bitboard targets, int shift) {
        while (targets) {
            const Square to = pop_square(targets);
            for (PieceType type : {QUEEN, ROOK, BISHOP, KNIGHT})
                if (rules.promotes_to(type)) list.add(Move(to - shift, to, Move::PROMOTION, type));
        }
    }
    void en_passant(Square from, Square to) { list.add(Move(from, to, Move::EN_PASSANT)); }
    void castling(Square king, Square rook) { list.add(Move(king, rook, Move::CASTLING)); }
};

struct CountSink {
    int count = 0;
    void from_square(Square, Bitboard targets) { count += count_bits(targets); }
    void by_shift(Bitboard targets, int) { count += count_bits(targets); }
    template <class Rules> void promotions(const Rules& rules, Bitboard targets, int) {
        for (PieceType type : {QUEEN, ROOK, BISHOP, KNIGHT})
            if (rules.promotes_to(type)) count += count_bits(targets);
    }
    void en_passant(Square, Square) { ++count; }
    void castling(Square, Square) { ++count; }
};

// Squares attacked by the enemy; `occupied` is without our king, which cannot block a ray.
template <Color Them> Bitboard attacked_squares(const Position& p, Bitboard occupied) {
    Bitboard attacked = pawn_attacks<Them>(p.pieces(Them, PAWN)) | king_attacks(p.king(Them));
    for (Bitboard b = p.pieces(Them, KNIGHT); b;) attacked |= knight_attacks(pop_square(b));
    for (Bitboard b = p.pieces(Them) & (p.by_type[BISHOP] | p.by_type[QUEEN]); b;)
        attacked |= bishop_attacks(pop_square(b), occupied);
    for (Bitboard b = p.pieces(Them) & (p.by_type[ROOK] | p.by_type[QUEEN]); b;)
        attacked |= rook_attacks(pop_square(b), occupied);
    return attacked;
}

template <Color Us, class Sink>
void generate_castling(const Position& p, Bitboard attacked, Sink& sink) {
    const Square king = p.king(Us);
    for (const bool kingside : {true, false}) {
        const int index = castling_bit(Us, kingside);
        if (!(p.castling >> index & 1)) continue;
        const Square rook = p.castling_rook[index];
        const Square king_to = castled_king(Us, kingside);
        const Square rook_to = castled_rook(Us, kingside);
        const Bitboard movers = bit(king) | bit(rook);
        const Bitboard king_path = between(king, king_to) | bit(king_to);
        const Bitboard rook_path = between(rook, rook_to) | bit(rook_to);
        const Bitboard others = p.occupied() & ~movers;
        if (others & (king_path | rook_path)) continue;
        if (attacked & king_path & ~bit(king)) continue;
        // Chess960: the castling rook may have shielded the king's destination.
        const Bitboard after = others | bit(king_to) | bit(rook_to);
        const Bitboard rooks = p.pieces(~Us) & (p.by_type[ROOK] | p.by_type[QUEEN]);
        if (p.chess960 && (rook_attacks(king_to, after) & rooks)) continue;
        sink.castling(king, rook);
    }
}

// Pawns that are not pinned, all at once.
template <Color Us, class Rules, class Sink>
void generate_pawns(const Position& p, const Rules& rules, Bitboard pawns, Bitboard check_mask,
                    Sink& sink) {
    constexpr int UP = Us == WHITE ? 8 : -8;
    const Bitboard last = rules.last_rank(Us), third = rules.double_step_rank(Us);
    const auto shift = [](Bitboard b, int by) { return by > 0 ? b << by : b >> -by; };
    const Bitboard empty = ~p.occupied();
    const Bitboard targets = p.pieces(~Us) & check_mask;

    const Bitboard one = shift(pawns, UP) & empty;
    const Bitboard two = shift(one & third, UP) & empty & check_mask;
    const Bitboard west = shift(pawns & ~FILE_A, UP - 1) & targets;
    const Bitboard east = shift(pawns & ~FILE_H, UP + 1) & targets;
    sink.by_shift(one & check_mask & ~last, UP);
    sink.by_shift(two, 2 * UP);
    sink.by_shift(west & ~last, UP - 1);
    sink.by_shift(east & ~last, UP + 1);
    if (((one & check_mask) | west | east) & last) {
        sink.promotions(rules, one & check_mask & last, UP);
        sink.promotions(rules, west & last, UP - 1);
        sink.promotions(rules, east & last, UP + 1);
    }
}

template <Color Us, class Rules, class Sink>
void generate(const Position& p, const Rules& rules, Sink& sink) {
    constexpr Color Them = ~Us;
    const Bitboard occupied = p.occupied();
    const Bitboard ours = p.pieces(Us), theirs = p.pieces(Them);
    const Square king = p.king(Us);
    const Bitboard their_diagonal = theirs & (p.by_type[BISHOP] | p.by_type[QUEEN]);
    const Bitboard their_straight = theirs & (p.by_type[ROOK] | p.by_type[QUEEN]);

    const Bitboard attacked = attacked_squares<Them>(p, occupied ^ bit(king));
    sink.from_square(king, king_attacks(king) & rules.squares() & ~ours & ~attacked);

    // Checkers, and our pieces that shield the king from a slider.
    Bitboard checkers = (pawn_attacks(Us, king) & p.pieces(Them, PAWN)) |
                        (knight_attacks(king) & p.pieces(Them, KNIGHT));
    Bitboard pinned = 0;
    Bitboard snipers = (rook_attacks(king, theirs) & their_straight) |
                       (bishop_attacks(king, theirs) & their_diagonal);
    while (snipers) {
        const Square sniper = pop_square(snipers);
        const Bitboard shield = between(king, sniper) & ours;
        if (!shield)
            checkers |= bit(sniper);
        else if (!(shield & (shield - 1)))
            pinned |= shield;
    }

    // Targets of other pieces: any, or the single checker and the squares between.
    Bitboard check_mask = ~Bitboard(0);
    if (checkers) {
        if (checkers & (checkers - 1)) return;
        check_mask = checkers | between(king, first_square(checkers));
    } else if (p.castling & (Us == WHITE ? 3 : 12)) {
        generate_castling<Us>(p, attacked, sink);
    }
    const Bitboard allowed = check_mask & rules.squares() & ~ours;

    for (Bitboard b = p.pieces(Us, KNIGHT) & ~pinned; b;) {
        const Square from = pop_square(b);
        sink.from_square(from, knight_attacks(from) & allowed);
    }
    const Bitboard diagonal = ours & (p.by_type[BISHOP] | p.by_type[QUEEN]);
    const Bitboard straight = ours & (p.by_type[ROOK] | p.by_type[QUEEN]);
    for (Bitboard b = diagonal & ~pinned; b;) {
        const Square from = pop_square(b);
        sink.from_square(from, bishop_attacks(from, occupied) & allowed);
    }
    for (Bitboard b = straight & ~pinned; b;) {
        const Square from = pop_square(b);
        sink.from_square(from, rook_attacks(from, occupied) & allowed);
    }
    generate_pawns<Us>(p, rules, p.pieces(Us, PAWN) & ~pinned, check_mask, sink);

    // A pinned piece stays on the line of its pin; a pinned knight has no move.
    for (Bitboard b = pinned; b;) {
        const Square from = pop_square(b);
        const Bitboard pin_mask = line(king, from) & check_mask;
        if (diagonal & bit(from))
            sink.from_square(from, bishop_attacks(from, occupied) & allowed & pin_mask);
        if (straight & bit(from))
            sink.from_square(from, rook_attacks(from, occupied) & allowed & pin_mask);
        if (p.by_type[PAWN] & bit(from)) generate_pawns<Us>(p, rules, bit(from), pin_mask, sink);
    }
    if (p.en_passant != NO_SQUARE) {
        Bitboard capturers = pawn_attacks(Them, p.en_passant) & p.pieces(Us, PAWN);
        while (capturers) {
            const Square from = pop_square(capturers);
            if (p.en_passant_is_legal(from, p.en_passant)) sink.en_passant(from, p.en_passant);
        }
    }
}

template <class Rules, class Sink>
void generate_for_side(const Position& position, const Rules& rules, Sink& sink) {
    if (position.side == WHITE)
        generate<WHITE>(position, rules, sink);
    else
        generate<BLACK>(position, rules, sink);
}

template <Color Us, class Rules>
std::uint64_t perft_of(const Position& position, const Rules& rules, int depth) {
    if (depth == 1) {
        CountSink sink;
        generate<Us>(position, rules, sink);
        return std::uint64_t(sink.count);
    }
    MoveList list;
    ListSink sink{list};
    generate<Us>(position, rules, sink);
    std::uint64_t nodes = 0;
    for (const Move move : list) {
        Position next = position;
        next.make(move);
        nodes += perft_of<~Us>(next, rules, depth - 1);
    }
    return nodes;
}

template <class Rules>
std::uint64_t perft_for_side(const Position& position, const Rules& rules, int depth) {
    return position.side == WHITE ? perft_of<WHITE>(position, rules, depth)
                                  : perft_of<BLACK>(position, rules, depth);
}

}  // namespace rookery::generator
