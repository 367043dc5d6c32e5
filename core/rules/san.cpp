#include "rules/san.h"

#include <algorithm>

#include "rules/movegen.h"

namespace rookery {

namespace {

constexpr std::string_view LETTERS = "PNBRQK";  // by PieceType

bool is_castling(Move move) { return move.kind() == Move::CASTLING; }

bool is_capture(const Position& position, Move move) {
    return move.kind() == Move::EN_PASSANT ||
           (!is_castling(move) && position.board[move.to()] != NO_PIECE);
}

// Without check and mate. `origin`: what is written of the origin square.
std::string body(const Position& position, Move move, std::string_view origin) {
    if (is_castling(move)) return move.to() > move.from() ? "O-O" : "O-O-O";
    const PieceType type = type_of(position.board[move.from()]);
    std::string text = type == PAWN ? "" : std::string(1, LETTERS[type]);
    text += origin;
    if (is_capture(position, move)) text += 'x';
    text += square_name(move.to());
    if (move.kind() == Move::PROMOTION) text += std::string("=") + LETTERS[move.promotion()];
    return text;
}

// As little of the origin as tells the move from others of the same kind of piece.
std::string origin_of(const Position& position, Move move) {
    const std::string from = square_name(move.from());
    const PieceType type = type_of(position.board[move.from()]);
    if (type == PAWN) return is_capture(position, move) ? from.substr(0, 1) : "";
    bool others = false, same_file = false, same_rank = false;
    for (const Move other : legal_moves(position)) {
        if (other.to() != move.to() || other.from() == move.from() || is_castling(other) ||
            type_of(position.board[other.from()]) != type)
            continue;
        others = true;
        same_file |= file_of(other.from()) == file_of(move.from());
        same_rank |= rank_of(other.from()) == rank_of(move.from());
    }
    if (!others) return "";
    if (!same_file) return from.substr(0, 1);
    return same_rank ? from : from.substr(1);
}

// Without what may be missing.
std::string plain(std::string_view text) {
    std::string result;
    for (const char letter : text)
        if (std::string_view("+#!?=").find(letter) == std::string_view::npos)
            result += letter == '0' ? 'O' : letter;
    return result;
}

}  // namespace

std::string to_san(const Position& position, Move move) {
    std::string text = body(position, move, origin_of(position, move));
    Position next = position;
    next.make(move);
    if (next.in_check()) text += has_legal_move(next) ? '+' : '#';
    return text;
}

Move find_san(const Position& position, std::string_view text) {
    constexpr std::size_t LONGEST = 12;
    if (text.size() > LONGEST) return Move();
    const std::string wanted = plain(text);
    Move found;
    for (const Move move : legal_moves(position)) {
        const std::string from = square_name(move.from());
        const bool pawn = type_of(position.board[move.from()]) == PAWN;
        for (const std::string& origin : {std::string(), from.substr(0, 1), from.substr(1), from}) {
            // A pawn captures from a file.
            if (pawn && is_capture(position, move) && (origin.empty() || origin == from.substr(1)))
                continue;
            if (plain(body(position, move, origin)) != wanted) continue;
            if (found && found != move) return Move();  // ambiguous
            found = move;
        }
    }
    return found;
}

}  // namespace rookery
