#include "datagen/numbered_games.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "base/memory.h"
#include "rules/movegen.h"

namespace rookery::datagen {

namespace {
constexpr std::uint64_t HARD_FACTOR = 10;
constexpr auto POLL_INTERVAL = std::chrono::milliseconds(20);
}  // namespace

std::map<std::string, std::uint64_t> EndingCounts::by_name() const {
    std::map<std::string, std::uint64_t> named;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const char* name = i == ADJUDICATED_WIN    ? "adjudicated_win"
                           : i == ADJUDICATED_DRAW ? "adjudicated_draw"
                                                   : ENDING_NAMES[i];
        if (counts[i]) named[name] = counts[i];
    }
    return named;
}

std::optional<int> Adjudicator::add(int score, Color side, int ply) {
    if (!rules_.enabled) return std::nullopt;
    const int white_score = side == WHITE ? score : -score;
    if (white_score > rules_.win_score)
        winning_ = std::max(winning_, 0) + 1;
    else if (white_score < -rules_.win_score)
        winning_ = std::min(winning_, 0) - 1;
    else
        winning_ = 0;
    const bool level = ply >= rules_.draw_after && std::abs(white_score) <= rules_.draw_score;
    level_ = level ? level_ + 1 : 0;
    if (std::abs(winning_) >= rules_.win_plies) return winning_ > 0 ? 1 : -1;
    return level_ >= rules_.draw_plies ? std::optional(0) : std::nullopt;
}

GameLine random_opening(int plies, Random& random, std::vector<Move>* played) {
    for (;;) {
        GameLine line{start_position(), {}, 0};
        if (played) played->clear();
        while (line.ply < plies) {
            const MoveList moves = legal_moves(line.position);
            if (moves.empty()) break;
            const Move move = moves[int(random.below(std::uint32_t(moves.size())))];
            if (played) played->push_back(move);
            line.make(move);
        }
        const int count = count_legal(line.position);
        if (line.ply == plies &&
            find_ending(line.position, line.keys, count, Claims::OCCURRED) == Ending::NONE)
            return line;
    }
}

std::vector<EnginePtr> make_engines(const nnue::NetworkPtr& network, int count) {
    return allocate("the engines of " + std::to_string(count) + " threads", 0, [&] {
        std::vector<EnginePtr> engines;
        for (int i = 0; i < count; ++i)
            engines.push_back(std::make_unique<alphabeta::Engine>(network, 1, 1));
        return engines;
    });
}

alphabeta::Limits soft(std::uint64_t nodes) {
    alphabeta::Limits limits;
    limits.soft_nodes = nodes;
    limits.nodes = HARD_FACTOR * nodes;
    return limits;
}

alphabeta::Limits exact(std::uint64_t nodes) {
    alphabeta::Limits limits;
    limits.nodes = nodes;
    return limits;
}

alphabeta::Result search(alphabeta::Engine& engine, const GameLine& line,
                         const alphabeta::Limits& limits) {
    engine.prepare();
    return engine.search(line.position, line.keys.keys(), limits);
}

std::uint64_t run_numbered(int threads, std::uint64_t first, std::uint64_t count,
                           const std::function<bool(int, std::uint64_t)>& work,
                           const std::function<void(int)>& stop, const alphabeta::Poll& poll) {
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> stopping{false};
    std::vector<std::uint8_t> done(count, 0);
    std::mutex mutex;
    std::condition_variable finished;
    int running = threads;
    std::exception_ptr failure;

    const auto run = [&](int thread) {
        try {
            for (std::uint64_t i = next++; i < count && !stopping; i = next++) {
                if (!work(thread, first + i)) break;
                done[i] = 1;
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            stopping = true;
        }
        const std::lock_guard lock(mutex);
        --running;
        finished.notify_all();
    };
    std::vector<std::jthread> workers;  // join when destroyed
    workers.reserve(std::size_t(threads));
    try {
        for (int thread = 0; thread < threads; ++thread) workers.emplace_back(run, thread);
    } catch (const std::system_error&) {
        // The system starts no more threads: those that run do the rest.
        const std::lock_guard lock(mutex);
        running -= threads - int(workers.size());
        if (workers.empty()) throw;
    }
    {
        std::unique_lock lock(mutex);
        while (!finished.wait_for(lock, POLL_INTERVAL, [&] { return running == 0; })) {
            lock.unlock();
            std::exception_ptr trouble;
            try {
                if (!stopping && poll && poll()) stopping = true;
            } catch (...) {
                trouble = std::current_exception();
                stopping = true;
            }
            // Repeated, because a search that starts after stop() would not notice it.
            if (stopping)
                for (int thread = 0; thread < threads; ++thread) stop(thread);
            lock.lock();
            if (trouble) failure = trouble;
        }
    }
    workers.clear();  // joins
    if (failure) std::rethrow_exception(failure);
    std::uint64_t complete = 0;
    while (complete < count && done[complete]) ++complete;
    return complete;
}

}  // namespace rookery::datagen
