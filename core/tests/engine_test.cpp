// The alpha-beta engine: staged moves, NNUE kernels, and searches with known results, on one thread
// and on several.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "alphabeta/bench.h"
#include "alphabeta/engine.h"
#include "nnue/accumulator.h"
#include "nnue/kernels.h"
#include "rules/game.h"
#include "rules/movegen.h"
#include "rules/node_moves.h"
#include "rules/see.h"
#include "tests/core_test.h"

namespace rookery::tests {

namespace {

using namespace rookery::alphabeta;

// Nodes of bench(bench_network(), 6), without Polyglot's keys.
constexpr std::uint64_t SIGNATURE = 215683;

// One search of an engine that has no earlier stop() pending.
Result search(Engine& engine, const Position& position, const Limits& limits,
              std::span<const Key> earlier_keys = {}) {
    engine.prepare();
    return engine.search(position, earlier_keys, limits);
}

// Calls work(position, game number, ply) along random games, some of Chess960.
template <class Work> void along_random_games(int games, int plies, Work work) {
    const char* chess960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    Random random(7);
    for (int game = 0; game < games; ++game) {
        Position position = game % 4 == 3 ? parse_fen(chess960, true) : start_position();
        for (int ply = 0; ply < plies; ++ply) {
            const MoveList moves = legal_moves(position);
            if (moves.empty()) break;
            const Move move = moves[int(random.below(std::uint32_t(moves.size())))];
            work(position, move, game, ply);
            position.make(move);
        }
    }
}

void test_node_moves() {
    along_random_games(40, 120, [](const Position& p, Move, int game, int ply) {
        const MoveList legal = legal_moves(p);
        const NodeInfo info(p);
        MoveList staged;
        generate_noisy(p, info, staged);
        const int noisy = staged.size();
        generate_quiet(p, info, staged);
        std::set<int> expected, found;
        for (const Move move : legal) expected.insert(move.bits());
        for (const Move move : staged) found.insert(move.bits());
        expect(expected == found && staged.size() == legal.size(),
               "staged moves are the legal ones in " + to_fen(p));
        for (int i = 0; i < staged.size(); ++i)
            expect(is_noisy(p, staged[i]) == (i < noisy), "noisy and quiet in " + to_fen(p));
        if (ply % 16 == game % 16)
            for (int bits = 0; bits < 65536; ++bits)
                if (is_legal(p, info, Move::from_bits(std::uint16_t(bits))) !=
                    (expected.count(bits) > 0))
                    expect(false, "is_legal of " + std::to_string(bits) + " in " + to_fen(p));
        for (const Move move : legal) {
            Position next = p;
            next.make(move);
            expect(gives_check(p, info, move) == next.in_check(),
                   "gives_check of " + to_uci(p, move) + " in " + to_fen(p));
            const int exchange = static_exchange(p, move);
            for (const int threshold : {-900, -300, -100, -1, 0, 1, 100, 200, 300, 500, 900})
                expect(exchange_at_least(p, move, threshold) == (exchange >= threshold),
                       "exchange of " + to_uci(p, move) + " in " + to_fen(p));
        }
    });
}

// Every version of the inner loops gives the same integers as the portable one.
template <class Kernel> void compare_kernel() {
    using nnue::kernels::Portable;
    constexpr int LONGEST = 1024;
    const std::string name = Kernel::NAME;
    Random random(11);
    alignas(64) std::int16_t rows[5][LONGEST];
    alignas(64) std::int16_t weights[LONGEST], expected[LONGEST], found[LONGEST];
    for (int round = 0; round < 200; ++round) {
        const int length =
            nnue::ROW_MULTIPLE * (1 + int(random.below(LONGEST / nnue::ROW_MULTIPLE)));
        // Sums stay within int16, as the network's do; every other round is at the limits.
        for (int i = 0; i < length; ++i) {
            for (auto& row : rows)
                row[i] = std::int16_t(round % 2 ? int(random.below(12001)) - 6000
                                                : int(random.below(3)) * 6000 - 6000);
            weights[i] = std::int16_t(round % 2 ? int(random.below(255)) - 127
                                                : int(random.below(2)) * 254 - 127);
        }
        const std::int16_t* const added[] = {rows[1], rows[2]};
        const std::int16_t* const removed[] = {rows[3], rows[4]};
        Portable::combine<2, 2>(expected, rows[0], added, removed, length);
        Kernel::template combine<2, 2>(found, rows[0], added, removed, length);
        expect(std::equal(expected, expected + length, found), "rows combined by " + name);
        Portable::combine<1, 0>(expected, rows[0], added, nullptr, length);
        Kernel::template combine<1, 0>(found, rows[0], added, nullptr, length);
        expect(std::equal(expected, expected + length, found), "a row added by " + name);
        expect(Kernel::dot(rows[0], weights, length) == Portable::dot(rows[0], weights, length),
               "the activated product by " + name);
    }
}

void test_kernels() {
#if defined(__AVX2__)
    compare_kernel<nnue::kernels::Avx2>();
#endif
#if defined(__AVX512BW__)
    compare_kernel<nnue::kernels::Avx512>();
#endif
    compare_kernel<nnue::kernels::Best>();
    std::printf("network kernels: %s\n", nnue::kernels::Best::NAME);
}

void test_accumulators() {
    for (const int hidden : {16, 48, 128}) {
        const auto network = nnue::random_network(hidden, 8, 3);
        nnue::AccumulatorStack stack(network, 210);
        int game_before = -1;
        Random random(1);
        along_random_games(20, 200, [&](const Position& p, Move move, int game, int) {
            if (game != game_before) stack.reset();
            game_before = game;
            Position next = p;
            next.make(move);
            stack.push(nnue::changes_of(p, move), next);
            if (random.below(3) == 0)  // lazily: several moves at once
                expect(stack.evaluate(next) == network->evaluate(next),
                       "incremental equals refresh in " + to_fen(next));
        });
    }
}

// Mirroring the board, colours swapped, must not change the value for the side to move.
void test_symmetry() {
    const auto network = nnue::random_network(64, 8, 5);
    along_random_games(5, 100, [&](const Position& p, Move, int game, int) {
        if (game % 4 == 3) return;
        Position flipped = p;
        flipped.key = 0;
        std::fill(std::begin(flipped.by_type), std::end(flipped.by_type), 0);
        std::fill(std::begin(flipped.by_color), std::end(flipped.by_color), 0);
        std::fill(std::begin(flipped.board), std::end(flipped.board), NO_PIECE);
        for (Square square = 0; square < 64; ++square)
            if (p.board[square] != NO_PIECE)
                flipped.put(square ^ 56, Piece((p.board[square] + 6) % 12));
        flipped.side = ~p.side;
        expect(network->evaluate(flipped) == network->evaluate(p), "colours in " + to_fen(p));
    });
}

void test_mates() {
    struct Case {
        const char* fen;
        int moves;  // full moves to mate
    };
    const Case cases[] = {
        {"6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1},
        {"3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", 1},
        {"2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1", 2},
        {"r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w KQ - 0 1", 2},
        {"8/8/8/8/8/2k5/2q5/K7 w - - 0 1", 0},  // stalemate
    };
    Engine engine(nnue::material_network(), 1, 1);
    for (const Case& c : cases) {
        Limits limits;
        limits.nodes = 300'000;
        limits.depth = 14;
        engine.new_game();
        const Result outcome = search(engine, parse_fen(c.fen), limits);
        if (c.moves == 0)
            expect(!outcome.best && outcome.nodes == 0, std::string("no move in ") + c.fen);
        else
            expect(is_mate(outcome.score) && mate_moves(outcome.score) == c.moves,
                   std::string("mate in ") + c.fen);
    }
    expect(mate_moves(MATE - 1) == 1 && mate_moves(MATE - 3) == 2 && mate_moves(2 - MATE) == -1,
           "mates are counted in moves");
}

void test_limits() {
    Engine engine(nnue::material_network(), 1, 1);
    for (const std::uint64_t nodes : {1, 2, 3, 17, 1000, 4321}) {
        Limits limits;
        limits.nodes = nodes;
        engine.new_game();
        const Result outcome = search(engine, start_position(), limits);
        expect(outcome.nodes == nodes, "nodes are spent and never exceeded");
        expect(outcome.best && outcome.lines[0].moves[0] == outcome.best, "there is always a move");
    }
    Limits soft;
    soft.soft_nodes = 2000;
    soft.nodes = 20'000;
    const Result outcome = search(engine, start_position(), soft);
    expect(outcome.nodes >= 2000 && outcome.nodes <= 20'000, "the soft limit ends after a depth");
    const Position one_move = parse_fen("7k/8/8/8/8/8/1r6/K7 w - - 0 1");
    Limits one;
    one.clock_seconds = 100;
    expect(search(engine, one_move, one).best == legal_moves(one_move)[0], "the only move");
}

// Black is a queen up and moves it back and forth. After search_moves = Qb2-a2 White can return to
// h1: a draw if that position has occurred twice before.
void test_repetitions() {
    Engine engine(nnue::material_network(), 1, 1);
    for (const int rounds : {0, 1}) {
        Game game(parse_fen("7k/8/8/8/8/8/q7/7K b - - 0 1"));
        const auto play = [&game](const char* move) { game.push(find_uci(game.now(), move)); };
        for (int i = 0; i < rounds; ++i)
            for (const char* move : {"a2b2", "h1g1", "b2a2", "g1h1"}) play(move);
        play("a2b2");
        play("h1g1");
        const Move back = find_uci(game.now(), "b2a2");
        Limits limits;
        limits.depth = 8;
        limits.search_moves = {&back, 1};
        engine.new_game();
        const Result outcome = search(engine, game.now(), limits, game.keys().keys());
        if (rounds == 1)
            expect(outcome.score == DRAW, "the third occurrence is a draw");
        else
            expect(outcome.score > 300, "the second occurrence is not a draw");
    }
    // Fifty moves: mate on the last ply counts, anything else is a draw.
    Limits limits;
    limits.depth = 4;
    engine.new_game();
    const Position mate = parse_fen("7k/8/6K1/8/8/8/8/R7 w - - 99 80");
    expect(search(engine, mate, limits).score == MATE - 1, "mate on the hundredth ply");
    engine.new_game();
    const Position late = parse_fen("7k/8/8/4K3/8/8/8/R7 w - - 99 80");
    expect(search(engine, late, limits).score == DRAW, "a draw on the hundredth ply");
}

// Hash collisions (one-bit keys) may cost strength, never legality.
void test_collisions() {
    Engine engine(nnue::material_network(), 1, 1, 1);
    const Limits limits{.nodes = 3000};
    along_random_games(8, 60, [&](const Position& p, Move, int, int ply) {
        if (ply % 6) return;
        Position position = p;
        const Result found = search(engine, p, limits);
        for (const Move move : found.lines[0].moves) {
            const MoveList moves = legal_moves(position);
            const bool legal = std::find(moves.begin(), moves.end(), move) != moves.end();
            expect(legal, "every move of the line is legal in " + to_fen(p));
            if (!legal) break;
            position.make(move);
        }
    });
}

void test_determinism() {
    const auto network = bench_network();
    const BenchResult first = bench(network, 6), second = bench(network, 6);
    expect(first.nodes == second.nodes && first.nodes > 1000, "one thread repeats itself");
    // The same on every CPU and compiler. It changes with the search, as the signature in
    // tests/core/test_alphabeta.py does.
    expect(first.nodes == SIGNATURE, "the signature is " + std::to_string(first.nodes) + ", not " +
                                         std::to_string(SIGNATURE));
}

void test_threads() {
    Engine engine(nnue::random_network(32, 8, 1), 3, 1);
    std::atomic<int> reports{0};
    Limits limits;
    limits.move_seconds = 0.2;
    engine.prepare();
    const Result timed =
        engine.search(start_position(), {}, limits, [&](const Result&) { ++reports; });
    expect(timed.best && timed.depth > 1 && reports > 1, "three threads find a move");

    // stop() from another thread, also before the search has begun.
    engine.prepare();
    std::thread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        engine.stop();
    });
    const Result stopped = engine.search(start_position(), {}, Limits());
    stopper.join();
    expect(bool(stopped.best), "a stopped search returns a move");
    engine.prepare();
    engine.stop();
    expect(bool(engine.search(start_position(), {}, Limits()).best), "a search stopped before");

    // Pondering: limits count from ponderhit() on.
    Limits ponder;
    ponder.depth = 1;
    ponder.pondering = true;
    engine.prepare();
    std::atomic<bool> hit{false};
    std::thread opponent([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        hit = true;
        engine.ponderhit();
    });
    const Result pondered = engine.search(start_position(), {}, ponder);
    expect(hit && pondered.best, "no result before ponderhit");
    opponent.join();

    // One search at a time.
    engine.prepare();
    std::atomic<bool> begun{false}, refused{false};
    std::thread other([&] {
        while (!begun) std::this_thread::yield();
        refused = throws<std::logic_error>([&] { engine.set_hash(2); });
        engine.stop();
    });
    (void)engine.search(start_position(), {}, Limits(), [&](const Result&) { begun = true; });
    other.join();
    expect(refused, "settings are refused during a search");

    Limits lines;
    lines.lines = 4;
    lines.depth = 6;
    const Result several = search(engine, start_position(), lines);
    expect(several.lines.size() == 4, "the requested number of lines");
    std::set<int> firsts;
    for (const Line& line : several.lines) firsts.insert(line.moves[0].bits());
    expect(firsts.size() == 4, "lines begin with different moves");
}

void test_bad_networks() {
    const auto refused = [](int hidden, int buckets, float weight, std::size_t missing) {
        const auto h = std::size_t(std::max(hidden, 0)), b = std::size_t(std::max(buckets, 0));
        std::vector<float> features(768 * h, weight), bias(h), output(2 * h * b - missing), last(b);
        return throws<nnue::NetworkError>(
            [&] { nnue::Network(hidden, buckets, features, bias, output, last); });
    };
    expect(!refused(32, 8, 0.1F, 0), "a valid network is accepted");
    expect(refused(0, 8, 0, 0) && refused(24, 8, 0, 0) && refused(2048, 8, 0, 0), "hidden sizes");
    expect(refused(32, 0, 0, 0) && refused(32, 33, 0, 0), "buckets");
    expect(refused(32, 8, 0, 1), "a missing weight");
    expect(refused(32, 8, std::nanf(""), 0) && refused(32, 8, INFINITY, 0), "NaN and infinity");
    expect(!refused(512, 8, 100.0F, 0), "large weights are clipped");
    // All weights at their limits: sums may not overflow.
    std::vector<float> features(768 * 1024, 100.0F), bias(1024, 100.0F), output(2048, 100.0F),
        last(1, 0.0F);
    const nnue::Network network(1024, 1, features, bias, output, last);
    expect(network.clipped() == 768 * 1024 + 1024 + 2048, "what was clipped is counted");
    const int value = network.evaluate(start_position());
    expect(value == 2048LL * 255 * 255 * 127 / 255 * 400 / (255 * 64),
           "the largest value is exact");
}

}  // namespace

void test_engine() {
    test_node_moves();
    test_kernels();
    test_accumulators();
    test_symmetry();
    test_mates();
    test_limits();
    test_repetitions();
    test_collisions();
    test_determinism();
    test_threads();
    test_bad_networks();
}

}  // namespace rookery::tests
