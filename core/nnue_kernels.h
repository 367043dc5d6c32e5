// The inner loops of the network over int16 rows, for whatever vectors the compiler may use.
//
// Rows are aligned to cache lines and their length is a multiple of ROW_MULTIPLE. All versions
// compute exactly the same integers: additions stay within int16 by the clipping of nnue.h, and no
// 32-bit lane of the output sum receives more than 2 * 1024 / 8 products of at most 255 * 255 *
// 127.

#pragma once

#include <cstdint>

#if defined(__AVX2__) || defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace rookery::nnue {

inline constexpr int ROW_MULTIPLE = 32;

#if defined(__AVX512BW__)

using Vector = __m512i;
inline constexpr int LANES = 32;
inline Vector load(const std::int16_t* p) { return _mm512_load_si512(p); }
inline void save(std::int16_t* p, Vector v) { _mm512_store_si512(p, v); }
inline Vector add(Vector a, Vector b) { return _mm512_add_epi16(a, b); }
inline Vector subtract(Vector a, Vector b) { return _mm512_sub_epi16(a, b); }
inline Vector zero() { return _mm512_setzero_si512(); }
inline Vector clamp(Vector v, Vector top) {
    return _mm512_min_epi16(_mm512_max_epi16(v, _mm512_setzero_si512()), top);
}
inline Vector filled(std::int16_t value) { return _mm512_set1_epi16(value); }
inline Vector multiply_low(Vector a, Vector b) { return _mm512_mullo_epi16(a, b); }
inline Vector add_products(Vector sum, Vector a, Vector b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
inline std::int64_t sum_lanes(Vector v) {
    alignas(64) std::int32_t lanes[16];
    _mm512_store_si512(lanes, v);
    std::int64_t sum = 0;
    for (const std::int32_t lane : lanes) sum += lane;
    return sum;
}

#elif defined(__AVX2__)

using Vector = __m256i;
inline constexpr int LANES = 16;
inline Vector load(const std::int16_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
}
inline void save(std::int16_t* p, Vector v) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(p), v);
}
inline Vector add(Vector a, Vector b) { return _mm256_add_epi16(a, b); }
inline Vector subtract(Vector a, Vector b) { return _mm256_sub_epi16(a, b); }
inline Vector zero() { return _mm256_setzero_si256(); }
inline Vector clamp(Vector v, Vector top) {
    return _mm256_min_epi16(_mm256_max_epi16(v, _mm256_setzero_si256()), top);
}
inline Vector filled(std::int16_t value) { return _mm256_set1_epi16(value); }
inline Vector multiply_low(Vector a, Vector b) { return _mm256_mullo_epi16(a, b); }
inline Vector add_products(Vector sum, Vector a, Vector b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
inline std::int64_t sum_lanes(Vector v) {
    alignas(32) std::int32_t lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), v);
    std::int64_t sum = 0;
    for (const std::int32_t lane : lanes) sum += lane;
    return sum;
}

#else

// One element at a time; compilers turn these loops into whatever vectors the target has.
struct Vector {
    std::int16_t value;
    std::int32_t sum;
};
inline constexpr int LANES = 1;
inline Vector load(const std::int16_t* p) { return {*p, 0}; }
inline void save(std::int16_t* p, Vector v) { *p = v.value; }
inline Vector add(Vector a, Vector b) { return {std::int16_t(a.value + b.value), 0}; }
inline Vector subtract(Vector a, Vector b) { return {std::int16_t(a.value - b.value), 0}; }

#endif

// out = base + the added rows - the removed rows.
template <int ADDED, int REMOVED>
inline void combine_rows(std::int16_t* out, const std::int16_t* base,
                         const std::int16_t* const* added, const std::int16_t* const* removed,
                         int length) {
    for (int i = 0; i < length; i += LANES) {
        Vector v = load(base + i);
        for (int k = 0; k < ADDED; ++k) v = add(v, load(added[k] + i));
        for (int k = 0; k < REMOVED; ++k) v = subtract(v, load(removed[k] + i));
        save(out + i, v);
    }
}

// Sum of clamp(row, 0, 255)^2 * weights.
inline std::int64_t activated_dot(const std::int16_t* row, const std::int16_t* weights,
                                  int length) {
#if defined(__AVX2__) || defined(__AVX512BW__)
    const Vector top = filled(255);
    Vector sum = zero();
    for (int i = 0; i < length; i += LANES) {
        const Vector x = clamp(load(row + i), top);
        sum = add_products(sum, multiply_low(x, load(weights + i)), x);
    }
    return sum_lanes(sum);
#else
    std::int64_t sum = 0;
    for (int i = 0; i < length; ++i) {
        const std::int32_t x = row[i] < 0 ? 0 : row[i] > 255 ? 255 : row[i];
        sum += x * x * weights[i];
    }
    return sum;
#endif
}

}  // namespace rookery::nnue
