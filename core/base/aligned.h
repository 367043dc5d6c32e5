// A zeroed, movable array of fixed length, aligned to cache lines. Large arrays use huge pages, so
// that random reads rarely miss the TLB.

#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rookery {

inline constexpr std::size_t CACHE_LINE = 64;
inline constexpr std::size_t HUGE_PAGE = std::size_t(2) << 20;

template <class T> class AlignedArray {
  public:
    AlignedArray() = default;
    explicit AlignedArray(std::size_t size) : AlignedArray(reserved(size)) { zero(); }
    // Address space without contents, which takes no memory yet; call zero() before any use.
    [[nodiscard]] static AlignedArray reserved(std::size_t size) {
        AlignedArray array;
        array.alignment_ = size * sizeof(T) >= HUGE_PAGE ? HUGE_PAGE : CACHE_LINE;
        array.size_ = size;
        void* memory = ::operator new[](size * sizeof(T), std::align_val_t(array.alignment_));
#if defined(__linux__)
        if (array.alignment_ == HUGE_PAGE) madvise(memory, size * sizeof(T), MADV_HUGEPAGE);
#endif
        array.data_ = static_cast<T*>(memory);
        return array;
    }
    void zero() { std::uninitialized_value_construct_n(data_, size_); }
    AlignedArray(AlignedArray&& other) noexcept { swap(other); }
    AlignedArray& operator=(AlignedArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~AlignedArray() {
        static_assert(std::is_trivially_destructible_v<T>);
        ::operator delete[](data_, std::align_val_t(alignment_));
    }

    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    T& operator[](std::size_t index) { return data_[index]; }
    const T& operator[](std::size_t index) const { return data_[index]; }

  private:
    void swap(AlignedArray& other) {
        std::swap(data_, other.data_);
        std::swap(alignment_, other.alignment_);
        std::swap(size_, other.size_);
    }
    T* data_ = nullptr;
    std::size_t alignment_ = CACHE_LINE;
    std::size_t size_ = 0;
};

}  // namespace rookery
