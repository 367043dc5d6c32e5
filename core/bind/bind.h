// Shared by the binding files: array helpers and the parts of the module. This folder contains no
// logic: names, arguments, docstrings, GIL guards.

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
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <vector>

#include "alphabeta/batch_values.h"
#include "alphabeta/parameters.h"
#include "encode/leaf_batch.h"
#include "mcts/tree.h"
#include "nnue/network.h"
#include "nnue/packed_position.h"
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

// The caller's array; throws std::invalid_argument unless it is writable, C-contiguous and of this
// shape.
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

// A view of memory owned by `self`.
template <class T> Numpy<T> view_array(nb::handle self, T* data, std::vector<std::size_t> shape) {
    return Numpy<T>(data, shape.size(), shape.data(), self);
}

inline std::vector<std::size_t> batch_shape(std::size_t count,
                                            const std::vector<std::size_t>& shape) {
    std::vector<std::size_t> result{count};
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
}

// Observations [count, *shape] in memory owned by `self`, as floats or bytes; None without a
// layout.
[[nodiscard]] nb::object observation_view(nb::handle self, const encode::ObservationLayout* layout,
                                          bool bytes, std::vector<std::uint8_t>& memory,
                                          std::size_t count);
inline constexpr char OBSERVATIONS_SIGNATURE[] =
    "def observations(self) -> numpy.typing.NDArray[numpy.float32 | numpy.uint8]";

// Pending leaves of any class with a LeafBatch; views until the next call.
template <class Class, class Batch> void bind_leaves(Class& bound, Batch&& batch_of) {
    bound
        .def_prop_ro(
            "observations",
            [=](nb::handle self) {
                auto& batch = batch_of(self);
                return observation_view(self, batch.layout, batch.bytes(), batch.observations,
                                        batch.size());
            },
            nb::sig(OBSERVATIONS_SIGNATURE),
            "Observations of the gathered leaves; valid until apply.")
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

// The text of a FEN; throws FenError if it is not valid Unicode.
[[nodiscard]] std::string_view text_of(const nb::str& text);

// nanobind converts None to a null pointer; throws a TypeError with its index.
using Games = std::vector<const Game*>;
const Games& require_games(const Games& games);

[[nodiscard]] std::vector<Position> parse_fens(const std::vector<std::string>& fens,
                                               BoardRules rules = {});

[[nodiscard]] inline nb::bytes bytes_of(const std::string& state) {
    return nb::bytes(state.data(), state.size());
}

// A network from its four tensors [768, H], [H], [buckets, 2H], [buckets]; throws NetworkError.
using Tensors =
    std::tuple<Input<const float>, Input<const float>, Input<const float>, Input<const float>>;
[[nodiscard]] std::shared_ptr<nnue::Network> make_network(const Tensors& tensors);
// uint8 [N, 32]
using SampleArray = Input<const std::uint8_t, nb::shape<-1, 32>>;
[[nodiscard]] Numpy<std::uint8_t> sample_array(std::span<const nnue::PackedSample> samples);
// Throws std::invalid_argument if the array is not aligned.
[[nodiscard]] std::span<const nnue::PackedSample> samples_of(const SampleArray& array);

// What the alpha-beta search evaluates with.
using AnyEvaluator =
    std::variant<std::shared_ptr<nnue::Network>, std::shared_ptr<values::ObservationEvaluator>,
                 std::shared_ptr<values::PositionEvaluator>>;
[[nodiscard]] inline alphabeta::Evaluator evaluator_of(const AnyEvaluator& any) {
    return std::visit([](const auto& made) -> alphabeta::Evaluator { return made; }, any);
}

// Search parameters by name; those not named have their default.
[[nodiscard]] inline alphabeta::Parameters parameters_of(const std::map<std::string, int>& values) {
    alphabeta::Parameters parameters;
    for (const auto& [name, value] : values) alphabeta::set_parameter(parameters, name, value);
    return parameters;
}

// mcts::set_option with a Python number or bool.
void set_option(mcts::TreeOptions& options, nb::handle name, nb::handle value);

// --- The parts of the module, one file each ---

void bind_rules(nb::module_& m);
void bind_boards(nb::module_& m);
void bind_solve(nb::module_& m);
void bind_game(nb::module_& m);
void bind_bots(nb::module_& m);
void bind_vector_games(nb::module_& m);
void bind_nets(nb::module_& m);
void bind_mcts(nb::module_& m);
void bind_selfplay(nb::module_& m);
void bind_nnue(nb::module_& m);
void bind_values(nb::module_& m);
void bind_alphabeta(nb::module_& m);
void bind_datagen(nb::module_& m);
void bind_endings(nb::module_& m);
void bind_blind(nb::module_& m);

}  // namespace rookery::bind
