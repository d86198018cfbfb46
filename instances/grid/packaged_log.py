"""The packaged part of a real log: 1,500 jobs of KTH-SP2 (docs/grid/model.md section 1)."""

from __future__ import annotations

from importlib.resources import files

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance
from hindsched.instances.grid.workloads import instance_from_jobs

__all__ = ["FIRST", "JOBS", "NODES", "kth_sp2"]

#: Nodes of the machine, number of usable jobs of the whole log before the packaged ones, number of packaged jobs.
NODES, FIRST, JOBS = 100, 12_000, 1_500


def kth_sp2(*, slot_s: int = 60, first: int = 0, count: int | None = None) -> Instance:
    """Return jobs that ran on the IBM SP2 of KTH Stockholm in 1996 and 1997, on its 100 nodes.

    Parameters
    ----------
    slot_s
        Seconds of a slot.
    first, count
        The window: number of jobs that are skipped, then number of jobs that are taken (None: all). Slot 0 begins with
        the first submission of the window.

    Raises
    ------
    InputError
        If no job is in the window.

    Notes
    -----
    The result equals a window of the whole log with 12,000 added to ``first``.

    References
    ----------
    Log by Lars Malinowsky, Parallel Workloads Archive; D. G. Feitelson, D. Tsafrir, D. Krakov, "Experience with using
    the Parallel Workloads Archive", Journal of Parallel and Distributed Computing 74 (2014).

    Examples
    --------
    >>> jobs = kth_sp2(count=300)
    >>> len(jobs), jobs.nodes, int(jobs.submit[-1])
    (300, 100, 4631)
    """
    text = files("hindsched.instances").joinpath("data", "kth_sp2.csv").read_text(encoding="ascii")
    lines = [line for line in text.splitlines() if not line.startswith("#")][1:]
    chosen = [tuple(map(int, line.split(","))) for line in lines][first : None if count is None else first + count]
    if not chosen:
        raise InputError(f"0 of {len(lines)} jobs in the window, expected at least one", place="kth_sp2")
    return instance_from_jobs([(submit - chosen[0][0], run, width) for submit, width, run in chosen], NODES, slot_s)
