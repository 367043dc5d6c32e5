// Training: packed samples, shuffled order, the learner, the policy step, games on threads.

#include <cmath>
#include <cstring>
#include <set>

#include "datagen/generator.h"
#include "datagen/network_match.h"
#include "nets/policy_head.h"
#include "nnue/learner.h"
#include "nnue/packed_position.h"
#include "rules/game.h"
#include "tests/core_test.h"

namespace rookery::tests {

namespace {

std::vector<nnue::PackedSample> random_samples(int count) {
    std::vector<nnue::PackedSample> samples;
    Random random(3);
    while (int(samples.size()) < count) {
        Game game(start_position());
        play_random(game, int(random.below(150)), random);
        const int score = int(random.below(2000)) - 1000;
        const auto result = nnue::SampleResult(random.below(3));
        samples.push_back(nnue::pack(game.now(), score, result, unsigned(samples.size() % 256)));
        expect(to_fen(nnue::unpack(samples.back())) == to_fen(game.now()),
               "a sample keeps " + to_fen(game.now()));
    }
    return samples;
}

void test_samples() {
    const auto samples = random_samples(500);
    expect(nnue::first_bad_sample(samples) == samples.size(), "sound samples are sound");
    Random random(5);
    for (int i = 0; i < 20'000; ++i) {  // any bytes at all
        nnue::PackedSample sample = samples[std::size_t(i) % samples.size()];
        auto* bytes = reinterpret_cast<unsigned char*>(&sample);
        for (int k = 0; k < 1 + i % 4; ++k) bytes[random.below(32)] = (unsigned char)random.next();
        try {
            const Position position = nnue::unpack(sample);
            expect(!to_fen(position).empty(), "a position");
        } catch (const std::invalid_argument&) {
        }
    }
}

void test_order() {
    for (const std::uint64_t size : {1, 2, 3, 17, 256, 1000}) {
        const nnue::ShuffledOrder order(size, 9), other(size, 10);
        std::set<std::uint64_t> seen;
        bool differs = size < 17;
        for (std::uint64_t i = 0; i < size; ++i) {
            seen.insert(order[i]);
            differs |= order[i] != other[i];
        }
        expect(seen.size() == size && *seen.rbegin() == size - 1, "each sample once in a pass");
        expect(differs, "passes differ");
    }
}

void test_learner() {
    const auto samples = random_samples(600);
    std::vector<float> found[2];
    for (const int threads : {1, 3}) {
        nnue::Learner learner(48, 8, threads);
        Random random(1);
        for (float& weight : learner.weights()) weight = float(random.uniform() - 0.5) / 4;
        const std::vector<float> rates(6, 1e-2f);
        const double before = learner.train(samples, 1, 200, 0, rates, {0.5f, 2.5f});
        double after = before;
        for (std::uint64_t pass = 2; pass < 30; ++pass)
            after = learner.train(samples, pass, 200, 0, rates, {0.5f, 2.5f});
        expect(after < before / 2, "the loss falls");
        const auto weights = learner.weights();
        found[threads > 1].assign(weights.begin(), weights.end());
    }
    expect(found[0] == found[1], "threads do not change what is learnt");
}

void test_games() {
    const auto network = nnue::random_network(16, 8, 2);
    std::vector<nnue::PackedSample> found[2];
    for (const int threads : {1, 2}) {
        datagen::DatagenSettings settings;
        settings.seed = 4;
        settings.soft_nodes = 20;
        settings.max_plies = 120;
        settings.threads = threads;
        datagen::DataGenerator generator(network, settings);
        found[threads > 1] = generator.run(10, 6, {}).samples;
        int calls = 0;
        const auto stopped = generator.run(0, 1'000'000, [&] { return ++calls > 3; });
        expect(stopped.games < 1'000'000, "games can be stopped");
    }
    expect(found[0].size() == found[1].size() &&
               std::memcmp(found[0].data(), found[1].data(), 32 * found[0].size()) == 0,
           "threads do not change games");
    datagen::MatchSettings settings;
    settings.nodes = 30;
    settings.threads = 2;
    datagen::NetworkMatch match(nnue::material_network(), network, {}, settings);
    int points = 0;
    for (const auto& pair : match.run(0, 4, {}))
        points += pair.as_white.result + pair.as_black.result;
    expect(points > 0, "material beats noise");
}

// Gradients of the policy's step against differences of its terms.
void test_policy_step() {
    constexpr std::size_t WIDTH = 70, ACTIONS = 5;
    const std::vector<std::int64_t> legal{0, 4, 2, 1, 2, 3}, offsets{0, 2, 3, 6}, chosen{1, 0, 2};
    const std::vector<float> old{-0.9f, -0.5f, 0.0f, -1.6f, -1.2f, -0.7f};
    const std::vector<float> advantages{0.7f, -1.0f, 1.3f};
    const nets::PolicySamples samples{legal, offsets, chosen, old, advantages};
    const nets::PolicyWeights weights{0.5f, 0.3f, 0.2f};
    Random random(8);
    const auto floats = [&](std::size_t count) { return random_floats(count, random, 0.25f); };
    std::vector<float> hidden = floats(3 * WIDTH), weight = floats(ACTIONS * WIDTH),
                       bias = floats(ACTIONS);
    std::vector<float> by_hidden = floats(hidden.size()), by_weight = floats(weight.size()),
                       by_bias = floats(bias.size());
    const auto loss = [&](const nets::PolicyGradients& out) {
        const auto terms = nets::policy_step(samples, {WIDTH, hidden, weight, bias}, weights, out);
        return terms[0] - double(weights.entropy) * terms[1] + double(weights.kl) * terms[2];
    };
    loss({by_hidden, by_weight, by_bias});
    std::vector<float> spare1(hidden.size()), spare2(weight.size()), spare3(bias.size());
    const auto compare = [&](std::vector<float>& values, const std::vector<float>& gradient) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float before = values[i], step = 0.02f;
            values[i] = before + step;
            const double above = loss({spare1, spare2, spare3});
            values[i] = before - step;
            const double below = loss({spare1, spare2, spare3});
            values[i] = before;
            expect(std::abs((above - below) / (2 * double(step)) - double(gradient[i])) < 1e-3,
                   "gradient of a policy's step at " + std::to_string(i));
        }
    };
    compare(hidden, by_hidden);
    compare(weight, by_weight);
    compare(bias, by_bias);
}

}  // namespace

void test_training() {
    test_policy_step();
    test_samples();
    test_order();
    test_learner();
    test_games();
}

}  // namespace rookery::tests
