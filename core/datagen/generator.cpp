#include "datagen/generator.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "base/memory.h"
#include "rules/movegen.h"

namespace rookery::datagen {

namespace {

constexpr int OPENING_TRIES = 50;  // a network may evaluate every opening as decided
constexpr int DISTINCT_AFTER = 4;  // plies after the opening at which games are compared

}  // namespace

// One game in progress.
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
            sample.set_result(nnue::SampleResult((sample.side() == WHITE ? result : -result) + 1));
    }
};

DataGenerator::DataGenerator(nnue::NetworkPtr network, DatagenSettings settings)
    : settings_(settings) {
    if (!network) throw std::invalid_argument("data generation needs a network");
    if (settings.min_random_plies < 0 || settings.max_random_plies < settings.min_random_plies)
        throw std::invalid_argument("random plies must be (low, high) with 0 <= low <= high");
    if (settings.soft_nodes < 1 || settings.threads < 1 || settings.max_plies < 1)
        throw std::invalid_argument("nodes, threads and plies of a game must be at least 1");
    engines_ = make_engines(network, settings.threads);
}

void DataGenerator::note(const GameLine& line, const alphabeta::Result& found, std::uint64_t number,
                         Record& record) const {
    const Position& position = line.position;
    const bool quiet = !position.is_capture(found.best) && found.best.kind() != Move::PROMOTION &&
                       !position.in_check();
    if (quiet && std::abs(found.score) < settings_.max_score)
        record.samples.push_back(
            nnue::pack(position, found.score, nnue::SampleResult::DRAWN, unsigned(number & 255)));
}

bool DataGenerator::play(alphabeta::Engine& engine, std::uint64_t number, Record& record) const {
    Random random(settings_.seed, number);
    Adjudication rules = settings_.adjudication;
    if (random.uniform() < settings_.play_on_share) rules.enabled = false;
    Adjudicator adjudicator(rules);

    // 1. An opening that the network does not consider decided.
    const int span = settings_.max_random_plies - settings_.min_random_plies + 1;
    GameLine line;
    alphabeta::Result found;
    for (int tries = 0; tries < OPENING_TRIES; ++tries) {
        const int plies = settings_.min_random_plies + int(random.below(std::uint32_t(span)));
        line = random_opening(plies, random);
        engine.new_game();
        found = search(engine, line, soft(settings_.soft_nodes));
        record.nodes += found.nodes;
        if (stopping_) return false;
        if (std::abs(found.score) <= settings_.max_opening_score) break;
    }

    // 2. The game; the first position has been searched already.
    for (const int opening_plies = line.ply;;) {
        note(line, found, number, record);
        if (const auto result = adjudicator.add(found.score, line.position.side, line.ply))
            return record.finish(*result ? ADJUDICATED_WIN : ADJUDICATED_DRAW, *result), true;
        line.make(found.best);
        ++record.plies;
        if (record.plies == DISTINCT_AFTER) record.opening = line.position.key;
        const Ending ending =
            find_ending(line.position, line.keys, count_legal(line.position), Claims::OCCURRED);
        if (ending == Ending::CHECKMATE)
            return record.finish(std::size_t(ending), line.position.side == BLACK ? 1 : -1), true;
        if (ending != Ending::NONE) return record.finish(std::size_t(ending), 0), true;
        if (line.ply - opening_plies >= settings_.max_plies)
            return record.finish(std::size_t(Ending::PLY_CAP), 0), true;
        found = search(engine, line, soft(settings_.soft_nodes));
        record.nodes += found.nodes;
        if (stopping_) return false;
    }
}

GeneratedGames DataGenerator::run(std::uint64_t first, std::uint64_t count,
                                  const alphabeta::Poll& poll) {
    stopping_ = false;
    auto records = allocate(std::to_string(count) + " games at once", double(count),
                            [&] { return std::vector<Record>(count); });
    GeneratedGames all;
    all.games = run_numbered(
        settings_.threads, first, count,
        [&](int thread, std::uint64_t number) {
            return play(*engines_[std::size_t(thread)], number, records[number - first]);
        },
        [&](int thread) {
            stopping_ = true;
            engines_[std::size_t(thread)]->stop();
        },
        poll);
    std::unordered_set<Key> openings;
    for (std::uint64_t i = 0; i < all.games; ++i) {
        const Record& record = records[i];
        all.samples.insert(all.samples.end(), record.samples.begin(), record.samples.end());
        all.endings.counts[record.ending] += 1;
        all.white_wins += record.white_result > 0;
        all.black_wins += record.white_result < 0;
        all.draws += record.white_result == 0 && record.ending != std::size_t(Ending::PLY_CAP);
        all.plies += std::uint64_t(record.plies);
        all.nodes += record.nodes;
        openings.insert(record.opening ? record.opening : Key(i));
        all.openings.push_back(record.opening);
    }
    all.distinct_openings = openings.size();
    return all;
}

}  // namespace rookery::datagen
