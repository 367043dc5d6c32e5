#include "blind/vector_games.h"

#include <algorithm>
#include <stdexcept>

#include "base/memory.h"
#include "base/serial.h"
#include "rules/game.h"

namespace rookery::blind {

VectorGames::VectorGames(VectorOptions options)
    : options_(options), start_(start_board(), options.limits) {
    if (options.num_games < 1) throw std::invalid_argument("num_games must be 1 or more");
    const auto count = std::size_t(options.num_games);
    const double observed = options.observe ? PLANES * 64 * sizeof(observations[0]) : 0;
    const double each = observed + double(sizeof(Game)) + SENSE_ACTIONS * sizeof(senses_[0]);
    allocate(std::to_string(count) + " games", each * double(count), [&] {
        if (options.observe) observations.resize(count * PLANES * 64);
        legal_offsets.resize(count + 1);
        rewards.resize(count);
        terminations.resize(count);
        to_move.resize(count);
        endings.resize(count);
        results.resize(count);
        chosen_.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            for (int action = 0; action < SENSE_ACTIONS; ++action) senses_.push_back(action);
        reset();
    });
}

void VectorGames::reset() {
    games_.assign(std::size_t(options_.num_games), start_);
    phase_ = Phase::SENSE;
    std::fill(rewards.begin(), rewards.end(), 0.0F);
    for (auto* flags : {&terminations, &endings}) std::fill(flags->begin(), flags->end(), 0);
    std::fill(results.begin(), results.end(), std::int8_t(0));
    list_legal();
    observe();
}

void VectorGames::find_chosen(std::span<const std::int64_t> actions) {
    for (std::size_t i = 0; i < size(); ++i) {
        const std::int64_t action = actions[i];
        bool legal = action >= 0 && action < SENSE_ACTIONS;
        chosen_[i] = action;
        if (phase_ == Phase::MOVE) {
            const auto begin = requests_.begin();
            const auto end = begin + legal_offsets[i + 1];
            const auto found = std::find(begin + legal_offsets[i], end, action);
            legal = found != end;
            chosen_[i] = found - begin;
        }
        if (!legal)
            throw MoveError("action " + std::to_string(action) + " of game " + std::to_string(i) +
                            " is not a legal " + PHASE_NAMES[int(phase_)] + " action");
    }
}

void VectorGames::step(std::span<const std::int64_t> actions) {
    if (actions.size() != size())
        throw std::invalid_argument(std::to_string(actions.size()) + " actions for " +
                                    std::to_string(size()) + " games");
    find_chosen(actions);
    for (std::size_t i = 0; i < size(); ++i) {
        Game& game = games_[i];
        rewards[i] = 0;
        terminations[i] = endings[i] = 0;
        results[i] = 0;
        const Color us = game.side();
        if (phase_ == Phase::SENSE) {
            game.sense(sense_of(us, int(chosen_[i])));
            continue;
        }
        game.move(requested_moves_[std::size_t(chosen_[i])]);
        if (game.phase() != Phase::OVER) continue;
        terminations[i] = 1;
        endings[i] = std::uint8_t(game.ending());
        if (game.winner()) {
            rewards[i] = 1;  // only the side that moves can capture a king
            results[i] = us == WHITE ? 1 : -1;
        }
        game = start_;
    }
    phase_ = phase_ == Phase::SENSE ? Phase::MOVE : Phase::SENSE;
    list_legal();
    observe();
}

void VectorGames::list_legal() {
    for (std::size_t i = 0; i < size(); ++i) to_move[i] = games_[i].side() == WHITE;
    std::size_t used = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        legal_offsets[i] = std::int64_t(used);
        used += phase_ == Phase::SENSE ? SENSE_ACTIONS : list_requests_of(games_[i], used);
    }
    legal_offsets[size()] = std::int64_t(used);
}

std::size_t VectorGames::list_requests_of(const Game& game, std::size_t first) {
    if (requests_.size() < first + MOST_REQUESTS) {
        requests_.resize(2 * (first + MOST_REQUESTS));
        requested_moves_.resize(requests_.size());
    }
    return list_move_actions(game.knowledge(game.side()), requested_moves_.data() + first,
                             requests_.data() + first);
}

void VectorGames::observe() {
    if (!options_.observe) return;
    for (std::size_t i = 0; i < size(); ++i)
        write_planes(games_[i].knowledge(games_[i].side()), observations.data() + i * PLANES * 64);
}

// A game is its senses and requests from the start, by turns.
std::string VectorGames::save() const {
    StateWriter writer;
    writer.put(phase_, std::uint64_t(size()));
    for (const Game& game : games_)
        for (const Color color : {WHITE, BLACK}) {
            const auto turns = game.knowledge(color).turns();
            writer.put(std::vector<Turn>(turns.begin(), turns.end()));
        }
    return writer.finish();
}

void VectorGames::restore(const std::string& state) {
    StateReader reader(state);
    const auto phase = reader.take<Phase>();
    if (reader.take<std::uint64_t>() != size())
        throw std::invalid_argument("the saved state has another number of games");
    std::vector<Game> games;
    for (std::size_t i = 0; i < size(); ++i) {
        std::vector<Turn> turns[2];
        reader.take(turns[WHITE], turns[BLACK]);
        Game game = start_;
        for (std::size_t ply = 0; game.phase() != Phase::OVER; ++ply) {
            const std::vector<Turn>& side = turns[ply % 2];
            if (ply / 2 >= side.size() || !side[ply / 2].sensed) break;
            game.sense(side[ply / 2].sense);
            if (!side[ply / 2].moved) break;
            game.move(side[ply / 2].requested);
        }
        if (game.phase() != phase)
            throw std::invalid_argument("the saved state is damaged or cut short");
        games.push_back(std::move(game));
    }
    reader.require_end();
    games_ = std::move(games);
    phase_ = phase;
    list_legal();
    observe();
}

}  // namespace rookery::blind
