"""The exact solvers of the rungs: one table, one signature, one function to call them all."""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.batches import Instance, Run, Rung
from hindsched.instances.batches.check import check_run, expect_run
from hindsched.instances.batches.cuts import Bounds
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.offline.batches.answer import BatchAnswer, Hindsight
from hindsched.offline.limits import Limit, Limits, Stopwatch
from hindsched.offline.results import Result, Sense, Status
from hindsched.offline.solvers import AUTO, Solver, by_name, named

__all__ = ["SOLVERS", "available_solvers", "solve"]

#: Every solver by name, the best first; each is a class that answers batch by batch.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        "native",
        "earliest ends, and flows by sweeps and augmenting paths, at any size",
        "hindsched.offline.batches.native",
        requires=("numba",),
        function="Batches",
    ),
    Solver(
        "plain",
        "second for second, and an explicit network solved by SciPy, to be read and to compare with",
        "hindsched.offline.batches.plain",
        requires=("scipy",),
        function="Batches",
    ),
)

#: Seconds of all workers together, up to which `plain` answers at once.
_TINY = 4_000


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here, the best first; nothing heavy is imported."""
    return [name for name, solver in SOLVERS.items() if solver.is_available()]


def solve(
    instance: Instance,
    rung: Rung | str = Rung.FREE,
    *,
    of: Run | None = None,
    solver: str = AUTO,
    time_limit_s: float | None = None,
    confirm: bool = True,
) -> Result:
    """Return what full knowledge of all availability allows on a rung, proven.

    Both objectives, satisfied tasks and satisfied batches, peak together: batches do not get in each other's way
    (docs/batches/model.md section 6).

    Parameters
    ----------
    instance
        All availability is known.
    rung
        ``free``, ``traffic`` or ``stream``.
    of
        The run that ``traffic`` and ``stream`` are measured by.
    solver
        ``auto`` or a name of `SOLVERS`; ``auto`` is ``plain`` for tiny instances, else the best one.
    time_limit_s
        Wall-clock seconds; None: no limit. What is over then are whole batches.
    confirm
        Whether schedules and cuts, those of the latencies too, are replayed by the checker.

    Returns
    -------
    Result
        Its value counts satisfied tasks; its schedule is a certificate of the rung; its certificate a
        `Hindsight` with the numbers of each batch, latencies and cuts.

    Raises
    ------
    InputError
        For an unknown rung or solver, and a rung without the run it is measured by, or with one whose contacts the
        instance rules out.
    SelfCheckError
        When the checker refuses the answer.

    Examples
    --------
    >>> pair = Instance(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]])
    >>> answer = solve(pair, "free", solver="plain")
    >>> answer.value, answer.certificate.latency
    (2, (2,))
    """
    rung = Rung.parse(rung)
    if rung is not Rung.FREE and of is None:
        raise InputError(f'"{rung}", expected the run it is measured by as well', place="rung")
    if of is not None:
        expect_run(instance, of)
    limits = Limits(time_limit_s=time_limit_s)
    watch = Stopwatch(limits)
    name = _best_for(instance) if solver == AUTO else named(solver, SOLVERS).name
    batches = SOLVERS[name].load()(instance, rung, of)
    answers: list[BatchAnswer] = []
    for i in range(instance.num_batches):
        if watch.is_over():
            break
        answers.append(batches.solve(i))
    hindsight = Hindsight(rung, tuple(answers))
    schedule = hindsight.run(instance)
    if confirm:
        _confirm(instance, hindsight, schedule, of)
    value = sum(hindsight.satisfied)
    left = instance.num_batches - len(answers)
    return Result(
        status=Status.FEASIBLE if left else Status.OPTIMAL,
        sense=Sense.MAX,
        value=value,
        lower=value,
        upper=value + left * instance.tasks,
        schedule=schedule,
        by=name,
        runtime_s=watch.elapsed_s(),
        counts={"batches": len(answers)},
        certificate=hindsight,
        limit=Limit.TIME if left else None,
    )


def _best_for(instance: Instance) -> str:
    """Return the solver for an instance: machine code is not worth its loading for a tiny one."""
    available = available_solvers()
    is_tiny = instance.end * instance.num_workers <= _TINY
    return "plain" if is_tiny and "plain" in available else available[0]


def _confirm(instance: Instance, hindsight: Hindsight, schedule: Run, of: Run | None) -> None:
    """Replay the schedules and recompute the cuts of the batches that were solved, by code of others."""
    verdict = check_run(instance, schedule, of)
    if not verdict.is_valid:
        raise SelfCheckError(f"the schedule of the rung {hindsight.rung} is refused: {verdict}")
    if verdict.outcome.satisfied[: len(hindsight.batches)] != hindsight.satisfied:
        raise SelfCheckError(f"the schedule of the rung {hindsight.rung} satisfies other numbers than its answer says")
    reached: dict[int, int] = {}
    for run in hindsight.latency_runs(instance):
        verdict = check_run(instance, run, of)
        if not verdict.is_valid:
            raise SelfCheckError(f"a schedule of a latency on the rung {hindsight.rung} is refused: {verdict}")
        reached |= {i: latency for i, latency in enumerate(verdict.outcome.latency) if latency is not None}
    bounds = Bounds(instance, hindsight.rung, of)
    for i, (answer, (submission, deadline)) in enumerate(zip(hindsight.batches, instance.batches, strict=False)):
        wrong = bounds.refused(i, deadline, answer.satisfied, answer.cut) or bounds.wrong(answer.latency_cut)
        if wrong:
            raise SelfCheckError(f"a cut of the rung {hindsight.rung} is refused: {wrong}")
        if reached.get(i) != answer.latency:
            told = f"batch {i} has latency {reached.get(i)} on the rung {hindsight.rung}, not {answer.latency}"
            raise SelfCheckError(told)
        too_little = instance.end if answer.latency is None else submission + answer.latency - 1
        if bounds.bound(i, too_little, answer.latency_cut) >= instance.tasks:
            raise SelfCheckError(f"the cut for the latency of batch {i} on the rung {hindsight.rung} proves nothing")
