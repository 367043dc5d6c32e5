// Tree search, self-play and the native network: code paths for the sanitizers. Exact results are
// tested in tests/core and tests/selfplay.

#include <cmath>
#include <memory>
#include <numeric>
#include <thread>

#include "mcts/search.h"
#include "mcts/selfplay.h"
#include "nets/hash_evaluator.h"
#include "nets/slots_net.h"
#include "nets/squares_net.h"
#include "nets/twin_net.h"
#include "tests/core_test.h"

namespace rookery::tests {

namespace {

void test_searches() {
    for (const int gumbel : {0, 8}) {
        mcts::TreeOptions options;
        options.gumbel_actions = gumbel;
        options.megabytes = 1;  // too small for all simulations: growing stops
        mcts::Search search("planes119", options, 1);
        Game game(start_position());
        for (int ply = 0; ply < 12; ++ply) {
            search.set_game(game);
            mcts::SearchSettings settings;
            settings.simulations = ply == 3 ? 3000 : 200;
            settings.noise = true;
            settings.gumbel_scale = 1;
            settings.seed = std::uint64_t(ply);
            search.begin(settings, {});
            expect(search.run(nets::HashEvaluator(), ply % 2 ? 16 : 1, 0), "a search ends");
            const auto target = search.tree.policy_target();
            const float sum = std::accumulate(target.begin(), target.end(), 0.0f);
            expect(std::abs(sum - 1) < 1e-4f, "targets sum to one");
            const std::size_t best = search.tree.final_edge();
            expect(!search.tree.line(best).empty(), "there is a line");
            game.push(search.tree.root_edges()[best].move);
        }
    }
}

void test_mates() {
    mcts::Search search("", {}, 0);
    search.set_game(Game(parse_fen("7k/8/8/8/8/8/R7/1R5K w - - 0 1")));
    search.begin({20000, false, 0, 0, false}, {});
    search.run(nets::HashEvaluator(), 1, 0);
    expect(search.tree.root_status() == mcts::EdgeStatus::WON, "two rooks mate");
    const Game over(parse_fen("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"));
    expect(throws<MoveError>([&] { search.set_game(over); }), "a finished game is refused");
}

void test_selfplay() {
    mcts::SelfPlayOptions options;
    options.games = 6;
    options.simulations = 12;
    options.fast_simulations = 4;
    options.full_share = 0.5;
    options.max_plies = 60;
    options.random_share = 0.5;
    options.max_random_plies = 9;
    options.starts = {parse_fen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1")};
    options.starts_share = 0.2;
    options.resign_below = -0.6;
    mcts::SelfPlay play(options);
    expect(play.run(nets::HashEvaluator(), 300, 0), "samples are made");
    const mcts::SelfPlaySamples samples = play.take_samples();
    expect(
        samples.policy.size() == samples.legal.size() && samples.results.size() == samples.size(),
        "columns have equal lengths");
    (void)play.take_games();
    const std::string state = play.save();
    mcts::SelfPlay other(options);
    other.restore(state);
    expect(other.save() == state, "a state is restored");
    // Evaluations that are not finite.
    play.gather();
    std::vector<float> logits(play.batch().legal_actions.size(), 0.0f);
    std::vector<float> values(play.batch().size(), std::nanf(""));
    play.apply(logits, values);
    expect(play.aborted == 6, "nonsense aborts games");
    expect(play.run(nets::HashEvaluator(), 20, 0), "the others continue");
}

// Networks of the families squares and twin with arbitrary weights.
template <class Net, class... Rest> Net small_network(Rest... rest) {
    Random random(1);
    const std::size_t width = 24, key = 8;
    const auto numbers = [&](std::size_t count) { return random_floats(count, random, 0.05f); };
    const auto places = numbers((64 * 25 + 33) * width);
    const auto codes = numbers(156 * width), bias = numbers(width);
    const auto layer = numbers(width * width), keys = numbers(key * width);
    const auto moves = numbers((6 * 12 * 7 * 12 + 6 * 3 * 225 + 6 * 225 + 4672) * key);
    const auto key_bias = numbers(key), value_bias = numbers(1);
    std::vector<std::int64_t> squares(4672);
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = std::int64_t(i / 73);
    return Net({width, key, places, codes, bias, layer, bias, layer, bias, keys, key_bias, moves,
                bias, value_bias, squares, squares},
               rest...);
}
nets::TwinNet small_twin_network() {
    return small_network<nets::TwinNet>(nnue::random_network(32, 8, 1), true);
}

// The same of the family slots.
nets::SlotsNet small_slots_network() {
    Random random(2);
    const std::size_t width = 24, key = 8;
    const auto numbers = [&](std::size_t count) { return random_floats(count, random, 0.05f); };
    const auto places = numbers((12 * 64 + 12 * 36 + 64 * 36 + 1) * width);
    const auto plain = numbers(65 * width), bias = numbers(width);
    const auto layer = numbers(width * width), keys = numbers(key * width);
    const auto moves = numbers((7 * 6 * 7 * 36 + 7 * 3 * 225 + 4672) * key);
    const auto key_bias = numbers(key), value_bias = numbers(1);
    std::vector<std::int64_t> squares(4672);
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = std::int64_t(i / 73);
    return nets::SlotsNet({width, key, places, plain, bias, layer, bias, layer, bias, keys,
                           key_bias, moves, bias, value_bias, squares, squares});
}

void test_network(const encode::NativeEvaluator& net) {
    mcts::Search search(net.observation(), {}, 1);
    // Two white queens: one of them has no slot.
    for (const char* fen : {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                            "3qk3/8/8/8/8/8/QQ6/4K3 b - - 0 1"}) {
        search.set_game(Game(parse_fen(fen)));
        search.begin({300, false, 0, 0, false}, {});
        expect(search.run(net, 4, 0), "a native network searches");
        expect(std::abs(search.tree.root_value()) <= 1, "values are bounded");
    }
}

void test_judging() {
    mcts::SelfPlayOptions options;
    options.games = 3;
    options.simulations = 4;
    options.judge_from = 4;
    options.judge_every = 2;
    mcts::SelfPlay play(options);
    expect(!play.run(nets::HashEvaluator(), 1000, 0), "a game waits for its judge");
    const auto waiting = play.unjudged();
    expect(!waiting.empty(), "and is listed");
    for (const auto& [slot, fen] : waiting) slot % 2 ? play.play_on(slot) : play.judge(slot, 0.5);
    expect(play.unjudged().empty(), "all are judged");
    play.run(nets::HashEvaluator(), 1000, 0);
    expect(play.ready() >= 4, "a judged game leaves its samples");
}

// As in training: games on several threads, all with one network.
void test_threads() {
    const nets::TwinNet net = small_twin_network();
    mcts::SelfPlayOptions options;
    options.games = 4;
    options.simulations = 8;
    options.max_plies = 30;
    options.tree.gumbel_actions = 4;
    options.cache_megabytes = 1;
    std::vector<std::unique_ptr<mcts::SelfPlay>> plays;
    for (int i = 0; i < 3; ++i) {
        options.seed = std::uint64_t(i / 2);  // the first two are alike
        plays.push_back(std::make_unique<mcts::SelfPlay>(options));
    }
    for (int iteration = 0; iteration < 2; ++iteration) {
        std::vector<std::thread> threads;
        for (const auto& play : plays)
            threads.emplace_back([&net, &play] {
                play->network_changed();
                while (!play->run(net, 40, 0.01)) {
                }
            });
        for (std::thread& thread : threads) thread.join();
        const mcts::SelfPlaySamples first = plays[0]->take_samples(),
                                    second = plays[1]->take_samples();
        expect(first.policy == second.policy && first.values == second.values,
               "threads do not disturb each other");
        expect(plays[2]->take_samples().size() >= 40, "every thread brings its samples");
        for (const auto& play : plays) (void)play->take_games();
    }
}

}  // namespace

void test_mcts() {
    test_searches();
    test_mates();
    test_selfplay();
    test_network(small_network<nets::SquaresNet>());
    test_network(small_twin_network());
    test_network(small_slots_network());
    test_judging();
    test_threads();
}

}  // namespace rookery::tests
