// Many games that a network plays against itself with tree search, advanced together.
//
//   gather:  every game descends in its own tree until it needs the network  --> one LeafBatch
//   (the network answers)
//   apply:   the answers go back to their games; a game whose search is complete moves on
//
// With hundreds of games the batches are large although each tree waits for one leaf only, so no
// virtual loss distorts the searches. A finished game leaves samples (one per fully searched
// position) and a record of its moves, and a new one takes its place.
//
// Results do not depend on how calls are cut up: each game has its own random stream. One object
// is used by one thread at a time; several objects may run side by side.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcts/tree.h"

namespace rookery::mcts {

struct SelfPlayOptions {
    int games = 256;
    std::string observation = "tactical70";
    TreeOptions tree{.megabytes = 1};  // each game has a tree of its own
    std::uint64_t seed = 0;
    // Playout cap (Wu 2019): a share of the moves is searched fully, with noise, and learnt from;
    // the others are searched fast, to get games over with.
    int simulations = 64, fast_simulations = 16;
    double full_share = 1.0;
    bool reuse = true;  // keep the part of the tree below the move played
    // Moves are drawn by visits ^ (1 / temperature), or with so much Gumbel noise.
    double temperature = 1.0, late_temperature = 0.25;
    int temperature_plies = 30;
    int max_plies = 400;  // cut off: the last search's value stands for the result
    // Openings: a share of the games starts with random plies, another from given positions.
    double random_share = 0.0;
    int min_random_plies = 0, max_random_plies = 0;
    std::vector<Position> starts;
    double starts_share = 0.0;
    // A side gives up when its value stays below for so many of its moves; a share of the games
    // is played on to see how often that would have been wrong.
    double resign_below = -2.0;  // below -1: never
    int resign_moves = 3;
    double resign_check_share = 0.1;
    std::size_t cache_megabytes = 32;
};

// Columns of S samples with L legal actions in all, concatenated game by game.
struct SelfPlaySamples {
    const encode::ObservationLayout* layout = nullptr;
    std::vector<std::uint8_t> observations;   // [S, layout size], the memory of bytes or floats
    std::vector<std::int32_t> legal;          // [L] actions, in the order of the search
    std::vector<float> policy;                // [L] sums to 1 for each sample
    std::vector<std::int64_t> counts;         // [S] legal actions of each
    std::vector<float> results;   // [S] -1, 0, 1 for the side to move; in between if cut off
    std::vector<float> values;    // [S] what the search expected
    std::vector<float> surprise;  // [S] KL divergence of the policy before from the target
    std::vector<std::int32_t> plies_left;  // [S] to the end of the game
    std::vector<std::int32_t> plies;       // [S] since its start
    std::vector<std::int64_t> games;       // [S] number of the game

    [[nodiscard]] std::size_t size() const { return counts.size(); }
};

struct SelfPlayGame {
    std::int64_t number;
    std::string start;               // FEN
    std::vector<std::string> moves;  // UCI
    int result;                      // 1 White won, -1 Black won, 0 drawn or cut off
    std::string ending;              // a name of ENDING_NAMES, or "resignation"
    bool operator==(const SelfPlayGame&) const = default;
};

class SelfPlay {
  public:
    // Throws std::invalid_argument on options that make no sense.
    explicit SelfPlay(SelfPlayOptions options);
    SelfPlay(const SelfPlay&) = delete;

    std::size_t gather();
    // Answers to all leaves: logits [total legal], values [leaves]; throws std::invalid_argument
    // for other lengths. A game whose answer is not finite is given up.
    void apply(std::span<const float> logits, std::span<const float> values);
    // Gathers, asks and applies until so many samples are there; false if time ran out before.
    bool run(const encode::NativeEvaluator& evaluator, std::size_t samples, double seconds);
    // The network has changed: its old answers are not used for new positions.
    void network_changed() { cache_.clear(); }
    void set_simulations(int simulations, int fast_simulations);
    void set_resignation(double below) { options_.resign_below = below; }

    [[nodiscard]] encode::LeafBatch& batch() { return batch_; }
    [[nodiscard]] const SelfPlayOptions& options() const { return options_; }
    [[nodiscard]] std::size_t ready() const { return samples_.size(); }
    [[nodiscard]] SelfPlaySamples take_samples();
    [[nodiscard]] std::vector<SelfPlayGame> take_games();

    // --- Counters since the beginning ---
    std::uint64_t simulations = 0, evaluations = 0, moves = 0;
    std::uint64_t aborted = 0;  // games in which the network answered with a NaN or an infinity
    std::uint64_t resign_checked = 0, resign_wrong = 0;
    [[nodiscard]] std::uint64_t cache_hits() const { return cache_.hits; }

    // Everything but the cache; samples and games must have been taken before.
    [[nodiscard]] std::string save() const;
    void restore(const std::string& state);

  private:
    struct Slot {
        explicit Slot(const TreeOptions& options) : game(start_position()), tree(options) {}
        Game game;
        Tree tree;
        Random random;
        SelfPlaySamples records;  // of the game under way; results are not known yet
        std::vector<std::uint8_t> white;  // [records] White was to move
        std::int64_t number = 0;
        bool full = false;         // the search under way is a full one
        bool plays_on = false;     // never resigns
        int bad_moves[2] = {0, 0};  // of White and Black in a row
        int would_resign = -1;     // colour that would have resigned first
    };

    void start_game(Slot& slot);
    void begin_move(Slot& slot);
    void finish_move(Slot& slot);
    void record(Slot& slot);
    bool resigns(Slot& slot, double value);
    std::size_t choose(Slot& slot) const;
    void finish_game(Slot& slot, double white_result, int result, const std::string& ending);
    void advance(std::size_t index);

    SelfPlayOptions options_;
    encode::LeafBatch batch_;
    EvaluationCache cache_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<std::size_t> waiting_;  // slots of the leaves in the batch
    std::int64_t next_game_ = 0;
    SelfPlaySamples samples_;
    std::vector<SelfPlayGame> finished_;
    std::vector<float> logits_, values_;
};

}  // namespace rookery::mcts
