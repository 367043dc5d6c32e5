// The tests of the engine as a program of their own: small enough to be compiled for many CPUs.

#include <cstdio>
#include <cstdlib>

#include "tests/core_test.h"

int main() {
    const int failures = rookery::tests::run_engine_tests();
    std::printf(failures ? "%d checks failed\n" : "engine_test: all checks passed\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
