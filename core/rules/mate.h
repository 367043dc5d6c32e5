// Forced mates, exactly: every reply is tried and nothing is pruned.

#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "rules/position.h"
#include "rules/types.h"

namespace rookery {

class MateSearch {
  public:
    // `stopping` is called about every millisecond; true ends the search.
    MateSearch(std::uint64_t nodes, std::function<bool()> stopping)
        : node_limit_(nodes), stopping_(std::move(stopping)) {}

    // The shortest mate by the side to move in at most `moves` of its moves: the line in which the
    // other side resists as long as possible. Empty if there is none, or none was found in time
    // (then stopped()). `only`: the first moves to try; none: all.
    [[nodiscard]] std::vector<Move> find(const Position& position, int moves,
                                         const std::vector<Move>& only = {});
    // Whether the side to move mates in at most `moves` of its moves.
    [[nodiscard]] bool mates(const Position& position, int moves) {
        return attack(position, moves);
    }
    // Whether it is mated in at most `moves` of the other side's, whatever it does.
    [[nodiscard]] bool mated(const Position& position, int moves) {
        return defend(position, moves) && !stopped_;
    }
    // The line of that, with the longest resistance.
    [[nodiscard]] std::vector<Move> resist(const Position& position, int moves);
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

  private:
    // Whether the side to move mates in at most `moves`; best: its first move.
    bool attack(const Position& position, int moves, Move* best = nullptr,
                const std::vector<Move>& only = {});
    // Whether the side to move is mated in at most `moves` of the other side, whatever it does.
    bool defend(const Position& position, int moves);
    // Appends the reply after which the mate in at most `moves` takes longest, and what follows.
    void add_reply(const Position& position, int moves, std::vector<Move>& line);
    void add_line(const Position& position, int moves, std::vector<Move>& line,
                  const std::vector<Move>& only);
    bool count_node();

    std::unordered_map<Key, int> refuted_;  // key -> most moves in which there is no mate
    std::unordered_map<Key, int> proven_;   // key -> fewest moves in which there is a mate
    std::uint64_t node_limit_, nodes_ = 0;
    std::function<bool()> stopping_;
    bool stopped_ = false;
};

}  // namespace rookery
