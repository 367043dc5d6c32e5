"""The `rookery` command.

Every command is a module in `rookery/commands/` with the name of the command and two functions:

    def add_arguments(parser: argparse.ArgumentParser) -> None: ...
    def run(args: argparse.Namespace) -> int: ...  # returns the exit status

- The first line of the module's docstring is the command's line in `rookery --help`, the rest the
  description in its own `--help`.
- Command modules import nothing heavy at the top: `run` imports what it needs. Only the module of
  the requested command is loaded, and all of them for `rookery --help`.
- To report invalid input or a missing file, `run` raises `ValueError`, `OSError` or `ImportError`
  with a text that names the input and the remedy; it becomes one line on standard error and exit
  status 1.
- With `--json`, exactly one JSON object goes to standard output and everything else to standard
  error; after an error that object is {"error": text}.
- SIGTERM ends a command as Ctrl-C does: `run` gets a KeyboardInterrupt.

Set ROOKERY_TRACEBACK=1 to get a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from rookery import __version__, commands
from rookery.base.json_output import write_json
from rookery.base.output import print_nowhere

INTERRUPTED = 128 + signal.SIGINT
USAGE_ERROR = 2


class UsageError(Exception):
    """Invalid arguments; the text is one line that ends with a hint."""


class HelpFormatter(argparse.HelpFormatter):
    """Appends the default value to the help of an option."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text, default = action.help or "", action.default
        if default in ("", [], argparse.SUPPRESS) or default is None or isinstance(default, bool):
            return text
        return f"{text} (default: %(default)s)"


class Parser(argparse.ArgumentParser):
    """Formats help with defaults, and raises errors instead of exiting."""

    def __init__(self, **options: Any) -> None:
        """Use our help formatter."""
        super().__init__(formatter_class=HelpFormatter, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown options here, where the nearest name and the right --help are known."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            word = unknown[0].partition("=")[0]
            near = difflib.get_close_matches(word, self._option_string_actions, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Raise the error with a hint."""
        raise UsageError(f"{message} (see '{self.prog} --help')")


def command_names() -> list[str]:
    """List the commands."""
    modules = pkgutil.iter_modules(commands.__path__)
    return sorted(module.name for module in modules if module.name[0] != "_")


def make_parser(names: Sequence[str]) -> Parser:
    """Make a parser for the given commands."""
    parser = Parser(
        prog="rookery",
        description="Train, measure and play chess engines.",
        epilog="'rookery COMMAND --help' describes a command.",
    )
    parser.add_argument("--version", action="version", version=f"rookery {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        module = importlib.import_module(f"rookery.commands.{name}")
        summary, _, description = (module.__doc__ or " ").partition(".\n\n")
        summary = summary[0].lower() + summary[1:]
        command = subparsers.add_parser(name, help=summary, description=description)
        command.set_defaults(run=module.run)
        module.add_arguments(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    _replace_closed_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words
    names = command_names()
    if not words:
        make_parser(names).print_help()
        return 0
    if words[0] in names:
        names = [words[0]]  # load only this command
    elif not words[0].startswith("-"):
        near = difflib.get_close_matches(words[0], names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(names)}"
        return _fail(f"unknown command {words[0]!r}; {hint}", USAGE_ERROR, as_json)
    try:
        parsed = make_parser(names).parse_args(words)
    except UsageError as error:
        return _fail(_one_line(error), USAGE_ERROR, as_json)
    return _run(parsed)


def _run(parsed: argparse.Namespace) -> int:
    """Run the command and report errors in one line."""
    as_json = bool(getattr(parsed, "json", False))
    try:
        with _sigterm_interrupts():
            status = int(parsed.run(parsed))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, as_json)
    except BrokenPipeError:
        print_nowhere(sys.stdout)  # the reader is gone ('| head')
        return 1
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        unexpected = isinstance(error, RuntimeError) and not _no_memory(error)
        if unexpected or os.environ.get("ROOKERY_TRACEBACK"):
            raise
        return _fail(_one_line(error), 1, as_json)


@contextlib.contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that it closes what it started."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _replace_closed_streams() -> None:
    """Print nowhere if standard output or standard error was closed by the caller (`>&-`).

    Otherwise the next file to be opened would get its number.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _no_memory(error: Exception) -> bool:
    """Whether memory or threads ran out; torch and Python's threads say so by a RuntimeError."""
    signs = ("can't allocate memory", "can't start new thread")
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in signs)


def _one_line(error: Exception) -> str:
    """Describe an error in one line."""
    text = str(error)
    if isinstance(error, OSError) and error.errno is not None:
        from rookery.base.storage import explain

        text = explain(error)
    elif _no_memory(error):
        text = f"out of memory ({text}); use smaller settings"
    text = " ".join(text.split())
    return text or type(error).__name__


def _fail(message: str, status: int, as_json: bool = False) -> int:
    """Report an error on standard error and, with `--json`, on standard output."""
    print(f"rookery: error: {message}", file=sys.stderr)
    if as_json:
        try:
            write_json({"error": message})
        except OSError:  # nobody reads it, or the disk is full; the status tells, too
            print_nowhere(sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main())
