#include "datagen/network_match.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/memory.h"
#include "rules/movegen.h"

namespace rookery::datagen {

namespace {
constexpr int OPENING_TRIES = 50;
}

NetworkMatch::NetworkMatch(nnue::NetworkPtr network, nnue::NetworkPtr opponent,
                           std::optional<peers::Bot> bot, MatchSettings settings)
    : bot_(bot), settings_(settings) {
    if (!network || !opponent == !bot)
        throw std::invalid_argument("a match needs a network, and a network or a bot against it");
    if (settings.nodes < 1 || settings.threads < 1 || settings.random_plies < 0)
        throw std::invalid_argument("nodes and threads must be at least 1, random plies 0");
    std::vector<EnginePtr> ours = make_engines(network, settings.threads), theirs;
    if (opponent) theirs = make_engines(opponent, settings.threads);
    for (std::size_t i = 0; i < ours.size(); ++i)
        tables_.push_back({std::move(ours[i]), opponent ? std::move(theirs[i]) : nullptr});
}

void NetworkMatch::set_parameters(const alphabeta::Parameters& ours,
                                  const alphabeta::Parameters& theirs) {
    for (Table& table : tables_) {
        table.ours->set_parameters(ours);
        if (table.theirs) table.theirs->set_parameters(theirs);
    }
}

GameLine NetworkMatch::opening(Table& table, Random& random, std::vector<Move>& moves) const {
    for (int tries = 1;; ++tries) {
        GameLine line = random_opening(settings_.random_plies, random, &moves);
        if (!table.theirs || !settings_.max_opening_score || tries == OPENING_TRIES || stopping_)
            return line;
        table.theirs->new_game();
        const auto found = search(*table.theirs, line, exact(settings_.nodes));
        if (std::abs(found.score) <= settings_.max_opening_score) return line;
    }
}

bool NetworkMatch::play(Table& table, GameLine line, Color ours, Random& random,
                        MatchGame& game) const {
    Adjudicator adjudicator(settings_.adjudication);
    table.ours->new_game();
    if (table.theirs) table.theirs->new_game();
    for (;;) {
        const MoveList moves = legal_moves(line.position);
        const Ending ending = find_ending(line.position, line.keys, moves.size(), Claims::OCCURRED);
        if (ending == Ending::CHECKMATE) game.result = line.position.side == ours ? -1 : 1;
        if (ending != Ending::NONE || line.ply >= settings_.max_plies) return true;

        alphabeta::Engine* engine =
            line.position.side == ours ? table.ours.get() : table.theirs.get();
        Move move;
        if (engine) {
            const auto found = search(*engine, line, exact(settings_.nodes));
            if (stopping_) return false;
            move = found.best;
            if (const auto result = adjudicator.add(found.score, line.position.side, line.ply)) {
                game.result = ours == WHITE ? *result : -*result;
                return true;
            }
        } else {
            move = peers::choose_move(*bot_, line.position, line.keys, moves, random);
        }
        game.moves.push_back(move);
        line.make(move);
    }
}

bool NetworkMatch::play_pair(Table& table, std::uint64_t number, MatchPair& pair) const {
    Random random(settings_.seed, number);
    std::vector<Move> moves;
    const GameLine line = opening(table, random, moves);
    pair.as_white.moves = pair.as_black.moves = moves;
    return play(table, line, WHITE, random, pair.as_white) &&
           play(table, line, BLACK, random, pair.as_black);
}

std::vector<MatchPair> NetworkMatch::run(std::uint64_t first, std::uint64_t count,
                                         const alphabeta::Poll& poll) {
    stopping_ = false;
    auto pairs = allocate(std::to_string(count) + " pairs of games at once", double(count),
                          [&] { return std::vector<MatchPair>(count); });
    const std::uint64_t complete = run_numbered(
        settings_.threads, first, count,
        [&](int thread, std::uint64_t number) {
            return play_pair(tables_[std::size_t(thread)], number, pairs[number - first]);
        },
        [&](int thread) {
            stopping_ = true;
            Table& table = tables_[std::size_t(thread)];
            table.ours->stop();
            if (table.theirs) table.theirs->stop();
        },
        poll);
    pairs.resize(complete);
    return pairs;
}

}  // namespace rookery::datagen
