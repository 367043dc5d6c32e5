// The network's accumulators along a variation, updated lazily.
//
//   ply 0 ........ 1 ........ 2 ........ 3        each: the changes of its move, and for each view
//   [computed] <- [changed] <- [changed] <- now   whether the accumulator is computed
//
// push() records what a move changes. evaluate() applies the changes since the last computed ply.
// If the viewer's king has crossed the middle in between (which mirrors the board), it updates a
// cached accumulator of that view and half by the difference in pieces instead ("Finny table").
// Results equal Network::evaluate() exactly.

#pragma once

#include <vector>

#include "nnue/network.h"

namespace rookery::nnue {

// Pieces that a move removes and adds; at most two of each (castling).
struct Changes {
    struct Change {
        Piece piece;
        std::uint8_t square;
    };
    Change removed[2] = {};
    Change added[2] = {};
    std::uint8_t removed_count = 0, added_count = 0;
    void remove(Piece piece, Square square) {
        removed[removed_count++] = {piece, std::uint8_t(square)};
    }
    void add(Piece piece, Square square) { added[added_count++] = {piece, std::uint8_t(square)}; }
};

// For a legal move.
[[nodiscard]] Changes changes_of(const Position& position, Move move);

class AccumulatorStack {
  public:
    // Without a network (null) evaluate() may not be called.
    AccumulatorStack(NetworkPtr network, int plies);

    void set_network(NetworkPtr network);

    // Starts a new variation.
    void reset() {
        ply_ = 0;
        states_[0] = State();  // its flips are set by the first refresh
    }
    // A move's changes and the position after it.
    void push(const Changes& changes, const Position& after) {
        State& state = states_[std::size_t(++ply_)];
        state.changes = changes;
        state.computed[WHITE] = state.computed[BLACK] = false;
        state.flip[WHITE] = std::uint8_t(view_flip(WHITE, after.king(WHITE)));
        state.flip[BLACK] = std::uint8_t(view_flip(BLACK, after.king(BLACK)));
    }
    // A null move.
    void push_null() {
        State& state = states_[std::size_t(ply_ + 1)];
        state.changes = Changes();
        state.computed[WHITE] = state.computed[BLACK] = false;
        state.flip[WHITE] = states_[std::size_t(ply_)].flip[WHITE];
        state.flip[BLACK] = states_[std::size_t(ply_)].flip[BLACK];
        ++ply_;
    }
    void pop() { --ply_; }

    // Value for the side to move; `position` must be the one at the current ply.
    [[nodiscard]] int evaluate(const Position& position);

  private:
    struct State {
        Changes changes;
        bool computed[2] = {false, false};
        std::uint8_t flip[2] = {0, 0};
    };
    // The pieces of a cached accumulator.
    struct Cached {
        Bitboard by_piece[12];
    };

    [[nodiscard]] std::int16_t* row(int ply, Color view) {
        return rows_.data() + std::size_t(2 * ply + view) * std::size_t(stride_);
    }
    void bring_up_to_date(const Position& position, Color view);
    void apply(int ply, Color view);
    void refresh(const Position& position, Color view);
    void clear_cache();

    NetworkPtr network_;
    int stride_;
    int plies_;
    int ply_ = 0;
    std::vector<State> states_;            // [plies]
    AlignedArray<std::int16_t> rows_;      // [plies, 2, stride]
    AlignedArray<std::int16_t> cached_rows_;  // [2 views, 2 halves, stride]
    Cached cached_[2][2];
};

}  // namespace rookery::nnue
