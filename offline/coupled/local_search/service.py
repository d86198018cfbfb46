"""Tasks and transfers of one iteration whose window and programs are given: a greedy choice that is nearly exact.

Tasks go one by one to whoever has most UP slots to spare; then the slots before the window are filled in order, each
with those that can least wait. Nothing is wrong if something is left unserved that an exact flow could serve: the
search goes on as if it could not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.local_search.repair import Books, Fit, Windows, start_of
from hindsched.offline.coupled.search.constants import SPENT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.least_slack_first import least_slack
from hindsched.offline.coupled.search.state_tables import Table


class Crew(NamedTuple):
    """Who takes part in an iteration: worker, first slot to be served in, most tasks, whether it is sent the program.

    ``room`` are its UP slots before the window less what it needs, ``tasks`` what it is given, ``left`` the units it
    still needs. ``served`` and ``slack`` list those served in a slot. If ``slots`` has rows, ``slots[t, j]`` tells
    whether j is served in slot t.
    """

    worker: Ints
    since: Ints
    most: Ints
    is_sent: Ints
    room: Ints
    tasks: Ints
    left: Ints
    served: Ints
    slack: Ints
    slots: Bytes


def make_crew(workers: int, slots: int = 0) -> Crew:
    """Room for so many workers, and to write down who is served in so many slots."""

    def ints() -> Ints:
        return np.zeros(workers, np.int64)

    written = np.zeros((slots, workers), np.uint8)
    return Crew(ints(), ints(), ints(), ints(), ints(), ints(), ints(), ints(), ints(), written)


@kernel(nogil=True)
def gather(
    table: Table, problem: Problem, windows: Windows, fits: Fit, books: Books, crew: Crew, n: int, k: int
) -> int:
    """List who could take part in iteration k; return how many."""
    s, c = start_of(windows, k), windows.first[k]
    size = 0
    for r in range(n):
        at, q = books.at[r], books.stay[r, 0]
        if at < 0 or k < at or k > books.stay[r, 2]:
            continue
        most = fits.fresh[k, q] if k == at else fits.old[k, q]
        if k > at and most == 0:
            continue
        crew.worker[size] = q
        crew.since[size] = max(s, fits.born[k, q])
        crew.most[size] = most
        crew.is_sent[size] = 1 if k == at else 0
        crew.room[size] = table.cnt[c, q] - table.cnt[crew.since[size], q] - (problem.t_prog if k == at else 0)
        size += 1
    return size


@kernel(nogil=True)
def share_out(problem: Problem, crew: Crew, size: int, is_own: bool, effort: Ints) -> bool:
    """Give out the tasks, one by one, to whoever has most room; False if they are too many."""
    left = problem.m
    for j in range(size):
        crew.tasks[j] = 0
        if is_own and crew.is_sent[j]:  # without stand-by who is sent the program computes
            crew.tasks[j] = 1
            crew.room[j] -= problem.t_data
            left -= 1
    if left < 0:
        return False
    effort[SPENT] += left * size // 64
    for _ in range(left):
        best = -1
        for j in range(size):
            if crew.tasks[j] < crew.most[j] and (best < 0 or crew.room[j] > crew.room[best]):
                best = j
        if best < 0:
            return False
        crew.tasks[best] += 1
        crew.room[best] -= problem.t_data
    return True


@kernel(nogil=True)
def serve(table: Table, problem: Problem, windows: Windows, crew: Crew, size: int, k: int, effort: Ints) -> int:
    """Serve everybody as far as the channel can; return how many units are left."""
    cnt = table.cnt
    s, c = start_of(windows, k), windows.first[k]
    left, served, slack = crew.left, crew.served, crew.slack
    is_written = crew.slots.shape[0] > 0
    waiting = 0
    for j in range(size):
        left[j] = crew.tasks[j] * problem.t_data + (problem.t_prog if crew.is_sent[j] else 0)
        waiting += left[j]
    for t in range(s, c):
        if waiting == 0:
            break
        effort[SPENT] += 1 + size // 64
        num = least_slack(cnt, crew.worker, crew.since, left, served, slack, size, problem.n_com, t, c)
        for i in range(num):
            left[served[i]] -= 1
            if is_written:
                crew.slots[t - s, served[i]] = 1
        waiting -= num
    return int(waiting)


@kernel(nogil=True)
def run_iteration(
    table: Table,
    problem: Problem,
    windows: Windows,
    fits: Fit,
    books: Books,
    crew: Crew,
    n: int,
    k: int,
    is_own: bool,
    effort: Ints,
) -> int:
    """Write tasks and transfers of iteration k to `crew`; return how many units are left unserved, -1 if tasks are."""
    size = gather(table, problem, windows, fits, books, crew, n, k)
    if not share_out(problem, crew, size, is_own, effort):
        return -1
    return int(serve(table, problem, windows, crew, size, k, effort))
