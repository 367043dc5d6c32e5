#include "alphabeta/time_manager.h"

#include <algorithm>

#include "alphabeta/parameters.h"

namespace rookery::alphabeta {

void TimeManager::start(const Limits& limits) {
    using namespace parameters;
    begin_ = Clock::now();
    counted_from_.store(begin_.time_since_epoch().count(), std::memory_order_relaxed);
    pondering_.store(limits.pondering, std::memory_order_relaxed);
    fixed_ = limits.move_seconds > 0;
    timed_ = fixed_ || limits.clock_seconds >= 0;
    soft_ = hard_ = 0;
    constexpr double LEAST = 0.001;  // seconds, enough for depth 1
    if (limits.clock_seconds >= 0) {
        const double left = std::max(LEAST, limits.clock_seconds - limits.overhead_seconds);
        const double moves = limits.moves_to_go > 0
                                 ? std::min(double(limits.moves_to_go), TIME_MOVES_LEFT)
                                 : TIME_MOVES_LEFT;
        const double share = limits.moves_to_go == 1 ? 0.9 : TIME_HARD_SHARE;
        hard_ = left * share;
        // The last increment is never spent: it pays for the next move's delays.
        if (limits.moves_to_go != 1) hard_ = std::min(hard_, left - limits.increment_seconds);
        hard_ = std::max(LEAST, hard_);
        soft_ = std::min(hard_, left / moves + TIME_INCREMENT * limits.increment_seconds);
        hard_ = std::min(hard_, TIME_HARD_FACTOR * soft_);
    }
    if (fixed_) {
        const double allowed = std::max(LEAST, limits.move_seconds);
        hard_ = limits.clock_seconds >= 0 ? std::min(hard_, allowed) : allowed;
        soft_ = limits.clock_seconds >= 0 ? std::min(soft_, allowed) : allowed;
        fixed_ = limits.clock_seconds < 0;
    }
}

void TimeManager::ponderhit() {
    counted_from_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    pondering_.store(false, std::memory_order_relaxed);
}

double TimeManager::elapsed() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
}

double TimeManager::spent() const {
    const Clock::time_point from{Clock::duration(counted_from_.load(std::memory_order_relaxed))};
    return std::chrono::duration<double>(Clock::now() - from).count();
}

bool TimeManager::enough(int stability, double best_share, int drop, bool only_move) const {
    using namespace parameters;
    if (!timed_ || pondering()) return false;
    if (fixed_) return spent() >= soft_;
    if (only_move) return true;
    const double nodes = TIME_NODE_BASE - TIME_NODE_SLOPE * best_share;
    const double stable = TIME_STABILITY_BASE - TIME_STABILITY_SLOPE * std::min(stability, 10);
    const double fall = 1 + TIME_DROP_SLOPE * std::clamp(drop, -20, 80);
    return spent() >= soft_ * nodes * stable * fall;
}

}  // namespace rookery::alphabeta
