#include "mcts/selfplay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/memory.h"
#include "rules/movegen.h"

namespace rookery::mcts {

namespace {

constexpr int MAX_SIMULATIONS = 10'000'000;  // the tree of a game has memory for all of them

void check(const SelfPlayOptions& o) {
    const auto require = [](bool good, const std::string& what) {
        if (!good) throw std::invalid_argument(what);
    };
    check_options(o.tree);
    require(o.games >= 1 && o.games <= 65536, "games must be in 1 .. 65536");
    require(std::min(o.simulations, o.fast_simulations) >= 1 &&
                std::max(o.simulations, o.fast_simulations) <= MAX_SIMULATIONS,
            "simulations must be in 1 .. " + std::to_string(MAX_SIMULATIONS));
    require(o.full_share > 0 && o.full_share <= 1, "full_share must be above 0 and at most 1");
    require(o.temperature >= 0 && o.late_temperature >= 0, "temperatures must be 0 or more");
    require(o.max_plies >= 1, "max_plies must be 1 or more");
    require(o.min_random_plies >= 0 && o.min_random_plies <= o.max_random_plies,
            "random_plies must be (low, high) with 0 <= low <= high");
    require(o.starts_share == 0 || !o.starts.empty(), "starts_share needs start positions");
    require(o.starts_share >= 0 && o.random_share >= 0 && o.starts_share + o.random_share <= 1,
            "starts_share and random_share must be shares, together at most 1");
    require(o.resign_moves >= 1, "resign_moves must be 1 or more");
    require(o.judge_from >= 0 && o.judge_every >= 0,
            "judge_from and judge_every must be 0 or more");
    for (const Position& start : o.starts)
        require(has_legal_move(start), "start position '" + to_fen(start) + "' is over already");
}

// work(samples.column...) for each column, in the order of saved states.
template <class F, class... S> void each_column(const F& work, S&... samples) {
    work(samples.observations...);
    work(samples.legal...);
    work(samples.policy...);
    work(samples.counts...);
    work(samples.results...);
    work(samples.values...);
    work(samples.surprise...);
    work(samples.plies_left...);
    work(samples.plies...);
    work(samples.games...);
}

void append(SelfPlaySamples& all, const SelfPlaySamples& more) {
    each_column([](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); },
                all, more);
}

}  // namespace

SelfPlay::SelfPlay(SelfPlayOptions options)
    : options_(std::move(options)),
      batch_(&encode::find_observation(options_.observation)),
      cache_(options_.cache_megabytes) {
    check(options_);
    // Memory for all simulations of a move and a reused subtree.
    TreeOptions tree = options_.tree;
    const auto most = std::size_t(std::max(options_.simulations, options_.fast_simulations));
    tree.megabytes = std::max<std::size_t>(tree.megabytes, 1 + 4 * most / 1000);
    allocate("the trees of " + std::to_string(options_.games) + " games", 0, [&] {
        for (int i = 0; i < options_.games; ++i) {
            slots_.push_back(std::make_unique<Slot>(tree));
            slots_.back()->random = Random(options_.seed, std::uint64_t(i));
            start_game(*slots_.back());
        }
    });
}

void SelfPlay::set_simulations(int full, int fast) {
    if (full < 1 || fast < 1) throw std::invalid_argument("simulations must be 1 or more");
    options_.simulations = full;
    options_.fast_simulations = fast;
}

// --- Games ---

void SelfPlay::start_game(Slot& slot) {
    const SelfPlayOptions& o = options_;
    Random& random = slot.random;
    slot.number = next_game_++;
    const double kind = random.uniform();
    slot.game = Game(o.start);
    if (kind < o.starts_share) {
        slot.game = Game(o.starts[random.below(std::uint32_t(o.starts.size()))]);
    } else if (kind < o.starts_share + o.random_share) {
        do {
            slot.game = Game(o.start);
            const int span = o.max_random_plies - o.min_random_plies + 1;
            play_random(slot.game, o.min_random_plies + int(random.below(std::uint32_t(span))),
                        random);
        } while (slot.game.ending(Claims::OCCURRED) != Ending::NONE);
    }
    slot.records = {};
    slot.white.clear();
    slot.plays_on = random.uniform() < o.resign_check_share;
    slot.bad_moves[WHITE] = slot.bad_moves[BLACK] = 0;
    slot.would_resign = -1;
    slot.tree.forget();
    slot.tree.set_game(slot.game);
    begin_move(slot);
}

void SelfPlay::begin_move(Slot& slot) {
    const SelfPlayOptions& o = options_;
    slot.full = slot.random.uniform() < o.full_share;
    SearchSettings settings;
    settings.simulations = slot.full ? o.simulations : o.fast_simulations;
    if (count_legal(slot.game.now()) == 1) {  // forced: nothing to search, no sample
        slot.full = false;
        settings.simulations = 0;
    }
    settings.noise = slot.full;
    const bool early = int(slot.game.ply()) < o.temperature_plies;
    settings.gumbel_scale = early ? o.temperature : o.late_temperature;
    settings.seed = slot.random.next();
    slot.tree.begin(settings);
}

void SelfPlay::record(Slot& slot) {
    const auto edges = slot.tree.root_edges();
    const std::vector<float> target = slot.tree.policy_target();
    SelfPlaySamples& to = slot.records;
    encode::LeafBatch one(batch_.layout);
    one.add(encode::view_of(slot.game), {});
    to.observations.insert(to.observations.end(), one.observations.begin(), one.observations.end());
    double surprise = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        to.legal.push_back(
            encode::action_of(encode::ActionSpace::AZ4672, slot.game.now(), edges[i].move));
        to.policy.push_back(target[i]);
        if (target[i] > 0)
            surprise += target[i] * std::log(target[i] / std::max(edges[i].prior, 1e-30f));
    }
    to.counts.push_back(std::int64_t(edges.size()));
    to.values.push_back(float(slot.tree.root_value()));
    to.surprise.push_back(float(surprise));
    to.plies.push_back(std::int32_t(slot.game.ply()));
    slot.white.push_back(slot.game.now().side == WHITE);
}

bool SelfPlay::resigns(Slot& slot, double value) {
    const Color side = slot.game.now().side;
    slot.bad_moves[side] = value < options_.resign_below ? slot.bad_moves[side] + 1 : 0;
    if (slot.bad_moves[side] < options_.resign_moves) return false;
    if (slot.would_resign < 0) slot.would_resign = side;
    return !slot.plays_on;
}

std::size_t SelfPlay::choose(Slot& slot) const {
    const Tree& tree = slot.tree;
    if (options_.tree.gumbel_actions > 0 || tree.root_status() != EdgeStatus::OPEN)
        return tree.final_edge();
    const bool early = int(slot.game.ply()) < options_.temperature_plies;
    const double temperature = early ? options_.temperature : options_.late_temperature;
    if (temperature == 0) return tree.best_edge();
    const auto edges = tree.root_edges();
    std::vector<double> weights(edges.size(), 0.0);
    double total = 0;
    std::uint32_t most = 1;
    for (const auto& edge : edges) most = std::max(most, edge.visits);
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (edges[i].status != EdgeStatus::LOST && edges[i].visits)
            total += weights[i] = std::pow(double(edges[i].visits) / most, 1.0 / temperature);
    double left = slot.random.uniform() * total;
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (weights[i] > 0 && (left -= weights[i]) < 0) return i;
    return tree.best_edge();
}

void SelfPlay::finish_move(Slot& slot) {
    const double value = slot.tree.root_value();
    simulations += std::uint64_t(slot.tree.simulations_done());
    if (slot.full) record(slot);
    const Color side = slot.game.now().side;
    if (resigns(slot, value)) {
        const int result = side == WHITE ? -1 : 1;
        finish_game(slot, result, result, "resignation");
        return start_game(slot);
    }
    const Move move = slot.tree.root_edges()[choose(slot)].move;
    ++moves;
    slot.game.push(move);
    const Ending ending = slot.game.ending(Claims::OCCURRED);
    if (ending != Ending::NONE) {
        const int result = ending != Ending::CHECKMATE ? 0 : side == WHITE ? 1 : -1;
        finish_game(slot, result, result, ENDING_NAMES[std::size_t(ending)]);
        return start_game(slot);
    }
    if (int(slot.game.ply()) >= options_.max_plies) {
        finish_game(slot, side == WHITE ? value : -value, 0,
                    ENDING_NAMES[std::size_t(Ending::PLY_CAP)]);
        return start_game(slot);
    }
    slot.tree.advance(move);
    if (!options_.reuse) slot.tree.forget();
    const int after = int(slot.game.ply()) - options_.judge_from;
    slot.unjudged = options_.judge_every && after >= 0 && after % options_.judge_every == 0;
    if (!slot.unjudged) begin_move(slot);
}

void SelfPlay::finish_game(Slot& slot, double white_result, int result, const std::string& ending) {
    SelfPlaySamples& records = slot.records;
    const bool cut_off = ending == ENDING_NAMES[std::size_t(Ending::PLY_CAP)];
    if (slot.plays_on && slot.would_resign >= 0 && !cut_off) {  // which has no result
        ++resign_checked;
        resign_wrong += slot.would_resign == WHITE ? result >= 0 : result <= 0;
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
        records.results.push_back(float(slot.white[i] ? white_result : -white_result));
        records.plies_left.push_back(std::int32_t(slot.game.ply()) - records.plies[i]);
        records.games.push_back(slot.number);
    }
    append(samples_, records);
    const Position& start = slot.game.start();
    finished_.push_back(
        {slot.number, to_fen(start), to_uci(start, slot.game.moves()), result, ending});
}

// --- Judging ---

std::vector<std::pair<std::size_t, std::string>> SelfPlay::unjudged() const {
    std::vector<std::pair<std::size_t, std::string>> found;
    for (std::size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i]->unjudged) found.emplace_back(i, to_fen(slots_[i]->game.now()));
    return found;
}

SelfPlay::Slot& SelfPlay::unjudged_slot(std::size_t slot) {
    if (slot >= slots_.size() || !slots_[slot]->unjudged)
        throw std::invalid_argument("game " + std::to_string(slot) + " does not wait for a judge");
    slots_[slot]->unjudged = false;
    return *slots_[slot];
}

void SelfPlay::judge(std::size_t slot, double white_value) {
    if (!(white_value >= -1 && white_value <= 1))
        throw std::invalid_argument("a judged value must be in [-1, 1]");
    Slot& judged = unjudged_slot(slot);
    finish_game(judged, white_value,
                white_value > 0   ? 1
                : white_value < 0 ? -1
                                  : 0,
                "adjudication");
    start_game(judged);
}

void SelfPlay::play_on(std::size_t slot) { begin_move(unjudged_slot(slot)); }

// --- The loop ---

void SelfPlay::advance(std::size_t index) {
    Slot& slot = *slots_[index];
    slot.tree.abandon_pending();  // of a gather() without apply()
    while (!slot.unjudged) {
        if (slot.tree.done()) {
            finish_move(slot);
            continue;
        }
        if (slot.tree.descend(batch_, &cache_) == Tree::Step::PENDING) {
            waiting_.push_back(index);
            return;
        }
    }
}

std::size_t SelfPlay::gather() {
    batch_.clear();
    waiting_.clear();
    for (std::size_t i = 0; i < slots_.size(); ++i) advance(i);
    return waiting_.size();
}

void SelfPlay::apply(std::span<const float> logits, std::span<const float> values) {
    batch_.check_answers(logits.size(), values.size());
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        Slot& slot = *slots_[waiting_[i]];
        if (slot.tree.complete(0, logits.data() + batch_.legal_offsets[i], values[i], &cache_))
            continue;
        // Neither its samples nor its tree can be trusted.
        ++aborted;
        start_game(slot);
    }
    evaluations += waiting_.size();
    for (const std::size_t index : waiting_) slots_[index]->tree.clear_pending();
    waiting_.clear();
    batch_.clear();
}

bool SelfPlay::run(const encode::NativeEvaluator& evaluator, std::size_t samples, double seconds,
                   std::uint64_t until_moves) {
    using Clock = std::chrono::steady_clock;
    const auto begun = Clock::now();
    const auto enough = [&] { return samples_.size() >= samples || moves >= until_moves; };
    while (!enough()) {
        gather();
        logits_.resize(batch_.legal_actions.size());
        values_.resize(batch_.size());
        evaluator.evaluate(batch_, logits_.data(), values_.data());
        apply(logits_, values_);
        if (options_.judge_every && !unjudged().empty()) break;
        if (seconds > 0 && std::chrono::duration<double>(Clock::now() - begun).count() >= seconds)
            break;
    }
    return enough();
}

SelfPlaySamples SelfPlay::take_samples() {
    samples_.layout = batch_.layout;
    return std::exchange(samples_, {});
}
std::vector<SelfPlayGame> SelfPlay::take_games() { return std::exchange(finished_, {}); }

// --- Saving ---

namespace {
constexpr std::uint64_t STATE_MAGIC = 0x32764E59414C5053ULL;  // "SPLAYNv2"
constexpr std::uint64_t OLD_MAGIC = 0x31764E59414C5053ULL;  // "SPLAYNv1", with two columns more
constexpr std::uint64_t STATE_SIZES = sizeof(Position) + sizeof(Tree::Node) + sizeof(Tree::Edge);

// The columns of a state of version 1, which also has `agreed` after surprise and `truncated` after
// plies.
void take_old_columns(StateReader& in, SelfPlaySamples& to) {
    std::vector<std::uint8_t> unused;
    each_column(
        [&](auto& column) {
            in.take(column);
            const auto* const place = static_cast<const void*>(&column);
            if (place == &to.surprise || place == &to.plies) in.take(unused);
        },
        to);
}
}  // namespace

// visit(field, ...) of what is saved, in the order of the file.
template <class Self, class Visit> void SelfPlay::visit_state(Self& play, const Visit& visit) {
    visit(play.options_.simulations, play.options_.fast_simulations, play.options_.resign_below,
          play.simulations, play.evaluations, play.moves, play.aborted, play.resign_checked,
          play.resign_wrong, play.next_game_);
}
template <class Self, class Visit> void SelfPlay::visit_slot(Self& slot, const Visit& visit) {
    visit(slot.white, slot.number, slot.full, slot.plays_on, slot.bad_moves, slot.would_resign);
}

std::string SelfPlay::save() const {
    if (samples_.size() || !finished_.empty())
        throw std::invalid_argument("take samples and games before saving");
    if (!waiting_.empty()) throw std::invalid_argument("apply the evaluations before saving");
    if (!unjudged().empty()) throw std::invalid_argument("judge the waiting games before saving");
    StateWriter out;
    out.put(STATE_MAGIC, std::uint64_t(slots_.size()), STATE_SIZES, options_.observation);
    visit_state(*this, [&](const auto&... fields) { out.put(fields...); });
    for (const auto& slot : slots_) {
        out.put(slot->game.start(), slot->game.moves());
        slot->tree.save(out);
        out.put(slot->random.state());
        each_column([&](const auto& column) { out.put(column); }, slot->records);
        visit_slot(*slot, [&](const auto&... fields) { out.put(fields...); });
    }
    return out.finish();
}

void SelfPlay::restore(const std::string& state) {
    StateReader in(state);
    const auto magic = in.take<std::uint64_t>();
    if (magic != STATE_MAGIC && magic != OLD_MAGIC)
        throw std::invalid_argument("this is not a saved state of SelfPlay");
    if (in.take<std::uint64_t>() != slots_.size())
        throw std::invalid_argument("the saved state has another number of games");
    if (in.take<std::uint64_t>() != STATE_SIZES)
        throw std::invalid_argument("the saved state comes from another version");
    if (in.take<std::string>() != options_.observation)
        throw std::invalid_argument("the saved state has another observation");
    visit_state(*this, [&](auto&... fields) { in.take(fields...); });
    for (const auto& slot : slots_) {
        slot->game = Game(in.take<Position>());
        for (const Move move : in.take<std::vector<Move>>()) slot->game.push(move);
        slot->tree.load(in);
        slot->random.set_state(in.take<Random::State>());
        if (magic == OLD_MAGIC)
            take_old_columns(in, slot->records);
        else
            each_column([&](auto& column) { in.take(column); }, slot->records);
        visit_slot(*slot, [&](auto&... fields) { in.take(fields...); });
        slot->unjudged = false;
    }
    in.require_end();
    samples_ = {};
    finished_.clear();
    waiting_.clear();
    batch_.clear();
    cache_.clear();
}

}  // namespace rookery::mcts
