// A port of the search of Sunfish 2026 (Thomas Dybdahl Ahle and contributors, GPL-3.0), the
// opponent of Kanis 2016, for matches at fixed nodes that would take hours in Python.
//
// It plays the same moves (tests compare): 120-square boards rotated after every move, king
// captures instead of legality, MTD-bi driven by bound(), futility ceilings, null moves, bounds by
// (position, depth). Only positions are stored differently, by 64-bit keys instead of strings.
//
// Searches are independent and without game history. (The original scores the first position of a
// process with the other king table by mistake; this is how it plays later ones.)

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace rookery::peers::sunfish {

struct Move {
    int from = 0, to = 0;
    char promotion = 0;  // N B R Q, or 0
    auto operator<=>(const Move&) const = default;
};

// From the side to move: its pieces are upper case and move towards smaller squares.
struct Position {
    std::array<char, 120> board;  // '.' empty, ' ' outside
    int score;                    // centipawns
    bool own_castling[2];         // west, east
    bool other_castling[2];
    int en_passant;    // square, 0: none
    int king_passant;  // square that a king has castled over, 0: none
    bool turned;       // Black's view
    std::uint64_t keys[2];  // of the pieces, in this view and in the other

    [[nodiscard]] std::uint64_t key() const;
    void put(int square, char piece);
};

class Searcher {
  public:
    // UCI move after this many nodes, empty if there is none. Throws std::invalid_argument for an
    // invalid FEN.
    [[nodiscard]] std::string choose(const std::string& fen, std::uint64_t nodes);

  private:
    struct Entry {
        int lower, upper;
    };

    Move deepen(const Position& root, std::uint64_t nodes);
    int bound(const Position& position, int gamma, int depth, bool root);
    [[nodiscard]] int value(const Position& position, const Move& move) const;
    [[nodiscard]] Position moved(const Position& position, const Move& move) const;
    [[nodiscard]] bool has_moves_that_keep_the_king(const Position& position) const;

    const int* king_table_ = nullptr;  // middle game or end game
    [[nodiscard]] const int* table(char piece) const;

    std::uint64_t nodes_ = 0;
    std::unordered_map<std::uint64_t, Entry> scores_;  // by position and depth
    std::unordered_map<std::uint64_t, Move> moves_;    // by position
    std::unordered_set<std::uint64_t> history_;
};

}  // namespace rookery::peers::sunfish
