// A chess position: everything the rules need but the repetition history (see game.h).
//
// Positions are small trivially copyable values; searches copy and make rather than undo.
// make() trusts its move: it must be one of the legal moves of this position. Positions come
// from parse_fen(), from start_position() or from another position by make().

#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rules/attacks.h"
#include "rules/board_rules.h"
#include "rules/types.h"

namespace rookery {

// Zobrist keys in the order of Polyglot's 781 numbers: with Polyglot's table (set_zobrist_keys)
// polyglot_key() matches opening books. By default the keys are pseudo-random numbers.
struct Zobrist {
    Key piece[12][64];
    Key castling[16];  // by set of rights
    Key en_passant[8];  // by file
    Key white_to_move;
};
inline constexpr std::size_t ZOBRIST_KEY_COUNT = 781;
extern Zobrist zobrist;
// Replaces all keys; existing positions keep keys of the old table.
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
    // The same, but pinned capturers count too (Polyglot's rule).
    std::uint8_t en_passant_pseudo;
    std::uint8_t castling_rook[4];  // rook squares by castling_bit()
    bool chess960;
    std::uint8_t repetitions;  // earlier occurrences, at most 255; set by make_with_history
    Move last_move;            // the move that led here, if any
    BoardRules rules;          // size of the board and what pawns may do

    // --- Queries ---
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
    // By material alone, neither side can mate.
    [[nodiscard]] bool insufficient_material() const;
    [[nodiscard]] Key polyglot_key() const;
    // Whether the side to move may capture from `from` onto the en passant square `target`.
    [[nodiscard]] bool en_passant_is_legal(Square from, Square target) const;
    [[nodiscard]] bool is_capture(Move move) const {
        return move.kind() == Move::EN_PASSANT ||
               (move.kind() != Move::CASTLING && board[move.to()] != NO_PIECE);
    }
    [[nodiscard]] PieceType captured_type(Move move) const {
        return move.kind() == Move::EN_PASSANT ? PAWN : type_of(board[move.to()]);
    }
    // A capture or a pawn move: nothing before it can be repeated.
    [[nodiscard]] bool is_zeroing(Move move) const {
        return type_of(board[move.from()]) == PAWN || is_capture(move);
    }

    void make(Move move);

    // --- Setup: put pieces, set the other fields, then finish_setup computes key and en passant
    // ---
    void put(Square square, Piece piece);
    void finish_setup(Square en_passant_candidate);

  private:
    void remove(Square square);
    void drop_castling_rights(Move move, Color us);
    void set_en_passant(Square target);
    void make_castling(Move move, Color us);
};

// Destinations of king and rook when castling.
[[nodiscard]] constexpr Square castled_king(Color color, bool kingside) {
    return make_square(kingside ? 6 : 2, color == WHITE ? 0 : 7);
}
[[nodiscard]] constexpr Square castled_rook(Color color, bool kingside) {
    return make_square(kingside ? 5 : 3, color == WHITE ? 0 : 7);
}
// Bit number in Position::castling and index in Position::castling_rook.
[[nodiscard]] constexpr int castling_bit(Color color, bool kingside) {
    return 2 * color + (kingside ? 0 : 1);
}

// --- Notation (fen.cpp) ---

inline constexpr std::string_view STARTING_FEN =
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// A malformed or impossible FEN; the message names the field.
struct FenError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Accepts four to six fields; castling rights as KQkq, X-FEN or Shredder letters. Throws for rights
// without king or rook on their squares (in standard chess e1/e8 and the corners). Drops an en
// passant square without a legal capture.
// The size of the placement tells which of the known boards it is (boards.h); a board of one's own
// is named in a seventh field, as to_fen writes it, or given as `rules`.
[[nodiscard]] Position parse_fen(std::string_view fen, bool chess960 = false,
                                 std::optional<BoardRules> rules = {});
[[nodiscard]] std::string to_fen(const Position& position);
[[nodiscard]] std::string to_epd(const Position& position);
// UCI; castling is e1g1, or king takes rook in a Chess960 position.
[[nodiscard]] std::string to_uci(const Position& position, Move move);
// Of consecutive moves from `position`.
[[nodiscard]] std::vector<std::string> to_uci(Position position, std::span<const Move> line);
[[nodiscard]] const Position& start_position();
// An empty standard board with White to move and move number 1, to put pieces on.
[[nodiscard]] Position empty_board();
// White's pieces, then Black's, each from king to pawn: "KRvK".
[[nodiscard]] std::string material_signature(const Position& position);

}  // namespace rookery
