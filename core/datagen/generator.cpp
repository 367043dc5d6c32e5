#include "datagen/generator.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <unordered_set>

#include "rules/movegen.h"

namespace rookery::datagen {

namespace {

constexpr int OPENING_TRIES = 50;  // a network may think that every opening is lopsided
constexpr int DISTINCT_AFTER = 4;  // plies after the opening at which games are compared

nnue::SampleResult result_for(Color side, int white_result) {
    return nnue::SampleResult((side == WHITE ? white_result : -white_result) + 1);
}

}  // namespace

std::map<std::string, std::uint64_t> GeneratedGames::ending_counts() const {
    std::map<std::string, std::uint64_t> counts;
    for (std::size_t i = 0; i < ENDING_COUNT; ++i) {
        const char* name = i == ADJUDICATED_WIN    ? "adjudicated_win"
                           : i == ADJUDICATED_DRAW ? "adjudicated_draw"
                                                   : ENDING_NAMES[i];
        if (endings[i]) counts[name] = endings[i];
    }
    return counts;
}

// One game as it is played.
struct DataGenerator::Record {
    std::vector<nnue::PackedSample> samples;
    std::size_t ending = 0;
    int white_result = 0;  // 1 White won, -1 Black won
    int plies = 0;
    std::uint64_t nodes = 0;
    Key opening = 0;

    void finish(std::size_t how, int result) {
        ending = how;
        white_result = result;
        if (how == std::size_t(Ending::PLY_CAP)) samples.clear();
        for (nnue::PackedSample& sample : samples)
            sample.set_result(result_for(sample.side(), white_result));
    }
};

DataGenerator::DataGenerator(nnue::NetworkPtr network, DatagenSettings settings)
    : settings_(settings) {
    if (!network) throw std::invalid_argument("data generation needs a network");
    if (settings.min_random_plies < 0 || settings.max_random_plies < settings.min_random_plies)
        throw std::invalid_argument("random plies must be a range from 0 up");
    if (settings.soft_nodes < 1 || settings.threads < 1 || settings.max_plies < 1)
        throw std::invalid_argument("nodes, threads and plies of a game must be at least 1");
    for (int i = 0; i < settings.threads; ++i)
        searchers_.push_back(std::make_unique<GameSearcher>(network, settings.table_bytes));
}

void DataGenerator::note(const GameLine& line, const alphabeta::SearchOutcome& outcome,
                         std::uint64_t number, Record& record) const {
    const Position& position = line.position;
    const bool quiet = !position.is_capture(outcome.best) &&
                       outcome.best.kind() != Move::PROMOTION && !position.in_check();
    if (quiet && std::abs(outcome.score) < settings_.max_score)
        record.samples.push_back(
            nnue::pack(position, outcome.score, nnue::SampleResult::DRAWN, unsigned(number & 255)));
}

bool DataGenerator::play(GameSearcher& searcher, std::uint64_t number, Record& record) const {
    Random random(settings_.seed, number);
    Adjudication rules = settings_.adjudication;
    if (random.uniform() < settings_.play_on_share) rules.enabled = false;
    Adjudicator adjudicator(rules);

    // 1. An opening that the network does not consider decided.
    const int span = settings_.max_random_plies - settings_.min_random_plies + 1;
    GameLine line;
    alphabeta::SearchOutcome outcome;
    for (int tries = 0; tries < OPENING_TRIES; ++tries) {
        const int plies = settings_.min_random_plies + int(random.below(std::uint32_t(span)));
        line = random_opening(plies, random);
        searcher.new_game();
        outcome = searcher.search(line, settings_.soft_nodes);
        record.nodes += outcome.nodes;
        if (stopping_) return false;
        if (std::abs(outcome.score) <= settings_.max_opening_score) break;
    }

    // 2. The game; the first position has been searched already.
    for (const int opening_plies = line.ply;;) {
        note(line, outcome, number, record);
        const int white_score = line.position.side == WHITE ? outcome.score : -outcome.score;
        switch (adjudicator.add(white_score, line.ply)) {
            case Adjudicator::Verdict::WHITE_WINS: return record.finish(ADJUDICATED_WIN, 1), true;
            case Adjudicator::Verdict::BLACK_WINS: return record.finish(ADJUDICATED_WIN, -1), true;
            case Adjudicator::Verdict::DRAW: return record.finish(ADJUDICATED_DRAW, 0), true;
            case Adjudicator::Verdict::NONE: break;
        }
        line.make(outcome.best);
        ++record.plies;
        if (record.plies == DISTINCT_AFTER) record.opening = line.position.key;
        const Ending ending =
            find_ending(line.position, line.keys, count_legal(line.position), Claims::OCCURRED);
        if (ending == Ending::CHECKMATE)
            return record.finish(std::size_t(ending), line.position.side == BLACK ? 1 : -1), true;
        if (ending != Ending::NONE) return record.finish(std::size_t(ending), 0), true;
        if (line.ply - opening_plies >= settings_.max_plies)
            return record.finish(std::size_t(Ending::PLY_CAP), 0), true;
        outcome = searcher.search(line, settings_.soft_nodes);
        record.nodes += outcome.nodes;
        if (stopping_) return false;
    }
}

GeneratedGames DataGenerator::run(std::uint64_t first, std::uint64_t count,
                                  const alphabeta::Poll& poll) {
    stopping_ = false;
    std::vector<Record> records(count);
    GeneratedGames found;
    found.games = run_numbered(
        settings_.threads, first, count,
        [&](int thread, std::uint64_t number) {
            return play(*searchers_[std::size_t(thread)], number, records[number - first]);
        },
        [&](int thread) {
            stopping_ = true;
            searchers_[std::size_t(thread)]->stop();
        },
        poll);
    std::unordered_set<Key> openings;
    for (std::uint64_t i = 0; i < found.games; ++i) {
        const Record& record = records[i];
        found.samples.insert(found.samples.end(), record.samples.begin(), record.samples.end());
        found.endings[record.ending] += 1;
        found.white_wins += record.white_result > 0;
        found.black_wins += record.white_result < 0;
        found.draws += record.white_result == 0 && record.ending != std::size_t(Ending::PLY_CAP);
        found.plies += std::uint64_t(record.plies);
        found.nodes += record.nodes;
        openings.insert(record.opening ? record.opening : Key(i));
    }
    found.distinct_openings = openings.size();
    return found;
}

}  // namespace rookery::datagen
