#include "blind/belief.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

namespace rookery::blind {

namespace {

constexpr std::size_t REPAIRED_BOARDS = 256;
constexpr Bitboard LAST_RANKS = rank_mask(0) | rank_mask(7);
constexpr std::size_t POOL = 16;  // boards looked at for each one that is chosen
constexpr int MOST_CHANGED_SQUARES = 4;  // by one move: castling

// What a window must look like, for boards as bitboards.
class Filter {
  public:
    explicit Filter(const Turn& turn) {
        if (turn.sense == NO_SQUARE) return;
        mask_ = window_mask(turn.sense);
        for (int i = 0; i < 9; ++i) {
            const Piece piece = turn.window[std::size_t(i)];
            if (piece < NO_PIECE) expected_.put(window_square(turn.sense, i), piece);
        }
    }
    [[nodiscard]] Bitboard differences(const Board& board) const {
        Bitboard found = (board.by_color[WHITE] ^ expected_.by_color[WHITE]) |
                         (board.by_color[BLACK] ^ expected_.by_color[BLACK]);
        for (int type = PAWN; type <= KING; ++type)
            found |= board.by_type[type] ^ expected_.by_type[type];
        return found & mask_;
    }
    [[nodiscard]] const Board& expected() const { return expected_; }
    [[nodiscard]] Bitboard mask() const { return mask_; }

  private:
    Bitboard mask_ = 0;
    Board expected_{};
};

template <class T> void shuffle_front(std::vector<T>& values, std::size_t count, Random& random) {
    for (std::size_t i = 0; i < count && i + 1 < values.size(); ++i)
        std::swap(values[i], values[i + random.below(std::uint32_t(values.size() - i))]);
}

// Distinct boards, at most `capacity` of them: a uniform sample of all that are added.
class Reservoir {
  public:
    Reservoir(std::size_t capacity, Random& random) : capacity_(capacity), random_(random) {}
    void add(const Board& board) {
        if (!seen_.insert(board.key()).second) return;
        ++count_;
        if (kept_.size() < capacity_)
            kept_.push_back(board);
        else if (const auto at = std::size_t(random_.uniform() * double(count_)); at < capacity_)
            kept_[at] = board;
        // Keys of boards that will never be met again need not be remembered for ever.
        if (seen_.size() > 8 * capacity_) seen_.clear();
    }
    [[nodiscard]] bool overflowed() const { return count_ > capacity_; }
    std::vector<Board>& kept() { return kept_; }

  private:
    std::size_t capacity_, count_ = 0;
    Random& random_;
    std::vector<Board> kept_;
    std::unordered_set<Key> seen_;
};

}  // namespace

Belief::Belief(const Knowledge& start, std::size_t capacity, std::uint64_t seed)
    : color_(start.color()), capacity_(capacity), random_(seed), boards_{start.start()} {
    if (capacity < 1) throw std::invalid_argument("capacity must be 1 or more");
    // The first turn of the side that begins has no move of the opponent before it.
    update(start);
}

void Belief::update(const Knowledge& knowledge) {
    const auto turns = knowledge.turns();
    if (turns.size() < turns_ || knowledge.color() != color_)
        throw std::invalid_argument("the knowledge belongs to another game or side");
    for (; turns_ < turns.size(); ++turns_, stage_ = 0) {
        const Turn& turn = turns[turns_];
        if (stage_ == 0) opponent_moved(turn), stage_ = 1;
        if (stage_ == 1 && turn.sensed) sensed(turn), stage_ = 2;
        if (!turn.moved) return;
        moved(turn);
    }
}

template <class Visit>
void Belief::for_each_child(const Board& board, Square capture, const Visit& visit) const {
    if (board.side == us()) return visit(board);  // our first turn as White
    MoveList moves;
    list_taken(board, moves);
    for (const Move move : moves) {
        if (capture_square(board, move) != capture) continue;
        Board child = board;
        child.make(move);
        if (child.has_king(us())) visit(child);
    }
    if (capture == NO_SQUARE) {
        Board child = board;
        child.make(Move());
        visit(child);
    }
}

void Belief::opponent_moved(const Turn& turn) {
    capture_ = turn.opponent_capture;
    waiting_ = true;
    if (capture_ == NO_SQUARE) return;
    // A capture leaves few moves and may leave none: look at once.
    Reservoir found(capacity_, random_);
    for (const Board& board : boards_)
        for_each_child(board, capture_, [&](const Board& child) { found.add(child); });
    waiting_ = false;
    if (found.kept().empty()) return repair([&](Board& board) { fit_capture(board, capture_); });
    complete_ &= !found.overflowed();
    boards_ = std::move(found.kept());
}

void Belief::sensed(const Turn& turn) {
    const Filter filter(turn);
    Reservoir found(capacity_, random_);
    for (const Board& board : boards_) {
        if (!waiting_) {
            if (!filter.differences(board)) found.add(board);
        } else if (count_bits(filter.differences(board)) <= MOST_CHANGED_SQUARES) {
            for_each_child(board, capture_, [&](const Board& child) {
                if (!filter.differences(child)) found.add(child);
            });
        }
    }
    if (found.kept().empty()) {
        if (waiting_) boards_ = draw_children(REPAIRED_BOARDS);
        waiting_ = false;
        return repair([&](Board& board) { fit_sense(board, turn); });
    }
    waiting_ = false;
    complete_ &= !found.overflowed();
    boards_ = std::move(found.kept());
}

void Belief::moved(const Turn& turn) {
    std::vector<Board> found;
    found.reserve(boards_.size());
    const auto try_all = [&] {
        for (const Board& board : boards_) {
            const Move taken = resolve(board, turn.requested);
            if (taken != turn.taken || capture_square(board, taken) != turn.capture) continue;
            Board next = board;
            next.make(taken);
            if (next.has_king(~us())) found.push_back(next);
        }
    };
    try_all();
    if (found.empty()) {
        repair([&](Board& board) { fit_move(board, turn); });
        try_all();
    }
    if (found.empty()) {  // at least our own pieces stand where they do
        for (Board next : boards_) {
            if (turn.taken) send_away(next, turn.taken.to(), bit(turn.taken.to()));
            next.make(turn.taken);
            if (next.has_king(~us())) found.push_back(next);
        }
    }
    boards_ = std::move(found);
}

std::vector<Board> Belief::draw_children(std::size_t count) {
    // Parents at random, weighted by their number of children through rejection.
    constexpr std::uint32_t MOST_CHILDREN = 64;
    std::vector<Board> drawn, children;
    std::unordered_set<Key> seen;
    for (std::size_t attempt = 0; attempt < 16 * count && drawn.size() < count; ++attempt) {
        const Board& parent = boards_[random_.below(std::uint32_t(boards_.size()))];
        children.clear();
        for_each_child(parent, capture_, [&](const Board& child) { children.push_back(child); });
        const std::uint32_t at =
            random_.below(std::max(MOST_CHILDREN, std::uint32_t(children.size())));
        if (at < children.size() && seen.insert(children[at].key()).second)
            drawn.push_back(children[at]);
    }
    if (drawn.empty()) {  // no opponent's move fits at all; the boards themselves must do
        for (Board board : boards_) {
            if (drawn.size() == count) break;
            board.side = us();
            drawn.push_back(board);
        }
    }
    return drawn;
}

std::vector<Board> Belief::sample(std::size_t count, double endangered) {
    if (endangered <= 0) return draw(count);
    std::vector<Board> drawn = draw(POOL * count);
    const auto danger = std::ranges::stable_partition(
        drawn, [this](const Board& board) { return !board.attacked_by(~us(), board.king(us())); });
    const std::size_t safe = drawn.size() - danger.size();
    const std::size_t wanted = std::min(danger.size(), std::size_t(endangered * double(count)));
    // The places that one kind leaves go to the other.
    const std::size_t first = std::min(safe, count - wanted);
    const std::size_t second = std::min(danger.size(), count - first);
    std::vector<Board> chosen(drawn.begin(), drawn.begin() + std::ptrdiff_t(first));
    chosen.insert(chosen.end(), danger.begin(), danger.begin() + std::ptrdiff_t(second));
    return chosen;
}

std::vector<Board> Belief::draw(std::size_t count) {
    if (waiting_) return draw_children(count);
    std::vector<Board> chosen(boards_.begin(), boards_.end());
    shuffle_front(chosen, count, random_);
    if (chosen.size() > count) chosen.resize(count);
    return chosen;
}

Square Belief::random_square(Bitboard squares) {
    for (std::uint32_t skip = random_.below(std::uint32_t(count_bits(squares))); skip; --skip)
        pop_square(squares);
    return first_square(squares);
}

void Belief::send_away(Board& board, Square from, Bitboard known) {
    const Piece piece = board.piece_at(from);
    if (piece == NO_PIECE || color_of(piece) == us()) return;
    board.remove(from);
    Bitboard free = ~board.occupied() & ~known & ~bit(from);
    if (type_of(piece) == PAWN) free &= (FILE_A << file_of(from)) & ~LAST_RANKS;
    if (const Bitboard near = king_attacks(from) & free; type_of(piece) == KING && near)
        free = near;
    if (free) board.put(random_square(free), piece);
}

void Belief::bring(Board& board, Square to, PieceType type, Bitboard known) {
    Bitboard donors = board.by_color[~us()] & ~known & ~bit(to);
    donors &= type == NO_PIECE_TYPE ? ~board.by_type[KING] : board.by_type[type];
    PieceType brought = type == NO_PIECE_TYPE ? KNIGHT : type;
    if (donors) {
        const Square donor = random_square(donors);
        brought = type_of(board.piece_at(donor));
        board.remove(donor);
    }
    if (brought == PAWN && bit(to) & LAST_RANKS) brought = QUEEN;
    board.remove(to);
    board.put(to, make_piece(~us(), brought));
}

void Belief::fit_capture(Board& board, Square capture) {
    bring(board, capture, NO_PIECE_TYPE, bit(capture));
    board.side = us();
}

void Belief::fit_sense(Board& board, const Turn& turn) {
    const Filter filter(turn);
    const Bitboard wrong = filter.differences(board) & ~board.by_color[us()];
    for (Bitboard set = wrong; set;) send_away(board, pop_square(set), filter.mask());
    for (Bitboard set = wrong; set;) {
        const Square square = pop_square(set);
        const Piece expected = filter.expected().piece_at(square);
        if (expected != NO_PIECE) bring(board, square, type_of(expected), filter.mask());
    }
}

void Belief::fit_move(Board& board, const Turn& turn) {
    const Move request = turn.requested, taken = turn.taken;
    const bool straight = file_of(request.from()) == file_of(request.to());
    const bool pawn = board.pieces(us(), PAWN) & bit(request.from());
    Bitboard empty = taken ? between(taken.from(), taken.to()) | bit(taken.to()) : 0;
    if (!taken && pawn && !straight) empty |= bit(request.to());
    const Bitboard captured = turn.capture == NO_SQUARE ? 0 : bit(turn.capture);
    empty &= ~captured;
    for (Bitboard set = empty; set;) send_away(board, pop_square(set), empty | captured);
    if (captured && !(captured & board.by_color[~us()] & ~board.by_type[KING])) {
        send_away(board, turn.capture, empty | captured);
        bring(board, turn.capture, NO_PIECE_TYPE, empty | captured);
    }
    if (taken.kind() == Move::EN_PASSANT) board.en_passant = std::uint8_t(taken.to());
    if (request == taken || captured || !pawn || !straight) return;
    // Something stood in the way of the pawn.
    const Square block = (taken ? taken.to() : request.from()) + (us() == WHITE ? 8 : -8);
    if (!(board.occupied() & bit(block))) bring(board, block, NO_PIECE_TYPE, empty | bit(block));
}

void Belief::repair(const std::function<void(Board&)>& change) {
    ++repairs_;
    complete_ = false;
    shuffle_front(boards_, REPAIRED_BOARDS, random_);
    if (boards_.size() > REPAIRED_BOARDS) boards_.resize(REPAIRED_BOARDS);
    const Color them = ~us();
    for (Board& board : boards_) {
        board.en_passant = NO_SQUARE;
        change(board);
        Bitboard kings = board.pieces(them, KING);
        for (pop_square(kings); kings;) board.remove(pop_square(kings));
        const int home = them == WHITE ? 0 : 7;
        for (const bool kingside : {true, false})
            if (!(board.pieces(them, KING) & bit(make_square(4, home))) ||
                !(board.pieces(them, ROOK) & bit(make_square(kingside ? 7 : 0, home))))
                board.castling &= std::uint8_t(~(1 << castling_bit(them, kingside)));
    }
}

}  // namespace rookery::blind
