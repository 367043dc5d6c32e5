// What the two files that bind tree search share.

#pragma once

#include "bind/bind.h"
#include "mcts/tree.h"

namespace rookery::bind {

// From keyword arguments; throws std::invalid_argument naming what is wrong.
[[nodiscard]] mcts::TreeOptions mcts_options(const nb::dict& options);
// [leaves, *shape], a view; None without a layout.
[[nodiscard]] nb::object leaf_observations(nb::handle self, encode::LeafBatch& batch);

void bind_mcts(nb::module_& m);
void bind_selfplay(nb::module_& m);

}  // namespace rookery::bind
