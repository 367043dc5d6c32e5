// Time management: a soft limit beyond which no new depth is started, scaled by how clear the best
// move is, and a hard limit.

#pragma once

#include <algorithm>
#include <atomic>

#include "alphabeta/types.h"

namespace rookery::alphabeta {

class TimeManager {
  public:
    // The clock starts now, or at ponderhit() if the limits say so.
    void start(const Limits& limits);
    // Thread-safe.
    void ponderhit();

    [[nodiscard]] bool pondering() const { return pondering_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool timed() const { return timed_; }
    [[nodiscard]] double elapsed() const;  // seconds since start()
    // Seconds that count against the limits: since start() or ponderhit().
    [[nodiscard]] double spent() const;

    [[nodiscard]] bool hard_limit_reached() const {
        return timed_ && !pondering() && spent() >= hard_;
    }
    // Seconds beyond the hard limit; 0 before it or without one.
    [[nodiscard]] double late() const {
        return timed_ && !pondering() ? std::max(0.0, spent() - hard_) : 0;
    }
    // Whether to stop after a depth. stability: depths since the best move changed; best_share: its
    // share of the nodes; drop: how far the score fell below the mean of earlier depths.
    [[nodiscard]] bool enough(int stability, double best_share, int drop, bool only_move) const;

  private:
    Clock::time_point begin_{};
    std::atomic<std::int64_t> counted_from_{0};  // ticks of Clock
    std::atomic<bool> pondering_{false};
    bool timed_ = false, fixed_ = false;
    double soft_ = 0, hard_ = 0;  // seconds
};

}  // namespace rookery::alphabeta
