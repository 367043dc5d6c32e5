"""The `rookery` command.

Every command is a module in `rookery/commands/`, named like the command (dashes become
underscores), with two texts and two functions:

    HELP = "..."                # its line in `rookery --help`
    DESCRIPTION = "..."         # the first paragraph of its own --help

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help=...)   # if it has a JSON form

    def run(args: argparse.Namespace) -> int:

- At its top a command module imports nothing heavy (argparse, typing); the work is imported inside
  `run`. Only the module of the command asked for is loaded, all of them only for `--help`.
- `run` returns the exit status, 0 for success. A wrong input or a missing file is reported by
  raising `ValueError` (`FenError`, `MoveError`, ...), `OSError` or `ImportError` with a text that
  names the input and the way out: it becomes one line on standard error and exit status 1.
- With `--json` exactly one JSON object goes to standard output (`write_json`) and
  everything else to standard error; on an error that object is {"error": text}.

Set ROOKERY_TRACEBACK=1 to see where an error came from.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import pkgutil
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from rookery import __version__, commands
from rookery.base.json_output import write_json

INTERRUPTED = 128 + signal.SIGINT
USAGE_ERROR = 2


class UsageError(Exception):
    """Words that no command understands; the text is one line that ends with the way out."""


class Parser(argparse.ArgumentParser):
    """Leaves it to `main` to report errors."""

    def error(self, message: str) -> NoReturn:
        """Explain what is wrong in one line that ends with the way out."""
        raise UsageError(f"{message} (see '{self.prog} --help')")


def command_names() -> list[str]:
    """List the commands that have a module."""
    modules = pkgutil.iter_modules(commands.__path__)
    return sorted(module.name.replace("_", "-") for module in modules if module.name[0] != "_")


def make_parser(names: Sequence[str]) -> Parser:
    """Make a parser that knows the commands given."""
    parser = Parser(
        prog="rookery",
        description="Raise chess engines: train them, measure them, play them.",
        epilog="'rookery COMMAND --help' tells more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"rookery {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        module = importlib.import_module(f"rookery.commands.{name.replace('-', '_')}")
        command = subparsers.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        command.set_defaults(run=module.run)
        module.add_arguments(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words
    names = command_names()
    if words and words[0] in names:
        names = [words[0]]  # loading one command is enough
    elif words and not words[0].startswith("-"):
        near = difflib.get_close_matches(words[0], names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
        return _fail(f"unknown command {words[0]!r}; {hint}", USAGE_ERROR, as_json)
    try:
        parsed = make_parser(names).parse_args(words)
    except UsageError as error:
        return _fail(_one_line(error), USAGE_ERROR, as_json)
    return _run(parsed)


def _run(parsed: argparse.Namespace) -> int:
    """Call the command and turn its errors into one line each."""
    as_json = bool(getattr(parsed, "json", False))
    try:
        status = int(parsed.run(parsed))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, as_json)
    except BrokenPipeError:
        # The reader has gone ('| head'); the interpreter must not complain while closing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("ROOKERY_TRACEBACK"):
            raise
        return _fail(_one_line(error), 1, as_json)


def _one_line(error: Exception) -> str:
    """Reduce an error to one line."""
    text = str(error)
    if isinstance(error, OSError) and error.errno is not None:
        from rookery.base.storage import explain

        text = explain(error)
    elif isinstance(error, MemoryError):
        text = f"there is not enough memory ({text}); ask for less"
    text = " ".join(text.split())
    return text or type(error).__name__


def _fail(message: str, status: int, as_json: bool = False) -> int:
    """Report an error on standard error, with `--json` on standard output, too."""
    print(f"rookery: error: {message}", file=sys.stderr)
    if as_json:
        write_json({"error": message})
    return status


if __name__ == "__main__":
    sys.exit(main())
