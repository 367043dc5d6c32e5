#include "peers/sunfish.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "base/random.h"

namespace rookery::peers::sunfish {

namespace {

constexpr std::string_view PIECES = "PNBRQK";
constexpr int WORTH[6] = {100, 280, 320, 479, 929, 60000};
constexpr int SQUARE_TABLES[6][64] = {
    {0,   0,  0,  0,   0,   0,   0,  0,   78,  83, 86, 73,  102, 82, 85, 90,
     7,   29, 21, 44,  40,  31,  44, 7,   -17, 16, -2, 15,  14,  0,  15, -13,
     -26, 3,  10, 9,   6,   1,   0,  -23, -22, 9,  5,  -11, -10, -2, 3,  -19,
     -31, 8,  -7, -37, -36, -14, 3,  -31, 0,   0,  0,  0,   0,   0,  0,  0},  // P
    {-66, -53, -75, -75, -10, -55, -58, -70, -3,  -6,  100, -36, 4,   62,  -4,  -14,
     10,  67,  1,   74,  73,  27,  62,  -2,  24,  24,  45,  37,  33,  41,  25,  17,
     -1,  5,   31,  21,  22,  35,  2,   0,   -18, 10,  13,  22,  18,  15,  11,  -14,
     -23, -15, 2,   0,   2,   0,   -23, -20, -74, -23, -26, -24, -19, -35, -22, -69},  // N
    {-59, -78, -82, -76, -23, -107, -37, -50, -11, 20, 35,  -42, -39, 31,  2,   -22,
     -9,  39,  -32, 41,  52,  -10,  28,  -14, 25,  17, 20,  34,  26,  25,  15,  10,
     13,  10,  17,  23,  17,  16,   0,   7,   14,  25, 24,  15,  8,   25,  20,  15,
     19,  20,  11,  6,   7,   6,    20,  16,  -7,  2,  -15, -12, -14, -15, -10, -10},  // B
    {35,  29,  33,  4,   37,  33,  56,  50,  55,  29,  56,  67,  55,  62,  34,  60,
     19,  35,  28,  33,  45,  27,  25,  15,  0,   5,   16,  13,  18,  -4,  -9,  -6,
     -28, -35, -16, -21, -13, -29, -46, -30, -42, -28, -42, -25, -25, -35, -26, -46,
     -53, -38, -31, -26, -29, -43, -44, -53, -30, -24, -18, 5,   -2,  -18, -31, -32},  // R
    {6,   1,   -8, -104, 69,  24,  88,  26,  14,  32,  60,  -10, 20,  76,  57,  24,
     -2,  43,  32, 60,   72,  63,  43,  2,   1,   -16, 22,  17,  25,  20,  -13, -6,
     -14, -15, -2, -5,   -1,  -10, -20, -22, -30, -6,  -13, -11, -16, -11, -16, -27,
     -36, -18, 0,  -19,  -15, -15, -21, -38, -39, -30, -31, -13, -31, -36, -34, -42},  // Q
    {4,   54,  47,  -99, -99, 60,  83, -62, -32, 10,  55,  56,  56,  55,  10,  3,
     -62, 12,  -57, 44,  -67, 28,  37, -31, -55, 50,  11,  -4,  -19, 13,  0,   -49,
     -55, -43, -52, -28, -51, -47, -8, -50, -47, -42, -43, -79, -64, -32, -29, -32,
     -4,  3,   -14, -50, -57, -18, 13, 4,   17,  30,  -3,  -14, 6,   -1,  40,  18},  // K
};
constexpr int A1 = 91, H1 = 98, A8 = 21, H8 = 28;
constexpr int NORTH = -10, EAST = 1, SOUTH = 10, WEST = -1;
constexpr int MATE_LOWER = WORTH[5] - 13 * WORTH[4];
constexpr int MATE_UPPER = WORTH[5] + 10 * WORTH[4];
constexpr int QUIET = 36;         // QS: the least gain of a move in the quiescence search
constexpr int PLY_GAIN = 180;     // QS_A: what a further ply may gain
constexpr int REDUCED_BELOW = 70; // LMR
constexpr int ROUGHNESS = 15;     // EVAL_ROUGHNESS
constexpr int NULL_MARGIN = -200;
constexpr int CALM = 750;
constexpr int MAX_DEPTH = 100;  // of its UCI driver

constexpr int PAWN_STEPS[] = {NORTH, 2 * NORTH, NORTH + WEST, NORTH + EAST};
constexpr int KNIGHT_STEPS[] = {2 * NORTH + EAST,    EAST + NORTH + EAST, EAST + SOUTH + EAST,
                                2 * SOUTH + EAST,    2 * SOUTH + WEST,    WEST + SOUTH + WEST,
                                WEST + NORTH + WEST, 2 * NORTH + WEST};
constexpr int BISHOP_STEPS[] = {NORTH + EAST, SOUTH + EAST, SOUTH + WEST, NORTH + WEST};
constexpr int ROOK_STEPS[] = {NORTH, EAST, SOUTH, WEST};
constexpr int ALL_STEPS[] = {NORTH,        EAST,         SOUTH,        WEST,
                             NORTH + EAST, SOUTH + EAST, SOUTH + WEST, NORTH + WEST};

std::span<const int> steps_of(char piece) {
    switch (piece) {
        case 'P': return PAWN_STEPS;
        case 'N': return KNIGHT_STEPS;
        case 'B': return BISHOP_STEPS;
        case 'R': return ROOK_STEPS;
        default: return ALL_STEPS;
    }
}

constexpr bool is_own(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_other(char c) { return c >= 'a' && c <= 'z'; }
constexpr char upper(char c) { return is_other(c) ? char(c - 32) : c; }
constexpr char swapped(char c) { return is_own(c) ? char(c + 32) : upper(c); }
constexpr bool is_knight_pawn_or_king(char c) { return c == 'P' || c == 'N' || c == 'K'; }

struct Tables {
    int squares[6][120] = {};  // worth of a piece on a square
    int king_end[120] = {};
    std::uint64_t keys[256][120] = {};

    Tables() {
        for (int piece = 0; piece < 6; ++piece)
            for (int square = 0; square < 64; ++square)
                squares[piece][A8 + square / 8 * 10 + square % 8] =
                    SQUARE_TABLES[piece][square] + WORTH[piece];
        for (int i = 0; i < 120; ++i)
            king_end[i] =
                WORTH[5] + 70 - 10 * (std::abs(2 * (i / 10) - 11) + std::abs(2 * (i % 10) - 9));
        std::uint64_t seed = 20260;
        for (const char c : PIECES)
            for (const char piece : {c, swapped(c)})
                for (auto& key : keys[(unsigned char)piece]) key = splitmix64(seed);
    }
};

const Tables& tables() {
    static const Tables made;
    return made;
}

std::uint64_t mixed(std::uint64_t value) { return splitmix64(value); }

Position rotated(const Position& position, bool null_move = false) {
    Position other = position;
    for (int i = 0; i < 120; ++i)
        other.board[std::size_t(i)] = swapped(position.board[std::size_t(119 - i)]);
    other.score = -position.score;
    std::swap(other.own_castling, other.other_castling);
    other.en_passant = position.en_passant && !null_move ? 119 - position.en_passant : 0;
    other.king_passant = position.king_passant && !null_move ? 119 - position.king_passant : 0;
    other.turned = !position.turned;
    std::swap(other.keys[0], other.keys[1]);
    return other;
}

// Calls visit(move) for each pseudo-legal move until it returns true.
template <class Visit> bool visit_moves(const Position& position, Visit&& visit) {
    const auto& board = position.board;
    for (int from = A8; from <= H1; ++from) {
        const char piece = board[std::size_t(from)];
        if (!is_own(piece)) continue;
        for (const int step : steps_of(piece)) {
            for (int to = from + step;; to += step) {
                const char target = board[std::size_t(to)];
                if (target == ' ' || is_own(target)) break;
                if (piece == 'P') {
                    const bool straight = step == NORTH || step == 2 * NORTH;
                    if (straight && target != '.') break;
                    if (step == 2 * NORTH &&
                        (from < A1 + NORTH || board[std::size_t(from + NORTH)] != '.'))
                        break;
                    if (!straight && target == '.' && to != position.en_passant &&
                        std::abs(to - position.king_passant) > 1)
                        break;
                    if (A8 <= to && to <= H8) {
                        for (const char promotion : {'N', 'B', 'R', 'Q'})
                            if (visit(Move{from, to, promotion})) return true;
                        break;
                    }
                }
                if (visit(Move{from, to, 0})) return true;
                if (is_knight_pawn_or_king(piece) || is_other(target)) break;
                if (from == A1 && board[std::size_t(to + EAST)] == 'K' &&
                    position.own_castling[0] && visit(Move{to + EAST, to + WEST, 0}))
                    return true;
                if (from == H1 && board[std::size_t(to + WEST)] == 'K' &&
                    position.own_castling[1] && visit(Move{to + WEST, to + EAST, 0}))
                    return true;
            }
        }
    }
    return false;
}

bool king_capture(const Position& position, Move* found = nullptr) {
    return visit_moves(position, [&](const Move& move) {
        const bool takes = position.board[std::size_t(move.to)] == 'k' ||
                           std::abs(move.to - position.king_passant) < 2;
        if (takes && found) *found = move;
        return takes;
    });
}

bool has_pieces(const Position& position) {
    return std::any_of(position.board.begin(), position.board.end(),
                       [](char c) { return c == 'R' || c == 'B' || c == 'N' || c == 'Q'; });
}

std::string square_name(int square) {
    const int offset = square - A1;
    const int file = (offset % 10 + 10) % 10;
    const int rank = 1 - (offset - file) / 10;
    return std::string{char('a' + file), char('0' + rank)};
}

int parse_square(const std::string& name) { return A1 + (name[0] - 'a') - 10 * (name[1] - '1'); }

}  // namespace

std::uint64_t Position::key() const {
    const std::uint64_t flags =
        std::uint64_t(own_castling[0]) | std::uint64_t(own_castling[1]) << 1 |
        std::uint64_t(other_castling[0]) << 2 | std::uint64_t(other_castling[1]) << 3 |
        std::uint64_t(turned) << 4 | std::uint64_t(en_passant) << 8 |
        std::uint64_t(king_passant) << 16 | std::uint64_t(std::uint32_t(score)) << 32;
    return keys[0] ^ mixed(flags);
}

void Position::put(int square, char piece) {
    const auto& all = tables().keys;
    char& place = board[std::size_t(square)];
    if (place != '.') {
        keys[0] ^= all[(unsigned char)place][square];
        keys[1] ^= all[(unsigned char)swapped(place)][119 - square];
    }
    if (piece != '.') {
        keys[0] ^= all[(unsigned char)piece][square];
        keys[1] ^= all[(unsigned char)swapped(piece)][119 - square];
    }
    place = piece;
}

const int* Searcher::table(char piece) const {
    return piece == 'K' ? king_table_ : tables().squares[PIECES.find(piece)];
}

int Searcher::value(const Position& position, const Move& move) const {
    const char piece = position.board[std::size_t(move.from)];
    const char taken = position.board[std::size_t(move.to)];
    int score = table(piece)[move.to] - table(piece)[move.from];
    if (is_other(taken)) score += table(upper(taken))[119 - move.to];
    if (std::abs(move.to - position.king_passant) < 2) score += table('K')[119 - move.to];
    if (piece == 'K' && std::abs(move.from - move.to) == 2) {
        score += table('R')[(move.from + move.to) / 2];
        score -= table('R')[move.to < move.from ? A1 : H1];
    }
    if (piece == 'P') {
        if (A8 <= move.to && move.to <= H8)
            score += table(move.promotion)[move.to] - table('P')[move.to];
        if (move.to == position.en_passant) score += table('P')[119 - (move.to + SOUTH)];
    }
    return score;
}

Position Searcher::moved(const Position& position, const Move& move) const {
    Position next = position;
    const char piece = position.board[std::size_t(move.from)];
    const auto [from, to, promotion] = move;
    next.score += value(position, move);
    next.en_passant = next.king_passant = 0;
    next.put(to, piece);
    next.put(from, '.');
    next.own_castling[0] &= from != A1;
    next.own_castling[1] &= from != H1;
    next.other_castling[0] &= to != H8;
    next.other_castling[1] &= to != A8;
    if (piece == 'K') {
        next.own_castling[0] = next.own_castling[1] = false;
        if (std::abs(to - from) == 2) {
            next.king_passant = (from + to) / 2;
            next.put(to < from ? A1 : H1, '.');
            next.put(next.king_passant, 'R');
        }
    }
    if (piece == 'P') {
        if (A8 <= to && to <= H8) next.put(to, promotion);
        if (to - from == 2 * NORTH) next.en_passant = from + NORTH;
        if (to == position.en_passant) next.put(to + SOUTH, '.');
    }
    return rotated(next);
}

bool Searcher::has_moves_that_keep_the_king(const Position& position) const {
    return visit_moves(position,
                       [&](const Move& move) { return !king_capture(moved(position, move)); });
}

// See the comments of the original for the reasons.
int Searcher::bound(const Position& position, int gamma, int depth, bool root) {
    ++nodes_;
    depth = std::max(depth, 0);
    // 1. The king has been captured.
    if (position.score <= -MATE_LOWER) return -MATE_UPPER;
    // 2. Stored bounds. A repetition of the game's positions is a draw.
    const std::uint64_t key = position.key();
    const std::uint64_t depth_key = key + mixed(std::uint64_t(depth) + 1);
    Entry entry{-MATE_UPPER, MATE_UPPER};
    if (!root) {
        if (const auto known = scores_.find(depth_key); known != scores_.end())
            entry = known->second;
        if (entry.lower >= gamma) return entry.lower;
        if (entry.upper < gamma) return entry.upper;
        if (depth > 0 && history_.count(key)) return 0;
    }
    const auto stored = moves_.find(key);
    const bool has_killer = stored != moves_.end();
    const Move killer = has_killer ? stored->second : Move{};
    const auto ceiling = [&](int gain) {
        return depth > 4 || gain >= MATE_LOWER
                   ? MATE_UPPER
                   : position.score + gain + std::max(depth - 1, 0) * PLY_GAIN;
    };
    // 3. Reduce if a null move holds.
    const bool calm = std::abs(position.score) < CALM && has_pieces(position);
    const bool guard = !root && calm;
    const int passing = position.score + NULL_MARGIN;
    const bool reduce = calm && depth >= 6 &&
                        -bound(rotated(position, true), 1 - passing, depth - 7, false) >= passing;

    int best = -MATE_UPPER;
    bool live = false, done = false;
    const auto take = [&](int score, bool real, const Move& move) {
        best = std::max(best, score);
        if (best < gamma) return;
        if (real && depth) moves_[key] = move;
        done = true;
    };
    // 4. Null move and stand pat.
    if (2 < depth && depth < 6 && guard) {
        const int cap = position.score + ROUGHNESS;
        int score = cap;
        Move proof;
        bool real = false;
        if (cap >= gamma) {
            score = std::min(cap, -bound(rotated(position, true), 1 - gamma, depth - 3, false));
            if (score >= gamma && king_capture(position, &proof)) {
                score = MATE_UPPER;
                live = real = true;
            }
        }
        take(score, real, proof);
    }
    if (!done && depth == 0) take(position.score, false, {});
    // 5. Moves: the stored one first, then all by gain.
    const auto search = [&](int gain, const Move& move) {
        if (gain >= MATE_LOWER) {
            live = true;
            take(MATE_UPPER, true, move);
            return;
        }
        const int cap = ceiling(gain);
        if (cap < gamma) {
            best = std::max(best, cap);
            done = true;
            return;
        }
        const int next_depth =
            depth - 1 - int(guard && depth >= 7 && gain < REDUCED_BELOW) - int(reduce);
        const int score =
            std::min(cap, -bound(moved(position, move), 1 - gamma, next_depth, false));
        live |= score > -MATE_UPPER;
        take(score, true, move);
    };
    if (!done && has_killer) {
        const int gain = value(position, killer);
        if ((gain >= QUIET || depth) && ceiling(gain) >= gamma) search(gain, killer);
    }
    if (!done) {
        std::vector<std::pair<int, Move>> moves;
        moves.reserve(48);
        visit_moves(position, [&](const Move& move) {
            const int gain = value(position, move);
            if (gain >= QUIET || depth) moves.emplace_back(gain, move);
            return false;
        });
        std::sort(moves.begin(), moves.end(), std::greater<>());
        for (const auto& [gain, move] : moves) {
            search(gain, move);
            if (done) break;
        }
    }
    // 6. Mate or stalemate.
    if (depth && !live && !has_moves_that_keep_the_king(position)) {
        const int mate = std::max(1 - MATE_UPPER, -MATE_LOWER - depth * ROUGHNESS);
        best = king_capture(rotated(position, true)) ? mate : 0;
    }
    if (!root)
        scores_[depth_key] = best >= gamma ? Entry{best, entry.upper} : Entry{entry.lower, best};
    return best;
}

// Iterative deepening as its UCI driver uses it: the last move of a completed depth.
Move Searcher::deepen(const Position& root, std::uint64_t nodes) {
    const std::uint64_t root_key = root.key();
    Move committed{}, candidate{};
    const auto answer = [&] { return committed.from ? committed : candidate; };
    int gamma = 0, last_depth = 1;
    for (int depth = 1; depth <= MAX_DEPTH + 1; ++depth) {
        int lower = 1 - MATE_UPPER, upper = MATE_UPPER;
        while (lower < upper - ROUGHNESS) {
            const int score = bound(root, gamma, depth, true);
            (score >= gamma ? lower : upper) = score;
            const auto found = moves_.find(root_key);
            if (depth > last_depth) {
                if (candidate.from) committed = candidate;
                last_depth = depth;
            }
            if (depth > MAX_DEPTH) {
                if (score >= gamma && found != moves_.end()) committed = found->second;
                return answer();
            }
            if (score >= gamma) {
                if (found == moves_.end()) return answer();  // mate or stalemate
                candidate = found->second;
            }
            if (depth > 1 && nodes_ >= nodes) return answer();
            gamma = (lower + upper + 1) >> 1;  // rounds down, as in Python
        }
    }
    return answer();
}

std::string Searcher::choose(const std::string& fen, std::uint64_t nodes) {
    std::istringstream words(fen);
    std::string placement, color, castling = "-", en_passant = "-";
    if (!(words >> placement >> color)) throw std::invalid_argument("bad FEN '" + fen + "'");
    words >> castling >> en_passant;
    const bool both_queens =
        placement.find('Q') != std::string::npos && placement.find('q') != std::string::npos;
    king_table_ = both_queens ? tables().squares[5] : tables().king_end;
    Position position{};
    position.board.fill(' ');
    for (int rank = 0; rank < 8; ++rank)
        for (int file = 0; file < 8; ++file)
            position.board[std::size_t(A8 + 10 * rank + file)] = '.';
    int square = A8;
    for (const char c : placement) {
        if (c == '/') {
            square = (square / 10 + 1) * 10 + 1;
        } else if (c >= '1' && c <= '8') {
            square += c - '0';
        } else {
            if (PIECES.find(upper(c)) == std::string_view::npos || square > H1 ||
                position.board[std::size_t(square)] != '.')
                throw std::invalid_argument("bad FEN '" + fen + "'");
            position.put(square, c);
            position.score += is_own(c) ? table(c)[square] : -table(upper(c))[119 - square];
            ++square;
        }
    }
    const auto may = [&](char right) { return castling.find(right) != std::string::npos; };
    position.own_castling[0] = may('Q');
    position.own_castling[1] = may('K');
    position.other_castling[0] = may('k');
    position.other_castling[1] = may('q');
    position.en_passant = en_passant.size() == 2 ? parse_square(en_passant) : 0;
    const Position root = color == "b" ? rotated(position) : position;

    nodes_ = 0;
    scores_.clear();
    moves_.clear();
    // With Black to move, its driver adds the rotated position to the history.
    history_ = {position.key(), root.key()};
    const Move move = deepen(root, nodes);
    if (!move.from) return "";
    const bool black = root.turned;
    std::string text = square_name(black ? 119 - move.from : move.from) +
                       square_name(black ? 119 - move.to : move.to);
    if (move.promotion) text += char(move.promotion + 32);
    return text;
}

}  // namespace rookery::peers::sunfish
