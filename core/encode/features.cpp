// Hand-made feature vectors: pepper353 (Deep Pepper) and giraffe363 (Giraffe), described in
// src/rookery/encodings/observations.py.

#include <array>
#include <cstring>

#include "encode/actions.h"
#include "encode/encode.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace rookery::encode {

namespace {

// Bishop and knight count alike.
constexpr float ATTACKER_VALUE[6] = {0.1f, 0.3f, 0.3f, 0.5f, 0.9f, 1.0f};
constexpr int SLOTS[6] = {8, 2, 2, 2, 1, 1};  // pieces of each kind at the start of a game
constexpr PieceType SLOT_ORDER[6] = {KING, QUEEN, ROOK, BISHOP, KNIGHT, PAWN};
constexpr int MOVER = 0, OPPONENT = 1;

// Squares from each square to the edge, by direction (actions.h).
struct Rays {
    Bitboard from[8][64] = {};
    constexpr Rays() {
        for (int direction = 0; direction < 8; ++direction)
            for (int square = 0; square < 64; ++square) {
                const int df = DIRECTIONS[direction][0], dr = DIRECTIONS[direction][1];
                int file = square % 8 + df, rank = square / 8 + dr;
                for (; file >= 0 && file < 8 && rank >= 0 && rank < 8; file += df, rank += dr)
                    from[direction][square] |= Bitboard(1) << (8 * rank + file);
            }
    }
};
constexpr Rays rays;

// Sets table[square] for each square of a set.
inline void mark(float* table, Bitboard squares, float value) {
#if defined(__AVX512F__)
    for (int i = 0; i < 64; i += 16)
        _mm512_mask_storeu_ps(table + i, __mmask16(squares >> i), _mm512_set1_ps(value));
#else
    while (squares) table[pop_square(squares)] = value;
#endif
}

// Everything in the mover's view: ranks flipped if Black is to move, colours 0 mover, 1 opponent.
class FeatureWriter {
  public:
    struct Slot {
        Square square = NO_SQUARE;  // NO_SQUARE: empty
        Bitboard attacks = 0;
    };

    FeatureWriter(const Position& position, float* out) : p_(position), out_(out) {
        const Bitboard squares = p_.rules.squares();
        const auto seen = [this](Bitboard set) { return p_.rules.oriented(set, p_.side); };
        for (const int who : {MOVER, OPPONENT}) own_[who] = seen(p_.pieces(color(who)));
        const Bitboard occupied = own_[MOVER] | own_[OPPONENT];
        for (const int who : {MOVER, OPPONENT}) {
            for (int type = PAWN; type <= KING; ++type) {
                Bitboard pieces = seen(p_.pieces(color(who), PieceType(type)));
                counts_[who][type] = count_bits(pieces);
                const Bitboard pawns = !pieces        ? 0
                                       : who == MOVER ? pawn_attacks<WHITE>(pieces)
                                                      : pawn_attacks<BLACK>(pieces);
                if (type == PAWN) attacks_[who][PAWN] = pawns & squares;
                // Lowest square first; pieces beyond the slots (promotions) only attack.
                for (int i = 0; pieces; ++i) {
                    const Square square = pop_square(pieces);
                    const Bitboard attacks =
                        type == PAWN ? 0
                                     : piece_attacks(PieceType(type), square, occupied) & squares;
                    attacks_[who][type] |= attacks;
                    if (i < SLOTS[type]) slots_[who][type][std::size_t(i)] = {square, attacks};
                }
            }
            for (int type = KING; type >= PAWN; --type)  // the cheapest last
                if (attacks_[who][type])
                    mark(cheapest_[who], attacks_[who][type], ATTACKER_VALUE[type]);
        }
    }

    [[nodiscard]] const Slot& slot(int who, PieceType type, int number) const {
        return slots_[who][type][std::size_t(number)];
    }

    void global(int counted_types) {
        add(p_.side == WHITE);
        for (const int who : {MOVER, OPPONENT})
            for (const bool kingside : {true, false})
                add(float(p_.castling >> castling_bit(color(who), kingside) & 1));
        for (const int who : {MOVER, OPPONENT})
            for (int type = PAWN; type < counted_types; ++type)
                add(float(counts_[who][type]) / float(SLOTS[type]));
    }

    void coordinates(const Slot& slot) {
        add(slot.square == NO_SQUARE ? 0.0f : float(file_of(slot.square)) / 7.0f);
        add(slot.square == NO_SQUARE ? 0.0f : float(rank_of(slot.square)) / 7.0f);
    }
    void presence(const Slot& slot) { add(slot.square != NO_SQUARE); }
    // Cheapest attacker and cheapest defender.
    void threats(int who, const Slot& slot) {
        add(slot.square == NO_SQUARE ? 0.0f : cheapest_[1 - who][slot.square]);
        add(slot.square == NO_SQUARE ? 0.0f : cheapest_[who][slot.square]);
    }
    // Empty squares in each direction, plus one for an enemy piece at its end.
    void slider_mobility(int who, PieceType type, const Slot& slot) {
        if (type == PAWN || type == KNIGHT) return;
        const Bitboard targets = slot.attacks & ~own_[who];
        for (int i = type == BISHOP; i < 8; i += type == QUEEN ? 1 : 2)
            add(slot.square == NO_SQUARE
                    ? 0.0f
                    : float(count_bits(targets & rays.from[i][slot.square])) / 7.0f);
    }
    // Target squares that no cheaper enemy piece attacks.
    void safe_mobility(int who, PieceType type, const Slot& slot) {
        Bitboard unsafe = 0;
        for (int t = PAWN; t < KING; ++t)
            if (ATTACKER_VALUE[t] < ATTACKER_VALUE[type]) unsafe |= attacks_[1 - who][t];
        add(float(count_bits(slot.attacks & ~own_[who] & ~unsafe)) / 16.0f);
    }
    void square_control() {
        std::memcpy(out_, cheapest_, sizeof cheapest_);
        out_ += sizeof cheapest_ / sizeof(float);
    }

  private:
    void add(float value) { *out_++ = value; }
    [[nodiscard]] Color color(int who) const { return who == MOVER ? p_.side : ~p_.side; }

    const Position& p_;
    float* out_;
    Bitboard own_[2];
    Bitboard attacks_[2][6] = {};
    int counts_[2][6];
    std::array<Slot, 8> slots_[2][6];
    float cheapest_[2][64] = {};  // value of the cheapest attacker of each square, 0 if none
};

}  // namespace

void encode_pepper353(const EncodeView& view, float* out) {
    FeatureWriter write(view.now(), out);
    write.global(6);
    for (const int who : {MOVER, OPPONENT})
        for (const PieceType type : SLOT_ORDER)
            for (int i = 0; i < SLOTS[type]; ++i) {
                const auto& slot = write.slot(who, type, i);
                write.presence(slot);
                write.coordinates(slot);
                write.threats(who, slot);
            }
    for (const int who : {MOVER, OPPONENT})
        for (const PieceType type : {QUEEN, ROOK, BISHOP})
            for (int i = 0; i < SLOTS[type]; ++i)
                write.slider_mobility(who, type, write.slot(who, type, i));
    write.square_control();
}

void encode_giraffe363(const EncodeView& view, float* out) {
    FeatureWriter write(view.now(), out);
    write.global(5);
    for (const int who : {MOVER, OPPONENT}) {
        write.coordinates(write.slot(who, KING, 0));
        write.threats(who, write.slot(who, KING, 0));
    }
    for (const int who : {MOVER, OPPONENT})
        for (const PieceType type : {QUEEN, ROOK, BISHOP, KNIGHT, PAWN})
            for (int i = 0; i < SLOTS[type]; ++i) {
                const auto& slot = write.slot(who, type, i);
                write.presence(slot);
                write.coordinates(slot);
                write.slider_mobility(who, type, slot);
                if (type != PAWN) write.safe_mobility(who, type, slot);
                write.threats(who, slot);
            }
    write.square_control();
}

}  // namespace rookery::encode
