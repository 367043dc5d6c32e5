"""Any player as a UCI engine: `rookery uci PLAYER`.

    stream.py     bytes in and out, signals, the end of the process
    engine.py     what each command does, and in which order
    search.py     one `go`: from the command to its only `bestmove`
    commands.py   words of `go`, `position` and `setoption` into values
    options.py    what `uci` offers, and what was set
    info.py       `info` lines out of what a player tells
    knowledge.py  opening book and endgame tables before the player is asked

The protocol leaves open what happens when a client does not wait for answers. Here:

- Every `go` but `go perft` gets exactly one `bestmove`, in the order of the `go`s.
- `position` during a search is for the next `go`; the running search keeps its own position.
- `setoption` (of the player) and `ucinewgame` are carried out when the searches before them have
  answered.
- A `go` waits for the searches before it; those without an end of their own (`infinite`, `ponder`,
  no limit at all) it stops.
- `stop` ends all searches given before it; with none it does nothing.
- `isready` is answered at once while a search runs or the player loads, otherwise after everything
  sent before it is done.
- The end of the input is `quit`: searches answer with what they have.
"""
