"""Instances of the paper's experiment (docs/batches/model.md sections 7 and 8), and small random ones."""

from __future__ import annotations

import numpy as np

from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.volunteers import DAY, WEEK, VolunteerParameters, Volunteers, merge_intervals
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream

__all__ = ["back_to_back", "paper", "small"]

#: Largest numbers of batches, and of seconds of all workers of a small instance.
MOST_BATCHES, _MOST_SECONDS = 1_000_000, 10**9


def back_to_back(first: int, deadline_s: int, batches: int) -> list[tuple[int, int]]:
    """Return batches of equal length, each submitted at the deadline of the previous one.

    Parameters
    ----------
    first
        S_0, the first submission.
    deadline_s
        D_i - S_i, seconds from submission to deadline.
    batches
        M, number of batches.

    Raises
    ------
    InputError
        If ``first`` is negative, or another number is below 1.

    Examples
    --------
    >>> back_to_back(10, 5, 2)
    [(10, 15), (15, 20)]
    """
    for name, value, least in (("first", first, 0), ("deadline", deadline_s, 1), ("batches", batches, 1)):
        if value < least:
            raise InputError(f"{value}, expected an integer >= {least}", place=name)
    if batches > MOST_BATCHES:
        raise InputError(f"{batches}, expected at most {MOST_BATCHES}", place="batches")
    return [(first + i * deadline_s, first + (i + 1) * deadline_s) for i in range(batches)]


def paper(
    *,
    workers: int = 37_472,
    tasks: int = 1024,
    deadline_s: int = 4 * 3600,
    c: int = 1800,
    batches: int = 256,
    first_day: int = 153,
    seed: int = 0,
    homogeneous: bool = False,
    lead_s: int = WEEK,
    compute: Compute | str = Compute.AVAILABLE,
    habits: VolunteerParameters | None = None,
    volunteers: Volunteers | None = None,
) -> Instance:
    """Return one instance of the paper's experiment. Its volunteers are drawn when their intervals are read.

    Parameters
    ----------
    workers
        W.
    tasks
        N. The paper has 1024, 2048 and 4096.
    deadline_s, c
        D - S and the mean computing time. The paper has (1 h, 30 min), (4 h, 30 min), (4 h, 1 h) and (4 h, 2 h).
    batches
        M; each batch is submitted at the deadline of the previous one.
    first_day
        S_0 is midnight of this day. The paper has 153, 214 and 275 (1 September, 1 November, 1 January).
    seed
        Seed of the volunteers.
    homogeneous
        Whether all volunteers compute equally fast.
    lead_s
        Seconds from the start of the run to S_0, or fewer if the start would be negative.
    compute
        Seconds in which tasks advance.
    habits
        Constants of the generator; None: the defaults.
    volunteers
        Volunteers to use in place of ``workers``, ``seed`` and ``habits``. Their intervals are shared if already drawn.

    Examples
    --------
    >>> instance = paper(workers=3, batches=2, seed=1)
    >>> instance.batches[0][0] // 86400, instance.start // 86400
    (153, 146)
    """
    first = first_day * DAY
    source = Volunteers(workers, seed, habits or VolunteerParameters()) if volunteers is None else volunteers
    source = source.with_computing_times(c, homogeneous=homogeneous)
    return Instance(
        tasks=tasks,
        batches=back_to_back(first, deadline_s, batches),
        c=source.c,
        up=source,
        start=max(0, first - lead_s),
        compute=compute,
    )


def small(
    seed: int,
    *,
    workers: int = 3,
    tasks: int = 2,
    batches: int = 2,
    length: int = 8,
    longest_c: int = 3,
    up: float = 0.7,
    compute: Compute | str | None = None,
) -> Instance:
    """Return a small random instance, for tests and first steps.

    Batches last 2 to ``length`` seconds, with pauses of at most 2 seconds between them. C_j is uniform in
    1..``longest_c``. A worker is available in each second with probability ``up``.

    Parameters
    ----------
    seed
        Seed of the instance; every worker has a separate random stream.
    workers, tasks, batches, length, longest_c
        Sizes, each at least 1; ``length`` at least 2.
    up
        Probability above 0 and at most 1.
    compute
        Seconds in which tasks advance; None: drawn.

    Raises
    ------
    InputError
        If a size or the probability is out of range.

    Examples
    --------
    >>> small(7) == small(7), small(7) == small(8)
    (True, False)
    """
    sizes = (("workers", workers), ("tasks", tasks), ("batches", batches), ("length", length - 1), ("c", longest_c))
    for name, value in sizes:
        if value < 1:
            raise InputError("expected an integer >= 1" if name != "length" else "expected an integer >= 2", place=name)
        if name in ("workers", "batches", "length") and value > MOST_BATCHES:
            raise InputError(f"{value}, expected at most {MOST_BATCHES}", place=name)
    if workers * batches * length > _MOST_SECONDS:
        most = workers * batches * length
        raise InputError(f"up to {most} seconds of all workers, expected at most {_MOST_SECONDS}", place="workers")
    if not 0 < up <= 1:
        raise InputError(f"{up}, expected a probability above 0", place="up")
    draw = stream("batches", "small", 1, seed)
    start = int(draw.integers(0, 4))
    now = start + int(draw.integers(0, 4))
    rows = []
    for _ in range(batches):
        deadline = now + int(draw.integers(2, length, endpoint=True))
        rows.append((now, deadline))
        now = deadline + int(draw.integers(0, 2, endpoint=True))
    kind = list(Compute)[int(draw.integers(0, 2))] if compute is None else Compute.parse(compute)
    c, ups = [], []
    for j in range(workers):
        draw = stream("batches", "small", 1, seed, "worker", j)
        c.append(int(draw.integers(1, longest_c, endpoint=True)))
        seconds = np.flatnonzero(draw.random(now + length) < up)
        ups.append(merge_intervals(seconds, seconds + 1).tolist())
    return Instance(tasks=tasks, batches=rows, c=c, up=ups, start=start, compute=kind)
