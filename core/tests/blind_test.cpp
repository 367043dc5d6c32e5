// Blind chess: random games in which both sides keep the boards that may be true.

#include <algorithm>

#include "blind/belief.h"
#include "blind/game.h"
#include "blind/judge.h"
#include "blind/vector_games.h"
#include "tests/core_test.h"

namespace rookery::tests {

namespace {

using namespace blind;

bool holds(const Belief& belief, const Board& board) {
    return std::ranges::any_of(belief.boards(), [&](const Board& b) { return b.same(board); });
}

// With room for all boards the truth is among them; with little room nothing breaks.
void test_beliefs(std::size_t capacity) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Random random(seed);
        blind::Game game;
        Belief white(game.knowledge(WHITE), capacity, seed);
        Belief black(game.knowledge(BLACK), capacity, seed);
        for (int turn = 0; turn < 30 && game.phase() != Phase::OVER; ++turn) {
            const Color us = game.side();
            Belief& belief = us == WHITE ? white : black;
            belief.update(game.knowledge(us));
            expect(!belief.sample(20).empty(), "boards before the sense");
            game.sense(Square(random.below(65)));
            belief.update(game.knowledge(us));
            expect(belief.boards().size() <= std::max<std::size_t>(capacity, 256), "bounded");
            if (belief.complete()) expect(holds(belief, game.board()), "the true board is held");
            const MoveList requests = game.knowledge(us).requests();
            game.move(requests[int(random.below(std::uint32_t(requests.size())))]);
        }
        if (capacity < 10) expect(white.repairs() + black.repairs() > 0, "repairs happen");
    }
}

void test_judge() {
    blind::Game game;
    Belief belief(game.knowledge(WHITE), 10, 1);
    Judge judge(nnue::material_network(), {2000, 0.03, 0.2});
    const MoveList requests = game.knowledge(WHITE).requests();
    const std::vector<Move> moves(requests.begin(), requests.end());
    const std::vector<float> values = judge.values(belief.boards(), moves);
    expect(values.size() == moves.size(), "a value for each request");
    expect(std::ranges::all_of(values, [](float v) { return v >= 0 && v <= 1; }), "in range");
}

void test_vector() {
    VectorGames games({16, {}, true});
    Random random(3);
    for (int step = 0; step < 200; ++step) {
        std::vector<std::int64_t> actions;
        for (std::size_t i = 0; i < games.size(); ++i) {
            const auto first = games.legal_offsets[i], last = games.legal_offsets[i + 1];
            actions.push_back(games.legal_actions()[std::size_t(
                first + random.below(std::uint32_t(last - first)))]);
        }
        games.step(actions);
    }
    VectorGames again({16, {}, true});
    again.restore(games.save());
    expect(again.observations == games.observations, "restored games look the same");
}

}  // namespace

void test_blind() {
    test_beliefs(20'000);
    test_beliefs(3);
    test_judge();
    test_vector();
}

}  // namespace rookery::tests
