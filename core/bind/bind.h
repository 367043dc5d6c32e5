// What the files that bind the core to Python share: array helpers and the parts of the
// module. No logic lives in these files: names, arguments, docstrings, GIL guards.

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

#include <string>
#include <vector>

#include "rules/game.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rookery::bind {

template <class T> using Numpy = nb::ndarray<nb::numpy, T>;

template <class T> Numpy<T> owned_array(std::vector<T> values, std::vector<std::size_t> shape) {
    auto* heap = new std::vector<T>(std::move(values));
    nb::capsule owner(heap, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Numpy<T>(heap->data(), shape.size(), shape.data(), owner);
}

// A view of memory that belongs to `self`.
template <class T>
nb::ndarray<nb::numpy, T> view_array(nb::handle self, T* data, std::vector<std::size_t> shape) {
    return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), self);
}

inline std::vector<std::size_t> batch_shape(std::size_t count,
                                            const std::vector<std::size_t>& shape) {
    std::vector<std::size_t> result{count};
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
}

// The caller's array if it is writable, C-contiguous and of this shape; otherwise an error that
// says what was expected.
using AnyArray = nb::ndarray<nb::device::cpu>;
[[nodiscard]] AnyArray require_array(nb::handle object, const std::vector<std::size_t>& shape);

// The text of a FEN; throws FenError if it is no valid Unicode.
[[nodiscard]] std::string_view text_of(const nb::str& text);

// Nanobind reads None as a null pointer: refused here, naming the place.
using Games = std::vector<const Game*>;
const Games& require_games(const Games& games);

// White, Black or either to move in random positions; throws std::invalid_argument.
StartSide find_side(std::string_view name);

void bind_game(nb::module_& m);
void bind_bots(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_values(nb::module_& m);
void bind_vector_games(nb::module_& m);
void bind_training(nb::module_& m);
void bind_ending(nb::module_& m);
void bind_pyramid(nb::module_& m);
void bind_policy(nb::module_& m);
void bind_sunfish(nb::module_& m);

}  // namespace rookery::bind
