#include "nnue/packed_position.h"

#include <algorithm>
#include <stdexcept>

namespace rookery::nnue {

namespace {

constexpr int MAX_PIECES = 32;

// What is wrong with the bytes, or nullptr.
const char* fault_of(const PackedSample& sample) {
    const int count = sample.piece_count();
    if (count < 2 || count > MAX_PIECES) return "it does not have 2 to 32 pieces";
    int kings[2] = {0, 0};
    Bitboard rest = sample.occupied;
    for (int i = 0; i < count; ++i) {
        const int nibble = sample.nibble(i), type = nibble & 7;
        const Square square = pop_square(rest);
        if (type > KING) return "it has an unknown piece";
        if (type == KING) ++kings[nibble >> 3];
        if (type == PAWN && (rank_of(square) == 0 || rank_of(square) == 7))
            return "it has a pawn on the first or last rank";
    }
    if (kings[WHITE] != 1 || kings[BLACK] != 1) return "a side does not have exactly one king";
    if (sample.result() > SampleResult::WON || sample.state >> 7) return "its result is unknown";
    if (sample.en_passant != NO_SQUARE) {
        const int rank = sample.side() == WHITE ? 5 : 2;
        if (sample.en_passant > NO_SQUARE || rank_of(sample.en_passant) != rank)
            return "its en passant square is impossible";
    }
    return nullptr;
}

void require_castling(Position& position, Color color, bool kingside) {
    const int number = castling_bit(color, kingside);
    if (!(position.castling >> number & 1)) return;
    const Square home = color == WHITE ? 0 : 56, rook = home + (kingside ? 7 : 0);
    if (position.board[home + 4] != make_piece(color, KING) ||
        position.board[rook] != make_piece(color, ROOK))
        throw std::invalid_argument(
            "the sample is damaged: a castling right lacks its king or rook");
    position.castling_rook[number] = std::uint8_t(rook);
}

}  // namespace

PackedSample pack(const Position& position, int score, SampleResult result, unsigned game) {
    if (position.chess960 || !position.rules.standard())
        throw std::invalid_argument(
            "samples hold standard chess, not Chess960 or another board: '" + to_fen(position) +
            "'");
    if (count_bits(position.occupied()) > MAX_PIECES || position.halfmove_clock > 255 ||
        position.fullmove_number > 65535)
        throw std::invalid_argument("'" + to_fen(position) +
                                    "' does not fit into a sample: at most 32 pieces, 255 plies "
                                    "on the clock, 65535 moves");
    PackedSample sample{};
    sample.occupied = position.occupied();
    int number = 0;
    for (Bitboard rest = sample.occupied; rest; ++number) {
        const Piece piece = position.board[pop_square(rest)];
        const int nibble = 8 * color_of(piece) + type_of(piece);
        sample.pieces[number >> 1] |= std::uint8_t(nibble << (4 * (number & 1)));
    }
    sample.score = std::int16_t(std::clamp(score, -32767, 32767));
    sample.state = std::uint8_t(position.side | position.castling << 1);
    sample.set_result(result);
    sample.en_passant = position.en_passant;
    sample.halfmove_clock = std::uint8_t(position.halfmove_clock);
    sample.game = std::uint8_t(game);
    sample.fullmove_number = std::uint16_t(position.fullmove_number);
    return sample;
}

Position unpack(const PackedSample& sample) {
    if (const char* fault = fault_of(sample))
        throw std::invalid_argument(std::string("the sample is damaged: ") + fault);
    Position position = empty_board();
    int number = 0;
    for (Bitboard rest = sample.occupied; rest; ++number) {
        const int nibble = sample.nibble(number);
        position.put(pop_square(rest), make_piece(Color(nibble >> 3), PieceType(nibble & 7)));
    }
    position.side = sample.side();
    position.castling = sample.state >> 1 & 15;
    position.halfmove_clock = sample.halfmove_clock;
    position.fullmove_number = sample.fullmove_number;
    for (const Color color : {WHITE, BLACK})
        for (const bool kingside : {true, false}) require_castling(position, color, kingside);
    if (position.attacked_by(position.side, position.king(~position.side)))
        throw std::invalid_argument("the sample is damaged: the king could be captured");
    if (sample.en_passant != NO_SQUARE &&
        position.board[sample.en_passant ^ 8] != make_piece(~position.side, PAWN))
        throw std::invalid_argument("the sample is damaged: no pawn can be taken en passant");
    position.finish_setup(sample.en_passant);
    return position;
}

std::size_t first_bad_sample(std::span<const PackedSample> samples) {
    const auto bad = std::find_if(samples.begin(), samples.end(), [](const PackedSample& sample) {
        return fault_of(sample) != nullptr;
    });
    return std::size_t(bad - samples.begin());
}

}  // namespace rookery::nnue
