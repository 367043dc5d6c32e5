// All positions of small endings against a bare king, numbered, and one ply of minimax over them.
//
// This is a world to learn in, not a table of answers: it knows the legal moves and how the game
// ends, nothing else. backup() turns the caller's estimate of every state into what one ply of
// looking ahead makes of it; a learner repeats that with estimates of its own.
//
// The side with the pieces is "strong" and is White here. A value says in how many of its own
// moves the strong side wins: n for n more moves, NOT_WON if it does not. With the weak side to
// move and mated, n is 0.
//
//   state -> (ending, strong to move?, squares[pieces])   strong king, other pieces, weak king
//
// States are kept once for all their mirror images (canonical()): with a pawn the first pawn
// stands on the files a to d; without pawns the strong king stands in the triangle a1 d1 d4.
// Equal pieces are in ascending order of their squares.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/position.h"

namespace rookery::endings {

inline constexpr int MAX_ENDING_PIECES = 4;
inline constexpr std::uint8_t NOT_WON = 255;

// What ends the game in favour of the strong side. PROMOTION: paper 003's, a queen or rook that
// is neither taken at once nor stalemates; positions after a promotion are then states whose value
// the rules settle.
enum class EndingGoal : std::uint8_t { MATE, PROMOTION };
[[nodiscard]] EndingGoal find_goal(std::string_view name);  // mate, promotion

using EndingSquares = std::array<std::uint8_t, MAX_ENDING_PIECES>;

class EndingStates {
  public:
    // endings: such as "KPvK", at most 16. Throws std::invalid_argument if one is malformed, has
    // too many pieces, or leads to an ending that is not listed and not dead. With the goal
    // PROMOTION, "KQvK" and "KRvK" are added by themselves.
    EndingStates(const std::vector<std::string>& endings, EndingGoal goal);

    [[nodiscard]] std::size_t size() const { return squares_.size(); }
    [[nodiscard]] const std::vector<std::string>& endings() const { return names_; }
    [[nodiscard]] const std::vector<EndingSquares>& squares() const { return squares_; }
    [[nodiscard]] const std::vector<std::uint8_t>& ending_of() const { return ending_of_; }
    [[nodiscard]] const std::vector<std::uint8_t>& strong_to_move() const { return strong_; }
    // Throws std::invalid_argument for a number that is not below size().
    [[nodiscard]] Position position(std::size_t state) const;
    // The state of a position (either colour may be the strong side), or -1.
    [[nodiscard]] std::int64_t find(const Position& position) const;

    // targets[s] = the mover's best of the values after its moves, or what the rules say where
    // the game is over. Values and results of both methods have size() elements; throws
    // std::invalid_argument for another number of values.
    [[nodiscard]] std::vector<std::uint8_t> backup(std::span<const std::uint8_t> values) const;

    // How games end in which one side always moves to the state whose value it likes best (the
    // first of equals, by number) and the other side plays as well as can be.
    [[nodiscard]] std::vector<std::uint8_t> play(std::span<const std::uint8_t> values,
                                                 bool strong_is_greedy) const;

  private:
    struct Material {
        std::vector<Piece> pieces;  // strong king, others, weak king
        bool pawns = false;
        bool settled = false;  // only positions after a promotion, valued by the rules
        std::vector<std::int32_t> ids;  // by raw_index, -1: no state
    };
    // Where moves lead that leave the states: nobody can win any more.
    static constexpr std::int32_t DEAD = -2;

    void require_values(std::span<const std::uint8_t> values) const;
    void backup(std::span<const std::uint8_t> values, std::span<std::uint8_t> targets) const;
    void enumerate(int ending);
    void add(int ending, bool strong, const EndingSquares& canonical);
    void require_closed(const std::string& name) const;
    [[nodiscard]] std::int32_t id_of(const Position& position) const;
    // Lists the moves of a state in next_, or settles its value.
    void expand(std::size_t state);

    std::vector<std::string> names_;
    std::vector<Material> materials_;
    std::vector<EndingSquares> squares_;
    std::vector<std::uint8_t> ending_of_;
    std::vector<std::uint8_t> strong_;
    // The states after the moves of state s: next_[first_[s]] up to next_[first_[s + 1]], each
    // once. A state without any has a value by the rules, settled_[s].
    std::vector<std::size_t> first_;
    std::vector<std::int32_t> next_;
    std::vector<std::uint8_t> settled_;
};

}  // namespace rookery::endings
