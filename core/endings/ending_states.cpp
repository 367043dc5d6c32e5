#include "endings/ending_states.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/choose.h"
#include "rules/movegen.h"

namespace rookery::endings {

namespace {

constexpr int MAX_ENDINGS = 16;

std::vector<Piece> parse_pieces(const std::string& name) {
    const auto fail = [&](const std::string& why) {
        return std::invalid_argument("bad ending '" + name + "': " + why +
                                     "; write it like KPvK or KBNvK");
    };
    if (name.size() < 4 || name[0] != 'K' || name.substr(name.size() - 2) != "vK")
        throw fail("it is not king and pieces against a bare king");
    std::vector<Piece> pieces{make_piece(WHITE, KING)};
    for (const char c : name.substr(1, name.size() - 3)) {
        const auto type = std::string_view("PNBRQ").find(c);
        if (type == std::string_view::npos) throw fail(std::string("unknown piece '") + c + "'");
        if (pieces.size() > 1 && type > pieces.back())
            throw fail("its pieces are not in the order Q R B N P");
        pieces.push_back(make_piece(WHITE, PieceType(type)));
    }
    pieces.push_back(make_piece(BLACK, KING));
    if (pieces.size() > MAX_ENDING_PIECES)
        throw fail("more than " + std::to_string(MAX_ENDING_PIECES) + " pieces");
    return pieces;
}

// Without finish_setup: nothing here needs the key.
Position bare_position(const std::vector<Piece>& pieces, const EndingSquares& squares, Color side) {
    Position position = empty_board();
    position.side = side;
    for (std::size_t i = 0; i < pieces.size(); ++i) position.put(squares[i], pieces[i]);
    return position;
}

constexpr Square mirror_files(Square square) { return square ^ 7; }
constexpr Square mirror_ranks(Square square) { return square ^ 56; }
constexpr Square transpose(Square square) { return (square & 7) << 3 | square >> 3; }

// The representative of all mirror images; see the header.
EndingSquares canonical(const std::vector<Piece>& pieces, bool pawns, EndingSquares squares) {
    const std::size_t count = pieces.size();
    const auto change = [&](auto&& mirror) {
        for (std::size_t i = 0; i < count; ++i) squares[i] = std::uint8_t(mirror(squares[i]));
    };
    const auto sort_equal = [&] {
        for (std::size_t i = 1; i + 1 < count; ++i)
            for (std::size_t j = i; j > 1 && pieces[j] == pieces[j - 1]; --j)
                if (squares[j] < squares[j - 1]) std::swap(squares[j], squares[j - 1]);
    };
    if (pawns) {
        // Pawns are last among the strong pieces; the first of them decides.
        sort_equal();
        const std::size_t pawn = std::size_t(
            std::find(pieces.begin(), pieces.end(), make_piece(WHITE, PAWN)) - pieces.begin());
        if (file_of(squares[pawn]) > 3) change(mirror_files);
    } else {
        if (file_of(squares[0]) > 3) change(mirror_files);
        if (rank_of(squares[0]) > 3) change(mirror_ranks);
        if (rank_of(squares[0]) > file_of(squares[0])) change(transpose);
    }
    sort_equal();
    return squares;
}

std::size_t raw_index(const EndingSquares& squares, std::size_t count, bool strong) {
    std::size_t index = strong;
    for (std::size_t i = 0; i < count; ++i) index = index << 6 | squares[i];
    return index;
}

// The squares of `pieces` in the strong side's view, if the position has exactly this material.
std::optional<EndingSquares> squares_of(const Position& position, const std::vector<Piece>& pieces,
                                        Color strong) {
    if (count_bits(position.occupied()) != int(pieces.size())) return std::nullopt;
    EndingSquares squares{};
    Bitboard left = position.occupied();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Color color = color_of(pieces[i]) == WHITE ? strong : ~strong;
        const Bitboard found = left & position.pieces(color, type_of(pieces[i]));
        if (!found) return std::nullopt;
        left ^= bit(first_square(found));
        squares[i] = std::uint8_t(oriented(first_square(found), strong));
    }
    return squares;
}

std::string replaced(const std::string& name, std::size_t place, const std::string& with) {
    std::string pieces = name.substr(1, name.size() - 3);
    pieces.replace(place, 1, with);
    std::sort(pieces.begin(), pieces.end(), [](char a, char b) {
        constexpr std::string_view order = "QRBNP";
        return order.find(a) < order.find(b);
    });
    return "K" + pieces + "vK";
}

bool is_dead(const std::string& name) { return name == "KvK" || name == "KBvK" || name == "KNvK"; }

}  // namespace

EndingGoal find_goal(std::string_view name) {
    return choose<EndingGoal>("goal", name, {"mate", "promotion"});
}

EndingStates::EndingStates(const std::vector<std::string>& endings, EndingGoal goal)
    : names_(endings) {
    if (endings.empty()) throw std::invalid_argument("no ending is given; for example KPvK");
    const bool promotion = goal == EndingGoal::PROMOTION;
    if (promotion) {
        if (endings != std::vector<std::string>{"KPvK"})
            throw std::invalid_argument("the goal promotion needs the ending KPvK alone");
        names_ = {"KPvK", "KQvK", "KRvK"};
    }
    if (names_.size() > MAX_ENDINGS) throw std::invalid_argument("more than 16 endings");
    for (const std::string& name : names_) {
        Material material;
        material.pieces = parse_pieces(name);
        material.pawns = name.find('P') != std::string::npos;
        material.settled = promotion && !material.pawns;
        if (is_dead(name)) throw std::invalid_argument("neither side can win " + name);
        if (std::count(names_.begin(), names_.end(), name) > 1)
            throw std::invalid_argument("the ending " + name + " is given twice");
        materials_.push_back(std::move(material));
    }
    for (const std::string& name : names_) require_closed(name);
    for (std::size_t ending = 0; ending < names_.size(); ++ending) enumerate(int(ending));
    settled_.assign(size(), NOT_WON);
    first_.reserve(size() + 1);
    for (std::size_t state = 0; state < size(); ++state) {
        first_.push_back(next_.size());
        expand(state);
    }
    first_.push_back(next_.size());
}

void EndingStates::require_closed(const std::string& name) const {
    const auto require = [&](const std::string& next) {
        if (!is_dead(next) && std::find(names_.begin(), names_.end(), next) == names_.end())
            throw std::invalid_argument("the ending " + name + " leads to " + next +
                                        ", which must be given, too");
    };
    for (std::size_t place = 0; place + 3 < name.size(); ++place) {
        require(replaced(name, place, ""));
        if (name[place + 1] != 'P') continue;
        for (const char* piece : {"Q", "R", "B", "N"}) require(replaced(name, place, piece));
    }
}

void EndingStates::enumerate(int ending) {
    Material& material = materials_[std::size_t(ending)];
    const std::size_t count = material.pieces.size();
    material.ids.assign(std::size_t(2) << (6 * count), -1);
    const std::size_t placements = std::size_t(1) << (6 * count);
    for (std::size_t code = 0; code < placements; ++code) {
        EndingSquares squares{};
        Bitboard seen = 0;
        bool possible = true;
        for (std::size_t i = 0; i < count && possible; ++i) {
            const Square square = Square(code >> (6 * (count - 1 - i)) & 63);
            const bool pawn = type_of(material.pieces[i]) == PAWN;
            possible = !(seen & bit(square)) && !(pawn && (square < 8 || square >= 56));
            seen |= bit(square);
            squares[i] = std::uint8_t(square);
        }
        if (!possible) continue;
        // Settled positions arise from a promotion; their mirror images need not.
        if (material.settled ? squares[1] < 56
                             : canonical(material.pieces, material.pawns, squares) != squares)
            continue;
        const Position position = bare_position(material.pieces, squares, BLACK);
        if (king_attacks(squares[0]) & bit(squares[count - 1])) continue;
        add(ending, false, canonical(material.pieces, material.pawns, squares));
        if (!material.settled && !position.in_check()) add(ending, true, squares);
    }
}

void EndingStates::add(int ending, bool strong, const EndingSquares& canonical) {
    Material& material = materials_[std::size_t(ending)];
    std::int32_t& id = material.ids[raw_index(canonical, material.pieces.size(), strong)];
    if (id >= 0) return;
    id = std::int32_t(squares_.size());
    squares_.push_back(canonical);
    ending_of_.push_back(std::uint8_t(ending));
    strong_.push_back(strong);
}

Position EndingStates::position(std::size_t state) const {
    if (state >= size())
        throw std::invalid_argument("state " + std::to_string(state) + " is not below " +
                                    std::to_string(size()));
    const Material& material = materials_[ending_of_[state]];
    Position position =
        bare_position(material.pieces, squares_[state], strong_[state] ? WHITE : BLACK);
    position.finish_setup(NO_SQUARE);
    return position;
}

std::int64_t EndingStates::find(const Position& position) const {
    return std::max(id_of(position), -1);
}

std::int32_t EndingStates::id_of(const Position& position) const {
    const Bitboard kings = position.by_type[KING];
    const Color strong = position.pieces(BLACK) & ~kings ? BLACK : WHITE;
    for (const Material& material : materials_) {
        const auto found = squares_of(position, material.pieces, strong);
        if (!found) continue;
        const EndingSquares squares = canonical(material.pieces, material.pawns, *found);
        return material.ids[raw_index(squares, material.pieces.size(), position.side == strong)];
    }
    return DEAD;
}

void EndingStates::expand(std::size_t state) {
    const Material& material = materials_[ending_of_[state]];
    const bool strong = strong_[state];
    const Position position =
        bare_position(material.pieces, squares_[state], strong ? WHITE : BLACK);
    const MoveList moves = legal_moves(position);
    if (moves.empty()) {
        settled_[state] = !strong && position.in_check() ? 0 : NOT_WON;
        return;
    }
    if (material.settled) {
        const bool taken = std::any_of(moves.begin(), moves.end(),
                                       [&](Move move) { return position.is_capture(move); });
        settled_[state] = taken ? NOT_WON : 0;
        return;
    }
    const std::size_t begin = next_.size();
    for (const Move move : moves) {
        Position next = position;
        next.make(move);
        // Positions that are not states are dead: see require_closed.
        next_.push_back(id_of(next));
    }
    const auto first = next_.begin() + std::ptrdiff_t(begin);
    std::sort(first, next_.end());
    next_.erase(std::unique(first, next_.end()), next_.end());
}

void EndingStates::require_values(std::span<const std::uint8_t> values) const {
    if (values.size() != size())
        throw std::invalid_argument("there are " + std::to_string(size()) + " states, but " +
                                    std::to_string(values.size()) + " values");
}

std::vector<std::uint8_t> EndingStates::backup(std::span<const std::uint8_t> values) const {
    require_values(values);
    std::vector<std::uint8_t> targets(size());
    backup(values, targets);
    return targets;
}

void EndingStates::backup(std::span<const std::uint8_t> values,
                          std::span<std::uint8_t> targets) const {
    for (std::size_t state = 0; state < size(); ++state) {
        const std::size_t begin = first_[state], end = first_[state + 1];
        const bool strong = strong_[state];
        std::uint8_t best = strong ? NOT_WON : 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint8_t value = next_[i] < 0 ? NOT_WON : values[std::size_t(next_[i])];
            best = strong ? std::min(best, value) : std::max(best, value);
        }
        // One more move for the strong side; the longest win is NOT_WON - 1.
        if (strong) best = best < NOT_WON - 1 ? std::uint8_t(best + 1) : NOT_WON;
        targets[state] = begin == end ? settled_[state] : best;
    }
}

std::vector<std::uint8_t> EndingStates::play(std::span<const std::uint8_t> values,
                                             bool strong_is_greedy) const {
    require_values(values);
    const auto value_of = [](std::span<const std::uint8_t> of, std::int32_t id) {
        return id < 0 ? NOT_WON : of[std::size_t(id)];
    };
    // The greedy side's moves.
    std::vector<std::int32_t> choice(size(), DEAD);
    for (std::size_t state = 0; state < size(); ++state) {
        if (bool(strong_[state]) != strong_is_greedy || first_[state] == first_[state + 1])
            continue;
        choice[state] = next_[first_[state]];
        for (std::size_t i = first_[state] + 1; i < first_[state + 1]; ++i) {
            const std::uint8_t best = value_of(values, choice[state]);
            const std::uint8_t value = value_of(values, next_[i]);
            if (strong_is_greedy ? value < best : value > best) choice[state] = next_[i];
        }
    }
    // Retrograde iteration until nothing changes.
    std::vector<std::uint8_t> now(size(), NOT_WON), after(size());
    for (;;) {
        backup(now, after);
        for (std::size_t state = 0; state < size(); ++state) {
            if (bool(strong_[state]) != strong_is_greedy || first_[state] == first_[state + 1])
                continue;
            const std::uint8_t value = value_of(now, choice[state]);
            const bool counts = strong_is_greedy && value < NOT_WON - 1;
            after[state] = std::uint8_t(value + counts);
        }
        if (after == now) return now;
        now.swap(after);
    }
}

}  // namespace rookery::endings
