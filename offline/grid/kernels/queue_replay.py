"""The queue that holds jobs back, and a local search over who is held and until when: kernels.

A *release* of each job, its submission or later, and a rank make a schedule: in each slot in which something ends or is
released, what is released and fits starts, by rank. Only integers decide what a schedule is.
"""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.grid.kernels.serial_generation import below

__all__ = ["hold", "released"]


@kernel
def _line_up(waiting: Ints, waits: int, rank: Ints, job: int) -> int:
    """Put a job among those that wait, by rank; return how many they are."""
    place = waits
    while place > 0 and rank[waiting[place - 1]] > rank[job]:
        waiting[place] = waiting[place - 1]
        place -= 1
    waiting[place] = job
    return waits + 1


@kernel
def _occupy(ends: Ints, held: Ints, runs: int, end: int, width: int) -> int:
    """Put a run among those that hold nodes, the last to end first; return how many they are."""
    place = runs
    while place > 0 and ends[place - 1] < end:
        ends[place], held[place] = ends[place - 1], held[place - 1]
        place -= 1
    ends[place], held[place] = end, width
    return runs + 1


@kernel
def released(order: Ints, release: Ints, slot: int) -> int:
    """Return the place in the order of the first job released at a slot or later."""
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
    held: Ints,
) -> tuple[int, int, int]:
    """Run the queue anew from slot ``first`` on, until nothing differs any more after slot ``last``.

    ``starts`` are right before ``first``; ``trial`` gets the new starts of the jobs in ``touched``. Return how much the
    sum of starts changes, how many jobs were touched, and how much was looked at.
    """
    n = len(order)
    waits, runs, free, change, count, looks = 0, 0, nodes, 0, 0, n
    coming = released(order, release, first)
    for i in range(coming):
        j = order[i]
        if starts[j] >= first:
            waits = _line_up(waiting, waits, rank, j)
        elif starts[j] + length[j] >= first:  # an end in the first slot lets others start
            runs = _occupy(ends, held, runs, starts[j] + length[j], width[j])
            free -= width[j]
    differs = last  # until then something is not as it was
    while coming < n or waits > 0:
        now = ends[runs - 1] if runs > 0 else release[order[coming]]
        if coming < n and release[order[coming]] < now:
            now = release[order[coming]]
        while runs > 0 and ends[runs - 1] <= now:
            runs -= 1
            free += held[runs]
        while coming < n and release[order[coming]] <= now:
            j = order[coming]
            waits = _line_up(waiting, waits, rank, j)
            coming += 1
        left = 0
        is_as_before = True
        looks += waits
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
            runs = _occupy(ends, held, runs, end, width[j])
        waits = left
        if is_as_before and now >= differs:
            break
    return change, count, looks


@kernel
def _move(order: Ints, release: Ints, job: int, to: int) -> None:
    """Give a job another release, and the order that goes with it; of one slot any order will do."""
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
def hold(
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
    """Search for so many rounds who is better held back; return how much was looked at.

    A move draws a job, and gives it another release: its submission, the end of another job, or somewhat earlier or
    later than its start. It is kept if the total wait does not rise by more than a random part of the threshold.

    Parameters
    ----------
    submit, width, length, nodes
        The jobs.
    rank
        Who goes first of those that wait.
    weights
        (rows, jobs): running sums below 2^31; each move draws by one of the rows.
    rounds, threshold
        Moves tried, and by how many slots a kept one may be worse.
    state
        Of the random numbers; ``state[1]`` is how far the sum of ``starts`` is above that of ``best``.
    order, release, starts
        Where the search is: jobs by release, releases, and the starts that they make.
    best
        The best starts so far.
    scratch
        (5, jobs).
    """
    n = len(submit)
    trial, touched, waiting, ends, held = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    looks = 0
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
        change, count, looked = _replay(
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
            held,
        )
        looks += looked
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
    return looks
