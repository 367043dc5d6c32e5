#include "alphabeta/engine.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "base/memory.h"

namespace rookery::alphabeta {

namespace {

std::size_t checked_hash(std::size_t mebibytes) {
    if (mebibytes < 1 || mebibytes > MAX_HASH_MEBIBYTES)
        throw std::invalid_argument("hash of " + std::to_string(mebibytes) + " MiB is not 1 to " +
                                    std::to_string(MAX_HASH_MEBIBYTES));
    return mebibytes << 20;
}

std::string hash_text(std::size_t bytes) {
    return "a hash table of " + std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

Engine::Engine(Evaluator evaluator, int threads, std::size_t hash_mebibytes, Key key_mask)
    : evaluator_(std::move(evaluator)), table_(0, key_mask) {
    set_hash(hash_mebibytes);
    set_threads(threads);
}

void Engine::set_threads(int threads) {
    const Busy busy = use();
    if (threads < 1 || threads > MAX_THREADS)
        throw std::invalid_argument(std::to_string(threads) + " threads are not 1 to " +
                                    std::to_string(MAX_THREADS));
    auto added = make_workers(threads - int(workers_.size()), evaluator_);
    while (int(workers_.size()) > threads) workers_.pop_back();
    for (auto& worker : added) workers_.push_back(std::move(worker));
}

std::vector<std::unique_ptr<Worker>> Engine::make_workers(int count, const Evaluator& evaluator) {
    return allocate(std::to_string(count) + " more threads", 0, [&] {
        std::vector<std::unique_ptr<Worker>> workers;
        for (int i = 0; i < count; ++i) {
            workers.push_back(std::make_unique<Worker>(evaluator, table_, stopped_));
            workers.back()->set_budget(budget_);
            workers.back()->set_selective(selective_, extend_checks_);
            workers.back()->set_parameters(parameters_);
        }
        workers_.reserve(workers_.size() + workers.size());
        return workers;
    });
}

void Engine::set_hash(std::size_t mebibytes) {
    const Busy busy = use();
    const std::size_t bytes = checked_hash(mebibytes), kept = table_.bytes();
    const std::string text =
        hash_text(bytes) + (workers_.empty() ? "" : "; " + hash_text(kept) + " stays in use");
    allocate(text, double(bytes), [&] { table_.resize(bytes); });
}

void Engine::set_evaluator(Evaluator evaluator) {
    const Busy busy = use();
    workers_ = make_workers(int(workers_.size()), evaluator);
    evaluator_ = std::move(evaluator);
    table_.clear();
}

void Engine::set_budget(MoveBudgetPtr budget) {
    const Busy busy = use();
    budget_ = std::move(budget);
    for (auto& worker : workers_) worker->set_budget(budget_);
    table_.clear();
}

void Engine::set_selective(bool selective, bool extend_checks) {
    const Busy busy = use();
    selective_ = selective;
    extend_checks_ = extend_checks;
    for (auto& worker : workers_) worker->set_selective(selective, extend_checks);
    table_.clear();
}

void Engine::set_parameters(const Parameters& parameters) {
    const Busy busy = use();
    parameters_ = parameters;
    for (auto& worker : workers_) worker->set_parameters(parameters);
    table_.clear();
}

void Engine::new_game() {
    const Busy busy = use();
    table_.clear();
    for (auto& worker : workers_) worker->new_game();
}

std::uint64_t Engine::nodes() const {
    std::uint64_t total = 0;
    for (const auto& worker : workers_) total += worker->nodes();
    return total;
}

Result Engine::search(const Position& root, std::span<const Key> earlier_keys, const Limits& limits,
                      const Report& report, const Poll& poll) {
    const Busy busy = use();
    time_.start(limits);
    table_.new_search();
    Worker& main = *workers_[0];
    Limits helper_limits = limits;
    // Each thread gets an equal share of the node limit.
    if (limits.nodes)
        helper_limits.nodes = std::max<std::uint64_t>(1, limits.nodes / workers_.size());
    for (auto& worker : workers_) worker->set_root(root, earlier_keys, helper_limits);
    if (main.root_count() == 0) return Result();

    std::exception_ptr failure;  // the first of any thread
    std::once_flag failed;
    const auto guarded = [&](const auto& work) {
        try {
            work();
        } catch (...) {
            std::call_once(failed, [&] { failure = std::current_exception(); });
            stop();
        }
    };
    std::vector<std::jthread> helpers;
    helpers.reserve(workers_.size());
    try {
        for (std::size_t i = 1; i < workers_.size(); ++i)
            helpers.emplace_back([&, i] {
                guarded([&] { workers_[i]->deepen(helper_limits, nullptr, nullptr, nullptr); });
            });
    } catch (const std::system_error&) {
        // The system starts no more threads: those that run suffice.
    }
    std::function<void()> report_depth;
    if (report) report_depth = [&] { report(result_of(main, limits.lines)); };
    guarded([&] {
        main.deepen(helper_limits, &time_, report_depth, poll);
        wait_while_pondering(poll);
    });
    stop();  // the others
    helpers.clear();  // joins
    if (failure) std::rethrow_exception(failure);
    return result_of(limits.lines == 1 ? best_worker() : main, limits.lines);
}

// A finished search may not return before ponderhit().
void Engine::wait_while_pondering(const Poll& poll) const {
    while (time_.pondering() && !stopped_.load(std::memory_order_relaxed)) {
        if (poll && poll()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

// The main worker, unless another completed a greater depth with a better score.
const Worker& Engine::best_worker() const {
    const Worker* best = workers_[0].get();
    for (const auto& worker : workers_)
        if (worker->completed_depth() > best->completed_depth() &&
            worker->root_move(0).score > best->root_move(0).score)
            best = worker.get();
    return *best;
}

Result Engine::result_of(const Worker& worker, int lines) const {
    Result result;
    result.depth = worker.completed_depth();
    result.selective_depth = worker.selective_depth();
    result.nodes = nodes();
    result.seconds = time_.elapsed();
    result.late_seconds = time_.late();
    for (int i = 0; i < std::min(std::max(lines, 1), worker.root_count()); ++i) {
        const RootMove& move = worker.root_move(i);
        const bool searched = move.score != -INFINITE;
        if (i > 0 && !searched) break;
        result.lines.push_back({searched ? move.score : worker.root_evaluation(),
                                move.bound,
                                {move.line, move.line + move.line_length}});
    }
    result.best = worker.root_move(0).move;
    result.score = result.lines[0].score;
    return result;
}

}  // namespace rookery::alphabeta
