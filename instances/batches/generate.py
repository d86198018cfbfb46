"""Instances of the paper's experiments on drawn volunteers (docs/batches/model.md sections 7 and 8), and small ones."""

from __future__ import annotations

import numpy as np

from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.volunteers import DAY, WEEK, VolunteerParameters, Volunteers, merge_intervals
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream

__all__ = ["back_to_back", "paper", "small"]


def back_to_back(first: int, deadline_s: int, batches: int) -> list[tuple[int, int]]:
    """Return batches of equal length, each submitted at the deadline of the one before.

    Parameters
    ----------
    first
        S_0.
    deadline_s
        D_i - S_i.
    batches
        M.

    Raises
    ------
    InputError
        For a number below 1 (``first``: 0).

    Examples
    --------
    >>> back_to_back(10, 5, 2)
    [(10, 15), (15, 20)]
    """
    for name, value, least in (("first", first, 0), ("deadline", deadline_s, 1), ("batches", batches, 1)):
        if value < least:
            raise InputError(f"{value}, expected an integer >= {least}", place=name)
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
    """Return one instance of the paper's experiments; its volunteers are drawn when somebody looks.

    Parameters
    ----------
    workers
        W.
    tasks
        N; the paper has 1024, 2048, 4096.
    deadline_s, c
        D - S and the mean computing time; the paper has (1 h, 30 min), (4 h, 30 min), (4 h, 1 h), (4 h, 2 h).
    batches
        M, back to back.
    first_day
        The day of S_0 at midnight; the paper's are 153, 214 and 275 (1 September, 1 November, 1 January).
    seed
        Names the volunteers.
    homogeneous
        Whether all compute equally fast.
    lead_s
        How long before S_0 the run begins, at most down to second 0.
    compute
        In which seconds tasks advance.
    habits
        Constants of the generator, if not the default ones.
    volunteers
        Who, if they exist already; ``workers``, ``seed`` and ``habits`` are then not looked at, and what was drawn of
        them is shared.

    Examples
    --------
    >>> instance = paper(workers=3, batches=2, seed=1)
    >>> instance.batches[0][0] // 86400, instance.start // 86400
    (153, 146)
    """
    first = first_day * DAY
    source = Volunteers(workers, seed, habits or VolunteerParameters()) if volunteers is None else volunteers
    source = source.computing(c, homogeneous=homogeneous)
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
    """Return a random small instance, for tests and first steps.

    Batches last 2 to ``length`` seconds, with pauses of at most 2 between them; C_j is uniform in 1..``longest_c``;
    every worker alternates between on and off.

    Parameters
    ----------
    seed
        Names the instance; every worker has a stream of its own.
    workers, tasks, batches, length, longest_c
        Its size, each at least 1 (``length``: 2).
    up
        Share of time that a worker is available, above 0 and at most 1.
    compute
        In which seconds tasks advance; None: drawn.

    Examples
    --------
    >>> small(7) == small(7), small(7) == small(8)
    (True, False)
    """
    sizes = (("workers", workers), ("tasks", tasks), ("batches", batches), ("length", length - 1), ("c", longest_c))
    for name, value in sizes:
        if value < 1:
            raise InputError("expected an integer >= 1" if name != "length" else "expected an integer >= 2", place=name)
    if not 0 < up <= 1:
        raise InputError(f"{up}, expected a share above 0 and of at most 1", place="up")
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
