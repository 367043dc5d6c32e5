// The core without Python, for the sanitizers: wide coverage, with known results where they are
// cheap. The exhaustive comparison with python-chess is in tests/.

#include "tests/core_test.h"
#include "encode/actions.h"
#include "encode/encode.h"
#include "env/vector_env.h"
#include "rules/game.h"
#include "rules/movegen.h"
#include "rules/perft.h"

namespace rookery::tests {

namespace {

void test_perft() {
    struct Case {
        const char* fen;
        int depth;
        std::uint64_t nodes;
        bool chess960 = false;
    };
    const Case cases[] = {
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 4, 197281},
        {"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97862},
        {"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 5, 674624},
        {"r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 4, 422333},
        {"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", 4, 326672, true},
        // 218 legal moves, the most that can arise in play.
        {"R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", 1, 218},
    };
    for (const Case& c : cases) {
        const Position position = parse_fen(c.fen, c.chess960);
        expect(perft(position, c.depth) == c.nodes, std::string("perft of ") + c.fen);
        expect(PerftTable(1).count(position, c.depth) == c.nodes,
               std::string("perft with a table of ") + c.fen);
        expect(to_fen(position) == to_fen(parse_fen(to_fen(position), c.chess960)),
               std::string("FEN round trip of ") + c.fen);
    }
}

void test_bad_fens() {
    const std::string cases[] = {"",
                                 " ",
                                 "x",
                                 "8/8/8/8/8/8/8/8 w - - 0 1",
                                 "kk6/8/8/8/8/8/8/K7 w - - 0 1",
                                 "k6P/8/8/8/8/8/8/K7 w - - 0 1",
                                 "k7/1R6/8/8/8/8/8/K6R w - - 0 1 7",
                                 "kR6/8/8/8/8/8/8/K7 w - - 0 1",
                                 "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
                                 "4k3/8/8/8/8/8/8/4K3 w - z9 0 1",
                                 "4k3/8/8/8/8/8/8/4K3 w - - -1 1",
                                 "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
                                 std::string("4k3/8/8/8/8/8/8/4K3 w - - 0 1\0", 31),
                                 std::string(10'000'000, '8'),
                                 "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"};
    for (const std::string& fen : cases)
        expect(throws<FenError>([&] { (void)parse_fen(fen); }), "refuse " + fen.substr(0, 60));
    // Random damage to a good FEN: an error or a position, never a crash.
    Random random(1);
    const std::string good = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    for (int i = 0; i < 20000; ++i) {
        std::string text = good;
        for (int changes = 1 + int(random.below(4)); changes > 0; --changes)
            text[random.below(std::uint32_t(text.size()))] = char(random.below(256));
        try {
            const Position position = parse_fen(text, random.below(2));
            (void)perft(position, 1);
        } catch (const FenError&) {
        }
    }
}

// Random games through every encoder and action space, with every move taken back.
void test_random_games() {
    std::vector<float> out(119 * 64);
    std::vector<std::uint8_t> bytes(119 * 64);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Random random(seed);
        Game game(seed % 2 ? start_position()
                           : random_position("KRPvKNP", StartSide::EITHER, random));
        const Key first = game.now().key;
        while (game.ending(Claims::ANNOUNCED) == Ending::NONE) {
            for (const encode::ObservationLayout& layout : encode::observation_layouts()) {
                layout.encode(encode::view_of(game), out.data());
                if (layout.encode_bytes) layout.encode_bytes(encode::view_of(game), bytes.data());
            }
            encode::LegalActions legal;
            encode::list_actions(encode::ActionSpace::AZ4672, game, legal);
            expect(legal.count == count_legal(game.now()), "an action for every move");
            const Position rebuilt = parse_fen(to_fen(game.now()));
            expect(rebuilt.key == game.now().key, "incremental key in " + to_fen(game.now()));
            const Move move = legal.moves[int(random.below(std::uint32_t(legal.count)))];
            expect(find_uci(game.now(), to_uci(game.now(), move)) == move, "UCI round trip");
            game.push(move);
        }
        while (game.ply() > 0) game.pop();
        expect(game.now().key == first, "all moves taken back");
    }
}

void test_long_game() {
    // Kings walk to and fro for 12,000 plies with all claims ignored.
    Game game(parse_fen("4k3/8/8/8/8/8/8/4K2R w - - 0 1"));
    const char* moves[] = {"e1e2", "e8e7", "e2e1", "e7e8"};
    for (int ply = 0; ply < 12000; ++ply) game.push(find_uci(game.now(), moves[ply % 4]));
    expect(game.now().repetitions == 255, "repetitions saturate");
    expect(game.now().halfmove_clock == 12000, "the clock keeps counting");
    expect(game.ending(Claims::OFF) == Ending::SEVENTYFIVE_MOVES, "the game is long over");
}

void test_rules() {
    // Mate on the very ply that completes the fifty moves wins.
    Game mate(parse_fen("7k/8/5K2/6Q1/8/8/8/8 w - - 99 80"));
    mate.push(find_uci(mate.now(), "g5g7"));
    expect(mate.ending(Claims::ANNOUNCED) == Ending::CHECKMATE, "mate before fifty moves");
    // A pinned en passant capture does not count for the identity of the position.
    const Position pinned = parse_fen("8/8/8/K1pP3r/8/8/8/7k w - c6 0 1");
    const Position plain = parse_fen("8/8/8/K1pP3r/8/8/8/7k w - - 0 1");
    expect(pinned.key == plain.key, "illegal en passant is dropped");
    expect(pinned.polyglot_key() != plain.polyglot_key(), "but Polyglot counts it");
    expect(throws<std::invalid_argument>([] {
               Random random;
               (void)random_position("KvK", StartSide::EITHER, random);
           }),
           "dead material has no open position");
}

void play_vector(env::VectorOptions options, int steps) {
    env::VectorGames games(options);
    Random random(5);
    std::vector<std::int64_t> actions(games.size());
    std::string saved;
    std::uint64_t check = 0, replayed = 0;
    const auto run = [&](std::uint64_t& sum, int count) {
        for (int step = 0; step < count; ++step) {
            for (std::size_t i = 0; i < games.size(); ++i) {
                const auto begin = games.legal_offsets[i], end = games.legal_offsets[i + 1];
                const auto pick = begin + std::int64_t(random.below(std::uint32_t(end - begin)));
                actions[i] = games.legal_actions[std::size_t(pick)];
            }
            games.step(actions);
            for (std::size_t i = 0; i < games.size(); ++i) {
                sum = sum * 31 + games.position(i).key + games.endings[i];
                if (games.terminations[i] || games.truncations[i]) {
                    std::vector<std::uint8_t> out(games.observations.size() / games.size());
                    games.final_observations({&i, 1}, out.data());
                }
            }
        }
    };
    run(check, steps);
    saved = games.save();
    const Random::State state = random.state();
    check = 0;
    run(check, steps);
    games.restore(saved);
    random.set_state(state);
    run(replayed, steps);
    expect(check == replayed, "a restored state replays exactly");
    saved.resize(saved.size() / 2);
    expect(throws<std::invalid_argument>([&] { games.restore(saved); }), "half a state");
    actions[0] = -1;
    if (!options.illegal_is_penalty)
        expect(throws<MoveError>([&] { games.step(actions); }), "illegal action");
    else
        games.step(actions);
}

void test_vector_games() {
    env::VectorOptions plain;
    plain.num_games = 17;
    plain.threads = 2;
    play_vector(plain, 300);

    env::VectorOptions history = plain;
    history.observation = "planes119";
    history.actions = encode::ActionSpace::AZ4673;
    history.claims = env::ClaimMode::ACTION;
    history.draw_after_plies = 60;
    history.max_random_plies = 20;
    play_vector(history, 100);

    env::VectorOptions pawn = plain;
    pawn.observation = "kpk3";
    pawn.actions = encode::ActionSpace::KPK;
    pawn.material = "KPvK";
    pawn.promotion_wins = true;
    pawn.max_plies = 50;
    pawn.illegal_is_penalty = true;
    play_vector(pawn, 200);

    env::VectorOptions bytes = plain;
    bytes.observation = "planes14";
    bytes.byte_observations = true;
    bytes.material = "KRvK";
    bytes.material_side = StartSide::EITHER;
    play_vector(bytes, 200);

    plain.actions = encode::ActionSpace::KPK;
    expect(throws<std::invalid_argument>([&] { env::VectorGames games(plain); }), "kpk needs KPvK");
}

}  // namespace

void test_rules_and_environments() {
    test_perft();
    test_bad_fens();
    test_random_games();
    test_long_game();
    test_rules();
    test_vector_games();
}

}  // namespace rookery::tests

int main() {
    using namespace rookery::tests;
    test_rules_and_environments();
    test_blind();
    test_boards();
    test_endings();
    test_engine();
    test_training();
    test_values();
    test_mcts();
    return report("core_test");
}
