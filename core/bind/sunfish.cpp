// A copy of Sunfish's search.

#include "peers/sunfish.h"
#include "bind/bind.h"

namespace rookery::bind {

namespace {

std::vector<std::string> sunfish_moves(const std::vector<std::string>& fens, std::uint64_t nodes) {
    const nb::gil_scoped_release release;
    peers::sunfish::Searcher searcher;
    std::vector<std::string> moves;
    moves.reserve(fens.size());
    for (const std::string& fen : fens) moves.push_back(searcher.choose(fen, nodes));
    return moves;
}

}  // namespace

void bind_sunfish(nb::module_& m) {
    m.def("sunfish_moves", &sunfish_moves, "fens"_a, "nodes"_a,
          "What Sunfish 2026 plays in each position after so many nodes, in UCI; empty where there "
          "is no move. Each position is searched by itself.");
}

}  // namespace rookery::bind
