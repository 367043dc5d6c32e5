#include "rules/movegen.h"

#include "rules/generate.h"

namespace rookery {

void generate_legal(const Position& position, MoveList& list) {
    if (!position.rules.standard()) [[unlikely]]
        return generate_on_board(position, list);
    generator::ListSink sink{list};
    generator::generate_for_side(position, StandardRules{}, sink);
}

MoveList legal_moves(const Position& position) {
    MoveList list;
    generate_legal(position, list);
    return list;
}

int count_legal(const Position& position) {
    if (!position.rules.standard()) [[unlikely]]
        return count_on_board(position);
    generator::CountSink sink;
    generator::generate_for_side(position, StandardRules{}, sink);
    return sink.count;
}

bool has_legal_move(const Position& position) { return count_legal(position) > 0; }

Move find_uci(const Position& position, std::string_view text) {
    if (text.size() < 4 || text.size() > 5) return Move();
    for (const Move move : legal_moves(position)) {
        if (to_uci(position, move) == text) return move;
        if (move.kind() == Move::CASTLING && square_name(move.from()) == text.substr(0, 2) &&
            text.size() == 4 && square_name(move.to()) == text.substr(2, 2))
            return move;
    }
    return Move();
}

std::uint64_t perft(const Position& position, int depth) {
    if (depth <= 0) return 1;
    return position.rules.standard() ? generator::perft_for_side(position, StandardRules{}, depth)
                                     : perft_on_board(position, depth);
}

}  // namespace rookery
