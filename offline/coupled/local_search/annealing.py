"""The walk: windows are moved a little, the programs repaired, and what is then wrong accepted or not.

The moves are those of module `windows`. All that a walk draws comes from one generator, and how long it goes on is
counted in moves and effort, so it is the same at every call.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.local_search.repair import (
    Books,
    Fit,
    Weights,
    Windows,
    add_up,
    end_of_window,
    fit,
    list_stays,
    make_books,
    make_fit,
    make_windows,
    repair,
    start_of,
)
from hindsched.offline.coupled.local_search.service import Crew, make_crew, run_iteration
from hindsched.offline.coupled.search.constants import SPENT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.state_tables import Table

# Why the walk stopped.
BETTER, WALKED, WAITING = range(3)

# Cells of ``Walk.counts``: moves tried in this walk, and moves accepted since the beginning.
MOVES, TAKEN = range(2)

_MOST_CHANGES = 60  # of programs after a move
_MOST_PRICE, _LEARNT, _FORGOTTEN = 10.0, 0.002, 0.001
_STEPS_ACROSS = 16  # the longest steps of a window are such a part of an iteration, or of three slots
_SHARE_PROGRAMS, _SHARE_COMMUNICATION, _SHARE_LENGTH = 0.30, 0.62, 0.88  # the rest pauses


class Walk(NamedTuple):
    """Where a walk stands: the state accepted last, the one that is tried, and what is known of both.

    ``idle``, ``unserved`` and ``wrong`` are those of the state accepted last; ``generator`` is one word; the cells of
    ``counts`` are named above.
    """

    now: Windows
    trial: Windows
    fits: Fit
    trial_fits: Fit
    books: Books
    idle: Reals
    unserved: Ints
    crew: Crew
    generator: Words
    wrong: Reals
    counts: Ints


def make_walk(iterations: int, workers: int, pauses: int, seed: int) -> Walk:
    """Room for a walk of so many iterations and workers."""
    word = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) % (1 << 64)
    return Walk(
        now=make_windows(iterations, workers, pauses),
        trial=make_windows(iterations, workers, pauses),
        fits=make_fit(iterations, workers),
        trial_fits=make_fit(iterations, workers),
        books=make_books(iterations, workers),
        idle=np.zeros(iterations),
        unserved=np.zeros(iterations, np.int64),
        crew=make_crew(workers),
        generator=np.array([word | 1], np.uint64),
        wrong=np.zeros(1),
        counts=np.zeros(2, np.int64),
    )


@kernel(nogil=True)
def _random(generator: Words) -> float:
    """Return the next number in [0, 1)."""
    x = generator[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    generator[0] = x
    return float(x >> np.uint64(11)) / 9007199254740992.0


@kernel(nogil=True)
def _below(generator: Words, n: int) -> int:
    """Return the next number of 0..n-1."""
    return int(_random(generator) * n)


@kernel(nogil=True)
def _copy_windows(to: Windows, one: Windows) -> None:
    for k in range(one.first.size):
        to.first[k], to.last[k], to.work[k] = one.first[k], one.last[k], one.work[k]
        for i in range(one.pauses.shape[1]):
            to.pauses[k, i] = one.pauses[k, i]
        for q in range(one.sent.shape[1]):
            to.sent[k, q] = one.sent[k, q]


@kernel(nogil=True)
def _copy_fit(to: Fit, one: Fit, low: int, high: int) -> None:
    for k in range(low, high + 1):
        for q in range(one.old.shape[1]):
            to.fresh[k, q] = one.fresh[k, q]
            to.old[k, q] = one.old[k, q]
            to.can_send[k, q] = one.can_send[k, q]
            to.born[k, q] = one.born[k, q]


@kernel(nogil=True)
def _move_window(problem: Problem, walk: Walk, k: int) -> bool:
    """Move, lengthen or interrupt window k of the next state; False if that cannot be."""
    trial, generator = walk.trial, walk.generator
    kind = _random(generator)
    if kind < (_SHARE_COMMUNICATION - _SHARE_PROGRAMS) / (1.0 - _SHARE_PROGRAMS):
        most = max(3, trial.last[trial.last.size - 1] // (_STEPS_ACROSS * trial.last.size))
        by = 1 + (_below(generator, most) if _random(generator) < 0.5 else 0)
        trial.first[k] += -by if _random(generator) < 0.6 else by
    elif kind < (_SHARE_LENGTH - _SHARE_PROGRAMS) / (1.0 - _SHARE_PROGRAMS):
        by = 1 + _below(generator, 3)
        iw = trial.work[k] + (-by if _random(generator) < 0.5 else by)
        if iw < 0 or iw >= problem.work.size:
            return False
        if _random(generator) < 0.4:  # towards the data, not towards the next iteration
            trial.first[k] -= problem.work[iw] - problem.work[trial.work[k]]
        trial.work[k] = iw
    else:
        i = _below(generator, trial.pauses.shape[1])
        by = -1
        if trial.pauses[k, i] >= 0:
            trial.pauses[k, i] = -1
            by = 1
        elif trial.last[k] > trial.first[k]:
            t = trial.first[k] + 1 + _below(generator, trial.last[k] - trial.first[k])
            for j in range(trial.pauses.shape[1]):
                if trial.pauses[k, j] == t:
                    return False
            trial.pauses[k, i] = t
        else:
            return False
        if _random(generator) < 0.4:
            trial.first[k] += by
    return True


@kernel(nogil=True)
def _carry_on(table: Table, problem: Problem, walk: Walk, k: int, latest: int) -> int:
    """Set the ends after window k has been changed; return the last iteration that changes, -1 if that cannot be.

    Later windows go with it: all of them, or some, before a time of communication that becomes longer or shorter.
    """
    trial, generator = walk.trial, walk.generator
    iterations = trial.first.size
    least = (problem.m * problem.t_data + problem.n_com - 1) // problem.n_com
    before = trial.last[k]
    longest = problem.work[trial.work[k]] + trial.pauses.shape[1]
    if trial.first[k] < start_of(trial, k) + least or trial.first[k] + longest >= table.length:
        return -1
    trial.last[k] = end_of_window(problem, trial, k)
    by = trial.last[k] - before
    high = k
    if by != 0:
        with_it = iterations - 1 if _random(generator) < 0.5 else k + _below(generator, iterations - k)
        for j in range(k + 1, with_it + 1):
            trial.first[j] += by
            if trial.first[j] + problem.work[trial.work[j]] + trial.pauses.shape[1] >= table.length:
                return -1
            trial.last[j] = end_of_window(problem, trial, j)
        high = min(iterations - 1, with_it + 1)
    for j in range(k, iterations):
        if trial.first[j] < start_of(trial, j) + least:
            return -1
    return int(high) if trial.last[iterations - 1] <= latest else -1


@kernel(nogil=True)
def _take_back(walk: Walk, n: int) -> None:
    """Take the programs of some stays back, so that others may be sent theirs."""
    books, generator = walk.books, walk.generator
    wanted = 1 + _below(generator, 4)
    for _ in range(200):
        if wanted == 0:
            return
        r = _below(generator, n)
        if books.at[r] >= 0:
            books.at[r] = -1
            books.banned[r] = 1
            wanted -= 1


@kernel(nogil=True)
def _serve_all(
    table: Table, problem: Problem, walk: Walk, windows: Windows, fits: Fit, n: int, is_own: bool, effort: Ints
) -> None:
    """Find out what the channel cannot serve where that is not known, and how many of its slots are idle there."""
    books = walk.books
    for k in range(windows.first.size):
        room = books.over[k] - books.idle[k]  # as if no slot were idle
        if room > 1e-9 or books.tasks[k] < problem.m:
            books.unserved[k] = 0
            continue
        if not books.stale[k]:
            continue
        missing = run_iteration(table, problem, windows, fits, books, walk.crew, n, k, is_own, effort)
        books.unserved[k] = missing
        books.stale[k] = 0
        if missing > 0:
            books.idle[k] = missing / problem.n_com - room
        elif books.over[k] > 0.0:
            books.idle[k] = -room


@kernel(nogil=True)
def _wrong(problem: Problem, walk: Walk, windows: Windows, weights: Weights, aim: int) -> float:
    """Return how much is wrong with the next state, in slots; what a schedule may have is next to nothing."""
    books = walk.books
    wrong = weights.slot * max(0, windows.last[windows.last.size - 1] - aim)
    for k in range(windows.first.size):
        over = max(books.over[k] - books.idle[k], books.unserved[k] / problem.n_com)
        wrong += weights.channel * books.channel_price[k] * max(0.0, over)
        wrong += weights.task * books.task_price[k] * max(0, problem.m - books.tasks[k])
        wrong += weights.program * books.programs[k]
    return float(wrong)


@kernel(nogil=True)
def _is_schedule(problem: Problem, walk: Walk, latest: int) -> bool:
    """Return whether nothing is wrong with the state just accepted."""
    books, now = walk.books, walk.now
    if now.last[now.last.size - 1] > latest:
        return False
    for k in range(now.first.size):
        room = books.over[k] - books.idle[k]
        if room > 1e-9 or books.unserved[k] != 0 or books.tasks[k] < problem.m:
            return False
    return True


@kernel(nogil=True)
def _accept(walk: Walk, low: int, high: int, n: int) -> None:
    """Make the next state the present one."""
    now, books = walk.now, walk.books
    _copy_windows(now, walk.trial)
    _copy_fit(walk.fits, walk.trial_fits, low, high)
    for k in range(now.first.size):
        walk.idle[k] = books.idle[k]
        walk.unserved[k] = books.unserved[k]
        for q in range(now.sent.shape[1]):
            now.sent[k, q] = 0
    for r in range(n):
        if books.at[r] >= 0:
            now.sent[books.at[r], books.stay[r, 0]] = 1


@kernel(nogil=True)
def _learn(problem: Problem, books: Books) -> None:
    """Let what is wanting in the state just accepted weigh more from now on, and less what is not."""
    for k in range(books.tasks.size):
        over = max(books.over[k] - books.idle[k], books.unserved[k] / problem.n_com)
        books.channel_price[k] = _next_price(books.channel_price[k], over > 1e-9)
        books.task_price[k] = _next_price(books.task_price[k], books.tasks[k] < problem.m)


@kernel(nogil=True)
def _next_price(price: float, is_wanting: bool) -> float:
    if is_wanting:
        return min(_MOST_PRICE, price * (1.0 + _LEARNT))
    return price - (price - 1.0) * _FORGOTTEN


@kernel(nogil=True)
def begin(table: Table, problem: Problem, walk: Walk, weights: Weights, aim: int, is_own: bool, effort: Ints) -> None:
    """Start from ``walk.now``, wherever that came from."""
    now, books = walk.now, walk.books
    _copy_windows(walk.trial, now)
    for k in range(now.first.size):
        fit(table, problem, now, walk.trial_fits, k, is_own, effort)
        books.idle[k] = 0.0
        books.unserved[k] = 0
        books.stale[k] = 1
        books.channel_price[k] = books.task_price[k] = 1.0
    n = list_stays(problem, now, walk.trial_fits, books, effort)
    add_up(problem, now, walk.trial_fits, books, n)
    _serve_all(table, problem, walk, now, walk.trial_fits, n, is_own, effort)
    walk.wrong[0] = _wrong(problem, walk, now, weights, aim)
    _accept(walk, 0, now.first.size - 1, n)


@kernel(nogil=True)
def anneal(
    table: Table,
    problem: Problem,
    walk: Walk,
    weights: Weights,
    latest: int,
    aim: int,
    moves: int,
    hot: float,
    cold: float,
    is_own: bool,
    effort: Ints,
) -> int:
    """Go on walking: until a schedule is found that ends in `latest` or before, or so many moves have been tried.

    The walk keeps to states that end in slot `aim` or before, once it has come to one.

    Returns `BETTER`, `WALKED`; or `WAITING` if the effort was used up.
    """
    now, trial, fits, trial_fits, books = walk.now, walk.trial, walk.fits, walk.trial_fits, walk.books
    generator, counts = walk.generator, walk.counts
    iterations = now.first.size
    while counts[MOVES] < moves:
        if effort[SPENT] > effort[STOP]:
            return WAITING
        effort[SPENT] += 4 + problem.p * iterations // 64
        warmth = hot * exp(counts[MOVES] / moves * np.log(cold / hot))
        counts[MOVES] += 1
        _copy_windows(trial, now)
        takes_back = _random(generator) < _SHARE_PROGRAMS
        low, high = 1, 0
        if not takes_back:
            low = _below(generator, iterations)
            if not _move_window(problem, walk, low):
                continue
            high = _carry_on(table, problem, walk, low, max(aim, now.last[iterations - 1]))
            if high < 0:
                continue
        for k in range(iterations):
            books.idle[k] = walk.idle[k]
            books.unserved[k] = walk.unserved[k]
            books.stale[k] = 1 if low <= k <= high else 0
        for k in range(low, high + 1):
            fit(table, problem, trial, trial_fits, k, is_own, effort)
        n = list_stays(problem, trial, trial_fits, books, effort)
        for k in range(iterations):  # a program that can no longer be sent leaves traces later on
            if low <= high and k >= low:
                books.stale[k] = 1
        if takes_back:
            _take_back(walk, n)
            for k in range(iterations):
                books.stale[k] = 1
        add_up(problem, trial, trial_fits, books, n)
        repair(problem, trial_fits, books, weights, n, _MOST_CHANGES, effort)
        wrong = _wrong(problem, walk, trial, weights, aim)
        # The greedy service is worth its time only if the rest is acceptable.
        limit = walk.wrong[0] - warmth * np.log(max(1e-300, _random(generator)))
        if wrong - _unserved(problem, walk, weights) <= limit:
            _serve_all(table, problem, walk, trial, trial_fits, n, is_own, effort)
            wrong = _wrong(problem, walk, trial, weights, aim)
        if wrong <= limit:
            counts[TAKEN] += 1
            _accept(walk, low, high, n)
            _learn(problem, books)
            walk.wrong[0] = _wrong(problem, walk, trial, weights, aim)
            if _is_schedule(problem, walk, latest):
                return BETTER
        else:
            _copy_fit(trial_fits, fits, low, high)
    return WALKED


@kernel(nogil=True)
def _unserved(problem: Problem, walk: Walk, weights: Weights) -> float:
    """Return how much of what is wrong is the units that are not served."""
    books = walk.books
    wrong = 0.0
    for k in range(books.unserved.size):
        served = max(0.0, books.over[k] - books.idle[k])
        wrong += weights.channel * books.channel_price[k] * max(0.0, books.unserved[k] / problem.n_com - served)
    return wrong
