// Alpha-beta with evaluators other than NNUE: equal searches either way, failures on one thread and
// on several, and the native value network.

#include <atomic>
#include <cmath>

#include "alphabeta/bench.h"
#include "alphabeta/engine.h"
#include "nets/mlp_value.h"
#include "tests/core_test.h"

namespace rookery::tests {

namespace {

using namespace rookery::alphabeta;
using namespace rookery::values;

// An NNUE network as a BatchEvaluator that fails after `most` positions.
class NetworkValues final : public BatchEvaluator {
  public:
    NetworkValues(nnue::NetworkPtr network, std::size_t batch, int most = 1 << 30)
        : network_(std::move(network)), batch_(batch), left_(most) {}
    [[nodiscard]] std::string_view name() const override { return "network"; }
    [[nodiscard]] std::size_t batch() const override { return batch_; }
    void evaluate(std::span<const Position> positions, std::span<float> values) const override {
        expect(positions.size() == values.size() && positions.size() <= batch_, "size of a batch");
        for (std::size_t i = 0; i < positions.size(); ++i) {
            if (--left_ < 0) throw std::runtime_error("no more values");
            values[i] = float(value_of_score(network_->evaluate(positions[i])));
        }
    }

  private:
    nnue::NetworkPtr network_;
    std::size_t batch_;
    mutable std::atomic<int> left_;
};

class NoValues final : public BatchEvaluator {
  public:
    [[nodiscard]] std::string_view name() const override { return "broken"; }
    [[nodiscard]] std::size_t batch() const override { return 16; }
    void evaluate(std::span<const Position>, std::span<float> values) const override {
        std::fill(values.begin(), values.end(), std::nanf(""));
    }
};

void test_scale() {
    expect(score_of_value(0) == 0 && score_of_value(1) == MAX_EVALUATION &&
               score_of_value(-1) == -MAX_EVALUATION,
           "scores at the ends of the scale");
    for (Score score = -9000; score <= 9000; score += 31)
        expect(score_of_value(value_of_score(score)) == score, "a score there and back");
    expect(value_of_score(MATE - 3) == 1 && value_of_score(3 - MATE) == -1, "values of mates");
}

void test_same_search() {
    const auto network = nnue::random_network(32, 8, 1);
    const Evaluator evaluators[] = {network, std::make_shared<NetworkValues>(network, 1),
                                    std::make_shared<NetworkValues>(network, 16),
                                    std::make_shared<NetworkValues>(network, MAX_MOVES)};
    const Limits limits{.depth = 6};
    for (const std::string_view fen : bench_positions().first(12)) {
        Result first;
        for (const Evaluator& evaluator : evaluators) {
            Engine engine(evaluator, 1, 1);
            const Result found = engine.search(parse_fen(fen), {}, limits);
            if (&evaluator == evaluators) first = found;
            expect(found.best == first.best && found.score == first.score &&
                       found.nodes == first.nodes,
                   "the same search by a BatchEvaluator in " + std::string(fen));
        }
    }
}

void test_failures() {
    for (const int threads : {1, 3}) {
        Engine engine(std::make_shared<NetworkValues>(nnue::material_network(), 16, 2000), threads,
                      1);
        const auto search = [&] {
            engine.prepare();
            (void)engine.search(start_position(), {}, Limits());
        };
        expect(throws<std::runtime_error>(search, "no more values"), "an exception is rethrown");
        engine.set_evaluator(std::make_shared<NoValues>());
        expect(throws<EvaluatorError>(search, "'broken' gave the value"), "NaN is refused");
        engine.set_evaluator(nnue::material_network());
        const Limits limits{.depth = 4};
        engine.prepare();
        expect(engine.search(start_position(), {}, limits).depth == 4, "the engine still works");
    }
}

void test_observations() {
    const auto make = [](const char* observation) {
        return [=] { ObservationEvaluator("mine", observation, 1, {}); };
    };
    expect(throws<std::invalid_argument>(make("planes119"), "'mine'"), "history is refused");
    expect(throws<std::invalid_argument>(make("kpk3"), "kpk3"), "an ending alone is refused");
    const ObservationEvaluator count("count", "planes12", 4,
                                     [](const std::vector<float>& planes, std::span<float> out) {
                                         for (std::size_t i = 0; i < out.size(); ++i)
                                             for (std::size_t k = 0; k < 12 * 64; ++k)
                                                 out[i] += planes[i * 12 * 64 + k] / 32;
                                     });
    const Position positions[] = {start_position(), parse_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1")};
    float values[2] = {};
    count.evaluate(positions, values);
    expect(values[0] == 1 && values[1] == 2.0f / 32, "positions are encoded one by one");
}

// Against the definition, with a first layer of two groups.
void test_mlp() {
    constexpr std::size_t INPUTS = 37, FIRST = 21, SECOND = 9, COUNT = 50;
    Random random(3);
    const auto draw = [&](std::size_t size) { return random_floats(size, random, 0.5f); };
    std::vector<float> weights[] = {draw(FIRST * INPUTS), draw(SECOND * FIRST), draw(SECOND)};
    const std::vector<float> biases[] = {draw(FIRST), draw(SECOND), draw(1)};
    for (std::size_t o = 0; o < FIRST; ++o)
        for (std::size_t i = 0; i < INPUTS; ++i)
            if ((o < 8) != (i < 20)) weights[0][o * INPUTS + i] = 0;
    const nets::DenseLayer layers[] = {
        {weights[0], biases[0]}, {weights[1], biases[1]}, {weights[2], biases[2]}};
    const nets::MlpValue net(INPUTS, layers);
    std::vector<float> features = draw(COUNT * INPUTS), values(COUNT);
    for (std::size_t i = 0; i < features.size(); i += 3) features[i] = 0;
    net.evaluate(features, values);
    for (std::size_t position = 0; position < COUNT; ++position) {
        std::vector<double> in(features.begin() + std::ptrdiff_t(position * INPUTS),
                               features.begin() + std::ptrdiff_t((position + 1) * INPUTS));
        for (int l = 0; l < 3; ++l) {
            std::vector<double> out(biases[l].begin(), biases[l].end());
            for (std::size_t o = 0; o < out.size(); ++o) {
                for (std::size_t i = 0; i < in.size(); ++i)
                    out[o] += double(weights[l][o * in.size() + i]) * in[i];
                if (l < 2) out[o] = std::max(out[o], 0.0);
            }
            in = out;
        }
        expect(std::abs(values[position] - std::tanh(in[0])) < 1e-5, "value of the native network");
    }
    const auto make = [&](std::size_t inputs, std::size_t count) {
        return [=, &layers] { nets::MlpValue(inputs, std::span(layers).first(count)); };
    };
    expect(throws<std::invalid_argument>(make(INPUTS + 1, 3), "layer 1"), "inputs that do not fit");
    expect(throws<std::invalid_argument>(make(INPUTS, 2), "1 output"), "more than one value");
}

}  // namespace

void test_values() {
    test_scale();
    test_same_search();
    test_failures();
    test_observations();
    test_mlp();
}

}  // namespace rookery::tests
