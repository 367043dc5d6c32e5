#include "rules/game.h"

#include <algorithm>

#include "base/choose.h"
#include "rules/movegen.h"
#include "rules/san.h"

namespace rookery {

void make_with_history(Position& position, RepetitionKeys& keys, Move move) {
    keys.push(position.key);
    position.make(move);
    // A repetition needs at least four plies.
    position.repetitions =
        std::uint8_t(std::min(255, keys.count(position.key, 4, position.halfmove_clock)));
}

bool can_claim_threefold(const Position& position, const RepetitionKeys& keys) {
    if (position.repetitions >= 2) return true;
    // A third occurrence after the next move needs two earlier ones at odd distances, the nearer at
    // least 3 plies back, so at least 7 reversible plies.
    const std::size_t reach = std::min<std::size_t>(position.halfmove_clock, keys.size());
    if (reach < 7) return false;
    for (const Move move : legal_moves(position)) {
        if (position.is_zeroing(move)) continue;
        Position next = position;
        next.make(move);
        if (keys.count(next.key, 3, reach) >= 2) return true;
    }
    return false;
}

bool can_claim_fifty_moves(const Position& position) {
    if (position.halfmove_clock + 1 < FIFTY_MOVES_PLIES) return false;
    const MoveList moves = legal_moves(position);
    if (position.halfmove_clock >= FIFTY_MOVES_PLIES && !moves.empty()) return true;
    return std::any_of(moves.begin(), moves.end(), [&](Move move) {
        if (position.is_zeroing(move)) return false;
        Position next = position;
        next.make(move);
        return has_legal_move(next);
    });
}

bool can_claim_draw(const Position& position, const RepetitionKeys& keys) {
    return can_claim_fifty_moves(position) || can_claim_threefold(position, keys);
}

Ending find_ending(const Position& position, const RepetitionKeys& keys, int legal_count,
                   Claims claims) {
    if (legal_count == 0 && position.in_check()) return Ending::CHECKMATE;
    if (position.insufficient_material()) return Ending::INSUFFICIENT_MATERIAL;
    if (legal_count == 0) return Ending::STALEMATE;
    if (position.halfmove_clock >= SEVENTYFIVE_MOVES_PLIES) return Ending::SEVENTYFIVE_MOVES;
    if (position.repetitions >= 4) return Ending::FIVEFOLD_REPETITION;
    if (claims == Claims::OCCURRED) {
        if (position.halfmove_clock >= FIFTY_MOVES_PLIES) return Ending::FIFTY_MOVES;
        if (position.repetitions >= 2) return Ending::THREEFOLD_REPETITION;
    } else if (claims == Claims::ANNOUNCED) {
        if (can_claim_fifty_moves(position)) return Ending::FIFTY_MOVES;
        if (can_claim_threefold(position, keys)) return Ending::THREEFOLD_REPETITION;
    }
    return Ending::NONE;
}

bool won_by_promotion(const Position& position) {
    const Bitboard promoted = position.occupied() & ~position.by_type[KING];
    if (!promoted || position.by_type[PAWN]) return false;
    if (promoted & position.pieces(position.side)) return true;
    const MoveList moves = legal_moves(position);
    return std::none_of(moves.begin(), moves.end(),
                        [&](Move move) { return position.is_capture(move); });
}

namespace {

std::vector<Piece> parse_material(const std::string& text) {
    const auto fail = [&](const std::string& why) -> std::invalid_argument {
        return std::invalid_argument("bad material '" + text + "': " + why +
                                     "; write it like KRvK, White's pieces first");
    };
    std::vector<Piece> pieces;
    Color color = WHITE;
    int kings[2] = {0, 0}, totals[2] = {0, 0}, pawns[2] = {0, 0};
    for (const char c : text) {
        if (c == 'v') {
            if (color == BLACK) throw fail("two 'v'");
            color = BLACK;
            continue;
        }
        const auto type = std::string_view("PNBRQK").find(c);
        if (type == std::string_view::npos) throw fail(std::string("unknown piece '") + c + "'");
        pieces.push_back(make_piece(color, PieceType(type)));
        ++totals[color];
        kings[color] += type == KING;
        pawns[color] += type == PAWN;
    }
    if (color == WHITE) throw fail("no 'v' between the sides");
    for (const Color side : {WHITE, BLACK}) {
        if (kings[side] != 1) throw fail("each side needs one king");
        if (totals[side] > 16 || pawns[side] > 8) throw fail("too many pieces");
    }
    return pieces;
}

// Squares of the board, or those that pawns may stand on.
std::vector<Square> squares_of(BoardRules rules, bool pawns) {
    Bitboard set = rules.squares();
    if (pawns) set &= ~(rules.last_rank(WHITE) | rules.last_rank(BLACK));
    std::vector<Square> squares;
    while (set) squares.push_back(pop_square(set));
    return squares;
}

}  // namespace

StartSide find_start_side(std::string_view name) {
    return choose<StartSide>("side", name, {"white", "black", "random"});
}

Position random_position(const std::string& text, StartSide side, Random& random,
                         BoardRules rules) {
    std::vector<Piece> pieces = parse_material(text);
    // Pawns first: then the number of free squares does not depend on earlier pieces, and all
    // placements are equally likely.
    std::stable_partition(pieces.begin(), pieces.end(),
                          [](Piece piece) { return type_of(piece) == PAWN; });
    // Rejection sampling keeps the result uniform. Dead material is never accepted, hence the
    // limit.
    constexpr int PLACEMENTS = 100'000;
    const std::vector<Square> all = squares_of(rules, false), of_pawns = squares_of(rules, true);
    const auto pawns = std::size_t(
        std::ranges::count_if(pieces, [](Piece piece) { return type_of(piece) == PAWN; }));
    if (pieces.size() > all.size() || pawns > of_pawns.size())
        throw std::invalid_argument("bad material '" + text + "': too many pieces for the board");
    for (int attempt = 0; attempt < PLACEMENTS; ++attempt) {
        Position position = empty_board();
        position.rules = rules;
        for (const Piece piece : pieces) {
            const std::vector<Square>& choice = type_of(piece) == PAWN ? of_pawns : all;
            Square square;
            do {
                square = choice[random.below(std::uint32_t(choice.size()))];
            } while (position.board[square] != NO_PIECE);
            position.put(square, piece);
        }
        position.side = side == StartSide::EITHER ? Color(random.below(2))
                                                  : Color(side == StartSide::BLACK_MOVES);
        if (position.attacked_by(position.side, position.king(~position.side))) continue;
        position.finish_setup(NO_SQUARE);
        const RepetitionKeys none;
        if (find_ending(position, none, count_legal(position), Claims::OFF) == Ending::NONE)
            return position;
    }
    throw std::invalid_argument("no position with material '" + text + "' is legal and still open");
}

namespace {

Move require(const Position& position, std::string_view text, Move move) {
    if (!move)
        throw MoveError("move '" + std::string(text.substr(0, 16)) + "' is illegal in '" +
                        to_fen(position) + "'");
    return move;
}

}  // namespace

Move require_uci(const Position& position, std::string_view text) {
    return require(position, text, find_uci(position, text));
}

Move require_san(const Position& position, std::string_view text) {
    return require(position, text, find_san(position, text));
}

Ending Game::ending(Claims claims) const {
    return find_ending(now(), keys_, count_legal(now()), claims);
}

void Game::push(Move legal_move) {
    Position next = now();
    make_with_history(next, keys_, legal_move);
    positions_.push_back(next);
    moves_.push_back(legal_move);
}

int play_random(Game& game, int plies, Random& random) {
    int played = 0;
    while (played < plies && game.ending(Claims::OFF) == Ending::NONE) {
        const MoveList moves = legal_moves(game.now());
        game.push(moves[int(random.below(std::uint32_t(moves.size())))]);
        ++played;
    }
    return played;
}

void Game::pop() {
    positions_.pop_back();
    moves_.pop_back();
    keys_.pop();
}

}  // namespace rookery
