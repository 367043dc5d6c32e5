// What the files of core_test share: each part is a function that returns its number of failures.

#pragma once

#include <cstdio>
#include <string>

namespace rookery::tests {

// Counts and prints what is not as expected.
class Checks {
  public:
    void expect(bool condition, const std::string& what) {
        if (condition) return;
        std::printf("FAILED: %s\n", what.c_str());
        ++failures_;
    }
    [[nodiscard]] int failures() const { return failures_; }

  private:
    int failures_ = 0;
};

int run_ending_tests();    // ending_test.cpp
int run_engine_tests();    // engine_test.cpp
int run_training_tests();  // training_test.cpp
int run_values_tests();    // values_test.cpp

}  // namespace rookery::tests
