// Many games stepped together. All are in the same phase: every game senses, then every game moves,
// and a game that ends with a move restarts within that step.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "blind/game.h"
#include "blind/observe.h"

namespace rookery::blind {

struct VectorOptions {
    int num_games = 1;
    Limits limits;
    bool observe = true;  // write observations
};

class VectorGames {
  public:
    explicit VectorGames(VectorOptions options);

    void reset();
    // One action per game: senses [0, SENSE_ACTIONS) or moves [0, MOVE_ACTIONS), by phase(). Throws
    // MoveError for an action that is not legal, with nothing changed.
    void step(std::span<const std::int64_t> actions);

    [[nodiscard]] std::size_t size() const { return games_.size(); }
    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] const Game& game(std::size_t index) const { return games_[index]; }
    [[nodiscard]] bool observes() const { return options_.observe; }

    // --- Results of the last reset or step, overwritten by the next ---
    std::vector<float> observations;  // [N, PLANES, 8, 8] of the side to act
    // Concatenated.
    [[nodiscard]] std::span<const std::int32_t> legal_actions() const {
        const auto& listed = phase_ == Phase::SENSE ? senses_ : requests_;
        return {listed.data(), std::size_t(legal_offsets.back())};
    }
    std::vector<std::int64_t> legal_offsets;  // [N + 1]
    std::vector<float> rewards;  // [N] for the side that acted
    std::vector<std::uint8_t> terminations;  // [N]
    std::vector<std::uint8_t> to_move;  // [N] 1 if White is to act
    std::vector<std::uint8_t> endings;  // [N] Ending
    std::vector<std::int8_t> results;  // [N] 1 White won, -1 Black won, else 0

    // --- Exact resume: the games, not the options ---
    [[nodiscard]] std::string save() const;
    void restore(const std::string& state);

  private:
    void find_chosen(std::span<const std::int64_t> actions);
    void list_legal();
    // Appends to requests_ at `first`; returns their number.
    std::size_t list_requests_of(const Game& game, std::size_t first);
    void observe();

    VectorOptions options_;
    Game start_;  // copied for every new game
    std::vector<Game> games_;
    std::vector<std::int32_t> senses_;  // legal actions of all games in the sense phase
    std::vector<std::int32_t> requests_;  // in the move phase, with room at the end
    std::vector<Move> requested_moves_;  // of requests_
    std::vector<std::int64_t> chosen_;  // [N] the sense, or the index of the request's action
    Phase phase_ = Phase::SENSE;
};

}  // namespace rookery::blind
