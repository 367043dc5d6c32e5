// States of small endgames, and the network of Kanis 2016 that learns them.

#include "endings/ending_states.h"

#include <cmath>

#include "nets/pyramid_net.h"
#include "rules/movegen.h"
#include "tests/core_test.h"

namespace rookery::tests {

namespace {

std::vector<std::uint8_t> truth_of(const endings::EndingStates& states) {
    std::vector<std::uint8_t> now(states.size(), endings::NOT_WON);
    for (;;) {
        std::vector<std::uint8_t> after = states.backup(now);
        if (after == now) return now;
        now.swap(after);
    }
}

// Known from endgame tables: states of one side up to mirror images, longest wins.
void test_counts() {
    const endings::EndingStates states({"KPvK", "KQvK", "KRvK"}, endings::EndingGoal::MATE);
    const auto truth = truth_of(states);
    int pawn_states = 0, pawn_wins = 0, longest[3] = {};
    for (std::size_t s = 0; s < states.size(); ++s) {
        const int ending = states.ending_of()[s];
        if (truth[s] != endings::NOT_WON)
            longest[ending] = std::max(longest[ending], int(truth[s]));
        if (ending || !states.strong_to_move()[s]) continue;
        ++pawn_states;
        pawn_wins += truth[s] != endings::NOT_WON;
    }
    expect(pawn_states == 81'664 && pawn_wins == 62'480, "positions of KPK, won ones of them");
    expect(longest[0] == 28 && longest[1] == 10 && longest[2] == 16, "longest wins");
}

// Every state is found by its position, and backup() is one ply of minimax.
void test_states(const endings::EndingStates& states) {
    Random random(7);
    std::vector<std::uint8_t> values(states.size());
    for (auto& value : values) value = std::uint8_t(random.below(40));
    const std::vector<std::uint8_t> targets = states.backup(values);
    for (int i = 0; i < 3000; ++i) {
        const std::size_t state = random.below(states.size());
        const Position position = states.position(state);
        expect(states.find(position) == std::int64_t(state), "found again: " + to_fen(position));
        const bool strong = states.strong_to_move()[state];
        const MoveList moves = legal_moves(position);
        int best = strong ? int(endings::NOT_WON) : 0;
        for (const Move move : moves) {
            Position next = position;
            next.make(move);
            const std::int64_t id = states.find(next);
            const int value = id < 0 ? int(endings::NOT_WON) : values[std::size_t(id)];
            best = strong ? std::min(best, value) : std::max(best, value);
        }
        if (moves.empty())
            best = !strong && position.in_check() ? 0 : int(endings::NOT_WON);
        else if (strong && best < endings::NOT_WON)
            ++best;
        expect(targets[state] == best, "one ply from " + to_fen(position));
    }
}

// Greedy play by the true values wins every won position; by constant values it does not.
void test_play() {
    const endings::EndingStates states({"KRvK"}, endings::EndingGoal::MATE);
    const auto truth = truth_of(states);
    expect(states.play(truth, true) == truth, "the truth attacks perfectly");
    expect(states.play(truth, false) == truth, "the truth defends perfectly");
    const std::vector<std::uint8_t> nothing(states.size(), endings::NOT_WON);
    const auto played = states.play(nothing, true);
    std::size_t won = 0, possible = 0;
    for (std::size_t s = 0; s < states.size(); ++s) {
        possible += truth[s] != endings::NOT_WON;
        won += played[s] != endings::NOT_WON;
    }
    expect(won < possible / 2, "without knowledge few games are won");
}

void test_refusals() {
    const auto refused = [](const std::vector<std::string>& names, endings::EndingGoal goal) {
        return throws<std::invalid_argument>([&] { endings::EndingStates(names, goal); });
    };
    expect(refused({"KPvK"}, endings::EndingGoal::MATE), "an ending that leads to one not given");
    expect(refused({"KBvK"}, endings::EndingGoal::MATE), "a dead ending");
    expect(refused({"KRQvK"}, endings::EndingGoal::MATE), "pieces in another order");
    expect(refused({"KQvKR"}, endings::EndingGoal::MATE), "pieces on both sides");
    expect(refused({"KQRBNvK"}, endings::EndingGoal::MATE), "too many pieces");
    expect(refused({}, endings::EndingGoal::MATE), "no ending");
    expect(refused({"KQvK"}, endings::EndingGoal::PROMOTION), "a promotion without a pawn");
}

// Errors are target - Q, and Adam lowers the loss.
void test_network(const std::vector<int>& hidden, bool dueling, bool huber) {
    Random random(3);
    nets::PyramidNet net(hidden, 10, dueling);
    const std::vector<float> weights = random_floats(net.size(), random, 0.25f);
    net.write(nets::PyramidNet::Part::WEIGHTS, weights);
    expect(net.read(nets::PyramidNet::Part::WEIGHTS) == weights, "weights come back as they were");
    constexpr int COUNT = 101;  // more than a chunk, and no multiple of anything
    std::vector<std::int64_t> squares(3 * COUNT), actions(COUNT);
    for (auto& square : squares) square = std::int64_t(random.below(64));
    for (auto& action : actions) action = std::int64_t(random.below(10));
    const std::vector<float> targets = random_floats(COUNT, random, 3);
    const std::vector<float> q_values = net.q_values(squares);
    const nets::PyramidLoss loss{.huber = huber, .learning_rate = 1e-3f};
    const auto [before, errors] = net.learn(squares, actions, targets, {}, loss);
    double largest = 0;
    for (std::size_t i = 0; i < COUNT; ++i)
        largest = std::max(largest, std::fabs(double(targets[i]) - errors[i] -
                                              q_values[10 * i + std::size_t(actions[i])]));
    expect(largest < 1e-4, "errors are target - Q");
    double after = before;
    for (int step = 0; step < 200; ++step)
        after = net.learn(squares, actions, targets, {}, loss).loss;
    expect(after < 0.8 * before, "the loss falls");
    expect(net.steps == 201, "steps are counted");
}

}  // namespace

void test_endings() {
    test_counts();
    test_states(endings::EndingStates({"KPvK", "KQvK", "KRvK"}, endings::EndingGoal::MATE));
    test_states(endings::EndingStates({"KBBvK"}, endings::EndingGoal::MATE));
    test_play();
    test_refusals();
    test_network({128, 64, 32}, false, false);
    test_network({40, 24}, true, true);
    test_network({}, false, false);
}

}  // namespace rookery::tests
