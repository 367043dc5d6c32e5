// nnue768 networks, packed samples, and the learner.

#include "bind/bind.h"
#include "nnue/kernels.h"
#include "nnue/learner.h"

namespace rookery::bind {

namespace {

using Floats = Input<const float>;

// --- Packed samples ---

Numpy<std::uint8_t> pack_samples(const Games& games, const std::vector<int>& scores,
                                 const std::vector<int>& results,
                                 const std::vector<unsigned>& numbers) {
    require_games(games);
    if (scores.size() != games.size() || results.size() != games.size() ||
        numbers.size() != games.size())
        throw std::invalid_argument("games, scores, results and numbers must be equally long");
    std::vector<nnue::PackedSample> samples;
    for (std::size_t i = 0; i < games.size(); ++i) {
        if (results[i] < -1 || results[i] > 1)
            throw std::invalid_argument("result " + std::to_string(results[i]) +
                                        " is not -1, 0 or 1");
        samples.push_back(
            nnue::pack(games[i]->now(), scores[i], nnue::SampleResult(results[i] + 1), numbers[i]));
    }
    return sample_array(samples);
}

std::vector<std::string> sample_fens(const SampleArray& array) {
    std::vector<std::string> fens;
    for (const nnue::PackedSample& sample : samples_of(array))
        fens.push_back(to_fen(nnue::unpack(sample)));
    return fens;
}

void encode_samples(const SampleArray& array, std::string_view name,
                    const Input<float, nb::ndim<2>>& out) {
    const encode::ObservationLayout& layout = encode::find_observation(name);
    const auto samples = samples_of(array);
    if (out.shape(0) != samples.size() || out.shape(1) != layout.size())
        throw std::invalid_argument("out must be [" + std::to_string(samples.size()) + ", " +
                                    std::to_string(layout.size()) + "]");
    const nb::gil_scoped_release release;
    const RepetitionKeys none;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const Position position = values::without_past(nnue::unpack(samples[i]));
        layout.encode({{&position}, 1, &none}, out.data() + i * layout.size());
    }
}

// --- The learner ---

nb::dict tensor_views(nb::handle self, std::span<float> values, const nnue::WeightLayout& layout) {
    const auto hidden = std::size_t(layout.hidden), buckets = std::size_t(layout.buckets);
    nb::dict views;
    views["feature_weights"] = view_array(self, values.data(), {nnue::FEATURES, hidden});
    views["feature_bias"] = view_array(self, values.data() + layout.feature_bias(), {hidden});
    views["output_weights"] =
        view_array(self, values.data() + layout.output_weights(), {buckets, 2 * hidden});
    views["output_bias"] = view_array(self, values.data() + layout.output_bias(), {buckets});
    return views;
}

template <auto Get> auto learner_tensors() {
    return [](nb::handle_t<nnue::Learner> self) {
        auto& learner = nb::cast<nnue::Learner&>(self);
        return tensor_views(self, (learner.*Get)(), learner.layout());
    };
}

nb::tuple learner_gradient(nnue::Learner& learner, const SampleArray& array, float wdl,
                           float power) {
    const nnue::WeightLayout& layout = learner.layout();
    auto* values = new std::vector<float>(layout.size());
    const nb::capsule owner(values,
                            [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
    const double loss = learner.gradient(samples_of(array), {wdl, power}, *values);
    return nb::make_tuple(loss, tensor_views(owner, *values, layout));
}

double learner_train(nnue::Learner& learner, const SampleArray& array, std::uint64_t seed,
                     std::size_t batch_size, std::size_t first, const Floats& learning_rates,
                     float wdl, float power) {
    if (batch_size < 1) throw std::invalid_argument("batch_size must be at least 1");
    const auto samples = samples_of(array);
    const auto rates = span_of(learning_rates);
    const nb::gil_scoped_release release;
    return learner.train(samples, seed, batch_size, first, rates, {wdl, power});
}

Numpy<float> learner_evaluate(const nnue::Learner& learner, const SampleArray& array) {
    const auto samples = samples_of(array);
    std::vector<float> raw(samples.size());
    {
        const nb::gil_scoped_release release;
        learner.evaluate(samples, raw);
    }
    return owned_array(std::move(raw));
}

void bind_network(nb::module_& m) {
    nb::exception<nnue::NetworkError>(m, "NetworkError", PyExc_ValueError);
    nb::class_<nnue::Network>(m, "NnueNetwork",
                              "A quantised evaluation network nnue768; see core/nnue/network.h.")
        .def(nb::new_([](const Floats& feature_weights, const Floats& feature_bias,
                         const Floats& output_weights, const Floats& output_bias) {
                 return make_network({feature_weights, feature_bias, output_weights, output_bias});
             }),
             "feature_weights"_a, "feature_bias"_a, "output_weights"_a, "output_bias"_a,
             "From float32 arrays [768, H], [H], [buckets, 2H] (mover's half first), [buckets].")
        .def_static(
            "random",
            [](int hidden, int buckets, std::uint64_t seed) {
                return std::const_pointer_cast<nnue::Network>(
                    nnue::random_network(hidden, buckets, seed));
            },
            "hidden"_a, "buckets"_a, "seed"_a, "Small pseudo-random weights.")
        .def_static(
            "material",
            [] { return std::const_pointer_cast<nnue::Network>(nnue::material_network()); },
            "Material and a bonus for the centre.")
        .def(
            "evaluate",
            [](const nnue::Network& network, const Game& game) {
                return network.evaluate(game.now());
            },
            "game"_a, "Value for the side to move: 400 times the logit of its expected score.")
        .def_prop_ro("hidden", &nnue::Network::hidden)
        .def_prop_ro("buckets", &nnue::Network::buckets)
        .def_prop_ro("clipped", &nnue::Network::clipped,
                     "Number of weights that were clipped to the range of the integers.");
}

void bind_learner(nb::module_& m) {
    using nnue::Learner;
    nb::class_<Learner>(m, "NnueLearner",
                        "Trains nnue768 networks on packed samples; see core/nnue/learner.h. The "
                        "result does not depend on the number of threads.")
        .def(nb::init<int, int, int>(), "hidden"_a, "buckets"_a = 8, "threads"_a = 1)
        .def_prop_ro("hidden", [](const Learner& l) { return l.layout().hidden; })
        .def_prop_ro("buckets", [](const Learner& l) { return l.layout().buckets; })
        .def_rw("steps", &Learner::steps, "Optimiser steps so far.")
        .def(
            "set_adam",
            [](Learner& l, float beta1, float beta2, float epsilon, float weight_decay) {
                l.adam = {beta1, beta2, epsilon, weight_decay};
            },
            "beta1"_a = 0.9f, "beta2"_a = 0.999f, "epsilon"_a = 1e-8f, "weight_decay"_a = 0.01f,
            "Settings of AdamW.")
        .def("weights", learner_tensors<&Learner::weights>(),
             nb::sig("def weights(self) -> dict[str, numpy.typing.NDArray[numpy.float32]]"),
             "Views of the weights by name: writing changes them.")
        .def("first_moments", learner_tensors<&Learner::first_moments>(),
             nb::sig("def first_moments(self) -> dict[str, numpy.typing.NDArray[numpy.float32]]"),
             "Adam's running means of the gradient.")
        .def("second_moments", learner_tensors<&Learner::second_moments>(),
             nb::sig("def second_moments(self) -> dict[str, numpy.typing.NDArray[numpy.float32]]"),
             "Adam's running means of the squared gradient.")
        .def("train", &learner_train, "samples"_a, "seed"_a, "batch_size"_a, "first"_a,
             "learning_rates"_a, "wdl"_a = 1.0f, "power"_a = 2.0f,
             "Trains on minibatches [first, first + len(learning_rates)) of an epoch in the order "
             "given by the seed; returns the mean loss.")
        .def("gradient", &learner_gradient, "samples"_a, "wdl"_a = 1.0f, "power"_a = 2.0f,
             nb::sig("def gradient(self, samples: numpy.typing.NDArray[numpy.uint8], wdl: float = "
                     "1.0, power: float = 2.0) -> tuple[float, dict[str, "
                     "numpy.typing.NDArray[numpy.float32]]]"),
             "Mean loss of the samples, and its gradient by tensor name.")
        .def("evaluate", &learner_evaluate, "samples"_a,
             "Raw outputs [N] for the side to move; the sigmoid is the expected score.");
}

}  // namespace

std::span<const nnue::PackedSample> samples_of(const SampleArray& array) {
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(nnue::PackedSample))
        throw std::invalid_argument("the samples are not aligned to 8 bytes; pass a copy");
    return {reinterpret_cast<const nnue::PackedSample*>(array.data()), array.shape(0)};
}

Numpy<std::uint8_t> sample_array(std::span<const nnue::PackedSample> samples) {
    const auto bytes = std::as_bytes(samples);
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return owned_array(std::vector<std::uint8_t>(first, first + bytes.size()),
                       {samples.size(), sizeof(nnue::PackedSample)});
}

std::shared_ptr<nnue::Network> make_network(const Tensors& tensors) {
    const auto& [feature_weights, feature_bias, output_weights, output_bias] = tensors;
    const auto require = [](const char* name, const Floats& array, std::size_t dimensions) {
        if (array.ndim() != dimensions)
            throw nnue::NetworkError(std::string("network: ") + name + " has " +
                                     std::to_string(array.ndim()) + " dimensions instead of " +
                                     std::to_string(dimensions));
    };
    require("feature_weights", feature_weights, 2);
    require("feature_bias", feature_bias, 1);
    require("output_weights", output_weights, 2);
    require("output_bias", output_bias, 1);
    if (feature_weights.shape(0) != std::size_t(nnue::FEATURES))
        throw nnue::NetworkError("network: feature_weights has " +
                                 std::to_string(feature_weights.shape(0)) + " rows instead of 768");
    return std::make_shared<nnue::Network>(int(feature_bias.size()), int(output_bias.size()),
                                           span_of(feature_weights), span_of(feature_bias),
                                           span_of(output_weights), span_of(output_bias));
}

void bind_nnue(nb::module_& m) {
    m.attr("KERNELS") = nnue::kernels::Best::NAME;  // what this module was compiled for
    bind_network(m);
    m.def("pack_samples", &pack_samples, "games"_a, "scores"_a, "results"_a, "numbers"_a,
          "Packed samples uint8 [N, 32] of the games' current positions; scores and results (1, 0, "
          "-1) are for the side to move, numbers are game numbers.");
    m.def("encode_samples", &encode_samples, "samples"_a, "observation"_a, "out"_a,
          "Writes observations float32 [N, size] of packed samples, as positions without a past.");
    m.def("sample_fens", &sample_fens, "samples"_a, "FENs of packed samples.");
    m.def(
        "first_bad_sample",
        [](const SampleArray& array) { return nnue::first_bad_sample(samples_of(array)); },
        "samples"_a, "Index of the first invalid sample, or their number.");
    m.def(
        "evaluate_samples",
        [](const Tensors& network, const SampleArray& array) {
            const auto made = make_network(network);
            std::vector<std::int32_t> values;
            for (const nnue::PackedSample& sample : samples_of(array))
                values.push_back(made->evaluate(nnue::unpack(sample)));
            return owned_array(std::move(values));
        },
        "network"_a, "samples"_a,
        "Values of the quantised network, int32 [N], 400 per unit of raw output.");
    bind_learner(m);
}

}  // namespace rookery::bind
