"""Helpers that several test files share; checked by mypy like the package itself.

- `skips`: which tests were skipped and why; what CI may skip
- `needs`: marks for tests that need a program or tables
- `paths`: folders of the project
- `scripted`, `thinkers`: players that do as they are told, at once or after a search
- `uci_session`, `uci_driver`: a UCI engine inside the test process, and as a program
- `bad_engine`: a UCI engine that misbehaves, as a program
- `runs`: training runs in forked children
- `tiny_algorithm`, `tiny_driver`: what those train, and the command line with it
- `nnue_samples`: networks and samples for the engine's training
- `web_parts`, `browser_parts`: a web server with clients, and the page in a real Chromium
- `reference/`: slow, obvious implementations on python-chess, compared with the core
- `golden/`: stored search trees
"""
