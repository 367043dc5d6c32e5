"""Any player as a UCI engine: `rookery uci PLAYER`.

    stream.py     input, output, signals and the end of the process
    engine.py     what each command does, and in which order
    search.py     one `go`: from the command to its `bestmove`
    commands.py   parsing of `go`, `position` and `setoption`
    options.py    UCI options
    info.py       `info` lines
    knowledge.py  opening book and tablebases, consulted before the player

The protocol does not define what happens when a client does not wait for answers. Here:

- Every `go` except `go perft` gets exactly one `bestmove`, in order.
- `position` during a search applies to the next `go`.
- `setoption` (for the player) and `ucinewgame` take effect after the pending searches.
- `go` waits for the pending searches and stops those that would not end (`infinite`, `ponder`, no
  limit at all).
- `stop` ends all pending searches; without any it does nothing.
- `uci` is answered when the player is loaded, because its options belong to the answer.
- `isready` is answered at once during a search, or if the player still loads and `uci` was not
  sent; otherwise after everything before it is done.
- `quit` and the end of the input: searches answer with their best move so far, and a `uci` or `go`
  that waits for the player to load is answered first.
"""
