// Positions that wait for an evaluator, in the arrays that evaluators take.
//
//   leaf i:  observations   [i * layout size, ...)          one observation, bytes or floats
//            legal_actions  [legal_offsets[i], legal_offsets[i + 1])   in the order of generation
//
// Bytes are used where the layout allows them: a quarter of the memory to move. With no layout
// (tests of the tree alone) nothing is encoded.

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
    std::vector<float> observations;           // [count, layout size], or empty
    std::vector<std::uint8_t> byte_observations;  // the same as bytes, or empty
    std::vector<std::int32_t> legal_actions;
    std::vector<std::int64_t> legal_offsets{0};
    std::vector<Key> keys;  // [count] identity of the position, for evaluators without observations

    [[nodiscard]] std::size_t size() const { return keys.size(); }
    [[nodiscard]] bool bytes() const { return layout && layout->encode_bytes; }

    void clear() {
        observations.clear();
        byte_observations.clear();
        legal_actions.clear();
        legal_offsets.assign(1, 0);
        keys.clear();
    }

    // Appends a position; `moves` are its legal moves and decide the order of the actions.
    void add(const EncodeView& view, const MoveList& moves) {
        if (layout) {
            if (bytes()) {
                const std::size_t at = byte_observations.size();
                byte_observations.resize(at + layout->size());
                layout->encode_bytes(view, byte_observations.data() + at);
            } else {
                const std::size_t at = observations.size();
                observations.resize(at + layout->size());
                layout->encode(view, observations.data() + at);
            }
        }
        const std::size_t first = legal_actions.size();
        legal_actions.resize(first + std::size_t(moves.size()));
        for (int i = 0; i < moves.size(); ++i)
            legal_actions[first + std::size_t(i)] =
                action_of(ActionSpace::AZ4672, view.now(), moves[i]);
        legal_offsets.push_back(std::int64_t(legal_actions.size()));
        keys.push_back(view.now().key);
    }

    // Takes the last position back.
    void drop_last() {
        keys.pop_back();
        legal_offsets.pop_back();
        legal_actions.resize(std::size_t(legal_offsets.back()));
        if (!layout) return;
        (bytes() ? byte_observations.resize(byte_observations.size() - layout->size())
                 : observations.resize(observations.size() - layout->size()));
    }

    // Throws std::invalid_argument unless there is a logit for each legal action and a value for
    // each leaf.
    void check_answers(std::size_t logits, std::size_t values) const {
        if (logits != legal_actions.size() || values != size())
            throw std::invalid_argument("got " + std::to_string(logits) + " logits and " +
                                        std::to_string(values) + " values for " +
                                        std::to_string(legal_actions.size()) +
                                        " legal actions of " + std::to_string(size()) + " leaves");
    }

    // The bytes of the last observation, for hashing.
    [[nodiscard]] const void* last_observation() const {
        if (bytes()) return byte_observations.data() + byte_observations.size() - layout->size();
        return observations.data() + observations.size() - layout->size();
    }
    [[nodiscard]] std::size_t observation_bytes() const {
        return layout ? layout->size() * (bytes() ? 1 : sizeof(float)) : 0;
    }
};

// Evaluates batches without Python. Implementations are safe to share between threads.
class NativeEvaluator {
  public:
    virtual ~NativeEvaluator() = default;
    // Name of the observation it reads; empty if it reads none.
    [[nodiscard]] virtual std::string_view observation() const = 0;
    // Writes logits [total legal] and values [count], each in [-1, 1] for the side to move.
    virtual void evaluate(const LeafBatch& batch, float* logits, float* values) const = 0;
};

}  // namespace rookery::encode
