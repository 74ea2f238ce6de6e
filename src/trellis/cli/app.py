"""The command `trellis`: parses, calls the library, prints. No algorithm lives here."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from trellis import __version__
from trellis.cli.augment import augment
from trellis.cli.bench import bench
from trellis.cli.calibrate import calibrate
from trellis.cli.console import interrupt
from trellis.cli.curve import curve
from trellis.cli.data import data
from trellis.cli.demo import demo
from trellis.cli.evaluate import evaluate
from trellis.cli.inspect import inspect
from trellis.cli.reproduce import reproduce
from trellis.cli.score import score
from trellis.cli.select import select
from trellis.cli.simulate import simulate
from trellis.cli.tag import tag
from trellis.cli.train import train
from trellis.cli.weak import weak
from trellis.errors import TrellisError


class _ReaderGone(Exception):
    """What writes to a pipe that nobody reads any more."""


@contextmanager
def _noticing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise _ReaderGone from None


class _Commands(click.Group):
    """Click would end with the code 1 where a pipe is closed."""

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        with _noticing():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _noticing():
            return super().invoke(ctx)


@click.group(cls=_Commands, epilog="Start with: trellis demo", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="trellis %(version)s")
def app() -> None:
    """Sequence labelling: train a tagger on column files, tag text, evaluate."""


few_labels = (augment, curve, select, simulate)
for command in (demo, train, tag, evaluate, score, calibrate, inspect, data, weak, *few_labels, bench, reproduce):
    app.add_command(command)


def main() -> None:
    """Ends with one clear line and a code: 1 bad input, 2 wrong usage, 130 interrupted, 141 reader gone."""
    try:
        signal.signal(signal.SIGINT, interrupt)
        app(prog_name="trellis", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        hint = f"; see '{error.ctx.command_path} --help'" if error.ctx else ""
        _fail(error.format_message().rstrip(".") + hint, 2)
    except TrellisError as error:
        _fail("; ".join([str(error), *getattr(error, "__notes__", ())]), 1)
    except (KeyboardInterrupt, click.Abort):
        _end_interrupted()
    except (BrokenPipeError, _ReaderGone):  # the former where the last bytes are written
        _fail(None, 141)  # as a program that SIGPIPE ends
    except OSError as error:
        _fail(f"reading or writing failed: {error.strerror or error}", 1)
    except MemoryError:
        _fail("not enough memory; use fewer features, labels or threads, or less data at a time", 1)


def _end_interrupted() -> NoReturn:
    """At once: an interrupt that passed through `exec` on its way, as of a dataclass just being made, has marked
    the interpreter, which would end itself by a signal in the place of an exit code."""
    print("trellis: interrupted", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):
            stream.flush()
    os._exit(130)


def _fail(message: str | None, code: int) -> NoReturn:
    if message is not None:
        print(f"trellis: {message}", file=sys.stderr)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:  # keep the interpreter from trying once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


if __name__ == "__main__":
    main()
