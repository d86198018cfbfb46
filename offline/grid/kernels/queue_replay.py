"""Kernels of the delayed queue, and of the local search over its delays.

A *release* of each job, its submission or later, and a rank define a schedule: in each slot in which a job ends or is
released, released jobs that fit start in order of rank. All decisions use integers. Two kernels have fourteen
arguments, since bundled arrays slow them down.
"""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.grid.kernels.serial_generation import below

__all__ = ["released", "search_delays"]


@kernel
def _add_waiting(waiting: Ints, waits: int, rank: Ints, job: int) -> int:
    """Insert a job into the waiting jobs by rank; return their number."""
    place = waits
    while place > 0 and rank[waiting[place - 1]] > rank[job]:
        waiting[place] = waiting[place - 1]
        place -= 1
    waiting[place] = job
    return waits + 1


@kernel
def _add_run(ends: Ints, nodes_of: Ints, runs: int, end: int, width: int) -> int:
    """Insert a run into the active runs, latest end first; return their number."""
    place = runs
    while place > 0 and ends[place - 1] < end:
        ends[place], nodes_of[place] = ends[place - 1], nodes_of[place - 1]
        place -= 1
    ends[place], nodes_of[place] = end, width
    return runs + 1


@kernel
def released(order: Ints, release: Ints, slot: int) -> int:
    """Return the place in the order of the first job that is released at a slot or later."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) >> 1
        if release[order[middle]] < slot:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _replay(
    length: Ints,
    width: Ints,
    nodes: int,
    rank: Ints,
    order: Ints,
    release: Ints,
    first: int,
    last: int,
    starts: Ints,
    trial: Ints,
    touched: Ints,
    waiting: Ints,
    ends: Ints,
    nodes_of: Ints,
) -> tuple[int, int, int]:
    """Replay the queue from slot ``first`` on, until it agrees with ``starts`` after slot ``last``.

    ``starts`` are valid before ``first``; ``trial`` gets the new starts of the jobs in ``touched``. Return the change
    of the sum of starts, the number of touched jobs, and the number of visits.
    """
    n = len(order)
    waits, runs, free, change, count, visits = 0, 0, nodes, 0, 0, n
    next_job = released(order, release, first)
    for i in range(next_job):
        j = order[i]
        if starts[j] >= first:
            waits = _add_waiting(waiting, waits, rank, j)
        elif starts[j] + length[j] >= first:  # includes an end in the first slot, which lets others start
            runs = _add_run(ends, nodes_of, runs, starts[j] + length[j], width[j])
            free -= width[j]
    differs = last  # the schedules may differ until then
    while next_job < n or waits > 0:
        now = ends[runs - 1] if runs > 0 else release[order[next_job]]
        if next_job < n and release[order[next_job]] < now:
            now = release[order[next_job]]
        while runs > 0 and ends[runs - 1] <= now:
            runs -= 1
            free += nodes_of[runs]
        while next_job < n and release[order[next_job]] <= now:
            j = order[next_job]
            waits = _add_waiting(waiting, waits, rank, j)
            next_job += 1
        left = 0
        is_as_before = True
        visits += waits
        for i in range(waits):
            j = waiting[i]
            if width[j] > free:
                waiting[left] = j
                left += 1
                if starts[j] <= now:
                    is_as_before = False
                continue
            end = now + length[j]
            trial[j] = now
            touched[count] = j
            count += 1
            if starts[j] != now:
                change += now - starts[j]
                differs = max(differs, end, starts[j] + length[j])
            free -= width[j]
            runs = _add_run(ends, nodes_of, runs, end, width[j])
        waits = left
        if is_as_before and now >= differs:
            break
    return change, count, visits


@kernel
def _move(order: Ints, release: Ints, job: int, to: int) -> None:
    """Change the release of a job and restore the order by release; ties may have any order."""
    place = released(order, release, release[job])
    while order[place] != job:
        place += 1
    release[job] = to
    n = len(order)
    while place + 1 < n and release[order[place + 1]] < to:
        order[place] = order[place + 1]
        place += 1
    while place > 0 and release[order[place - 1]] > to:
        order[place] = order[place - 1]
        place -= 1
    order[place] = job


@kernel
def search_delays(
    submit: Ints,
    width: Ints,
    length: Ints,
    nodes: int,
    rank: Ints,
    weights: Ints,
    rounds: int,
    threshold: int,
    state: Ints,
    order: Ints,
    release: Ints,
    starts: Ints,
    best: Ints,
    scratch: Ints,
) -> int:
    """Search over delays for a number of moves; return the number of visits.

    A move draws a job and a new release: its submission, the end of another job, or a slot around its start. It is
    accepted if the total wait rises by at most a random fraction of the threshold.

    Parameters
    ----------
    submit, width, length, nodes
        The jobs.
    rank
        Priority among waiting jobs, least first.
    weights
        (rows, jobs): cumulative weights below 2^31; each move draws by one of the rows.
    rounds, threshold
        Number of moves, and the largest accepted rise, in slots.
    state
        State of the random numbers; ``state[1]`` is the sum of ``starts`` minus that of ``best``.
    order, release, starts
        The present solution: jobs by release, releases, and starts.
    best
        The best starts so far.
    scratch
        (5, jobs).
    """
    n = len(submit)
    trial, touched, waiting, ends, nodes_of = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    visits = 0
    for _ in range(rounds):
        row = weights[below(state, len(weights))]
        drawn = below(state, row[n - 1])
        low, high = 0, n - 1
        while low < high:
            middle = (low + high) >> 1
            if row[middle] <= drawn:
                low = middle + 1
            else:
                high = middle
        j = low
        before = release[j]
        kind = below(state, 10)
        if kind < 2:
            to = submit[j]
        elif kind < 4:
            other = min(n - 1, max(0, j - 150 + below(state, 300)))
            to = starts[other] + length[other]
        else:
            far = below(state, 4096)
            by = far * far * 2 * (min(length[j], 1 << 30) + 60) >> 24
            to = starts[j] + 1 + by if kind < 7 else starts[j] + below(state, 3000) if kind < 8 else starts[j] - by
        to = max(to, submit[j])
        if to == before:
            continue
        _move(order, release, j, to)
        change, count, visited = _replay(
            length,
            width,
            nodes,
            rank,
            order,
            release,
            min(before, to),
            max(before, to),
            starts,
            trial,
            touched,
            waiting,
            ends,
            nodes_of,
        )
        visits += visited
        if change > threshold * below(state, 1024) // 1024:
            _move(order, release, j, before)
            continue
        for i in range(count):
            starts[touched[i]] = trial[touched[i]]
        state[1] += change
        if state[1] < 0:
            state[1] = 0
            for i in range(n):
                best[i] = starts[i]
    return visits
