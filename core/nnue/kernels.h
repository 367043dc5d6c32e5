// The inner loops of the network over int16 rows, for each instruction set.
//
// Rows are aligned to cache lines, with a length that is a multiple of ROW_MULTIPLE. All versions
// give the same integers: additions stay within int16 by the clipping of network.h, and no 32-bit
// lane of the output sum receives more than 2 * 1024 / 8 products of at most 255 * 255 * 127.
//
//   combine<ADDED, REMOVED>: out = base + the added rows - the removed rows
//   dot: sum of clamp(row, 0, 255)^2 * weights
//
// `Best` is the widest version that the compiler may use; tests compare it with the others.

#pragma once

#include <cstdint>

#if defined(__AVX2__) || defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace rookery::nnue {

inline constexpr int ROW_MULTIPLE = 32;

namespace kernels {

// Scalar loops, which compilers vectorise.
struct Portable {
    static constexpr const char* NAME = "portable";

    template <int ADDED, int REMOVED>
    static void combine(std::int16_t* out, const std::int16_t* base,
                        const std::int16_t* const* added, const std::int16_t* const* removed,
                        int length) {
        for (int i = 0; i < length; ++i) {
            int v = base[i];
            for (int k = 0; k < ADDED; ++k) v += added[k][i];
            for (int k = 0; k < REMOVED; ++k) v -= removed[k][i];
            out[i] = std::int16_t(v);
        }
    }

    static std::int64_t dot(const std::int16_t* row, const std::int16_t* weights, int length) {
        std::int64_t sum = 0;
        for (int i = 0; i < length; ++i) {
            const std::int32_t x = row[i] < 0 ? 0 : row[i] > 255 ? 255 : row[i];
            sum += x * x * weights[i];
        }
        return sum;
    }
};

// Whole registers, by the operations of `Lanes`.
template <class Lanes> struct Vectorised {
    using Vector = typename Lanes::Vector;
    static constexpr const char* NAME = Lanes::NAME;

    template <int ADDED, int REMOVED>
    static void combine(std::int16_t* out, const std::int16_t* base,
                        const std::int16_t* const* added, const std::int16_t* const* removed,
                        int length) {
        for (int i = 0; i < length; i += Lanes::COUNT) {
            Vector v = Lanes::load(base + i);
            for (int k = 0; k < ADDED; ++k) v = Lanes::add(v, Lanes::load(added[k] + i));
            for (int k = 0; k < REMOVED; ++k) v = Lanes::subtract(v, Lanes::load(removed[k] + i));
            Lanes::save(out + i, v);
        }
    }

    static std::int64_t dot(const std::int16_t* row, const std::int16_t* weights, int length) {
        const Vector top = Lanes::filled(255);
        Vector sum = Lanes::filled(0);
        for (int i = 0; i < length; i += Lanes::COUNT) {
            const Vector x = Lanes::clamp(Lanes::load(row + i), top);
            sum = Lanes::add_products(sum, Lanes::multiply_low(x, Lanes::load(weights + i)), x);
        }
        return Lanes::sum(sum);
    }
};

#if defined(__AVX2__)

struct Avx2Lanes {
    using Vector = __m256i;
    static constexpr const char* NAME = "avx2";
    static constexpr int COUNT = 16;
    static Vector load(const std::int16_t* p) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
    }
    static void save(std::int16_t* p, Vector v) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(p), v);
    }
    static Vector add(Vector a, Vector b) { return _mm256_add_epi16(a, b); }
    static Vector subtract(Vector a, Vector b) { return _mm256_sub_epi16(a, b); }
    static Vector clamp(Vector v, Vector top) {
        return _mm256_min_epi16(_mm256_max_epi16(v, _mm256_setzero_si256()), top);
    }
    static Vector filled(std::int16_t value) { return _mm256_set1_epi16(value); }
    static Vector multiply_low(Vector a, Vector b) { return _mm256_mullo_epi16(a, b); }
    static Vector add_products(Vector sum, Vector a, Vector b) {
        return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
    }
    static std::int64_t sum(Vector v) {
        alignas(32) std::int32_t lanes[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), v);
        std::int64_t total = 0;
        for (const std::int32_t lane : lanes) total += lane;
        return total;
    }
};
using Avx2 = Vectorised<Avx2Lanes>;

#endif

#if defined(__AVX512BW__)

struct Avx512Lanes {
    using Vector = __m512i;
    static constexpr const char* NAME = "avx512";
    static constexpr int COUNT = 32;
    static Vector load(const std::int16_t* p) { return _mm512_load_si512(p); }
    static void save(std::int16_t* p, Vector v) { _mm512_store_si512(p, v); }
    static Vector add(Vector a, Vector b) { return _mm512_add_epi16(a, b); }
    static Vector subtract(Vector a, Vector b) { return _mm512_sub_epi16(a, b); }
    static Vector clamp(Vector v, Vector top) {
        return _mm512_min_epi16(_mm512_max_epi16(v, _mm512_setzero_si512()), top);
    }
    static Vector filled(std::int16_t value) { return _mm512_set1_epi16(value); }
    static Vector multiply_low(Vector a, Vector b) { return _mm512_mullo_epi16(a, b); }
    static Vector add_products(Vector sum, Vector a, Vector b) {
        return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
    }
    static std::int64_t sum(Vector v) {
        alignas(64) std::int32_t lanes[16];
        _mm512_store_si512(lanes, v);
        std::int64_t total = 0;
        for (const std::int32_t lane : lanes) total += lane;
        return total;
    }
};
using Avx512 = Vectorised<Avx512Lanes>;

#endif

#if defined(__AVX512BW__)
using Best = Avx512;
#elif defined(__AVX2__)
using Best = Avx2;
#else
using Best = Portable;
#endif

}  // namespace kernels

}  // namespace rookery::nnue
