"""Runs of libraries that the clock and Ctrl-C stop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from hindsched.offline.limits import Stopwatch

__all__ = ["run_stoppably"]

Answer = TypeVar("Answer")

_WAIT_S = 0.1  # between two looks at the clock


def run_stoppably(run: Callable[[], Answer], stop: Callable[[], object], watch: Stopwatch) -> Answer:
    """Return what ``run`` returns, in a thread; call ``stop`` when the time of the watch is over.

    Python handles signals while it waits for a thread, not within a library. Ctrl-C calls ``stop`` and is raised.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        running = thread.submit(run)
        try:
            while not running.done() and watch.left_s() is not None:
                try:
                    return running.result(timeout=_WAIT_S)
                except TimeoutError:
                    if watch.is_over():
                        stop()
            return running.result()
        except BaseException:
            stop()
            raise
