// A chess position: everything the rules need but the repetition history (see game.h).
//
// Positions are small trivially copyable values; searches copy and make rather than undo.
// make() trusts its move: it must be one of the legal moves of this position. Positions come
// from parse_fen(), from start_position() or from another position by make().

#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rules/attacks.h"
#include "rules/types.h"

namespace rookery {

// Zobrist keys in the order of Polyglot's 781 numbers, so that with Polyglot's own table
// (set_zobrist_keys) polyglot_key() finds moves in opening books. Until then the keys are
// pseudo-random numbers of our own.
struct Zobrist {
    Key piece[12][64];
    Key castling[16];  // by set of rights
    Key en_passant[8];  // by file
    Key white_to_move;
};
inline constexpr std::size_t ZOBRIST_KEY_COUNT = 781;
extern Zobrist zobrist;
// Replaces all keys; positions made before it have keys of the old table.
void set_zobrist_keys(std::span<const Key, ZOBRIST_KEY_COUNT> keys);

struct Position {
    Bitboard by_type[6];
    Bitboard by_color[2];
    Key key;  // identity for repetitions: pieces, side, rights, legal en passant file
    std::uint32_t halfmove_clock;  // plies since the last capture or pawn move
    std::uint32_t fullmove_number;
    Piece board[64];
    Color side;              // to move
    std::uint8_t castling;   // rights, one bit each: castling_bit()
    std::uint8_t en_passant;  // target square if at least one capture is legal, else NO_SQUARE
    // The same, but a pawn that may not capture because of a pin counts too (Polyglot's rule).
    std::uint8_t en_passant_pseudo;
    std::uint8_t castling_rook[4];  // rook squares by castling_bit()
    bool chess960;
    std::uint8_t repetitions;  // earlier occurrences, kept by the owner of the history; <= 255
    Move last_move;            // the move that led here, if any

    // --- Looking ---
    [[nodiscard]] Bitboard occupied() const { return by_color[WHITE] | by_color[BLACK]; }
    [[nodiscard]] Bitboard pieces(Color color) const { return by_color[color]; }
    [[nodiscard]] Bitboard pieces(Color color, PieceType type) const {
        return by_color[color] & by_type[type];
    }
    [[nodiscard]] Square king(Color color) const { return first_square(pieces(color, KING)); }
    // Pieces of both colours attacking a square.
    [[nodiscard]] Bitboard attackers_to(Square square, Bitboard occupied) const;
    [[nodiscard]] bool attacked_by(Color color, Square square) const {
        return attackers_to(square, occupied()) & pieces(color);
    }
    [[nodiscard]] bool in_check() const { return attacked_by(~side, king(side)); }
    // Neither side can mate by any sequence of moves, as far as material alone tells.
    [[nodiscard]] bool insufficient_material() const;
    [[nodiscard]] Key polyglot_key() const;
    [[nodiscard]] bool is_capture(Move move) const {
        return move.kind() == Move::EN_PASSANT ||
               (move.kind() != Move::CASTLING && board[move.to()] != NO_PIECE);
    }
    // A capture or a pawn move: nothing before it can be repeated.
    [[nodiscard]] bool is_zeroing(Move move) const {
        return type_of(board[move.from()]) == PAWN || is_capture(move);
    }

    // --- Changing ---
    void make(Move move);

    // --- Setting up; keys and en passant are settled by finish_setup ---
    void put(Square square, Piece piece);
    void finish_setup(Square en_passant_candidate);

  private:
    void remove(Square square);
    void drop_castling_rights(Move move, Color us);
    void set_en_passant(Square target);
    [[nodiscard]] bool en_passant_is_legal(Square from, Square target) const;
    void make_castling(Move move, Color us);
    friend struct MoveGeneration;
};

// Where king and rook stand after castling.
[[nodiscard]] constexpr Square castled_king(Color color, bool kingside) {
    return make_square(kingside ? 6 : 2, color == WHITE ? 0 : 7);
}
[[nodiscard]] constexpr Square castled_rook(Color color, bool kingside) {
    return make_square(kingside ? 5 : 3, color == WHITE ? 0 : 7);
}
// Number of a right's bit in Position::castling, and its index in Position::castling_rook.
[[nodiscard]] constexpr int castling_bit(Color color, bool kingside) {
    return 2 * color + (kingside ? 0 : 1);
}

// --- Notation (fen.cpp) ---

inline constexpr std::string_view STARTING_FEN =
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// A FEN that is malformed or that no game can have; the message names the field.
struct FenError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Accepts four to six fields; rights as KQkq, X-FEN or Shredder letters. Rights without king
// or rook on their squares are refused; in a standard game these are e1/e8 and the corners.
// An en passant square that allows no legal capture is dropped.
[[nodiscard]] Position parse_fen(std::string_view fen, bool chess960 = false);
[[nodiscard]] std::string to_fen(const Position& position);
[[nodiscard]] std::string to_epd(const Position& position);
// UCI; castling is e1g1, or king takes rook in a Chess960 position.
[[nodiscard]] std::string to_uci(const Position& position, Move move);
// Consecutive moves, the first of them legal in `position`.
[[nodiscard]] std::vector<std::string> to_uci(Position position, std::span<const Move> line);
[[nodiscard]] const Position& start_position();
// White's pieces, then Black's, each from king to pawn: "KRvK".
[[nodiscard]] std::string material_signature(const Position& position);

}  // namespace rookery
