// Boards of other sizes: rules, notation, encodings, the solver.

#include <algorithm>

#include "encode/actions.h"
#include "encode/encode.h"
#include "rules/boards.h"
#include "rules/movegen.h"
#include "rules/node_moves.h"
#include "solve/solver.h"
#include "tests/core_test.h"

namespace rookery::tests {

namespace {

// Counts of Fairy-Stockfish, which knows gardner and losalamos and was told of the other two.
void test_perft() {
    const auto count = [](const char* name, int depth) {
        return perft(start_position(find_board(name)), depth);
    };
    expect(count("gardner", 5) == 52512, "perft of gardner");
    expect(count("losalamos", 5) == 191846, "perft of losalamos");
    expect(count("4x4", 5) == 6856, "perft of 4x4");
    expect(count("4x5", 5) == 5794, "perft of 4x5");
}

// In random games: both move generators agree, no move leaves the board, and every position
// survives a FEN.
void test_random_games() {
    Random random(19);
    for (const char* text : {"4x4", "4x5", "gardner", "losalamos",
                             "rqkr/pppp/4/4/4/PPPP/RQKR w - - 0 1; double-step; promote=qr"}) {
        const Board board = find_board(text);
        for (int number = 0; number < 50; ++number) {
            Game game(start_position(board));
            while (game.ply() < 120 && game.ending(Claims::OFF) == Ending::NONE) {
                const Position& now = game.now();
                const MoveList moves = legal_moves(now);
                const NodeInfo info(now);
                MoveList staged;
                generate_noisy(now, info, staged);
                generate_quiet(now, info, staged);
                expect(staged.size() == moves.size(), "stages agree in " + to_fen(now));
                for (const Move move : moves) {
                    const Bitboard ends = bit(move.from()) | bit(move.to());
                    expect(!(ends & ~board.rules.squares()), "on the board in " + to_fen(now));
                    expect(is_legal(now, info, move), "is_legal in " + to_fen(now));
                }
                expect(parse_fen(to_fen(now)).key == now.key, "FEN of " + to_fen(now));
                game.push(moves[int(random.below(std::uint32_t(moves.size())))]);
            }
        }
    }
}

// Both sides see the board in the same corner.
void test_views() {
    const Position start = start_position(find_board("gardner"));
    Position passed = start;
    passed.side = BLACK;
    RepetitionKeys keys;
    encode::EncodeView white{{&start}, 1, &keys}, black{{&passed}, 1, &keys};
    const encode::ObservationLayout& layout = encode::find_observation("tactical70");
    std::vector<std::uint8_t> first(layout.size()), second(layout.size());
    layout.write(white, true, first.data());
    layout.write(black, true, second.data());
    expect(first == second, "the start of gardner looks the same to both sides");
    encode::LegalActions of_white, of_black;
    encode::list_actions(encode::ActionSpace::AZ4672, start, keys, of_white);
    encode::list_actions(encode::ActionSpace::AZ4672, passed, keys, of_black);
    std::vector<int> a(of_white.actions, of_white.actions + of_white.count);
    std::vector<int> b(of_black.actions, of_black.actions + of_black.count);
    std::ranges::sort(a);
    std::ranges::sort(b);
    expect(a == b, "and has the same actions");
}

void test_bad_boards() {
    for (const char* text : {"", "gardener", "2x5", "9x9", "5x5; fly", "4x4; double-step",
                             "5x5; promote=k", "rnbqk/ppppp/5/PPPPP/RNBQKR w - - 0 1"})
        expect(throws<std::exception>([&] { (void)start_position(find_board(text)); }), text);
    const Board gardner = find_board("gardner");
    expect(throws<FenError>([&] { (void)parse_fen(STARTING_FEN, false, gardner.rules); },
                            "board 'standard', not of 'gardner'"),
           "a FEN of another size");
}

void test_solver() {
    solve::Solver solver({});
    const Position start = start_position(find_board("4x4"));
    const solve::Solution solution = solver.solve(start);
    expect(solution.value == solve::Value::WIN && solution.mate_in == 4, "4x4 is a mate in 4");
    expect(solution.line.size() == 7, "its line ends with the mate");
    Position next = start;
    next.make(find_uci(start, "b2a3"));
    expect(solver.solve(next).value == solve::Value::WIN, "1. bxa3 loses");
    // A queen wins on 4x4, and a rook that can be taken draws; both by all that can follow.
    solve::Solver graph({.moves = 1});
    expect(graph.solve(parse_fen("k3/4/4/KQ2 w - - 0 1")).value == solve::Value::WIN, "KQvK");
    expect(graph.solve(parse_fen("k3/R3/4/3K b - - 0 1")).value == solve::Value::DRAW, "Kxa3");
}

}  // namespace

void test_boards() {
    test_perft();
    test_random_games();
    test_views();
    test_bad_boards();
    test_solver();
}

}  // namespace rookery::tests
