// A guard for objects that only one thread at a time may use: a second one gets an error instead of
// undefined behaviour.

#pragma once

#include <atomic>
#include <stdexcept>

namespace rookery {

// Marks an object as in use for its lifetime; throws std::logic_error if it already is.
class Busy {
  public:
    Busy(std::atomic<bool>& flag, const char* error) : flag_(flag) {
        if (flag_.exchange(true, std::memory_order_acquire)) throw std::logic_error(error);
    }
    ~Busy() { flag_.store(false, std::memory_order_release); }
    Busy(const Busy&) = delete;

  private:
    std::atomic<bool>& flag_;
};

}  // namespace rookery
