"""Who fits into which window, and which programs are sent when: the greedy repair of a selection of programs.

The kernels of what module `windows` states in plain Python. A *stay* is a worker's run of iterations at the last slots
of which it is in the same availability period: a program sent in one of them serves in all that follow. At most one
program is sent in a stay, in iteration ``at[r]`` (-1: none).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Bytes, Ints, Reals
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.constants import SPENT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.state_tables import Table


class Windows(NamedTuple):
    """The state of the search: see `windows.Windows`, whose fields these are; ``work`` is an index of W."""

    first: Ints
    last: Ints
    work: Ints
    pauses: Ints
    sent: Bytes


class Fit(NamedTuple):
    """Of each iteration and worker: tasks it could hold if sent the program in it, or before; and its period.

    ``can_send`` tells whether the program could be sent to it, ``born`` is the first slot of its availability period.
    """

    fresh: Ints
    old: Ints
    can_send: Bytes
    born: Ints


class Books(NamedTuple):
    """The programs sent, and what they amount to.

    Stay r is that of worker ``stay[r, 0]`` in iterations ``stay[r, 1]..stay[r, 2]``; a ``banned`` one is sent none for
    now. Of each iteration: tasks that can be held, programs sent, slots of the channel that are wanting
    (``over``, negative if there are too many), slots it cannot use (``idle``), units that were not served
    (``unserved``), and whether that is to be found out anew (``stale``). ``lacking[k]`` counts the iterations before k
    that hold too few tasks. ``choice`` is a stay and the iteration that it should be sent the program in.
    ``channel_price`` and ``task_price`` are how much heavier it weighs, in each iteration, if slots of the channel or
    tasks are wanting: the more, the longer they have been.
    """

    stay: Ints
    at: Ints
    banned: Bytes
    tasks: Ints
    programs: Ints
    over: Reals
    idle: Reals
    unserved: Ints
    stale: Bytes
    lacking: Ints
    choice: Ints
    channel_price: Reals
    task_price: Reals


def make_windows(iterations: int, workers: int, pauses: int) -> Windows:
    """Room for so many iterations and workers, and pauses of each."""
    return Windows(
        np.zeros(iterations, np.int64),
        np.zeros(iterations, np.int64),
        np.zeros(iterations, np.int64),
        np.full((iterations, pauses), -1, np.int64),
        np.zeros((iterations, workers), np.uint8),
    )


def set_windows(to: Windows, one: Windows) -> None:
    """Make windows equal to others, which have as many pauses at most."""
    to.first[:], to.last[:], to.work[:] = one.first, one.last, one.work
    to.pauses[:] = -1
    to.pauses[:, : one.pauses.shape[1]] = one.pauses
    to.sent[:] = one.sent


class Weights(NamedTuple):
    """What is wrong, in slots: a slot of the channel, a task that nobody holds, a program, a slot too many."""

    channel: float
    task: float
    program: float
    slot: float


def make_fit(iterations: int, workers: int) -> Fit:
    """Room for so many."""
    return Fit(
        np.zeros((iterations, workers), np.int64),
        np.zeros((iterations, workers), np.int64),
        np.zeros((iterations, workers), np.uint8),
        np.zeros((iterations, workers), np.int64),
    )


def make_books(iterations: int, workers: int) -> Books:
    """Room for so many."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    stays = iterations * workers
    return Books(
        stay=ints(stays, 3),
        at=ints(stays),
        banned=np.zeros(stays, np.uint8),
        tasks=ints(iterations),
        programs=ints(iterations),
        over=np.zeros(iterations),
        idle=np.zeros(iterations),
        unserved=ints(iterations),
        stale=np.zeros(iterations, np.uint8),
        lacking=ints(iterations + 1),
        choice=ints(2),
        channel_price=np.ones(iterations),
        task_price=np.ones(iterations),
    )


@kernel(nogil=True)
def start_of(windows: Windows, k: int) -> int:
    """Return the first slot of iteration k."""
    return int(windows.last[k - 1]) + 1 if k > 0 else 0


@kernel(nogil=True)
def end_of_window(problem: Problem, windows: Windows, k: int) -> int:
    """Return the slot in which iteration k ends: the W-th from ``first[k]`` on without its pauses."""
    first = windows.first[k]
    least = first + problem.work[windows.work[k]] - 1
    last = least
    while True:
        n = 0
        for i in range(windows.pauses.shape[1]):
            if first < windows.pauses[k, i] <= last:
                n += 1
        if least + n == last:
            return int(last)
        last = least + n


@kernel(nogil=True)
def fit(table: Table, problem: Problem, windows: Windows, fits: Fit, k: int, is_own: bool, effort: Ints) -> None:
    """Find out who fits into the window of iteration k."""
    cnt = table.cnt
    s, c, e = start_of(windows, k), windows.first[k], windows.last[k]
    iw = windows.work[k]
    w = problem.work[iw]
    effort[SPENT] += problem.p // 8
    for q in range(problem.p):
        born = table.down[e, q] + 1
        fits.born[k, q] = born
        fits.fresh[k, q] = fits.old[k, q] = fits.can_send[k, q] = 0
        if born > c:
            continue
        have = cnt[c, q] - cnt[max(s, born), q] - problem.t_prog  # UP slots left for data beside the program
        is_sendable = have >= 0
        up = cnt[e + 1, q] - cnt[c, q]
        if up >= w:
            for i in range(windows.pauses.shape[1]):
                t = windows.pauses[k, i]
                if c < t < e:
                    up -= cnt[t + 1, q] - cnt[t, q]
            if up >= w:
                cap = problem.caps[iw, q]
                if problem.t_data == 0:
                    fits.old[k, q] = cap
                    fits.fresh[k, q] = cap if is_sendable else 0
                else:
                    fits.old[k, q] = min(cap, (have + problem.t_prog) // problem.t_data)
                    fits.fresh[k, q] = min(cap, have // problem.t_data) if is_sendable else 0
        if is_sendable and not (is_own and fits.fresh[k, q] == 0):
            fits.can_send[k, q] = 1


@kernel(nogil=True)
def list_stays(problem: Problem, windows: Windows, fits: Fit, books: Books, effort: Ints) -> int:
    """List the stays in which somebody could compute, with the programs they are sent; return their number."""
    iterations = windows.first.size
    effort[SPENT] += problem.p * iterations // 16
    n = 0
    for q in range(problem.p):
        k = 0
        while k < iterations:
            last = k
            is_of_use = fits.old[k, q] > 0
            while last + 1 < iterations and fits.born[last + 1, q] == fits.born[k, q]:
                last += 1
                is_of_use = is_of_use or fits.old[last, q] > 0
            if is_of_use:
                books.stay[n, 0] = q
                books.stay[n, 1] = k
                books.stay[n, 2] = last
                books.at[n] = -1
                books.banned[n] = 0
                for i in range(k, last + 1):
                    if windows.sent[i, q] and fits.can_send[i, q]:
                        books.at[n] = i
                        break
                n += 1
            k = last + 1
    return n


@kernel(nogil=True)
def add_up(problem: Problem, windows: Windows, fits: Fit, books: Books, n: int) -> None:
    """Count tasks and programs of every iteration, and what the channel lacks."""
    iterations = windows.first.size
    for k in range(iterations):
        books.tasks[k] = books.programs[k] = 0
    for r in range(n):
        i = books.at[r]
        if i < 0:
            continue
        q = books.stay[r, 0]
        books.programs[i] += 1
        books.tasks[i] += fits.fresh[i, q]
        for k in range(i + 1, books.stay[r, 2] + 1):
            books.tasks[k] += fits.old[k, q]
    for k in range(iterations):
        units = books.programs[k] * problem.t_prog + problem.m * problem.t_data
        books.over[k] = units / problem.n_com - (windows.first[k] - start_of(windows, k)) + books.idle[k]


@kernel(nogil=True)
def _held(fits: Fit, q: int, at: int, k: int) -> int:
    """Return the tasks that worker q can hold in iteration k if it is sent the program in iteration `at`, or never."""
    if at < 0 or k < at:
        return 0
    return int(fits.fresh[k, q] if k == at else fits.old[k, q])


@kernel(nogil=True)
def _change(problem: Problem, fits: Fit, books: Books, weights: Weights, r: int, to: int) -> float:
    """Return by how much things would be worse if stay r were sent the program in iteration `to`, -1 for never."""
    q, at = books.stay[r, 0], books.at[r]
    price = problem.t_prog / problem.n_com
    worse = 0.0
    if to >= 0:
        over = books.over[to]
        weight = weights.channel * books.channel_price[to]
        worse += weight * (max(0.0, over + price) - max(0.0, over)) + weights.program
    if at >= 0:
        over = books.over[at]
        weight = weights.channel * books.channel_price[at]
        worse += weight * (max(0.0, over - price) - max(0.0, over)) - weights.program
    first = to if at < 0 else at if to < 0 else min(at, to)
    for k in range(first, books.stay[r, 2] + 1):
        more = _held(fits, q, to, k) - _held(fits, q, at, k)
        if more != 0:
            lacks = problem.m - books.tasks[k]
            worse += weights.task * books.task_price[k] * (max(0, lacks - more) - max(0, lacks))
    return worse


@kernel(nogil=True)
def _apply(problem: Problem, fits: Fit, books: Books, r: int, to: int) -> None:
    """Send stay r the program in iteration `to` instead of where it is sent it now."""
    q, at = books.stay[r, 0], books.at[r]
    price = problem.t_prog / problem.n_com
    if at >= 0:
        books.programs[at] -= 1
        books.over[at] -= price
    if to >= 0:
        books.programs[to] += 1
        books.over[to] += price
    first = to if at < 0 else at if to < 0 else min(at, to)
    for k in range(first, books.stay[r, 2] + 1):
        books.tasks[k] += _held(fits, q, to, k) - _held(fits, q, at, k)
        books.stale[k] = 1
    books.at[r] = to


@kernel(nogil=True)
def repair(problem: Problem, fits: Fit, books: Books, weights: Weights, n: int, most: int, effort: Ints) -> None:
    """Change one stay's program after the other, always the change that helps most, at most so often."""
    iterations = books.tasks.size
    lacking = books.lacking
    for _ in range(most):
        for k in range(iterations):
            lacking[k + 1] = lacking[k] + (1 if books.tasks[k] < problem.m else 0)
        best = -1e-6
        books.choice[0] = -1
        looked = 0
        for r in range(n):
            low, high, at = books.stay[r, 1], books.stay[r, 2], books.at[r]
            # Who is sent none is of use only where somebody is wanting.
            if books.banned[r] or (at < 0 and lacking[high + 1] == lacking[low]):
                continue
            q = books.stay[r, 0]
            for to in range(low - 1, high + 1):
                goal = to if to >= low else -1
                if goal == at or (goal >= 0 and not fits.can_send[goal, q]):
                    continue
                looked += 1 + high - low
                worse = _change(problem, fits, books, weights, r, goal)
                if worse < best:
                    best = worse
                    books.choice[0], books.choice[1] = r, goal
        effort[SPENT] += 1 + n // 64 + looked // 16
        if books.choice[0] < 0:
            return
        _apply(problem, fits, books, books.choice[0], books.choice[1])
        books.banned[books.choice[0]] = 0
