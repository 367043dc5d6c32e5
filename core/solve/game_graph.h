// All positions that can come from one, with their exact values, where they fit in memory.
//
// The values are those of play without end: what repeats for ever is a draw, and the half-move
// clock is ignored. Positions are told apart by their 64-bit keys.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rules/position.h"

namespace rookery::solve {

enum class Value : std::uint8_t { UNKNOWN, LOSS, DRAW, WIN };  // for the side to move

struct Outcome {
    Value value = Value::UNKNOWN;
    int plies = 0;  // to the mate, if there is one
};

class GameGraph {
  public:
    // Gives up beyond `most` positions, or when `stopping`, called now and then, returns true.
    GameGraph(const Position& root, std::size_t most, const std::function<bool()>& stopping);

    // Whether all positions were found; otherwise it knows nothing.
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] std::size_t size() const { return outcomes_.size(); }
    // Empty if the position is not one of them.
    [[nodiscard]] std::optional<Outcome> find(const Position& position) const;
    // Best play of both sides up to the mate; empty for a draw.
    [[nodiscard]] std::vector<Move> line(Position position) const;

  private:
    bool explore(const Position& root, std::size_t most, const std::function<bool()>& stopping);
    void evaluate();

    std::unordered_map<Key, std::uint32_t> numbers_;
    std::vector<Outcome> outcomes_;          // of each position; at first only of finished games
    std::vector<std::uint64_t> first_;       // [positions + 1] where its successors begin
    std::vector<std::uint32_t> successors_;  // concatenated
    bool complete_ = false;
};

}  // namespace rookery::solve
