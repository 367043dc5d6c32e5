// Move generation on boards other than the standard one.

#include "rules/generate.h"
#include "rules/stages.h"

namespace rookery {

void generate_on_board(const Position& position, MoveList& list) {
    generator::ListSink sink{list};
    generator::generate_for_side(position, position.rules, sink);
}

int count_on_board(const Position& position) {
    generator::CountSink sink;
    generator::generate_for_side(position, position.rules, sink);
    return sink.count;
}

std::uint64_t perft_on_board(const Position& position, int depth) {
    return generator::perft_for_side(position, position.rules, depth);
}

void generate_noisy_on_board(const Position& position, const NodeInfo& info, MoveList& list) {
    stages::generate_for_side<true>(position, position.rules, info, list);
}

void generate_quiet_on_board(const Position& position, const NodeInfo& info, MoveList& list) {
    stages::generate_for_side<false>(position, position.rules, info, list);
}

bool is_legal_on_board(const Position& position, const NodeInfo& info, Move move) {
    return stages::is_legal(position, position.rules, info, move);
}

}  // namespace rookery
