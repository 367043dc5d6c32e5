#include "nnue/accumulator.h"

#include <algorithm>

#include "nnue/kernels.h"

namespace rookery::nnue {

Changes changes_of(const Position& position, Move move) {
    Changes changes;
    const Square from = move.from(), to = move.to();
    const Piece piece = position.board[from];
    const Color us = position.side;
    changes.remove(piece, from);
    if (move.kind() == Move::CASTLING) {
        const bool kingside = to > from;
        changes.remove(position.board[to], to);
        changes.add(piece, castled_king(us, kingside));
        changes.add(make_piece(us, ROOK), castled_rook(us, kingside));
        return changes;
    }
    if (position.board[to] != NO_PIECE)
        changes.remove(position.board[to], to);
    else if (move.kind() == Move::EN_PASSANT)
        changes.remove(make_piece(~us, PAWN), en_passant_victim(to, us));
    changes.add(move.kind() == Move::PROMOTION ? make_piece(us, move.promotion()) : piece, to);
    return changes;
}

AccumulatorStack::AccumulatorStack(NetworkPtr network, int plies)
    : plies_(plies), states_(std::size_t(plies)) {
    set_network(std::move(network));
}

void AccumulatorStack::set_network(NetworkPtr network) {
    network_ = std::move(network);
    stride_ = network_ ? network_->stride() : 0;
    rows_ = AlignedArray<std::int16_t>(std::size_t(2 * plies_) * std::size_t(stride_));
    cached_rows_ = AlignedArray<std::int16_t>(std::size_t(4) * std::size_t(stride_));
    if (network_) clear_cache();
    reset();
}

void AccumulatorStack::clear_cache() {
    for (int view = 0; view < 2; ++view)
        for (int half = 0; half < 2; ++half) {
            cached_[view][half] = Cached{};
            std::copy_n(network_->feature_bias(), stride_,
                        cached_rows_.data() + std::size_t(2 * view + half) * std::size_t(stride_));
        }
}

int AccumulatorStack::evaluate(const Position& position) {
    bring_up_to_date(position, WHITE);
    bring_up_to_date(position, BLACK);
    const Color mover = position.side;
    return network_->output(row(ply_, mover), row(ply_, ~mover), count_bits(position.occupied()));
}

void AccumulatorStack::bring_up_to_date(const Position& position, Color view) {
    int known = ply_;
    const std::uint8_t flip = std::uint8_t(view_flip(view, position.king(view)));
    while (!states_[std::size_t(known)].computed[view]) {
        if (known == 0 || states_[std::size_t(known - 1)].flip[view] != flip) {
            refresh(position, view);
            return;
        }
        --known;
    }
    while (known < ply_) apply(++known, view);
}

void AccumulatorStack::apply(int ply, Color view) {
    State& state = states_[std::size_t(ply)];
    const Changes& changes = state.changes;
    const auto row_of = [&](Changes::Change change) {
        return network_->feature_row(
            feature_index(view, state.flip[view], change.piece, change.square));
    };
    const std::int16_t *added[2], *removed[2];
    for (int i = 0; i < changes.added_count; ++i) added[i] = row_of(changes.added[i]);
    for (int i = 0; i < changes.removed_count; ++i) removed[i] = row_of(changes.removed[i]);
    std::int16_t* out = row(ply, view);
    const std::int16_t* base = row(ply - 1, view);
    if (changes.added_count == 0)
        kernels::Best::combine<0, 0>(out, base, added, removed, stride_);
    else if (changes.removed_count == 1)
        kernels::Best::combine<1, 1>(out, base, added, removed, stride_);
    else if (changes.added_count == 1)
        kernels::Best::combine<1, 2>(out, base, added, removed, stride_);
    else
        kernels::Best::combine<2, 2>(out, base, added, removed, stride_);
    state.computed[view] = true;
}

void AccumulatorStack::refresh(const Position& position, Color view) {
    State& state = states_[std::size_t(ply_)];
    const int flip = view_flip(view, position.king(view));
    const int half = (flip & 7) != 0;
    Cached& cached = cached_[view][half];
    std::int16_t* sums = cached_rows_.data() + std::size_t(2 * view + half) * std::size_t(stride_);
    for (int piece = 0; piece < 12; ++piece) {
        const Bitboard now = position.by_color[piece / 6] & position.by_type[piece % 6];
        Bitboard added = now & ~cached.by_piece[piece], removed = cached.by_piece[piece] & ~now;
        while (added) {
            const std::int16_t* r =
                network_->feature_row(feature_index(view, flip, Piece(piece), pop_square(added)));
            kernels::Best::combine<1, 0>(sums, sums, &r, nullptr, stride_);
        }
        while (removed) {
            const std::int16_t* r =
                network_->feature_row(feature_index(view, flip, Piece(piece), pop_square(removed)));
            kernels::Best::combine<0, 1>(sums, sums, nullptr, &r, stride_);
        }
        cached.by_piece[piece] = now;
    }
    std::copy_n(sums, stride_, row(ply_, view));
    state.flip[view] = std::uint8_t(flip);
    state.computed[view] = true;
}

}  // namespace rookery::nnue
