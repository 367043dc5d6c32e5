#include "nets/move_net.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "encode/encode.h"
#include "rules/see.h"

namespace rookery::nets {

namespace {

constexpr std::size_t FEATURES = 363;
constexpr std::size_t ENEMY_CONTROL = 299;  // of giraffe363: cheapest enemy attacker by square
constexpr std::size_t LANES = 16;

// 0 no attacker, 1 pawn, 2 minor piece, 3 rook, 4 queen, 5 king.
int control_class(float cheapest) {
    return cheapest < 0.05f   ? 0
           : cheapest < 0.2f  ? 1
           : cheapest < 0.4f  ? 2
           : cheapest < 0.7f  ? 3
           : cheapest < 0.95f ? 4
                              : 5;
}

// 0 loses more than a pawn, 1 loses, 2 even, 3 wins, 4 wins more than a pawn.
int exchange_class(int gain) {
    return gain < -PIECE_VALUE[PAWN]   ? 0
           : gain < 0                  ? 1
           : gain == 0                 ? 2
           : gain <= PIECE_VALUE[PAWN] ? 3
                                       : 4;
}

}  // namespace

void move_rows(const Position& p, const NodeInfo& info, std::span<const float> observation,
               std::span<const Move> moves, std::int32_t* rows) {
    for (const Move move : moves) {
        const int piece = type_of(p.board[move.from()]);
        const Square from = oriented(move.from(), p.side), to = oriented(move.to(), p.side);
        const int captured = p.is_capture(move) ? int(p.captured_type(move)) : 6;
        const int promotion = move.kind() == Move::PROMOTION ? int(move.promotion()) : 0;
        const int exchange = exchange_class(static_exchange(p, move));
        const bool checks = gives_check(p, info, move);
        const auto control = [&](Square square) {
            return control_class(observation[ENEMY_CONTROL + std::size_t(square)]);
        };
        int base = 0;
        const auto add = [&](int index, int count) {
            *rows++ = base + index;
            base += count;
        };
        add(64 * piece + from, 384);
        add(64 * piece + to, 384);
        add(7 * piece + captured, 42);
        add(promotion, 5);
        add(exchange, 5);
        add(2 * checks + (exchange >= 2), 4);
        add(6 * control(from) + control(to), 36);
    }
}

MoveNet::MoveNet(std::span<const float> weight, std::span<const float> bias,
                 std::span<const float> table, std::span<const float> output)
    : width_(bias.size()) {
    if (width_ < LANES || width_ % LANES || width_ > MOST_WIDTH)
        throw std::invalid_argument("a move network is 16, 32, 48 or 64 wide, not " +
                                    std::to_string(width_));
    if (weight.size() != width_ * FEATURES || table.size() != width_ * std::size_t(MOVE_ROWS) ||
        output.size() != width_)
        throw std::invalid_argument("the tensors of the move network do not fit a width of " +
                                    std::to_string(width_));
    weights_ = AlignedArray<float>(weight.size());
    bias_ = AlignedArray<float>(width_);
    table_ = AlignedArray<float>(table.size());
    output_ = AlignedArray<float>(width_);
    for (std::size_t i = 0; i < FEATURES; ++i)
        for (std::size_t o = 0; o < width_; ++o)
            weights_[i * width_ + o] = weight[o * FEATURES + i];
    std::ranges::copy(bias, bias_.data());
    std::ranges::copy(table, table_.data());
    std::ranges::copy(output, output_.data());
}

void MoveNet::probabilities(const Position& position, const NodeInfo& info,
                            std::span<const Move> moves, std::span<float> found) const {
    alignas(64) float observation[FEATURES];
    const RepetitionKeys none;
    encode::encode_giraffe363({{&position}, 1, &none}, observation);
    std::int32_t rows[MAX_MOVES * MOVE_FEATURES];
    move_rows(position, info, observation, moves, rows);

    alignas(64) float hidden[MOST_WIDTH];
    std::copy_n(bias_.data(), width_, hidden);
    for (std::size_t i = 0; i < FEATURES; ++i) {
        if (observation[i] == 0) continue;
        const float* line = weights_.data() + i * width_;
        for (std::size_t o = 0; o < width_; ++o) hidden[o] += observation[i] * line[o];
    }

    float largest = -1e30f;
    for (std::size_t m = 0; m < moves.size(); ++m) {
        alignas(64) float sums[MOST_WIDTH];
        std::copy_n(hidden, width_, sums);
        for (int k = 0; k < MOVE_FEATURES; ++k) {
            const std::size_t row = std::size_t(rows[m * MOVE_FEATURES + std::size_t(k)]);
            const float* line = table_.data() + row * width_;
            for (std::size_t o = 0; o < width_; ++o) sums[o] += line[o];
        }
        alignas(64) float lanes[LANES] = {};
        for (std::size_t o = 0; o < width_; o += LANES)
            for (std::size_t k = 0; k < LANES; ++k)
                lanes[k] += std::max(sums[o + k], 0.0f) * output_[o + k];
        float logit = 0;
        for (const float lane : lanes) logit += lane;
        found[m] = logit;
        largest = std::max(largest, logit);
    }
    float total = 0;
    for (float& value : found) total += value = std::exp(value - largest);
    for (float& value : found) value /= total;
}

}  // namespace rookery::nets
