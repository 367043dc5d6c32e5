// xoshiro256** (Blackman and Vigna 2018), with a state that can be saved; hash functions.

#pragma once

#include <array>
#include <cstdint>

namespace rookery {

// Expands a seed into well-mixed words; also a hash of one number.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

// One step of a fast hash, for tables and pseudo-random values; not for saved files (serial.h).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

class Random {
  public:
    using State = std::array<std::uint64_t, 4>;

    explicit Random(std::uint64_t seed = 0) {
        for (auto& word : state_) word = splitmix64(seed);
    }
    // Independent streams of one seed: game i uses stream i, so that results depend neither on the
    // number of threads nor on other games.
    Random(std::uint64_t seed, std::uint64_t stream) {
        std::uint64_t mixed = stream;
        seed ^= splitmix64(mixed);
        for (auto& word : state_) word = splitmix64(seed);
    }

    std::uint64_t next() {
        const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
        const std::uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }
    // Uniform in [0, bound), bound > 0. The bias of the multiply-shift method is below bound /
    // 2^32.
    std::uint32_t below(std::uint32_t bound) { return std::uint32_t((next() >> 32) * bound >> 32); }
    // Uniform in [0, 1).
    double uniform() { return double(next() >> 11) * 0x1.0p-53; }

    [[nodiscard]] const State& state() const { return state_; }
    void set_state(const State& state) { state_ = state; }

  private:
    static constexpr std::uint64_t rotate(std::uint64_t x, int k) { return x << k | x >> (64 - k); }
    State state_;
};

}  // namespace rookery
