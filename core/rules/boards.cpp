#include "rules/boards.h"

#include <algorithm>
#include <tuple>

namespace rookery {

namespace {

constexpr unsigned ALL_PROMOTIONS = 15;
constexpr int LEAST_SIZE = 3;  // smaller boards have no room for two kings and a rank of pawns
constexpr std::string_view PROMOTION_LETTERS = "nbrq";  // by type - KNIGHT

struct KnownBoard {
    Board board;
    std::vector<std::string> names;
};

// Los Alamos has no bishops, so pawns do not become one.
const std::vector<KnownBoard>& table() {
    static const std::vector<KnownBoard> boards = [] {
        const auto small = [](std::vector<std::string> names, const char* placement, int files,
                              int ranks, unsigned promotions = ALL_PROMOTIONS) {
            return KnownBoard{{names.front(), std::string(placement) + " w - - 0 1",
                               BoardRules(files, ranks, false, promotions)},
                              names};
        };
        return std::vector<KnownBoard>{
            {{std::string(STANDARD_BOARD), std::string(STARTING_FEN), BoardRules()},
             {std::string(STANDARD_BOARD), "chess", "8x8"}},
            small({"4x4", "silverman4x4"}, "rqkr/pppp/PPPP/RQKR", 4, 4),
            small({"4x5", "silverman4x5"}, "rqkr/pppp/4/PPPP/RQKR", 4, 5),
            small({"gardner", "5x5"}, "rnbqk/ppppp/5/PPPPP/RNBQK", 5, 5),
            small({"losalamos", "6x6"}, "rnqknr/pppppp/6/6/PPPPPP/RNQKNR", 6, 6,
                  ALL_PROMOTIONS & ~(1u << (BISHOP - KNIGHT))),
        };
    }();
    return boards;
}

[[noreturn]] void fail(std::string_view text, const std::string& why) {
    throw BoardError("bad board '" + std::string(text.substr(0, 128)) + "': " + why);
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
        end = text.find(';');
        parts.push_back(trimmed(text.substr(0, end)));
        if (end == std::string_view::npos) break;
    }
    return parts;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

unsigned read_promotions(std::string_view text, std::string_view letters) {
    unsigned found = 0;
    for (const char c : letters) {
        const std::size_t type = PROMOTION_LETTERS.find(c);
        if (type == std::string_view::npos) fail(text, "promote= takes letters of qrbn");
        found |= 1u << type;
    }
    if (!found) fail(text, "pawns must promote to something");
    return found;
}

// The size, and a start position if the first part is a FEN.
Board read_first(std::string_view text, std::string_view first, int& files, int& ranks) {
    Board board;
    if (is_board_size(first)) {
        files = first[0] - '0', ranks = first[2] - '0';
    } else if (first.find('/') != std::string_view::npos) {
        std::tie(files, ranks) = size_of_placement(first.substr(0, first.find(' ')));
        board.start = first;
    } else {
        std::string known;
        for (const KnownBoard& each : table()) known += each.board.name + ", ";
        fail(text, "known are " + known + "a size such as 5x6, or the FEN of a start position");
    }
    if (files < LEAST_SIZE || files > 8 || ranks < LEAST_SIZE || ranks > 8)
        fail(text, "it has " + std::to_string(files) + "x" + std::to_string(ranks) +
                       " squares; boards have 3x3 to 8x8");
    return board;
}

// A board of one's own: size or FEN, then options.
Board describe(std::string_view text) {
    const std::vector<std::string_view> parts = parts_of(text);
    int files = 0, ranks = 0;
    Board board = read_first(text, parts.front(), files, ranks);
    bool double_step = false;
    unsigned promotions = ALL_PROMOTIONS;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        constexpr std::string_view PROMOTE = "promote=";
        if (parts[i] == "double-step")
            double_step = true;
        else if (parts[i].starts_with(PROMOTE))
            promotions = read_promotions(text, parts[i].substr(PROMOTE.size()));
        else
            fail(text, "unknown rule '" + std::string(parts[i]) +
                           "'; rules are double-step and promote=qrbn");
    }
    if (double_step && ranks < 5) fail(text, "a double step needs at least 5 ranks");
    board.rules = BoardRules(files, ranks, double_step, promotions);
    board.name = trimmed(text);
    if (!board.start.empty()) board.start = to_fen(parse_fen(board.start, false, board.rules));
    return board;
}

}  // namespace

Board find_board(std::string_view text) {
    const std::string_view name = trimmed(text);
    for (const KnownBoard& known : table())
        if (std::ranges::find(known.names, name) != known.names.end()) return known.board;
    return describe(text);
}

const std::vector<Board>& known_boards() {
    static const std::vector<Board> boards = [] {
        std::vector<Board> found;
        for (const KnownBoard& known : table()) found.push_back(known.board);
        return found;
    }();
    return boards;
}

const std::vector<std::string>& board_names(const Board& known) {
    for (const KnownBoard& each : table())
        if (each.board.name == known.name) return each.names;
    throw BoardError("'" + known.name + "' is not a known board");
}

std::string board_name(BoardRules rules) {
    for (const KnownBoard& known : table())
        if (known.board.rules == rules) return known.board.name;
    std::string text = std::to_string(rules.files()) + "x" + std::to_string(rules.ranks());
    if (rules.double_step()) text += ";double-step";
    std::string letters;
    for (const PieceType type : {QUEEN, ROOK, BISHOP, KNIGHT})
        if (rules.promotes_to(type)) letters += PROMOTION_LETTERS[std::size_t(type - KNIGHT)];
    return text + ";promote=" + letters;
}

Position start_position(const Board& board) {
    if (board.start.empty())
        throw BoardError("board '" + board.name +
                         "' has no start position; give a FEN, or its start FEN instead of a size");
    return parse_fen(board.start, false, board.rules);
}

bool is_board_size(std::string_view text) {
    return text.size() == 3 && text[1] == 'x' && is_digit(text[0]) && is_digit(text[2]);
}

std::pair<int, int> size_of_placement(std::string_view placement) {
    int files = 0;
    for (const char c : placement.substr(0, placement.find('/')))
        files += is_digit(c) ? c - '0' : 1;
    return {files, int(std::count(placement.begin(), placement.end(), '/')) + 1};
}

std::optional<BoardRules> rules_of_size(int files, int ranks) {
    for (const KnownBoard& known : table())
        if (known.board.rules.files() == files && known.board.rules.ranks() == ranks)
            return known.board.rules;
    return std::nullopt;
}

}  // namespace rookery
