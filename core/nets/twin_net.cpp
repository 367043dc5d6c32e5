#include "nets/twin_net.h"

#include "nets/quiet_value.h"

namespace rookery::nets {

namespace {

constexpr std::size_t OBSERVATION = 70, EN_PASSANT = 66;  // entries of tactical70
constexpr int PIECES = 13;

// The pieces of an observation, the mover as White; castling rights do not matter to captures.
Position position_of(const std::uint8_t* observation) {
    Position position = empty_board();
    for (Square square = 0; square < 64; ++square) {
        const int code = observation[square ^ 56] % PIECES;  // a8 is the first entry
        if (code) position.put(square, Piece(code - 1));
    }
    const int file = observation[EN_PASSANT] - 1;
    position.finish_setup(file < 0 ? NO_SQUARE : make_square(file, 5));
    return position;
}

void require_legal(const std::uint8_t* observation, std::size_t number) {
    int kings[2] = {0, 0}, count = 0;
    for (std::size_t i = 0; i < 64; ++i) {
        const int code = observation[i] % PIECES;
        count += code != 0;
        kings[0] += code == 1 + KING;
        kings[1] += code == 7 + KING;
    }
    bool legal = kings[0] == 1 && kings[1] == 1 && count <= 32;
    if (legal) {
        const Position position = position_of(observation);
        legal = !position.attacked_by(WHITE, position.king(BLACK));
    }
    if (!legal)
        throw std::invalid_argument("observation " + std::to_string(number) +
                                    " is not of a legal position");
}

}  // namespace

void TwinNet::judge(const std::uint8_t* observations, std::size_t count, float* values) const {
    thread_local QuietValue quiet;
    quiet.use(value_);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = quiet.evaluate(position_of(observations + i * OBSERVATION), quiescence_);
}

void TwinNet::evaluate(const encode::LeafBatch& batch, float* logits, float* values) const {
    policy_.evaluate(batch, logits, values);
    judge(batch.observations.data(), batch.size(), values);
}

void TwinNet::evaluate(std::span<const std::uint8_t> observations,
                       std::span<const std::int32_t> legal, std::span<const std::int64_t> offsets,
                       float* logits, float* values) const {
    policy_.evaluate(observations, legal, offsets, logits, values);
    const std::size_t count = offsets.size() - 1;
    for (std::size_t i = 0; i < count; ++i) require_legal(observations.data() + i * OBSERVATION, i);
    judge(observations.data(), count, values);
}

}  // namespace rookery::nets
