// What the two files that bind tree search share.

#pragma once

#include "bind.h"
#include "mcts.h"

namespace rookery {

// From keyword arguments; throws std::invalid_argument naming what is wrong.
[[nodiscard]] MctsOptions mcts_options(const nb::dict& options);
// [leaves, *shape], a view; None without a layout.
[[nodiscard]] nb::object leaf_observations(nb::handle self, LeafBatch& batch);

void bind_mcts(nb::module_& m);
void bind_selfplay(nb::module_& m);

}  // namespace rookery
