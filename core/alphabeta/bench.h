// A fixed workload. The sum of nodes is the signature of the search (any functional change alters
// it); nodes per second are its speed.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nnue/network.h"

namespace rookery::alphabeta {

inline constexpr int BENCH_DEPTH = 9;

[[nodiscard]] std::span<const std::string_view> bench_positions();

struct BenchResult {
    std::uint64_t nodes = 0;
    double seconds = 0;
};
// One thread, each position with an empty table and empty histories.
[[nodiscard]] BenchResult bench(nnue::NetworkPtr network, int depth);
// The network of the signature, made in code to be independent of any file.
[[nodiscard]] nnue::NetworkPtr bench_network();

}  // namespace rookery::alphabeta
