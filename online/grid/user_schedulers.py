"""Runs of users' schedulers, and a check for their authors (docs/grid/model.md section 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.grid import Instance, check
from hindsched.instances.grid.generate import JobMix, generate
from hindsched.online.grid.runs import Run
from hindsched.online.grid.visible import Answer, Job, Scheduler, Visible
from hindsched.online.user_code import call_user_code

__all__ = ["check_policy", "simulate"]


def simulate(instance: Instance, scheduler: Scheduler) -> Run:
    """Run a scheduler on an instance; the scheduler sees the past only.

    Parameters
    ----------
    instance
        Its jobs are revealed slot by slot.
    scheduler
        The scheduler (see `hindsched.online.grid.visible.Scheduler`).

    Raises
    ------
    InputError
        For an illegal answer or an error in the scheduler, naming the scheduler, the slot and the job.

    Examples
    --------
    >>> class Patient:
    ...     name = "patient"
    ...     def choose(self, visible):
    ...         job = visible.job(visible.waiting[0]) if visible.waiting else None
    ...         if job is None:
    ...             return {}
    ...         start = visible.earliest(job.width, job.length)
    ...         return {job.index: (start, visible.free_nodes(start, job.length)[: job.width])}
    >>> trio = Instance(nodes=2, slot_s=60, submit=[0, 0, 1], width=[1, 2, 1], length=[3, 1, 1])
    >>> simulate(trio, Patient()).starts.tolist()  # one answer per call, the next when a job ends or arrives
    [0, 3, 4]
    """
    if not isinstance(scheduler, Scheduler):
        raise InputError(f"{scheduler!r}, expected an object with a name and a method choose(visible)", place="policy")
    rows = list(instance.rows())
    visible = Visible(instance.nodes, instance.slot_s)
    ends: list[int] = []
    coming = 0
    while coming < len(rows) or (ends and visible.waiting):
        slots = [*ends[:1], *([rows[coming][0]] if coming < len(rows) else [])]
        visible.now = min(slots)
        while ends and ends[0] <= visible.now:
            heappop(ends)
        while coming < len(rows) and rows[coming][0] <= visible.now:
            visible._submit(Job(coming, *rows[coming]))
            coming += 1
        for index, answer in _answers(scheduler, visible).items():
            place = f"policy {scheduler.name}, slot {visible.now}, job {index}"
            if index not in visible.waiting:
                raise InputError("not waiting, expected one of the waiting jobs", place=place)
            try:
                allocation = visible._settle(index, answer)
            except InputError as error:
                raise InputError(error.expected, place=place) from None
            if allocation is not None:
                heappush(ends, allocation.start + rows[index][2])
    promised = [visible.allocation(j) for j in range(len(rows))]
    starts = [None if promise is None else promise.start for promise in promised]
    return Run.of(scheduler.name, instance, starts, [() if promise is None else promise.nodes for promise in promised])


def _answers(scheduler: Scheduler, visible: Visible) -> Mapping[int, Answer]:
    place = f"policy {scheduler.name}, slot {visible.now}"
    answers = call_user_code(scheduler.choose, visible, place=place)
    if not isinstance(answers, Mapping):
        raise InputError(f"{answers!r}, expected a mapping of job numbers to answers", place=place)
    return dict(answers)


def check_policy(scheduler: Scheduler) -> None:
    """Run a scheduler on small instances and raise an error for its first fault.

    The checks, in this order: a name and a method ``choose``; legal answers only; the same answers in a second run (a
    scheduler with memory resets it in the first slot of a run); answers that do not depend on later jobs.

    Raises
    ------
    InputError
        Naming the scheduler and its fault.
    SelfCheckError
        If simulator and checker disagree: a defect of hindsched, not of the scheduler.
    """
    for seed in range(6):
        mix = JobMix(serial=0.3, wide=0.1, wide_from=6, wide_to=8, top=2, median_s=240.0)
        instance = generate(nodes=8, jobs=40, load=0.9, seed=seed, mix=mix)
        first = simulate(instance, scheduler)
        verdict = check(instance, first.schedule())
        if not verdict.is_valid:
            raise SelfCheckError(f"the checker refuses a run of policy {scheduler.name}: {verdict}")
        place = f"policy {scheduler.name}"
        if simulate(instance, scheduler).starts.tolist() != first.starts.tolist():
            raise InputError("a second run differs from the first, expected the same answers", place=place)
        half = len(instance) // 2
        cut = int(instance.submit[half])
        known = instance.subset([j for j in range(len(instance)) if instance.submit[j] < cut])
        other = simulate(known, scheduler).starts.tolist()
        for j, start in enumerate(other):
            now = int(first.starts[j])
            if now != start and min(now, start) < cut and min(now, start) >= 0:
                raise InputError(
                    f"job {j} starts in slot {now}, but in slot {start} if no job is submitted from slot {cut} on; "
                    "expected answers that depend on the past alone",
                    place=place,
                )
