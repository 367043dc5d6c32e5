// Opponents without a network: bots, and the port of Sunfish's search.

#include "peers/bots.h"
#include "bind/bind.h"
#include "peers/sunfish.h"

namespace rookery::bind {

namespace {

using PlayedGame = std::tuple<std::string, std::optional<bool>, std::vector<std::string>>;

PlayedGame describe(const Game& start, const peers::BotGame& played) {
    std::optional<bool> winner;
    if (played.result != 0) winner = played.result > 0;
    return {ENDING_NAMES[std::size_t(played.ending)], winner, to_uci(start.now(), played.moves)};
}

std::vector<PlayedGame> play_bot_games(const Games& starts, const std::vector<std::string>& white,
                                       const std::vector<std::string>& black,
                                       const std::vector<std::uint64_t>& seeds, int max_plies) {
    if (white.size() != starts.size() || black.size() != starts.size() ||
        seeds.size() != starts.size())
        throw std::invalid_argument("starts, white, black and seeds must be equally long");
    require_games(starts);
    std::vector<PlayedGame> games(starts.size());
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < starts.size(); ++i)
        games[i] = describe(*starts[i],
                            peers::play_bots(peers::find_bot(white[i]), peers::find_bot(black[i]),
                                             *starts[i], max_plies, Random(seeds[i])));
    return games;
}

std::vector<std::string> sunfish_moves(const std::vector<std::string>& fens, std::uint64_t nodes) {
    const nb::gil_scoped_release release;
    peers::sunfish::Searcher searcher;
    std::vector<std::string> moves;
    for (const std::string& fen : fens) moves.push_back(searcher.choose(fen, nodes));
    return moves;
}

}  // namespace

void bind_bots(nb::module_& m) {
    m.def("bot_names", [] {
        return std::vector<std::string>(std::begin(peers::BOT_NAMES), std::end(peers::BOT_NAMES));
    });
    m.def(
        "bot_move",
        [](const Game& game, std::string_view bot, std::uint64_t seed) {
            return to_uci(game.now(), peers::choose_move(peers::find_bot(bot), game, seed));
        },
        "game"_a, "bot"_a, "seed"_a,
        "UCI move of random, greedy or greedy-safe; the seed breaks ties.");
    m.def(
        "settled_material", [](const Game& game) { return peers::settled_material(game.now()); },
        "game"_a,
        "Material balance in centipawns for the side to move after a quiescence search of "
        "captures, "
        "promotions and check evasions; a million if that mates.");
    m.def(
        "play_random_plies",
        [](Game& game, int plies, std::uint64_t seed) {
            Random random(seed);
            return play_random(game, plies, random);
        },
        "game"_a, "plies"_a, "seed"_a,
        "Plays uniformly random legal moves until the game ends; returns the plies played.");
    m.def("play_bot_games", &play_bot_games, "starts"_a, "white"_a, "black"_a, "seeds"_a,
          "max_plies"_a = 0,
          "Continues copies of the given games to their end, claiming threefold and fifty-move "
          "draws as they occur: a list of (ending, winner, UCI moves), winner True for White, None "
          "for a draw or a game cut off (ending 'ply_cap').");
    m.def(
        "sunfish_moves", &sunfish_moves, "fens"_a, "nodes"_a,
        "UCI move of Sunfish 2026 in each position after this many nodes; empty where there is no "
        "legal move. Positions are searched independently.");
}

}  // namespace rookery::bind
