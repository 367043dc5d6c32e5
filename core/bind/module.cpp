// The Python module rookery._core; its parts are in the other files of this folder.

#include "bind/bind.h"

NB_MODULE(_core, m) {
    using namespace rookery::bind;
    // A thread still searching at interpreter exit keeps objects alive; that is not a leak.
    nb::set_leak_warnings(false);
    m.doc() = "Chess rules, encodings, searches and hot loops, in C++; core/README.md is the map.";
    bind_rules(m);
    bind_boards(m);
    bind_game(m);
    bind_solve(m);
    bind_bots(m);
    bind_vector_games(m);
    bind_nets(m);
    bind_mcts(m);
    bind_selfplay(m);
    bind_nnue(m);
    bind_values(m);
    bind_alphabeta(m);
    bind_datagen(m);
    bind_endings(m);
    bind_blind(m);
}
