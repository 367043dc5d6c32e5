// Parallel self-play games with tree search.
//
//   gather:  every game descends its own tree until it needs the network  --> one LeafBatch
//   (the network evaluates the batch)
//   apply:   the evaluations go back to their games; a game whose search is complete moves
//
// With hundreds of games the batches are large although each tree has one pending leaf, so there
// is no virtual loss. A finished game leaves its moves and one sample per fully searched position,
// and a new game takes its place. Each game has its own random stream. One object is not
// thread-safe; several may run in parallel.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/busy.h"
#include "mcts/tree.h"

namespace rookery::mcts {

struct SelfPlayOptions {
    int games = 256;
    std::string observation = "tactical70";
    TreeOptions tree{.megabytes = 1};  // of each game
    std::uint64_t seed = 0;
    // Playout cap randomisation (Wu 2019): full_share of the moves are searched fully, with noise,
    // and become samples; the others are searched fast.
    int simulations = 64, fast_simulations = 16;
    double full_share = 1.0;
    bool reuse = true;  // keep the subtree of the move played
    // Moves are drawn by visits ^ (1 / temperature); with Gumbel it scales the noise.
    double temperature = 1.0, late_temperature = 0.25;
    int temperature_plies = 30;
    int max_plies = 400;  // then cut off, with the last search's value as the result
    // Openings: shares of the games that start with random plies, or from given positions.
    double random_share = 0.0;
    int min_random_plies = 0, max_random_plies = 0;
    Position start = start_position();  // of the board
    std::vector<Position> starts;
    double starts_share = 0.0;
    // A side resigns after resign_moves of its moves with a value below resign_below; a share of
    // the games is played on to measure wrong resignations.
    double resign_below = -2.0;  // below -1: never
    int resign_moves = 3;
    double resign_check_share = 0.1;
    // Early stops (Deep Pepper 2018): from ply judge_from on, every judge_every plies, a game waits
    // until judge() or play_on() is called.
    int judge_from = 0, judge_every = 0;  // 0: never
    std::size_t cache_megabytes = 32;
};

// Columns of S samples with L legal actions in all, concatenated game by game.
struct SelfPlaySamples {
    const encode::ObservationLayout* layout = nullptr;
    std::vector<std::uint8_t> observations;   // [S, layout size], memory of bytes or floats
    std::vector<std::int32_t> legal;          // [L] actions, in the order of the search
    std::vector<float> policy;                // [L] sums to 1 for each sample
    std::vector<std::int64_t> counts;         // [S] legal actions of each
    std::vector<float> results;   // [S] -1, 0, 1 for the side to move; in between if cut off
    std::vector<float> values;    // [S] root values of the searches
    std::vector<float> surprise;  // [S] KL divergence of the prior policy from the target
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
    // Throws std::invalid_argument for invalid options.
    explicit SelfPlay(SelfPlayOptions options);
    SelfPlay(const SelfPlay&) = delete;

    std::size_t gather();
    // Evaluations of all leaves: logits [total legal], values [leaves]; throws
    // std::invalid_argument for other lengths. A game with a non-finite evaluation is abandoned.
    void apply(std::span<const float> logits, std::span<const float> values);
    // Gathers, evaluates and applies until `samples` are ready, `moves` has reached `until_moves`
    // or a game waits to be judged; false if there is more to do.
    bool run(const encode::NativeEvaluator& evaluator, std::size_t samples, double seconds,
             std::uint64_t until_moves = ~std::uint64_t(0));
    // Clears the cache.
    void network_changed() { cache_.clear(); }
    void set_simulations(int simulations, int fast_simulations);
    void set_resignation(double below) { options_.resign_below = below; }

    // --- Games that wait to be judged, by slot ---
    [[nodiscard]] std::vector<std::pair<std::size_t, std::string>> unjudged() const;  // with FENs
    // Ends the game; `white_value` in [-1, 1] is the target of its samples, its sign the result.
    void judge(std::size_t slot, double white_value);
    void play_on(std::size_t slot);

    // Marks the games as in use by this thread; throws std::logic_error if another one uses them.
    [[nodiscard]] Busy use() const { return {busy_, "another thread is using these games"}; }
    [[nodiscard]] encode::LeafBatch& batch() { return batch_; }
    [[nodiscard]] std::size_t ready() const { return samples_.size(); }
    [[nodiscard]] SelfPlaySamples take_samples();
    [[nodiscard]] std::vector<SelfPlayGame> take_games();

    // --- Counters since the start ---
    std::uint64_t simulations = 0, evaluations = 0, moves = 0;
    std::uint64_t aborted = 0;  // games abandoned because of a NaN or an infinity
    std::uint64_t resign_checked = 0, resign_wrong = 0;
    [[nodiscard]] std::uint64_t cache_hits() const { return cache_.hits; }

    // Everything but the cache; take samples and games, and judge the waiting games first.
    [[nodiscard]] std::string save() const;
    void restore(const std::string& state);

  private:
    mutable std::atomic<bool> busy_ = false;
    struct Slot {
        explicit Slot(const TreeOptions& options) : game(start_position()), tree(options) {}
        Game game;
        Tree tree;
        Random random;
        SelfPlaySamples records;  // of the current game, without results
        std::vector<std::uint8_t> white;  // [records] White was to move
        std::int64_t number = 0;
        bool full = false;  // the current search is a full one
        bool plays_on = false;  // never resigns
        bool unjudged = false;  // waits to be judged
        int bad_moves[2] = {0, 0};  // in a row, of White and Black
        int would_resign = -1;  // colour that would have resigned first
    };

    void start_game(Slot& slot);
    void begin_move(Slot& slot);
    void finish_move(Slot& slot);
    void record(Slot& slot);
    bool resigns(Slot& slot, double value);
    std::size_t choose(Slot& slot) const;
    void finish_game(Slot& slot, double white_result, int result, const std::string& ending);
    void advance(std::size_t index);
    Slot& unjudged_slot(std::size_t slot);
    template <class Self, class Visit> static void visit_state(Self& play, const Visit& visit);
    template <class Self, class Visit> static void visit_slot(Self& slot, const Visit& visit);

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
