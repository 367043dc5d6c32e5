// The tests of the engine as a program of their own: small enough to be compiled for many CPUs.

#include "tests/core_test.h"

int main() {
    rookery::tests::test_engine();
    return rookery::tests::report("engine_test");
}
