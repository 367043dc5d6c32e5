// Many games stepped together: the environment that learners train in.
//
// Every action is for the side to move of its game; both sides come through the same stream.
// Finished games start anew within the step (the observation returned is the new game's
// first); the last observation of the old game can be asked for until the next step.
//
//   actions [N] --step--> per game: make the move, look for an end, maybe start anew,
//                         list legal actions, write the observation
//
// Results do not depend on the number of threads: each game has its own random stream. One
// object must not be used from two threads at once: Python's lock is not held while it works.

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
    bool illegal_is_penalty = false;  // else an illegal action is an error
    int max_plies = 0;         // cut off after so many steps of a game; 0 never
    int draw_after_plies = 0;  // a draw after so many plies of a game; 0 never
    // King-and-pawn endings: a promoted piece wins unless it can be taken at once.
    bool promotion_wins = false;
    std::vector<Position> starts;  // empty: the standard start position
    std::string material;          // instead of starts: random positions such as KRvK
    StartSide material_side = StartSide::WHITE_MOVES;
    int min_random_plies = 0, max_random_plies = 0;  // played before a game begins
    int threads = 1;
};

class VectorGames {
  public:
    // Throws std::invalid_argument on options that contradict each other. All games are reset.
    explicit VectorGames(VectorOptions options);

    // Begins all games anew; with a seed, from the random streams of that seed.
    void reset();
    void reset(std::uint64_t seed);
    // One action per game. Throws MoveError, with nothing changed, if one is illegal and that is an
    // error; std::invalid_argument for another number of actions.
    void step(std::span<const std::int64_t> actions);

    [[nodiscard]] const VectorOptions& options() const { return options_; }
    [[nodiscard]] const encode::ObservationLayout& layout() const { return *layout_; }
    [[nodiscard]] std::size_t size() const { return slots_.size(); }

    // --- Results of the last reset or step, overwritten by the next ---
    // [N, layout size], float or byte according to the options
    [[nodiscard]] float* observations() { return observations_.data(); }
    [[nodiscard]] std::uint8_t* byte_observations() { return byte_observations_.data(); }
    std::vector<std::int32_t> legal_actions;  // all games' legal actions in a row; part used:
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
    std::vector<std::int32_t> plies;     // [N] of the game now under way
    std::vector<std::int32_t> lengths;   // [N] plies of the game that ended with this step
    [[nodiscard]] std::size_t legal_total() const { return legal_total_; }  // of legal_actions
    // Last observations [indices, layout size] of games that ended with this step; throws
    // std::invalid_argument for others. Bytes only where the layout allows them.
    void final_observations(std::span<const std::size_t> indices, float* out) const;
    void final_observations(std::span<const std::size_t> indices, std::uint8_t* out) const;

    // The action that a bot would take in each game with a mask of 1, from the game's own random
    // stream; NO_ACTION elsewhere [N]. mask [N], else throws std::invalid_argument.
    [[nodiscard]] std::vector<std::int64_t> bot_actions(peers::Bot bot, std::span<const bool> mask);

    [[nodiscard]] const Position& position(std::size_t index) const;
    [[nodiscard]] const Position& final_position(std::size_t index) const;

    // --- Exact resume: games and random streams, not the options ---
    [[nodiscard]] std::string save() const;
    void restore(const std::string& state);

  private:
    // One game: the position and what encoders and rules need of its past.
    struct Line {
        Position now;
        RepetitionKeys keys;
        std::vector<Position> past;  // newest first, only as long as the layout wants
        [[nodiscard]] encode::EncodeView view() const;
    };
    struct Slot {
        Line line, final_line;
        encode::LegalActions legal;
        Random random;
        int ply = 0, steps = 0;
        int chosen = 0;  // index into legal of the action being stepped, -1 illegal
    };

    void check_options() const;
    void require_ended(std::span<const std::size_t> indices) const;
    void find_chosen(std::span<const std::int64_t> actions);
    void start(Slot& slot);
    void advance(Line& line, Move move) const;
    [[nodiscard]] Ending ending_of(const Slot& slot, int legal_count) const;
    [[nodiscard]] bool won_by_promotion(const Position& position) const;
    void step_one(std::size_t index);
    void finish(std::size_t index, Ending ending, Color moved);
    void list_legal(Slot& slot) const;
    void observe(std::size_t index);
    void gather_legal();
    void clear_results();
    void for_each_game(const std::function<void(std::size_t)>& work);

    VectorOptions options_;
    const encode::ObservationLayout* layout_;
    std::vector<Slot> slots_;
    std::size_t legal_total_ = 0;
    std::vector<float> observations_;
    std::vector<std::uint8_t> byte_observations_;
};

}  // namespace rookery::env
