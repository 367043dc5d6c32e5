// What the files that bind the core to Python share: array helpers and the parts of the module. No
// logic lives in this folder: names, arguments, docstrings, GIL guards.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <vector>

#include "encode/leaf_batch.h"
#include "nnue/network.h"
#include "rules/game.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rookery::bind {

// --- Arrays from Python ---

// C-contiguous and in main memory; Shape such as nb::ndim<1> or nb::shape<-1, 3> where it is fixed.
template <class T, class... Shape>
using Input = nb::ndarray<T, Shape..., nb::c_contig, nb::device::cpu>;
template <class Array> auto span_of(const Array& array) {
    return std::span(array.data(), array.size());
}

// The caller's array if it is writable, C-contiguous and of this shape; otherwise an error that
// says what was expected.
using AnyArray = nb::ndarray<nb::device::cpu>;
[[nodiscard]] AnyArray require_array(nb::handle object, const std::vector<std::size_t>& shape);

// --- Arrays for Python ---

template <class T> using Numpy = nb::ndarray<nb::numpy, T>;

template <class T> Numpy<T> owned_array(std::vector<T> values, std::vector<std::size_t> shape) {
    auto* heap = new std::vector<T>(std::move(values));
    nb::capsule owner(heap, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Numpy<T>(heap->data(), shape.size(), shape.data(), owner);
}
template <class T> Numpy<T> owned_array(std::vector<T> values) {
    const std::size_t count = values.size();
    return owned_array(std::move(values), {count});
}

// A view of memory that belongs to `self`.
template <class T> Numpy<T> view_array(nb::handle self, T* data, std::vector<std::size_t> shape) {
    return Numpy<T>(data, shape.size(), shape.data(), self);
}

inline std::vector<std::size_t> batch_shape(std::size_t count,
                                            const std::vector<std::size_t>& shape) {
    std::vector<std::size_t> result{count};
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
}

// --- Leaves that wait for a network, for any class with a LeafBatch; views until the next call ---

// [leaves, *shape]; None without a layout.
[[nodiscard]] nb::object leaf_observations(nb::handle self, encode::LeafBatch& batch);

template <class Class, class Batch> void bind_leaves(Class& bound, Batch&& batch_of) {
    bound
        .def_prop_ro(
            "observations",
            [=](nb::handle self) { return leaf_observations(self, batch_of(self)); },
            nb::sig("def observations(self) -> numpy.typing.NDArray[numpy.float32 | numpy.uint8]"),
            "Of the gathered leaves; valid until apply.")
        .def_prop_ro("legal_actions",
                     [=](nb::handle self) {
                         auto& actions = batch_of(self).legal_actions;
                         return view_array<const std::int32_t>(self, actions.data(),
                                                               {actions.size()});
                     })
        .def_prop_ro("legal_offsets", [=](nb::handle self) {
            auto& offsets = batch_of(self).legal_offsets;
            return view_array<const std::int64_t>(self, offsets.data(), {offsets.size()});
        });
}

// --- Other values ---

// The text of a FEN; throws FenError if it is no valid Unicode.
[[nodiscard]] std::string_view text_of(const nb::str& text);

// Nanobind reads None as a null pointer: refused here, naming the place.
using Games = std::vector<const Game*>;
const Games& require_games(const Games& games);

[[nodiscard]] std::vector<Position> parse_fens(const std::vector<std::string>& fens);

[[nodiscard]] inline nb::bytes bytes_of(const std::string& state) {
    return nb::bytes(state.data(), state.size());
}

// A network from its four tensors [768, H], [H], [buckets, 2H], [buckets]; throws NetworkError.
using Tensors =
    std::tuple<Input<const float>, Input<const float>, Input<const float>, Input<const float>>;
[[nodiscard]] std::shared_ptr<nnue::Network> make_network(const Tensors& tensors);

// --- The parts of the module, one file each ---

void bind_rules(nb::module_& m);
void bind_game(nb::module_& m);
void bind_bots(nb::module_& m);
void bind_sunfish(nb::module_& m);
void bind_vector_games(nb::module_& m);
void bind_policy_head(nb::module_& m);
void bind_pyramid_net(nb::module_& m);
void bind_evaluators(nb::module_& m);
void bind_mcts(nb::module_& m);
void bind_selfplay(nb::module_& m);
void bind_nnue(nb::module_& m);
void bind_values(nb::module_& m);
void bind_alphabeta(nb::module_& m);
void bind_datagen(nb::module_& m);
void bind_endings(nb::module_& m);

}  // namespace rookery::bind
