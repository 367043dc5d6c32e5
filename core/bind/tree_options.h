// Options of a tree as Python gives them: by name.

#pragma once

#include "bind/bind.h"
#include "mcts/tree.h"

namespace rookery::bind {

// mcts::set_option with a Python number or bool.
void set_option(mcts::TreeOptions& options, nb::handle name, nb::handle value);

}  // namespace rookery::bind
