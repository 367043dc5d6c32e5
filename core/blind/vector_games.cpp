#include "blind/vector_games.h"

#include <algorithm>
#include <stdexcept>

#include "base/serial.h"
#include "rules/game.h"

namespace rookery::blind {

VectorGames::VectorGames(VectorOptions options)
    : options_(options), start_(start_board(), options.limits) {
    if (options.num_games < 1) throw std::invalid_argument("num_games must be 1 or more");
    const auto count = std::size_t(options.num_games);
    if (options.observe) observations.resize(count * PLANES * 64);
    legal_offsets.resize(count + 1);
    rewards.resize(count);
    terminations.resize(count);
    to_move.resize(count);
    endings.resize(count);
    results.resize(count);
    requests_.resize(count);
    chosen_.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        for (int action = 0; action < SENSE_ACTIONS; ++action) senses_.push_back(action);
    reset();
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
        chosen_[i] = int(action);
        if (phase_ == Phase::MOVE) {
            const Requests& requests = requests_[i];
            const int* end = requests.actions + requests.count;
            const int* found = std::find(requests.actions, end, action);
            legal = found != end;
            chosen_[i] = int(found - requests.actions);
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
            game.sense(sense_of(us, chosen_[i]));
            continue;
        }
        const int choice = chosen_[i];
        game.move(choice < requests_[i].moves.size() ? requests_[i].moves[choice] : Move());
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
    if (phase_ == Phase::SENSE) {
        legal_actions = senses_;
        for (std::size_t i = 0; i <= size(); ++i)
            legal_offsets[i] = SENSE_ACTIONS * std::int64_t(i);
        return;
    }
    legal_actions.clear();
    for (std::size_t i = 0; i < size(); ++i) {
        legal_offsets[i] = std::int64_t(legal_actions.size());
        list_move_actions(games_[i].knowledge(games_[i].side()), requests_[i]);
        legal_actions.insert(legal_actions.end(), requests_[i].actions,
                             requests_[i].actions + requests_[i].count);
    }
    legal_offsets[size()] = std::int64_t(legal_actions.size());
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
