#include "values/simplified.h"

#include <cstdint>

namespace rookery::values {

namespace {

constexpr int WORTH[6] = {100, 320, 330, 500, 900, 0};

// Bonus of a piece on a square, as White sees the board: the eighth rank comes first.
using Table = std::int8_t[64];
// clang-format off
constexpr Table TABLES[6] = {
    {  0,   0,   0,   0,   0,   0,   0,   0,  // pawn
      50,  50,  50,  50,  50,  50,  50,  50,
      10,  10,  20,  30,  30,  20,  10,  10,
       5,   5,  10,  25,  25,  10,   5,   5,
       0,   0,   0,  20,  20,   0,   0,   0,
       5,  -5, -10,   0,   0, -10,  -5,   5,
       5,  10,  10, -20, -20,  10,  10,   5,
       0,   0,   0,   0,   0,   0,   0,   0},
    {-50, -40, -30, -30, -30, -30, -40, -50,  // knight
     -40, -20,   0,   0,   0,   0, -20, -40,
     -30,   0,  10,  15,  15,  10,   0, -30,
     -30,   5,  15,  20,  20,  15,   5, -30,
     -30,   0,  15,  20,  20,  15,   0, -30,
     -30,   5,  10,  15,  15,  10,   5, -30,
     -40, -20,   0,   5,   5,   0, -20, -40,
     -50, -40, -30, -30, -30, -30, -40, -50},
    {-20, -10, -10, -10, -10, -10, -10, -20,  // bishop
     -10,   0,   0,   0,   0,   0,   0, -10,
     -10,   0,   5,  10,  10,   5,   0, -10,
     -10,   5,   5,  10,  10,   5,   5, -10,
     -10,   0,  10,  10,  10,  10,   0, -10,
     -10,  10,  10,  10,  10,  10,  10, -10,
     -10,   5,   0,   0,   0,   0,   5, -10,
     -20, -10, -10, -10, -10, -10, -10, -20},
    {  0,   0,   0,   0,   0,   0,   0,   0,  // rook
       5,  10,  10,  10,  10,  10,  10,   5,
      -5,   0,   0,   0,   0,   0,   0,  -5,
      -5,   0,   0,   0,   0,   0,   0,  -5,
      -5,   0,   0,   0,   0,   0,   0,  -5,
      -5,   0,   0,   0,   0,   0,   0,  -5,
      -5,   0,   0,   0,   0,   0,   0,  -5,
       0,   0,   0,   5,   5,   0,   0,   0},
    {-20, -10, -10,  -5,  -5, -10, -10, -20,  // queen
     -10,   0,   0,   0,   0,   0,   0, -10,
     -10,   0,   5,   5,   5,   5,   0, -10,
      -5,   0,   5,   5,   5,   5,   0,  -5,
       0,   0,   5,   5,   5,   5,   0,  -5,
     -10,   5,   5,   5,   5,   5,   0, -10,
     -10,   0,   5,   0,   0,   0,   0, -10,
     -20, -10, -10,  -5,  -5, -10, -10, -20},
    {-30, -40, -40, -50, -50, -40, -40, -30,  // king in the middle game
     -30, -40, -40, -50, -50, -40, -40, -30,
     -30, -40, -40, -50, -50, -40, -40, -30,
     -30, -40, -40, -50, -50, -40, -40, -30,
     -20, -30, -30, -40, -40, -30, -30, -20,
     -10, -20, -20, -20, -20, -20, -20, -10,
      20,  20,   0,   0,   0,   0,  20,  20,
      20,  30,  10,   0,   0,  10,  30,  20}};
constexpr Table KING_IN_ENDING =
    {-50, -40, -30, -20, -20, -30, -40, -50,
     -30, -20, -10,   0,   0, -10, -20, -30,
     -30, -10,  20,  30,  30,  20, -10, -30,
     -30, -10,  30,  40,  40,  30, -10, -30,
     -30, -10,  30,  40,  40,  30, -10, -30,
     -30, -10,  20,  30,  30,  20, -10, -30,
     -30, -30,   0,   0,   0,   0, -30, -30,
     -50, -30, -30, -30, -30, -30, -30, -50};
// clang-format on

// A side without a queen, or with nothing but a minor piece beside it.
bool few_pieces(const Position& position, Color color) {
    if (!position.pieces(color, QUEEN)) return true;
    const int minors = count_bits(position.pieces(color, KNIGHT) | position.pieces(color, BISHOP));
    return !position.pieces(color, ROOK) && minors <= 1;
}

int sum_of(const Position& position, Color color, bool ending) {
    int sum = 0;
    for (int type = PAWN; type <= KING; ++type) {
        const Table& table = ending && type == KING ? KING_IN_ENDING : TABLES[type];
        for (Bitboard pieces = position.pieces(color, PieceType(type)); pieces;) {
            const Square square = pop_square(pieces);
            sum += WORTH[type] + table[color == WHITE ? square ^ 56 : square];
        }
    }
    return sum;
}

}  // namespace

int simplified_evaluation(const Position& position) {
    const bool ending = few_pieces(position, WHITE) && few_pieces(position, BLACK);
    return sum_of(position, position.side, ending) - sum_of(position, ~position.side, ending);
}

}  // namespace rookery::values
