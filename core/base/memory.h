// Allocations whose size a user chose: one clear error instead of std::bad_alloc, and none at all
// for what exceeds the machine's memory, which the system would grant and then kill us for.

#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace rookery {

// Becomes Python's MemoryError.
class OutOfMemory : public std::bad_alloc {
  public:
    explicit OutOfMemory(std::string text) : text_(std::move(text)) {}
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

  private:
    std::string text_;
};

// Bytes of main memory; the largest number if the system does not tell.
[[nodiscard]] inline double machine_memory() {
#if defined(_SC_PHYS_PAGES)
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && size > 0) return double(pages) * double(size);
#endif
    return 1e300;
}

// Calls work(), which allocates about `bytes` for `what` ("a perft table of 64 MiB"). Throws
// OutOfMemory if that cannot be had; work() must then leave everything as it was.
template <class Work> auto allocate(const std::string& what, double bytes, const Work& work) {
    const auto refuse = [&] { throw OutOfMemory("there is no memory for " + what); };
    if (bytes > machine_memory()) refuse();
    try {
        return work();
    } catch (const std::bad_alloc&) {
        refuse();
    } catch (const std::length_error&) {  // larger than any vector
        refuse();
    }
    __builtin_unreachable();
}

}  // namespace rookery
