// Alpha-beta search of one thread: iterative deepening principal variation search with an
// evaluator: an NNUE network, or anything else through values.h.
//
// A Searcher owns everything that a thread writes but the transposition table, which may be its
// own or shared. It is light enough that each data-generating thread has one:
//
//   Searcher searcher(evaluator, table);  // TranspositionTable table(1 << 20) of its own
//   searcher.new_game();                 // forgets histories; table.clear() beside it
//   SearchOutcome out = searcher.search(position, earlier_keys, limits);
//
// search() with an NNUE network allocates nothing. With the same evaluator, table contents,
// histories and limits without time it gives the same result everywhere. Steps are numbered in
// search.cpp.

#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "alphabeta/transposition_table.h"
#include "alphabeta/types.h"
#include "alphabeta/values.h"

namespace rookery::alphabeta {

// The answer of one thread, without allocation.
struct SearchOutcome {
    Move best;          // no move if there is none to make
    Score score = 0;    // side to move; of the last completed depth
    int depth = 0;      // last completed
    std::uint64_t nodes = 0;
    int line_length = 0;  // at least 1 if there is a best move
    Move line[MAX_PLY];   // best first
};

class Worker;  // worker.h: the state of the search

class Searcher {
  public:
    Searcher(const Evaluator& evaluator, TranspositionTable& table);
    ~Searcher();
    Searcher(Searcher&&) noexcept;

    // Forget what was learned from earlier searches (histories); the table is the caller's.
    void new_game();

    // earlier_keys: keys of the positions before `root`, oldest first, so that repetitions count;
    // RepetitionKeys::keys() is such a list. Limits of time are obeyed too, pondering is not.
    [[nodiscard]] SearchOutcome search(const Position& root, std::span<const Key> earlier_keys,
                                       const Limits& limits);

    // From any thread: a running search returns soon with what it has.
    void stop();

  private:
    std::unique_ptr<std::atomic<bool>> stop_;
    std::unique_ptr<Worker> worker_;
    TranspositionTable* table_;
};

}  // namespace rookery::alphabeta
