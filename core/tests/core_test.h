// Shared by the C++ tests.

#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"

namespace rookery::tests {

inline int failures = 0;

inline void expect(bool condition, const std::string& what) {
    if (condition) return;
    std::printf("FAILED: %s\n", what.c_str());
    ++failures;
}

// Whether `work` throws an Error whose message contains `words`.
template <class Error>
bool throws(const std::function<void()>& work, const std::string& words = "") {
    try {
        work();
    } catch (const Error& error) {
        return std::string(error.what()).find(words) != std::string::npos;
    }
    return false;
}

// Uniform in [-limit, limit).
inline std::vector<float> random_floats(std::size_t count, Random& random, float limit) {
    std::vector<float> values(count);
    for (float& value : values) value = float(2 * random.uniform() - 1) * limit;
    return values;
}

// Reports the failures of all tests so far; the exit status of a test program.
inline int report(const char* program) {
    if (failures)
        std::printf("%d checks failed\n", failures);
    else
        std::printf("%s: all checks passed\n", program);
    return failures != 0;
}

void test_blind();     // blind_test.cpp
void test_boards();    // board_test.cpp
void test_endings();   // ending_test.cpp
void test_engine();    // engine_test.cpp
void test_mcts();      // mcts_test.cpp
void test_training();  // training_test.cpp
void test_values();    // values_test.cpp

}  // namespace rookery::tests
