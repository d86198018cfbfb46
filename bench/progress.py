"""Progress on standard error."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["announce_compilation", "counting", "working"]


def announce_compilation() -> None:
    """Report on standard error what this process compiles: at most one line a second, and nothing once it is loaded."""
    logger = logging.getLogger("hindsched.compiling")
    logger.setLevel(logging.INFO)
    if not logger.handlers:
        handler = logging.StreamHandler()  # standard error
        handler.setFormatter(logging.Formatter("hindsched: %(message)s"))
        handler.addFilter(_at_intervals())
        logger.addHandler(handler)
        logger.propagate = False


def _at_intervals(interval_s: float = 1.0) -> Callable[[logging.LogRecord], bool]:
    """Return a filter that passes all warnings, and one message of progress per interval."""
    last = 0.0

    def passes(record: logging.LogRecord) -> bool:
        nonlocal last
        if record.levelno > logging.INFO:
            return True
        is_due = record.created - last >= interval_s
        last = record.created if is_due else last
        return is_due

    return passes


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a description and the elapsed time on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(what, total=None)
        yield


@contextmanager
def counting(what: str, total: int, done: int) -> Iterator[_Counter]:
    """Show finished jobs, their rate and the remaining time; without a terminal, one line per ten seconds."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    if sys.stderr.isatty():
        # counts and times keep their width; the note has the rest of the line
        note = Column(ratio=1, no_wrap=True, overflow="ellipsis")
        columns = (
            TextColumn("{task.fields[what]}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=10),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            TextColumn("{task.description}", table_column=note),
        )
        console = Console(stderr=True)
        period = _Counter._WINDOW_S
        with Progress(*columns, console=console, transient=True, expand=True, speed_estimate_period=period) as progress:
            yield _Counter(what, total, done, progress)
    else:
        yield _Counter(what, total, done, None)


class _Counter:
    _EVERY_S = 10.0
    #: Number of last seconds over which the rate is measured.
    _WINDOW_S = 60.0
    #: Number of jobs before a rate is shown: processes may compile in their first job.
    _SHOWN = 10
    #: Number of seconds before a rate is shown.
    _SHORTEST_S = 1.0

    def __init__(self, what: str, total: int, done: int, progress: Progress | None) -> None:
        import time

        self._what, self._total, self._done = what, total, done
        self._failed = 0
        self._clock = time.monotonic
        self._last_line = self._clock()
        self._steps: deque[tuple[float, int]] = deque()  # rates count from the end of the first job, which may compile
        self._progress = progress
        self._task = None if progress is None else progress.add_task("", total=total, completed=done, what=what)

    def step(self, note: str, *, failed: bool = False) -> None:
        """Count one more finished or failed job, described by ``note``."""
        self._done += 1
        self._failed += failed
        failures = f", {self._failed} failed" if self._failed else ""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, advance=1, description=f"{note}{failures}")
            return
        now = self._clock()
        self._steps.append((now, self._done))
        while len(self._steps) > 2 and now - self._steps[0][0] > self._WINDOW_S:
            self._steps.popleft()
        if now - self._last_line >= self._EVERY_S or self._done == self._total:
            self._last_line = now
            line = f"{self._what}: {self._done}/{self._total}{self._pace()}{failures}, last: {note}"
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    def _pace(self) -> str:
        """Return the rate and the remaining time; empty after too few jobs."""
        (first, before), (last, done) = self._steps[0], self._steps[-1]
        if done - before < self._SHOWN or last - first < self._SHORTEST_S:
            return ""
        rate = (done - before) / (last - first)
        return f", {rate:.1f}/s, {(self._total - self._done) / rate:.0f} s left"
