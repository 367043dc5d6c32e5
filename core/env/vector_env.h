// Vectorised environment: N games stepped together.
//
// Each action is for the side to move of its game. A finished game restarts within the step, whose
// observation is then the new game's first; final_observations() gives the old game's last.
//
//   actions [N] --step--> per game: make the move, check for the end, restart if over,
//                         list legal actions, write the observation
//
// Each game has its own random stream, so results do not depend on the number of threads. Not
// thread-safe.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encode/actions.h"
#include "encode/encode.h"
#include "peers/bots.h"
#include "rules/game.h"

namespace rookery::env {

enum class ClaimMode : std::uint8_t { AUTOMATIC, ACTION, OFF };
[[nodiscard]] ClaimMode find_claim_mode(std::string_view name);  // automatic, action, off

struct VectorOptions {
    int num_games = 1;
    std::string observation = "planes19";
    bool byte_observations = false;
    encode::ActionSpace actions = encode::ActionSpace::AZ4672;
    std::uint64_t seed = 0;
    ClaimMode claims = ClaimMode::AUTOMATIC;
    float win = 1, loss = -1, draw = 0, move = 0, illegal = -1;
    bool illegal_is_penalty = false;  // otherwise an error
    int max_plies = 0;         // truncation after this many steps of a game; 0: never
    int draw_after_plies = 0;  // a draw after this many plies of a game; 0: never
    bool promotion_wins = false;  // KPK: a promoted piece wins unless it can be captured at once
    Position start = start_position();  // of the board
    std::vector<Position> starts;       // on the same board; empty: its start position
    std::string material;          // instead of starts: random positions such as KRvK
    StartSide material_side = StartSide::WHITE_MOVES;
    int min_random_plies = 0, max_random_plies = 0;  // played before a game begins
    int threads = 1;
};

class VectorGames {
  public:
    // Throws std::invalid_argument for contradictory options. Resets all games.
    explicit VectorGames(VectorOptions options);

    // Restarts all games, at the start positions of the options or at these: one for all games or
    // one for each. Throws FenError, with nothing changed, if a game is over there.
    void reset(std::span<const Position> starts = {});
    void seed(std::uint64_t seed);  // the games' random streams
    // One action per game; NO_ACTION leaves a game as it is. Throws MoveError for an illegal
    // action, with nothing changed, and std::invalid_argument for another number of actions.
    void step(std::span<const std::int64_t> actions);

    [[nodiscard]] const VectorOptions& options() const { return options_; }
    [[nodiscard]] const encode::ObservationLayout& layout() const { return *layout_; }
    [[nodiscard]] std::size_t size() const { return slots_.size(); }

    // --- Results of the last reset or step, overwritten by the next ---
    std::vector<std::uint8_t> observations;  // [N, layout size], memory of floats or bytes
    std::vector<std::int32_t> legal_actions;  // concatenated; the first legal_total() are used
    std::vector<std::int64_t> legal_offsets;  // [N + 1] game i has [offsets[i], offsets[i + 1])
    std::vector<float> rewards;           // [N] for the side that moved
    std::vector<float> opponent_rewards;  // [N] for the other side
    std::vector<std::uint8_t> terminations, truncations;  // [N] 0 or 1
    std::vector<std::uint8_t> to_move;                    // [N] 1 if White is to move
    std::vector<std::uint8_t> endings;                    // [N] Ending
    std::vector<std::int8_t> results;    // [N] 1 White won, -1 Black won, else 0
    std::vector<Key> polyglot_keys;           // [N]
    std::vector<std::int32_t> material;  // [N] White's minus Black's in centipawns (see.h)
    std::vector<std::uint8_t> piece_counts;   // [N]
    std::vector<std::int32_t> plies;     // [N] of the current game
    std::vector<std::int32_t> lengths;   // [N] plies of the game that ended with this step
    [[nodiscard]] std::size_t legal_total() const { return legal_total_; }
    // Writes the last observations [indices, layout size] of games that ended with this step, in
    // the type of `observations`; throws std::invalid_argument for other games.
    void final_observations(std::span<const std::size_t> indices, std::uint8_t* out) const;

    // A bot's action [N] in each game with mask [N] set, from the game's own random stream;
    // NO_ACTION elsewhere. Throws std::invalid_argument for another size of mask.
    [[nodiscard]] std::vector<std::int64_t> bot_actions(peers::Bot bot, std::span<const bool> mask);

    [[nodiscard]] const Position& position(std::size_t index) const;
    [[nodiscard]] const Position& final_position(std::size_t index) const;

    // --- Exact resume: games and random streams, not the options ---
    [[nodiscard]] std::string save() const;
    void restore(const std::string& state);

  private:
    // The position with the history that encoders and rules need.
    struct Line {
        Position now;
        RepetitionKeys keys;
        std::vector<Position> past;  // newest first, at most layout->history - 1
        [[nodiscard]] encode::EncodeView view() const;
    };
    struct Slot {
        Line line, final_line;
        encode::LegalActions legal;
        Random random;
        int ply = 0, steps = 0;
        int chosen = 0;  // index into legal of the action being stepped, or one of these:
        static constexpr int ILLEGAL = -1, NONE = -2;
    };

    void check_options() const;
    void find_chosen(std::span<const std::int64_t> actions);
    void start(Slot& slot);
    void start_at(Slot& slot, const Position& position) const;
    void advance(Line& line, Move move) const;
    [[nodiscard]] Ending ending_of(const Slot& slot, int legal_count) const;
    void step_one(std::size_t index);
    void finish(std::size_t index, Ending ending, Color moved);
    void list_legal(Slot& slot) const;
    void observe(std::size_t index);
    void gather_legal();
    void clear_results();
    void for_each_game(const std::function<void(std::size_t)>& work);

    VectorOptions options_;
    const encode::ObservationLayout* layout_;
    std::size_t observed_;  // bytes of one observation
    std::vector<Slot> slots_;
    std::size_t legal_total_ = 0;
};

}  // namespace rookery::env
