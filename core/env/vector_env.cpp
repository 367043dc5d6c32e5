#include "env/vector_env.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "base/choose.h"
#include "base/memory.h"
#include "base/serial.h"
#include "rules/movegen.h"

namespace rookery::env {

namespace {
constexpr int START_ATTEMPTS = 1000;  // random opening plies may end a game
constexpr int MAX_THREADS = 256;
}  // namespace

ClaimMode find_claim_mode(std::string_view name) {
    return choose<ClaimMode>("claims", name, {"automatic", "action", "off"});
}

encode::EncodeView VectorGames::Line::view() const {
    encode::EncodeView view{};
    view.positions[0] = &now;
    view.count = 1;
    for (const Position& position : past) view.positions[view.count++] = &position;
    view.keys = &keys;
    return view;
}

VectorGames::VectorGames(VectorOptions options)
    : options_(std::move(options)),
      layout_(&encode::find_observation(options_.observation)),
      observed_(layout_->memory(options_.byte_observations)) {
    check_options();
    const auto n = std::size_t(options_.num_games);
    const double each =
        double(sizeof(Slot) + (MAX_MOVES + 1) * sizeof(legal_actions[0]) + observed_);
    allocate(std::to_string(n) + " games", each * double(n), [&] {
        slots_.resize(n);
        // Never resized, so that views stay valid.
        legal_actions.resize(n * (MAX_MOVES + 1));
        legal_offsets.resize(n + 1);
        const auto resize = [n](auto&... columns) { (columns.resize(n), ...); };
        resize(rewards, opponent_rewards, terminations, truncations, to_move, endings, piece_counts,
               polyglot_keys, material, results, plies, lengths);
        observations.resize(n * observed_);
        seed(options_.seed);
        reset();
    });
}

void VectorGames::check_options() const {
    const auto refuse = [](const std::string& why) { throw std::invalid_argument(why); };
    const VectorOptions& o = options_;
    if (o.num_games < 1)
        refuse("num_games is " + std::to_string(o.num_games) + "; it must be at least 1");
    if (o.threads < 1 || o.threads > MAX_THREADS)
        refuse("threads is " + std::to_string(o.threads) + ", not in 1 .. " +
               std::to_string(MAX_THREADS));
    if (o.max_plies < 0 || o.draw_after_plies < 0) refuse("ply limits must not be negative");
    if (o.min_random_plies < 0 || o.max_random_plies < o.min_random_plies)
        refuse("random_plies must be (low, high) with 0 <= low <= high");
    if (o.byte_observations && !layout_->encode_bytes)
        refuse("observation " + o.observation + " does not fit into uint8; use float32");
    if (!o.starts.empty() && !o.material.empty())
        refuse("give either start_fens or material, not both");
    if ((o.claims == ClaimMode::ACTION) != (o.actions == encode::ActionSpace::AZ4673))
        refuse("claims='action' and actions='az4673' belong together");
    const bool kpk =
        (o.material == "KPvK" || o.material == "KvKP") ||
        (!o.starts.empty() && std::all_of(o.starts.begin(), o.starts.end(), encode::is_kpk));
    if (o.promotion_wins && !kpk)
        refuse("promotion_wins needs start positions of king and pawn against king");
    const bool kpk_layout = o.actions == encode::ActionSpace::KPK || o.observation == "kpk3";
    if (kpk_layout && !o.promotion_wins)
        refuse("kpk actions and kpk3 observations need promotion_wins=True");
}

void VectorGames::for_each_game(const std::function<void(std::size_t)>& work) {
    const std::size_t n = slots_.size();
    const auto threads = std::min(std::size_t(options_.threads), n);
    std::vector<std::exception_ptr> errors(threads);
    const auto run = [&](std::size_t part) {
        try {
            for (std::size_t i = n * part / threads; i < n * (part + 1) / threads; ++i) work(i);
        } catch (...) {
            errors[part] = std::current_exception();
        }
    };
    {
        // Joined at the end of the block.
        std::vector<std::jthread> others;
        others.reserve(threads);
        std::size_t started = 1;
        try {
            for (; started < threads; ++started) others.emplace_back(run, started);
        } catch (const std::system_error&) {
            // The system starts no more threads: this one does the rest.
        }
        run(0);
        for (; started < threads; ++started) run(started);
    }
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

void VectorGames::seed(std::uint64_t seed) {
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].random = Random(seed, i);
}

void VectorGames::reset(std::span<const Position> starts) {
    if (!starts.empty() && starts.size() != 1 && starts.size() != size())
        throw std::invalid_argument("got " + std::to_string(starts.size()) +
                                    " start positions for " + std::to_string(size()) +
                                    " games; give one for all, or one for each");
    for (const Position& position : starts) {
        if (options_.promotion_wins && !encode::is_kpk(position))
            throw FenError("'" + to_fen(position) + "' is not king and pawn against king");
        Slot slot;
        start_at(slot, position);
        if (ending_of(slot, count_legal(position)) != Ending::NONE)
            throw FenError("the game is over in '" + to_fen(position) + "'");
    }
    clear_results();
    for_each_game([&](std::size_t i) {
        if (starts.empty())
            start(slots_[i]);
        else
            start_at(slots_[i], starts[starts.size() == 1 ? 0 : i]);
        observe(i);
    });
    gather_legal();
}

void VectorGames::clear_results() {
    const auto zero = [n = size()](auto&... columns) { (columns.assign(n, 0), ...); };
    zero(rewards, opponent_rewards, terminations, truncations, endings, results, lengths);
}

void VectorGames::start_at(Slot& slot, const Position& position) const {
    slot.line.now = position;
    slot.line.keys.clear();
    slot.line.past.clear();
    slot.ply = slot.steps = 0;
    list_legal(slot);
}

void VectorGames::start(Slot& slot) {
    const VectorOptions& o = options_;
    for (int attempt = 0; attempt < START_ATTEMPTS; ++attempt) {
        if (!o.material.empty())
            start_at(slot,
                     random_position(o.material, o.material_side, slot.random, o.start.rules));
        else if (!o.starts.empty())
            start_at(slot, o.starts[slot.random.below(std::uint32_t(o.starts.size()))]);
        else
            start_at(slot, o.start);
        const int extra = o.max_random_plies - o.min_random_plies;
        int random_plies =
            o.min_random_plies + (extra ? int(slot.random.below(std::uint32_t(extra + 1))) : 0);
        while (random_plies-- > 0 && ending_of(slot, slot.legal.moves.size()) == Ending::NONE) {
            const auto moves = std::uint32_t(slot.legal.moves.size());
            advance(slot.line, slot.legal.moves[int(slot.random.below(moves))]);
            list_legal(slot);
        }
        if (ending_of(slot, slot.legal.moves.size()) == Ending::NONE) return;
    }
    throw std::invalid_argument("found no start position in which the game is not over");
}

void VectorGames::advance(Line& line, Move move) const {
    if (layout_->history > 1) {
        line.past.insert(line.past.begin(), line.now);
        if (line.past.size() >= std::size_t(layout_->history)) line.past.pop_back();
    }
    make_with_history(line.now, line.keys, move);
    if (line.now.halfmove_clock == 0) line.keys.clear();
}

Ending VectorGames::ending_of(const Slot& slot, int legal_count) const {
    const Claims claims = options_.claims == ClaimMode::AUTOMATIC ? Claims::OCCURRED : Claims::OFF;
    const Ending ending = find_ending(slot.line.now, slot.line.keys, legal_count, claims);
    if (ending == Ending::CHECKMATE || ending == Ending::STALEMATE) return ending;
    if (options_.promotion_wins && won_by_promotion(slot.line.now)) return Ending::PROMOTION;
    if (ending != Ending::NONE) return ending;
    if (options_.draw_after_plies && slot.ply >= options_.draw_after_plies)
        return Ending::PLY_LIMIT;
    if (options_.max_plies && slot.steps >= options_.max_plies) return Ending::PLY_CAP;
    return Ending::NONE;
}

void VectorGames::list_legal(Slot& slot) const {
    encode::list_actions(options_.actions, slot.line.now, slot.line.keys, slot.legal);
}

// Looks up all actions before any change, so that an error leaves all games unchanged.
void VectorGames::find_chosen(std::span<const std::int64_t> actions) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        Slot& slot = slots_[i];
        const int* first = slot.legal.actions;
        const int* last = first + slot.legal.count;
        const int* found = std::find(first, last, actions[i]);
        slot.chosen = found != last                     ? int(found - first)
                      : actions[i] == encode::NO_ACTION ? Slot::NONE
                                                        : Slot::ILLEGAL;
        if (slot.chosen == Slot::ILLEGAL && !options_.illegal_is_penalty)
            throw MoveError("action " + std::to_string(actions[i]) + " of game " +
                            std::to_string(i) + " is illegal in '" + to_fen(slot.line.now) + "'");
    }
}

void VectorGames::step(std::span<const std::int64_t> actions) {
    if (actions.size() != size())
        throw std::invalid_argument("step got " + std::to_string(actions.size()) + " actions for " +
                                    std::to_string(size()) + " games");
    find_chosen(actions);
    clear_results();
    for_each_game([this](std::size_t i) {
        if (slots_[i].chosen == Slot::NONE) return;
        step_one(i);
        observe(i);
    });
    gather_legal();
}

void VectorGames::step_one(std::size_t index) {
    Slot& slot = slots_[index];
    const Color moved = slot.line.now.side;
    ++slot.steps;
    if (slot.chosen == Slot::ILLEGAL) {
        rewards[index] = options_.illegal;
        if (options_.max_plies && slot.steps >= options_.max_plies)
            finish(index, Ending::PLY_CAP, moved);
        return;
    }
    rewards[index] = options_.move;
    if (slot.chosen >= slot.legal.moves.size()) {
        finish(index, Ending::DRAW_CLAIMED, moved);
        return;
    }
    const Move move = slot.legal.moves[slot.chosen];
    advance(slot.line, move);
    ++slot.ply;
    list_legal(slot);
    // An action space may lack some moves, so an empty list alone does not end a game.
    const int legal_count =
        slot.legal.moves.empty() ? count_legal(slot.line.now) : slot.legal.moves.size();
    const Ending ending = ending_of(slot, legal_count);
    if (ending != Ending::NONE) finish(index, ending, moved);
}

void VectorGames::finish(std::size_t index, Ending ending, Color moved) {
    Slot& slot = slots_[index];
    endings[index] = std::uint8_t(ending);
    lengths[index] = slot.ply;
    if (ending == Ending::PLY_CAP) {
        truncations[index] = 1;
    } else {
        terminations[index] = 1;
        const bool decided = ending == Ending::CHECKMATE || ending == Ending::PROMOTION;
        // A queen that survives the reply wins although the other side moved last.
        const Color winner = ending == Ending::PROMOTION ? encode::pawn_side(slot.line.now) : moved;
        const float for_winner = decided ? options_.win : options_.draw;
        const float for_loser = decided ? options_.loss : options_.draw;
        rewards[index] += winner == moved ? for_winner : for_loser;
        opponent_rewards[index] = winner == moved ? for_loser : for_winner;
        results[index] = std::int8_t(!decided ? 0 : winner == WHITE ? 1 : -1);
    }
    std::swap(slot.line, slot.final_line);
    start(slot);
}

void VectorGames::observe(std::size_t index) {
    const Slot& slot = slots_[index];
    to_move[index] = slot.line.now.side == WHITE;
    plies[index] = slot.ply;
    polyglot_keys[index] = slot.line.now.polyglot_key();
    material[index] = peers::material_balance(slot.line.now, WHITE);
    piece_counts[index] = std::uint8_t(count_bits(slot.line.now.occupied()));
    layout_->write(slot.line.view(), options_.byte_observations,
                   observations.data() + index * observed_);
}

void VectorGames::gather_legal() {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        legal_offsets[i] = total;
        total += slots_[i].legal.count;
    }
    legal_offsets.back() = total;
    legal_total_ = std::size_t(total);
    std::int32_t* out = legal_actions.data();
    for (const Slot& slot : slots_)
        out = std::copy(slot.legal.actions, slot.legal.actions + slot.legal.count, out);
}

void VectorGames::final_observations(std::span<const std::size_t> indices,
                                     std::uint8_t* out) const {
    for (const std::size_t index : indices) {
        if (index >= size() || !(terminations[index] || truncations[index]))
            throw std::invalid_argument("game " + std::to_string(index) +
                                        " did not end with the last step");
        layout_->write(slots_[index].final_line.view(), options_.byte_observations, out);
        out += observed_;
    }
}

std::vector<std::int64_t> VectorGames::bot_actions(peers::Bot bot, std::span<const bool> mask) {
    if (mask.size() != size())
        throw std::invalid_argument("mask has " + std::to_string(mask.size()) + " entries for " +
                                    std::to_string(size()) + " games");
    std::vector<std::int64_t> actions(size(), encode::NO_ACTION);
    for_each_game([&](std::size_t i) {
        Slot& slot = slots_[i];
        if (!mask[i] || slot.legal.moves.empty()) return;  // or only a draw claim is left
        const Move move =
            peers::choose_move(bot, slot.line.now, slot.line.keys, slot.legal.moves, slot.random);
        actions[i] = encode::action_of(options_.actions, slot.line.now, move);
    });
    return actions;
}

const Position& VectorGames::position(std::size_t index) const { return slots_.at(index).line.now; }
const Position& VectorGames::final_position(std::size_t index) const {
    return slots_.at(index).final_line.now;
}

// --- Saving: a header, then per game the position, keys, past, random state and counters ---

namespace {
constexpr std::uint64_t STATE_MAGIC = 0x32764E45564B4F52ULL;  // "ROKVENv2"
}

std::string VectorGames::save() const {
    StateWriter out;
    out.put(STATE_MAGIC, std::uint64_t(slots_.size()), std::uint64_t(sizeof(Position)),
            std::uint64_t(layout_->history));
    for (const Slot& slot : slots_)
        out.put(slot.line.now, slot.line.keys.keys(), slot.line.past, slot.random.state(), slot.ply,
                slot.steps);
    return out.finish();
}

void VectorGames::restore(const std::string& state) {
    StateReader in(state);
    if (in.take<std::uint64_t>() != STATE_MAGIC)
        throw std::invalid_argument("this is not a saved state of VectorGames");
    if (in.take<std::uint64_t>() != slots_.size())
        throw std::invalid_argument("the saved state has another number of games");
    if (in.take<std::uint64_t>() != sizeof(Position))
        throw std::invalid_argument("the saved state comes from another version");
    if (in.take<std::uint64_t>() != std::uint64_t(layout_->history))
        throw std::invalid_argument("the saved state keeps another length of history than " +
                                    options_.observation + " needs");
    std::vector<Slot> slots(slots_.size());
    for (Slot& slot : slots) {
        in.take(slot.line.now);
        for (const Key key : in.take<std::vector<Key>>()) slot.line.keys.push(key);
        in.take(slot.line.past);
        slot.random.set_state(in.take<Random::State>());
        in.take(slot.ply, slot.steps);
        list_legal(slot);
    }
    in.require_end();
    slots_ = std::move(slots);
    clear_results();
    for_each_game([this](std::size_t i) { observe(i); });
    gather_legal();
}

}  // namespace rookery::env
