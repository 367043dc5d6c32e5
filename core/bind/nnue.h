// Packed samples as arrays, for the learner and the generator.

#pragma once

#include "bind/bind.h"
#include "nnue/packed_position.h"

namespace rookery::bind {

// uint8 [N, 32]
[[nodiscard]] Numpy<std::uint8_t> sample_array(std::span<const nnue::PackedSample> samples);

}  // namespace rookery::bind
