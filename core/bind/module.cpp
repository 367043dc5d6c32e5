// The Python module rookery._core; its parts are in the other files of this folder.

#include "bind/bind.h"

namespace {

std::map<std::string, std::string> build_info() {
#if defined(__BMI2__)
    const char* const sliders = "pext";
#else
    const char* const sliders = "magic";
#endif
#if defined(__AVX512BW__)
    const char* const vectors = "avx512";
#elif defined(__AVX2__)
    const char* const vectors = "avx2";
#elif defined(__ARM_NEON)
    const char* const vectors = "neon";
#else
    const char* const vectors = "baseline";
#endif
    return {{"sliders", sliders}, {"vectors", vectors}};
}

}  // namespace

NB_MODULE(_core, m) {
    using namespace rookery::bind;
    // A thread that still searches when the interpreter ends holds objects; that is no leak.
    nb::set_leak_warnings(false);
    m.doc() = "Chess rules, encodings, searches and hot loops, in C++; core/README.md is the map.";
    m.def("build_info", &build_info,
          "What the compiler was allowed to use: sliders pext or magic, vectors avx512, avx2, "
          "neon or baseline.");
    bind_rules(m);
    bind_game(m);
    bind_bots(m);
    bind_sunfish(m);
    bind_vector_games(m);
    bind_policy_head(m);
    bind_pyramid_net(m);
    bind_evaluators(m);
    bind_mcts(m);
    bind_selfplay(m);
    bind_nnue(m);
    bind_values(m);
    bind_alphabeta(m);
    bind_datagen(m);
    bind_endings(m);
}
