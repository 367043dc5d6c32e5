// FEN and UCI notation.

#include <algorithm>
#include <array>
#include <cstring>

#include "rules/boards.h"
#include "rules/position.h"

namespace rookery {

namespace {

constexpr std::size_t MAX_FEN_LENGTH = 128;  // valid FENs have at most about 90 characters
constexpr std::uint32_t MAX_COUNTER = 99999;

std::string quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text.substr(0, MAX_FEN_LENGTH)) result += c >= ' ' && c < 127 ? c : '?';
    return result + "'";
}

[[noreturn]] void fail(const std::string& what) { throw FenError("bad FEN: " + what); }

struct Fields {
    std::array<std::string_view, 7> text;
    int count = 0;
};

Fields split(std::string_view fen) {
    if (fen.size() > MAX_FEN_LENGTH)
        fail("it has " + std::to_string(fen.size()) + " characters, at most " +
             std::to_string(MAX_FEN_LENGTH) + " are possible");
    Fields fields;
    std::size_t i = 0;
    for (const char c : fen)
        if (c < ' ' || c > '~') fail("unprintable character in " + quoted(fen));
    while ((i = fen.find_first_not_of(' ', i)) < fen.size()) {
        const std::size_t end = std::min(fen.find(' ', i), fen.size());
        // The seventh names a board of one's own.
        if (fields.count == 7 || (fields.count == 6 && !is_board_size(fen.substr(i, 3))))
            fail("more than six fields in " + quoted(fen));
        fields.text[std::size_t(fields.count++)] = fen.substr(i, end - i);
        i = end;
    }
    if (fields.count < 4)
        fail("expected placement, side, castling, en passant (and two counters) in " + quoted(fen));
    return fields;
}

std::string squares_text(int count) { return std::to_string(count) + " squares"; }

void read_placement(std::string_view text, Position& position) {
    const int files = position.rules.files(), ranks = position.rules.ranks();
    int rank = ranks - 1, file = 0;
    bool digit_before = false;
    for (const char c : text) {
        if (c == '/') {
            if (file != files)
                fail("rank " + std::to_string(rank + 1) + " has " + squares_text(file) +
                     " instead of " + std::to_string(files) + " in " + quoted(text));
            if (--rank < 0)
                fail("more than " + std::to_string(ranks) + " ranks in " + quoted(text));
            file = 0;
            digit_before = false;
        } else if (c >= '1' && c <= '8') {
            if (digit_before) fail("two digits in a row in " + quoted(text));
            file += c - '0';
            digit_before = true;
        } else {
            const char* letter = std::strchr(PIECE_LETTERS, c);
            if (!letter || !c) fail("unknown piece " + quoted({&c, 1}) + " in " + quoted(text));
            if (file < files) position.put(make_square(file, rank), Piece(letter - PIECE_LETTERS));
            ++file;
            digit_before = false;
        }
        if (file > files)
            fail("rank " + std::to_string(rank + 1) + " has more than " + squares_text(files) +
                 " in " + quoted(text));
    }
    if (rank != 0 || file != files)
        fail("the placement " + quoted(text) + " does not fill " + std::to_string(ranks) +
             " ranks of " + squares_text(files));
}

void check_placement(const Position& position) {
    for (const Color color : {WHITE, BLACK}) {
        const std::string name = color == WHITE ? "White" : "Black";
        const int kings = count_bits(position.pieces(color, KING));
        if (kings != 1) fail(name + " has " + std::to_string(kings) + " kings instead of 1");
        const int pieces = count_bits(position.pieces(color));
        if (pieces > 16) fail(name + " has " + std::to_string(pieces) + " pieces, at most 16");
        const int pawns = count_bits(position.pieces(color, PAWN));
        if (pawns > 8) fail(name + " has " + std::to_string(pawns) + " pawns, at most 8");
    }
    const Bitboard ends = position.rules.last_rank(WHITE) | position.rules.last_rank(BLACK);
    const Bitboard stuck = position.by_type[PAWN] & ends;
    if (stuck) fail("a pawn stands on " + square_name(first_square(stuck)));
}

// The rook meant by a letter of the castling field, or NO_SQUARE.
Square castling_rook_square(const Position& p, Color color, char letter) {
    const int rank = color == WHITE ? 0 : 7;
    const Square king = p.king(color);
    Bitboard rooks = p.pieces(color, ROOK) & rank_mask(rank);
    if (letter == 'k' || letter == 'q') {
        if (!p.chess960) rooks &= bit(make_square(letter == 'k' ? 7 : 0, rank));
        if (!rooks) return NO_SQUARE;
        // X-FEN: the outermost rook.
        const Square rook = letter == 'k' ? 63 - std::countl_zero(rooks) : first_square(rooks);
        return (rook > king) == (letter == 'k') ? rook : NO_SQUARE;
    }
    const Square rook = make_square(letter - 'a', rank);
    return rooks & bit(rook) ? rook : NO_SQUARE;
}

void read_castling(std::string_view text, Position& position) {
    if (text == "-") return;
    if (!position.rules.full_size())
        fail("castling rights " + quoted(text) + " need the board of 8x8 squares");
    for (const char c : text) {
        const bool upper = c >= 'A' && c <= 'Z';
        const char letter = upper ? char(c - 'A' + 'a') : c;
        const std::string right = "castling right " + quoted({&c, 1});
        if (letter != 'k' && letter != 'q' && (letter < 'a' || letter > 'h'))
            fail("unknown " + right + " in " + quoted(text));
        const Color color = upper ? WHITE : BLACK;
        const Square king = position.king(color);
        const int home_rank = color == WHITE ? 0 : 7;
        const Square rook = castling_rook_square(position, color, letter);
        if (rank_of(king) != home_rank || rook == NO_SQUARE)
            fail(right + " without king and rook on their squares");
        const bool kingside = rook > king;
        if (!position.chess960 && (file_of(king) != 4 || file_of(rook) != (kingside ? 7 : 0)))
            fail(right + " needs the king on the e-file and the rook in the corner; " +
                 "pass chess960=True for Chess960 positions");
        const int index = castling_bit(color, kingside);
        if (position.castling >> index & 1) fail(right + " is given twice in " + quoted(text));
        position.castling |= std::uint8_t(1 << index);
        position.castling_rook[index] = std::uint8_t(rook);
    }
}

// NO_SQUARE if no pawn can just have passed over the square.
Square read_en_passant(std::string_view text, const Position& position) {
    if (text == "-") return NO_SQUARE;
    if (text.size() != 2 || text[0] < 'a' || text[0] > 'h' || text[1] < '1' || text[1] > '8')
        fail("en passant square " + quoted(text) + " is neither '-' nor a square");
    const Square target = make_square(text[0] - 'a', text[1] - '1');
    const Color us = position.side;
    if (!(position.rules.double_step_rank(~us) & bit(target))) return NO_SQUARE;
    const Square pushed = en_passant_victim(target, us);
    const Square origin = us == WHITE ? target + 8 : target - 8;
    const bool possible = (position.pieces(~us, PAWN) & bit(pushed)) &&
                          !(position.occupied() & (bit(target) | bit(origin)));
    return possible ? target : NO_SQUARE;
}

std::uint32_t read_counter(std::string_view text, const char* name) {
    std::uint32_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9')
            fail(std::string(name) + " " + quoted(text) + " is not a whole number from 0 up");
        value = value * 10 + std::uint32_t(c - '0');
        if (value > MAX_COUNTER)
            fail(std::string(name) + " " + quoted(text) + " is above " +
                 std::to_string(MAX_COUNTER));
    }
    return value;
}

std::string castling_text(const Position& position) {
    std::string text;
    for (int index = 0; index < 4; ++index) {
        if (!(position.castling >> index & 1)) continue;
        const Color color = index < 2 ? WHITE : BLACK;
        const bool kingside = index % 2 == 0;
        const Square rook = position.castling_rook[index];
        // X-FEN: the letter of the file if another rook stands further out.
        const Bitboard further = position.pieces(color, ROOK) & rank_mask(rank_of(rook)) &
                                 (kingside ? ~(bit(rook) | (bit(rook) - 1)) : bit(rook) - 1);
        char letter = kingside ? 'k' : 'q';
        if (further) letter = char('a' + file_of(rook));
        text += color == WHITE ? char(letter - 'a' + 'A') : letter;
    }
    return text.empty() ? "-" : text;
}

// The rules that the FEN itself tells, which must fit those that are given.
BoardRules rules_of(const Fields& fields, std::optional<BoardRules> given) {
    const auto [files, ranks] = size_of_placement(fields.text[0]);
    const std::optional<BoardRules> known = rules_of_size(files, ranks);
    const bool named = fields.count > 6;
    const BoardRules told = named ? find_board(fields.text[6]).rules : known.value_or(BoardRules());
    if (!given) return told;
    const bool fits = named ? told == *given : files == given->files() && ranks == given->ranks();
    if (!fits && (named || known))
        fail("it is a position of board '" + board_name(told) + "', not of '" + board_name(*given) +
             "'");
    return *given;
}

Position parse_fields(std::string_view fen, bool chess960, std::optional<BoardRules> rules) {
    const Fields fields = split(fen);
    Position position = empty_board();
    position.chess960 = chess960;
    position.rules = rules_of(fields, rules);

    read_placement(fields.text[0], position);
    check_placement(position);
    if (fields.text[1] != "w" && fields.text[1] != "b")
        fail("side to move " + quoted(fields.text[1]) + " is neither 'w' nor 'b'");
    position.side = fields.text[1] == "w" ? WHITE : BLACK;
    if (position.attacked_by(position.side, position.king(~position.side)))
        fail("the side that is not to move is in check");
    read_castling(fields.text[2], position);
    const Square target = read_en_passant(fields.text[3], position);
    if (fields.count > 4) position.halfmove_clock = read_counter(fields.text[4], "half-move clock");
    if (fields.count > 5)
        position.fullmove_number = std::max(1u, read_counter(fields.text[5], "full-move number"));
    position.finish_setup(target);
    return position;
}

}  // namespace

Position parse_fen(std::string_view fen, bool chess960, std::optional<BoardRules> rules) {
    try {
        return parse_fields(fen, chess960, rules);
    } catch (const FenError& error) {
        // Add the whole FEN to errors that quote only one field.
        const std::string what = error.what();
        if (what.find(quoted(fen)) != std::string::npos || fen.size() > MAX_FEN_LENGTH) throw;
        throw FenError(what + ", in " + quoted(fen));
    }
}

std::string to_epd(const Position& position) {
    std::string text;
    for (int rank = position.rules.ranks() - 1; rank >= 0; --rank) {
        int empty = 0;
        const auto flush = [&] {
            if (empty) text += char('0' + empty);
            empty = 0;
        };
        for (int file = 0; file < position.rules.files(); ++file) {
            const Piece piece = position.board[make_square(file, rank)];
            if (piece == NO_PIECE) {
                ++empty;
            } else {
                flush();
                text += PIECE_LETTERS[piece];
            }
        }
        flush();
        if (rank) text += '/';
    }
    text += position.side == WHITE ? " w " : " b ";
    text += castling_text(position) + ' ';
    text += position.en_passant == NO_SQUARE ? "-" : square_name(position.en_passant);
    return text;
}

std::string to_fen(const Position& position) {
    const BoardRules rules = position.rules;
    const bool known = rules_of_size(rules.files(), rules.ranks()) == rules;
    return to_epd(position) + ' ' + std::to_string(position.halfmove_clock) + ' ' +
           std::to_string(position.fullmove_number) + (known ? "" : ' ' + board_name(rules));
}

std::string to_uci(const Position& position, Move move) {
    if (!move) return "0000";
    Square to = move.to();
    if (move.kind() == Move::CASTLING && !position.chess960)
        to = castled_king(position.side, to > move.from());
    std::string text = square_name(move.from()) + square_name(to);
    if (move.kind() == Move::PROMOTION) text += "nbrq"[move.promotion() - KNIGHT];
    return text;
}

std::vector<std::string> to_uci(Position position, std::span<const Move> line) {
    std::vector<std::string> moves;
    for (const Move move : line) {
        moves.push_back(to_uci(position, move));
        position.make(move);
    }
    return moves;
}

const Position& start_position() {
    // Rebuilt when the Zobrist table changes: the key is part of the position.
    static Position position = parse_fen(STARTING_FEN);
    static Key made_with = zobrist.white_to_move;
    if (made_with != zobrist.white_to_move) {
        position = parse_fen(STARTING_FEN);
        made_with = zobrist.white_to_move;
    }
    return position;
}

Position empty_board() {
    Position position{};
    std::memset(position.board, NO_PIECE, sizeof position.board);
    std::memset(position.castling_rook, NO_SQUARE, sizeof position.castling_rook);
    position.en_passant = position.en_passant_pseudo = NO_SQUARE;
    position.fullmove_number = 1;
    return position;
}

std::string material_signature(const Position& position) {
    std::string text;
    for (const Color color : {WHITE, BLACK}) {
        if (color == BLACK) text += 'v';
        for (const PieceType type : {KING, QUEEN, ROOK, BISHOP, KNIGHT, PAWN})
            text.append(std::size_t(count_bits(position.pieces(color, type))), PIECE_LETTERS[type]);
    }
    return text;
}

}  // namespace rookery
