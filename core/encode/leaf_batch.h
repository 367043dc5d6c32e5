// A batch of leaves for an evaluator.
//
//   leaf i:  observations   [i * layout size, ...)          one observation, bytes or floats
//            legal_actions  [legal_offsets[i], legal_offsets[i + 1])   in the order of generation
//
// Observations are bytes where the layout allows them. Without a layout nothing is encoded.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "encode/actions.h"
#include "encode/encode.h"

namespace rookery::encode {

struct LeafBatch {
    explicit LeafBatch(const ObservationLayout* layout_used = nullptr) : layout(layout_used) {}

    const ObservationLayout* layout;
    std::vector<std::uint8_t> observations;  // [count, layout size], memory of bytes or floats
    std::vector<std::int32_t> legal_actions;
    std::vector<std::int64_t> legal_offsets{0};
    std::vector<Key> keys;  // [count] keys of the positions

    [[nodiscard]] std::size_t size() const { return keys.size(); }
    [[nodiscard]] bool bytes() const { return layout && layout->encode_bytes; }
    // Of one leaf.
    [[nodiscard]] std::size_t observation_bytes() const {
        return layout ? layout->memory(bytes()) : 0;
    }

    // Memory for `count` leaves, so that their addresses do not change.
    void reserve(std::size_t count) {
        observations.reserve(count * observation_bytes());
        legal_actions.reserve(count * MAX_MOVES);
        legal_offsets.reserve(count + 1);
        keys.reserve(count);
    }
    void clear() {
        observations.clear();
        legal_actions.clear();
        legal_offsets.assign(1, 0);
        keys.clear();
    }

    // `moves`: the legal moves, in the order of the actions.
    void add(const EncodeView& view, const MoveList& moves) {
        const std::size_t at = observations.size();
        observations.resize(at + observation_bytes());
        if (layout) layout->write(view, bytes(), observations.data() + at);
        const std::size_t first = legal_actions.size();
        legal_actions.resize(first + std::size_t(moves.size()));
        for (int i = 0; i < moves.size(); ++i)
            legal_actions[first + std::size_t(i)] =
                action_of(ActionSpace::AZ4672, view.now(), moves[i]);
        legal_offsets.push_back(std::int64_t(legal_actions.size()));
        keys.push_back(view.now().key);
    }

    void drop_last() {
        keys.pop_back();
        legal_offsets.pop_back();
        legal_actions.resize(std::size_t(legal_offsets.back()));
        observations.resize(observations.size() - observation_bytes());
    }

    // Throws std::invalid_argument unless there is one logit per legal action and one value per
    // leaf.
    void check_answers(std::size_t logits, std::size_t values) const {
        if (logits != legal_actions.size() || values != size())
            throw std::invalid_argument("got " + std::to_string(logits) + " logits and " +
                                        std::to_string(values) + " values for " +
                                        std::to_string(legal_actions.size()) +
                                        " legal actions of " + std::to_string(size()) + " leaves");
    }
};

// Evaluates batches without Python. Implementations are thread-safe.
class NativeEvaluator {
  public:
    virtual ~NativeEvaluator() = default;
    // Name of the observation it needs; empty if none.
    [[nodiscard]] virtual std::string_view observation() const = 0;
    // Writes logits [total legal] and values [count], each in [-1, 1] for the side to move.
    virtual void evaluate(const LeafBatch& batch, float* logits, float* values) const = 0;
};

}  // namespace rookery::encode
