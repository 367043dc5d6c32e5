#include "mcts/search.h"

#include <algorithm>
#include <chrono>

#include "rules/movegen.h"

namespace rookery::mcts {

// Limit per gather: in a dead draw all simulations may end in known positions, and a search by the
// clock must still check it.
constexpr int MOST_DESCENTS = 512;

Search::Search(std::string_view observation, const TreeOptions& options,
               std::size_t cache_megabytes)
    : tree(options),
      batch(observation.empty() ? nullptr : &encode::find_observation(observation)),
      cache(cache_megabytes) {
    batch.reserve(Tree::MAX_LEAVES);  // views of it stay valid
}

void Search::set_game(const Game& game) {
    const Busy busy = use();
    if (!has_legal_move(game.now()))
        throw MoveError("the game is over in '" + to_fen(game.now()) + "': nothing to search");
    if (batch.layout) encode::check_encodable(*batch.layout, game.now());
    tree.abandon_pending();
    tree.set_game(game);
}

void Search::forget() {
    const Busy busy = use();
    tree.forget();
    cache.clear();
}

void Search::begin(const SearchSettings& settings, const std::vector<std::string>& only) {
    const Busy busy = use();
    if (settings.simulations < 0)
        throw std::invalid_argument("simulations is " + std::to_string(settings.simulations) +
                                    "; it must be 0 or more");
    std::vector<Move> moves;
    for (const std::string& uci : only) moves.push_back(require_uci(tree.root_position(), uci));
    stopped_ = false;
    batch.clear();
    tree.abandon_pending();
    tree.restrict_root(std::move(moves));
    tree.begin(settings);
}

std::size_t Search::gather(std::size_t most) {
    const Busy busy = use();
    return gather_leaves(most);
}

std::size_t Search::gather_leaves(std::size_t most) {
    batch.clear();
    tree.abandon_pending();
    most = std::clamp<std::size_t>(most, 1, Tree::MAX_LEAVES);
    for (int left = MOST_DESCENTS; left > 0 && tree.pending() < most && !tree.done(); --left)
        if (tree.descend(batch, &cache) == Tree::Step::COLLISION) break;
    return tree.pending();
}

const Tree& Search::evaluated_tree() const {
    if (!tree.root_ready()) throw std::invalid_argument("the root has not been evaluated yet");
    return tree;
}

void Search::apply(std::span<const float> logits, std::span<const float> values) {
    const Busy busy = use();
    apply_values(logits, values);
}

void Search::apply_values(std::span<const float> logits, std::span<const float> values) {
    batch.check_answers(logits.size(), values.size());
    for (std::size_t i = 0; i < tree.pending(); ++i)
        if (!tree.complete(i, logits.data() + batch.legal_offsets[i], values[i], &cache)) {
            tree.forget();
            throw EvaluationError("the network returned a NaN or an infinity");
        }
    tree.clear_pending();
    batch.clear();
}

bool Search::run(const encode::NativeEvaluator& evaluator, std::size_t leaves, double seconds) {
    const Busy busy = use();
    using Clock = std::chrono::steady_clock;
    constexpr int CLOCK_INTERVAL = 16;  // batches
    const auto begun = Clock::now();
    for (int round = 1; !tree.done() && !stopped_; ++round) {
        const bool asked = gather_leaves(leaves) > 0;
        if (asked) {
            logits_.resize(batch.legal_actions.size());
            values_.resize(batch.size());
            evaluator.evaluate(batch, logits_.data(), values_.data());
            apply_values(logits_, values_);
        }
        if (seconds > 0 && (!asked || round % CLOCK_INTERVAL == 0) &&
            std::chrono::duration<double>(Clock::now() - begun).count() >= seconds)
            break;
    }
    return tree.done();
}

}  // namespace rookery::mcts
