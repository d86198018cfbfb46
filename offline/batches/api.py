"""The exact solvers of ``batches``: their table, and the function that calls them.

A solver is a class, made with ``(instance, rung, of)``, whose method ``solve`` answers for one batch.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.batches import Instance, Run, Rung
from hindsched.instances.batches.check import check_run, expect_run
from hindsched.instances.batches.cut_certificate import CutBounds
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.offline.batches.hindsight import BatchAnswer, Hindsight
from hindsched.offline.confirmation import expect_valid, expect_value
from hindsched.offline.limits import Limit, Limits, Stopwatch
from hindsched.offline.results import Result, Sense, Status
from hindsched.offline.solvers import AUTO, Solver, available, by_name, named

__all__ = ["SOLVERS", "available_solvers", "confirm_hindsight", "solve"]

#: Every solver by name, best first.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        "native",
        "earliest ends, and flows by sweeps and augmenting paths, at any size",
        "hindsched.offline.batches.native",
        requires=("numba",),
        function="BatchSolver",
    ),
    Solver(
        "plain",
        "second for second, and an explicit network solved by SciPy, to be read and to compare with",
        "hindsched.offline.batches.plain",
        requires=("scipy",),
        function="BatchSolver",
    ),
)

#: Seconds of all workers together, up to which `plain` answers at once.
_TINY = 4_000


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here, best first, without importing one."""
    return available(SOLVERS)


def solve(
    instance: Instance,
    rung: Rung | str = Rung.FREE,
    *,
    solver: str = AUTO,
    of: Run | None = None,
    confirm: bool = True,
    time_limit_s: float | None = None,
    memory_limit_mb: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Result:
    """Return the hindsight optimum of an instance on a rung, proven by cuts.

    Both objectives, satisfied tasks and satisfied batches, have their maxima together, since the tasks of one batch do
    not delay those of another (docs/batches/model.md section 6).

    Parameters
    ----------
    instance
        With all availability known.
    rung
        ``free``, ``traffic`` or ``stream``.
    solver
        ``auto`` or a name of `SOLVERS`; ``auto`` is ``plain`` for tiny instances, else the best one.
    of
        The run whose contacts define the rungs ``traffic`` and ``stream``.
    confirm
        Whether the checker replays schedules and recomputes cuts, those of the latencies too.
    time_limit_s
        Wall-clock seconds; None: no limit. The solver stops between two batches.
    memory_limit_mb, threads, seed
        Accepted as by all families; the solvers keep no large tables, have one thread and draw no numbers.

    Returns
    -------
    Result
        Its value counts satisfied tasks. Its schedule is a certificate of the rung. Its certificate is a `Hindsight`
        with the numbers, latencies and cuts of each batch.

    Raises
    ------
    InputError
        For an unknown rung or solver, an invalid limit, a rung without the run that it needs, or a run whose contacts
        the instance rules out.
    SelfCheckError
        If the checker refuses the answer: a defect of the solver.

    Examples
    --------
    >>> pair = Instance(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]])
    >>> answer = solve(pair, "free", solver="plain")
    >>> answer.value, answer.certificate.latency
    (2, (2,))
    """
    limits = Limits(time_limit_s, memory_limit_mb, threads, seed)
    watch = Stopwatch(limits)
    rung = Rung.parse(rung)
    if rung is not Rung.FREE and of is None:
        raise InputError(f'"{rung}", expected the run that defines it as well', place="rung")
    if of is not None:
        expect_run(instance, of)
    chosen = named(_best(instance) if solver == AUTO else solver, SOLVERS)
    batchwise = chosen.load()(instance, rung, of)
    answers: list[BatchAnswer] = []
    for i in range(instance.num_batches):
        if watch.is_over():
            break
        answers.append(batchwise.solve(i))
    hindsight = Hindsight(rung, tuple(answers))
    schedule = hindsight.run(instance)
    if confirm:
        confirm_hindsight(instance, hindsight, schedule, of, chosen.name)
    value = sum(hindsight.satisfied)
    left = instance.num_batches - len(answers)
    return Result(
        status=Status.FEASIBLE if left else Status.OPTIMAL,
        sense=Sense.MAX,
        value=value,
        lower=value,
        upper=value + left * instance.tasks,
        schedule=schedule,
        by=chosen.name,
        runtime_s=watch.elapsed_s(),
        counts={"batches": len(answers)},
        certificate=hindsight,
        limit=Limit.TIME if left else None,
    )


def _best(instance: Instance) -> str:
    """Return the solver that ``auto`` takes; for a tiny instance it is not worth while to load machine code."""
    names = available_solvers()
    is_tiny = instance.end * instance.num_workers <= _TINY
    return "plain" if is_tiny and "plain" in names else names[0]


def confirm_hindsight(instance: Instance, hindsight: Hindsight, schedule: Run, of: Run | None, by: str) -> None:
    """Raise `SelfCheckError` unless the checker accepts schedules and cuts of all batches, and finds their values."""
    where = f"on the rung {hindsight.rung}"
    verdict = check_run(instance, schedule, of)
    expect_valid(verdict, by, f"a schedule {where}")
    found = verdict.outcome.satisfied[: len(hindsight.batches)]
    expect_value(hindsight.satisfied, found, f"{where} satisfied tasks", by)
    reached: dict[int, int] = {}
    for run in hindsight.latency_runs(instance):
        verdict = check_run(instance, run, of)
        expect_valid(verdict, by, f"a schedule of a latency {where}")
        reached |= {i: latency for i, latency in enumerate(verdict.outcome.latency) if latency is not None}
    bounds = CutBounds(instance, hindsight.rung, of)
    for i, (answer, (submission, deadline)) in enumerate(zip(hindsight.batches, instance.batches, strict=False)):
        defect = bounds.claim_defect(i, deadline, answer.satisfied, answer.cut) or bounds.cut_defect(answer.latency_cut)
        if defect:
            raise SelfCheckError(f"{by} made a cut {where} that the checker refuses: {defect}")
        expect_value(answer.latency, reached.get(i), f"{where} for batch {i} the latency", by)
        too_little = instance.end if answer.latency is None else submission + answer.latency - 1
        if bounds.bound(i, too_little, answer.latency_cut) >= instance.tasks:
            raise SelfCheckError(f"{by} made a cut {where} that does not prove the latency of batch {i}")
