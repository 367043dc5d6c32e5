// All positions of small endgames against a bare king, numbered, and one ply of minimax over them.
//
// An environment, not a tablebase: it knows the legal moves and how games end. backup() applies one
// ply of minimax to the caller's estimates of all states.
//
// The side with the pieces is "strong" and is White here. A value is the number of its own moves in
// which the strong side wins (0: the weak side is to move and mated), or NOT_WON.
//
//   state -> (ending, strong to move?, squares[pieces])   strong king, other pieces, weak king
//
// Mirror images share a state (canonical()): with pawns the first pawn is on files a to d; without,
// the strong king is in the triangle a1 d1 d4. Equal pieces are in ascending order of squares.

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

// When the strong side has won. PROMOTION (Kanis 2016): a queen or rook that is neither captured at
// once nor stalemates; positions after a promotion are then states with a settled value.
enum class EndingGoal : std::uint8_t { MATE, PROMOTION };
[[nodiscard]] EndingGoal find_goal(std::string_view name);  // mate, promotion

using EndingSquares = std::array<std::uint8_t, MAX_ENDING_PIECES>;

class EndingStates {
  public:
    // endings: such as "KPvK", at most 16. Throws std::invalid_argument if one is malformed, has
    // too many pieces, or leads to one that is neither listed nor dead. The goal PROMOTION adds
    // "KQvK" and "KRvK".
    EndingStates(const std::vector<std::string>& endings, EndingGoal goal);

    [[nodiscard]] std::size_t size() const { return squares_.size(); }
    [[nodiscard]] const std::vector<std::string>& endings() const { return names_; }
    [[nodiscard]] const std::vector<EndingSquares>& squares() const { return squares_; }
    [[nodiscard]] const std::vector<std::uint8_t>& ending_of() const { return ending_of_; }
    [[nodiscard]] const std::vector<std::uint8_t>& strong_to_move() const { return strong_; }
    // Throws std::invalid_argument unless state < size().
    [[nodiscard]] Position position(std::size_t state) const;
    // The state of a position (either colour may be the strong side), or -1.
    [[nodiscard]] std::int64_t find(const Position& position) const;

    // One ply of minimax: the mover's best value after its moves, or the result where the game is
    // over. Values and results have size() elements, else throws std::invalid_argument.
    [[nodiscard]] std::vector<std::uint8_t> backup(std::span<const std::uint8_t> values) const;

    // Results of games in which one side moves greedily by the values (ties: the lowest state) and
    // the other plays perfectly.
    [[nodiscard]] std::vector<std::uint8_t> play(std::span<const std::uint8_t> values,
                                                 bool strong_is_greedy) const;

  private:
    struct Material {
        std::vector<Piece> pieces;  // strong king, others, weak king
        bool pawns = false;
        bool settled = false;  // only positions after a promotion, with settled values
        std::vector<std::int32_t> ids;  // by raw_index, -1: no state
    };
    static constexpr std::int32_t DEAD = -2;  // successor outside the states: a draw

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
    // Distinct successors of state s: next_[first_[s]] up to next_[first_[s + 1]]. A state without
    // any has the value settled_[s].
    std::vector<std::size_t> first_;
    std::vector<std::int32_t> next_;
    std::vector<std::uint8_t> settled_;
};

}  // namespace rookery::endings
