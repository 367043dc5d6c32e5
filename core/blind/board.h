// A board of reconnaissance blind chess: kings may be captured, there is no check, sides may pass.
//
// reconchess 1.6.9 is the oracle of these rules: its lists, their order and its en passant square
// (set by every double step) are ours. A side asks for a move knowing only its own pieces (list_
// requests); the move taken may be shorter, or none (resolve).

#pragma once

#include <array>
#include <string>
#include <string_view>

#include "rules/attacks.h"
#include "rules/position.h"
#include "rules/types.h"

namespace rookery::blind {

struct Board {
    Bitboard by_type[6];
    Bitboard by_color[2];
    std::uint32_t halfmove_clock;  // moves and passes since the last capture or pawn move
    std::uint32_t fullmove_number;
    Color side;               // to move
    std::uint8_t castling;    // rights, one bit each: castling_bit()
    std::uint8_t en_passant;  // square behind a pawn that has just made a double step, or NO_SQUARE

    [[nodiscard]] Bitboard occupied() const { return by_color[WHITE] | by_color[BLACK]; }
    [[nodiscard]] Bitboard pieces(Color color, PieceType type) const {
        return by_color[color] & by_type[type];
    }
    [[nodiscard]] Piece piece_at(Square square) const;
    [[nodiscard]] bool has_king(Color color) const { return pieces(color, KING) != 0; }
    // NO_SQUARE if captured.
    [[nodiscard]] Square king(Color color) const {
        return has_king(color) ? first_square(pieces(color, KING)) : NO_SQUARE;
    }
    [[nodiscard]] bool attacked_by(Color color, Square square) const;
    // Identity of everything but the clocks.
    [[nodiscard]] Key key() const;
    // The same pieces, side, rights and en passant square; clocks may differ.
    [[nodiscard]] bool same(const Board& other) const;
    bool operator==(const Board&) const = default;

    void put(Square square, Piece piece);
    // Nothing happens on an empty square.
    void remove(Square square);
    // Makes a move returned by resolve(); no move is a pass.
    void make(Move taken);
};

[[nodiscard]] Board start_board();
// Of a legal chess position, with its en passant square only where it can be used.
[[nodiscard]] Board board_of(const Position& position);
// Both kings must stand.
[[nodiscard]] Position position_of(const Board& board);
[[nodiscard]] std::string to_fen(const Board& board);

// Moves that the side to move may ask for, in the order of reconchess: as if the opponent had no
// pieces, then every diagonal step of a pawn. A diagonal step onto the last rank is also listed
// without a promotion (a NORMAL move), which means a queen.
void list_requests(const Board& board, MoveList& list);
// The move that a request becomes: sliders stop at the first piece and capture it, a blocked double
// step becomes a single one, what is impossible becomes no move.
[[nodiscard]] Move resolve(const Board& board, Move request);
// Every move that the side to move can take, except the pass: all results of resolve().
void list_taken(const Board& board, MoveList& list);
// The square of the piece that a taken move captures (en passant: the pawn's), or NO_SQUARE.
[[nodiscard]] Square capture_square(const Board& board, Move taken);

// UCI; castling is the king's two-square step. "" for no move.
[[nodiscard]] std::string to_uci(Move move);
// The request with this text; a pawn move to the last rank without a letter means a queen. No move
// if it cannot be asked for.
[[nodiscard]] Move find_request(const Board& board, std::string_view uci);

// What a sense shows: the 3 x 3 squares around a centre, from its upper left corner row by row;
// squares off the board are OFF_BOARD.
inline constexpr Piece OFF_BOARD = 13;
using Window = std::array<Piece, 9>;
[[nodiscard]] Window look(const Board& board, Square centre);
using WindowSquares = std::array<std::array<std::uint8_t, 9>, 64>;
inline constexpr WindowSquares WINDOW_SQUARES = [] {
    WindowSquares squares{};
    for (Square centre = 0; centre < 64; ++centre)
        for (int i = 0; i < 9; ++i) {
            const int file = file_of(centre) + i % 3 - 1, rank = rank_of(centre) + 1 - i / 3;
            const bool inside = file >= 0 && file < 8 && rank >= 0 && rank < 8;
            squares[std::size_t(centre)][std::size_t(i)] =
                std::uint8_t(inside ? make_square(file, rank) : NO_SQUARE);
        }
    return squares;
}();
// The i-th square of the window, or NO_SQUARE.
[[nodiscard]] constexpr Square window_square(Square centre, int index) {
    return WINDOW_SQUARES[std::size_t(centre)][std::size_t(index)];
}
// All squares of the window.
[[nodiscard]] Bitboard window_mask(Square centre);

}  // namespace rookery::blind
