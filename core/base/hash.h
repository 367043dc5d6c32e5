// One step of a fast hash, for tables and pseudo-random values; not for saved files (serial.h).

#pragma once

#include <cstdint>

namespace rookery {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

}  // namespace rookery
