#include "datagen/leaf_games.h"

#include <limits>
#include <stdexcept>

#include "encode/actions.h"
#include "rules/movegen.h"

namespace rookery::datagen {

namespace {

constexpr std::size_t HASH = 1;  // MiB; enough for shallow searches
constexpr float NO_END = std::numeric_limits<float>::quiet_NaN();

nnue::PackedSample packed(const Position& position, int score = 0) {
    return nnue::pack(position, score, nnue::SampleResult::DRAWN, 0);
}

int ply_of(const Position& position) {
    return 2 * (int(position.fullmove_number) - 1) + (position.side == BLACK);
}

Ending ending_of(const GameLine& line) {
    return find_ending(line.position, line.keys, count_legal(line.position), Claims::OCCURRED);
}

Move random_move(const Position& position, Random& random) {
    const MoveList moves = legal_moves(position);
    return moves[int(random.below(std::uint32_t(moves.size())))];
}

LeafPly ply_of_search(const GameLine& line, const alphabeta::Result& found) {
    LeafPly ply;
    const Color side = line.position.side;
    ply.root = packed(line.position, found.score);
    ply.action = encode::action_of(encode::ActionSpace::AZ4672, line.position, found.best);
    const double value = alphabeta::value_of_score(found.score);
    ply.value = float(side == WHITE ? value : -value);
    GameLine leaf = line;
    for (const Move move : found.lines[0].moves) leaf.make(move);
    ply.leaf = packed(leaf.position);
    // In the tree one repetition is a draw.
    ply.decided = alphabeta::is_mate(found.score) || ending_of(leaf) != Ending::NONE ||
                  (leaf.position.repetitions > 0 && found.score == alphabeta::DRAW);
    ply.quiet = !line.position.in_check() && !line.position.is_capture(found.best) &&
                found.best.kind() != Move::PROMOTION;
    ply.end = NO_END;
    ply.unrelated = false;
    return ply;
}

}  // namespace

struct LeafGames::Segment {
    std::vector<LeafPly> plies;
    nnue::PackedSample next;
    std::vector<std::pair<std::size_t, int>> games;  // endings with the result for White
    std::uint64_t nodes = 0;
    bool continued = false;
};

LeafGames::LeafGames(const alphabeta::Evaluator& evaluator, LeafSettings settings)
    : settings_(settings) {
    if (settings.depth < 1 || settings.nodes < 1 || settings.plies < 1 || settings.threads < 1)
        throw std::invalid_argument("depth, nodes, plies and threads must be at least 1");
    if (settings.max_random_plies < 0 || settings.max_plies < 1)
        throw std::invalid_argument("random plies must be at least 0, plies of a game 1");
    for (int i = 0; i < settings.threads; ++i)
        engines_.push_back(std::make_unique<alphabeta::Engine>(evaluator, 1, HASH));
}

void LeafGames::set_evaluator(const alphabeta::Evaluator& evaluator) {
    for (const EnginePtr& engine : engines_) engine->set_evaluator(evaluator);
}

GameLine LeafGames::new_game(Random& random) const {
    return random_opening(int(random.below(std::uint32_t(settings_.max_random_plies + 1))), random);
}

GameLine LeafGames::begin(const nnue::PackedSample* start, Random& random, bool& continued) const {
    continued = false;
    if (!start || random.uniform() < settings_.new_games) return new_game(random);
    GameLine line{nnue::unpack(*start), {}, 0};
    line.ply = ply_of(line.position);
    if (ending_of(line) != Ending::NONE) return new_game(random);
    if (random.uniform() < settings_.random_start) {
        line.make(random_move(line.position, random));
        if (ending_of(line) != Ending::NONE) return new_game(random);
    } else {
        continued = true;
    }
    return line;
}

bool LeafGames::play(alphabeta::Engine& engine, std::uint64_t number,
                     const nnue::PackedSample* start, Segment& segment) const {
    Random random(settings_.seed, number);
    GameLine line = begin(start, random, segment.continued);
    Adjudication rules = settings_.adjudication;
    if (rules.enabled && random.uniform() < settings_.play_on_share) rules.enabled = false;
    Adjudicator adjudicator(rules);
    alphabeta::Limits limits;
    limits.depth = settings_.depth;
    limits.nodes = settings_.nodes;
    engine.new_game();
    for (int i = 0; i < settings_.plies; ++i) {
        // 1. Search and note the leaf.
        engine.prepare();
        const auto found = engine.search(line.position, line.keys.keys(), limits);
        if (stopping_) return false;
        segment.nodes += found.nodes;
        LeafPly& ply = segment.plies.emplace_back(ply_of_search(line, found));

        // 2. Play the best move, or sometimes another.
        const bool explore = random.uniform() < settings_.random_moves;
        const Move move = explore ? random_move(line.position, random) : found.best;
        ply.unrelated = move != found.best;
        const auto judged = adjudicator.add(found.score, line.position.side, line.ply);
        line.make(move);

        // 3. After the end of a game, begin another.
        const Ending ending = ending_of(line);
        if (ending != Ending::NONE) {
            const int winner = line.position.side == BLACK ? 1 : -1;
            const int result = ending == Ending::CHECKMATE ? winner : 0;
            ply.end = float(result);
            segment.games.emplace_back(std::size_t(ending), result);
        } else if (judged && !ply.unrelated) {
            ply.end = float(*judged);
            segment.games.emplace_back(*judged ? ADJUDICATED_WIN : ADJUDICATED_DRAW, *judged);
        } else if (line.ply >= settings_.max_plies) {
            ply.unrelated = true;
            segment.games.emplace_back(std::size_t(Ending::PLY_CAP), 0);
        } else {
            continue;
        }
        line = new_game(random);
        adjudicator = Adjudicator(rules);
    }
    segment.next = packed(line.position);
    return true;
}

LeafSegments LeafGames::run(std::uint64_t first, std::uint64_t count,
                            std::span<const nnue::PackedSample> starts,
                            const alphabeta::Poll& poll) {
    if (!starts.empty() && starts.size() != count)
        throw std::invalid_argument("there are " + std::to_string(starts.size()) + " starts for " +
                                    std::to_string(count) + " segments");
    stopping_ = false;
    std::vector<Segment> segments(count);
    const std::uint64_t complete = run_numbered(
        settings_.threads, first, count,
        [&](int thread, std::uint64_t number) {
            const std::size_t i = number - first;
            return play(*engines_[std::size_t(thread)], number,
                        starts.empty() ? nullptr : &starts[i], segments[i]);
        },
        [&](int thread) {
            stopping_ = true;
            engines_[std::size_t(thread)]->stop();
        },
        poll);
    if (complete != count) throw std::runtime_error("the segments were stopped");
    LeafSegments all;
    for (const Segment& segment : segments) {
        all.plies.insert(all.plies.end(), segment.plies.begin(), segment.plies.end());
        all.next.push_back(segment.next);
        all.continued.push_back(segment.continued);
        all.nodes += segment.nodes;
        for (const auto& [ending, result] : segment.games) {
            ++all.endings.counts[ending];
            all.white_wins += result > 0;
            all.black_wins += result < 0;
            all.draws += result == 0 && ending != std::size_t(Ending::PLY_CAP);
        }
    }
    return all;
}

}  // namespace rookery::datagen
