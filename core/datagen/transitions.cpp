#include "datagen/transitions.h"

#include <algorithm>
#include <stdexcept>

#include "rules/movegen.h"

namespace rookery::datagen {

namespace {

constexpr int LARGEST_SCORE = 30'000;  // of a mate, in 16 bits

// The end of the principal variation, with DECIDED if the rules give its value.
nnue::PackedSample leaf_of(GameLine line, const alphabeta::Result& found) {
    const Color mover = line.position.side;
    for (const Move move : found.lines.front().moves) line.make(move);
    const Position& leaf = line.position;
    // A search counts the first repetition inside its tree as a draw.
    const bool over = leaf.repetitions > 0 || find_ending(leaf, line.keys, count_legal(leaf),
                                                          Claims::OCCURRED) != Ending::NONE;
    const bool decided =
        alphabeta::is_mate(found.score) || (found.score == alphabeta::DRAW && over);
    const int score = std::clamp(found.score, -LARGEST_SCORE, LARGEST_SCORE);
    return nnue::pack(leaf, leaf.side == mover ? score : -score, nnue::SampleResult::DRAWN,
                      decided ? DECIDED : 0);
}

Transition transition_of(const GameLine& line, const alphabeta::Result& found,
                         std::uint64_t number) {
    const Position& position = line.position;
    const int score = std::clamp(found.score, -LARGEST_SCORE, LARGEST_SCORE);
    Transition transition{
        nnue::pack(position, score, nnue::SampleResult::DRAWN, unsigned(number & 255)),
        leaf_of(line, found)};
    if (!position.in_check() && !position.is_capture(found.best) &&
        found.best.kind() != Move::PROMOTION)
        transition.leaf.game |= QUIET;
    return transition;
}

}  // namespace

struct TransitionGenerator::Record {
    std::vector<Transition> transitions;
    int white_result = 0;  // 1 White won, -1 Black won
    bool cut_off = false;
    std::uint64_t nodes = 0;
};

TransitionGenerator::TransitionGenerator(nnue::NetworkPtr network, ExploreSettings settings)
    : settings_(settings) {
    if (!network) throw std::invalid_argument("self-play needs a network");
    if (settings.min_random_plies < 0 || settings.max_random_plies < settings.min_random_plies)
        throw std::invalid_argument("random plies must be (low, high) with 0 <= low <= high");
    if (settings.depth < 1 || settings.nodes < 1 || settings.threads < 1 || settings.max_plies < 1)
        throw std::invalid_argument("depth, nodes, threads and plies must be at least 1");
    engines_ = make_engines(network, settings.threads);
}

alphabeta::Result TransitionGenerator::search(alphabeta::Engine& engine,
                                              const GameLine& line) const {
    alphabeta::Limits limits;
    limits.depth = settings_.depth;
    limits.nodes = settings_.nodes;
    return datagen::search(engine, line, limits);
}

bool TransitionGenerator::play(alphabeta::Engine& engine, std::uint64_t number,
                               Record& record) const {
    Random random(settings_.seed, number);
    const int span = settings_.max_random_plies - settings_.min_random_plies + 1;
    const int opening = settings_.min_random_plies + int(random.below(std::uint32_t(span)));
    GameLine line = random_opening(opening, random);
    engine.new_game();
    while (!stopping_) {
        const alphabeta::Result found = search(engine, line);
        if (stopping_) return false;
        record.nodes += found.nodes;
        record.transitions.push_back(transition_of(line, found, number));
        Transition& transition = record.transitions.back();
        const MoveList moves = legal_moves(line.position);
        const Move move = random.uniform() < settings_.random_moves
                              ? moves[int(random.below(std::uint32_t(moves.size())))]
                              : found.best;
        if (move != found.best) transition.leaf.game |= LAST;

        const Color mover = line.position.side;
        line.make(move);
        const Ending ending =
            find_ending(line.position, line.keys, count_legal(line.position), Claims::OCCURRED);
        if (ending == Ending::NONE && line.ply - opening < settings_.max_plies) continue;
        transition.leaf.game |= LAST;
        record.cut_off = ending == Ending::NONE;
        if (ending != Ending::NONE && move == found.best) transition.leaf.game |= ENDED;
        if (ending == Ending::CHECKMATE) {
            transition.position.set_result(nnue::SampleResult::WON);
            record.white_result = mover == WHITE ? 1 : -1;
        }
        return true;
    }
    return false;
}

std::uint64_t TransitionGenerator::run_on_engines(
    std::uint64_t first, std::uint64_t count,
    const std::function<void(alphabeta::Engine&, std::uint64_t)>& work,
    const alphabeta::Poll& poll) {
    stopping_ = false;
    return run_numbered(
        settings_.threads, first, count,
        [&](int thread, std::uint64_t number) {
            work(*engines_[std::size_t(thread)], number);
            return !stopping_;
        },
        [&](int thread) {
            stopping_ = true;
            engines_[std::size_t(thread)]->stop();
        },
        poll);
}

ExploredGames TransitionGenerator::run(std::uint64_t first, std::uint64_t count,
                                       const alphabeta::Poll& poll) {
    std::vector<Record> records(count);
    ExploredGames all;
    all.games = run_on_engines(
        first, count,
        [&](alphabeta::Engine& engine, std::uint64_t number) {
            play(engine, number, records[number - first]);
        },
        poll);
    for (std::uint64_t i = 0; i < all.games; ++i) {
        const Record& record = records[i];
        all.transitions.insert(all.transitions.end(), record.transitions.begin(),
                               record.transitions.end());
        all.white_wins += record.white_result > 0;
        all.black_wins += record.white_result < 0;
        all.cut_off += record.cut_off;
        all.draws += record.white_result == 0 && !record.cut_off;
        all.nodes += record.nodes;
    }
    return all;
}

std::vector<Transition> TransitionGenerator::search(std::span<const nnue::PackedSample> positions,
                                                    const alphabeta::Poll& poll) {
    std::vector<Transition> transitions(positions.size());
    const std::uint64_t done = run_on_engines(
        0, positions.size(),
        [&](alphabeta::Engine& engine, std::uint64_t number) {
            const GameLine line{nnue::unpack(positions[number]), {}, 0};
            if (!has_legal_move(line.position))
                throw std::invalid_argument("position " + std::to_string(number) +
                                            " is over: " + to_fen(line.position));
            engine.new_game();
            transitions[number] = transition_of(line, search(engine, line), number);
            transitions[number].leaf.game |= LAST;
        },
        poll);
    transitions.resize(done);
    return transitions;
}

}  // namespace rookery::datagen
