"""A run of a policy by name, by the faster of two simulators."""

from __future__ import annotations

import sys

from instances.coupled.model import Instance
from instances.coupled.schedule import Schedule
from instances.errors import InputError
from online.coupled.criteria import TIES, Criterion
from online.coupled.estimates import ESTIMATORS
from online.coupled.policies import POLICIES, criteria_of, make_policy
from online.coupled.simulate import SERVICES, Run, limit_of, simulate

__all__ = ["ENGINES", "run_policy"]

#: ``kernel``: machine code, for the built-in heuristics. ``plain``: `simulate`. ``auto``: the first that can.
ENGINES = ("auto", "plain", "kernel")

_MOST_WORKERS, _MOST_TASKS = 64, 10_000  # of the kernel
#: Up to so many slots the plain simulator is done before machine code is loaded.
_FEW_SLOTS = 2_000


def run_policy(
    instance: Instance,
    policy: str,
    *,
    estimator: str = ESTIMATORS[0],
    service: str = SERVICES[0],
    ties: str = TIES[0],
    seed: int = 0,
    slots: int | None = None,
    schedule_slots: int | None = None,
    engine: str = ENGINES[0],
) -> Run:
    """Run a policy on an instance, showing it only the past.

    The result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        See `online.make_policy`.
    estimator, ties, seed
        Of the policy; see `online.make_policy`.
    service
        One of `SERVICES`.
    slots
        Stop after so many slots, at most the slots of the instance; None: all of them.
    schedule_slots
        The schedule of the run is that of its first ``schedule_slots`` slots; None: of all. With 0 it has no slot, and
        a long run costs no memory for letters.
    engine
        One of `ENGINES`.

    Raises
    ------
    InputError
        For an unknown option, a bad choice of the policy, or an engine that cannot run it.

    Notes
    -----
    The states are drawn as the run goes on. Where the engine is ``auto``, the built-in heuristics with at most 64
    workers and 10,000 tasks run in machine code, which is compiled at the first call after installation; runs of few
    slots do so only where it is loaded already. Machine code costs tens of nanoseconds a slot for passive heuristics,
    one or two hundred for proactive ones.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2)
    >>> run_policy(pair, "RANDOM", seed=1, engine="plain").makespan
    3
    """
    limit = limit_of(instance, service, slots)
    if engine not in ENGINES:
        raise InputError(f"{engine!r}, expected one of {', '.join(ENGINES)}", place="engine")
    if schedule_slots is not None and schedule_slots < 0:
        raise InputError(f"{schedule_slots}, expected an integer >= 0", place="schedule_slots")
    made = make_policy(policy, estimator=estimator, ties=ties, seed=seed)
    can_compile = policy in POLICIES and instance.num_workers <= _MOST_WORKERS and instance.tasks <= _MOST_TASKS
    if engine == "kernel" and not can_compile:
        raise InputError(
            f"the kernel runs the built-in heuristics with at most {_MOST_WORKERS} workers and {_MOST_TASKS} tasks, "
            f"not {policy!r} with {instance.num_workers} and {instance.tasks}",
            place="engine",
        )
    is_worth_it = limit > _FEW_SLOTS or "online.coupled.kernels.driver" in sys.modules
    if engine == "plain" or not can_compile or (engine == "auto" and not is_worth_it):
        run = simulate(instance, made, service=service, slots=limit)
        return (
            run
            if schedule_slots is None
            else Run(run.policy, run.makespan, run.iterations, _first(run.schedule, schedule_slots), run.slots)
        )
    from online.coupled.kernels import layout  # noqa: PLC0415  # numba, only where it is wanted
    from online.coupled.kernels.driver import run_kernel  # noqa: PLC0415

    switch, build = criteria_of(policy)
    criteria = list(Criterion)
    choice = layout.Choice(
        switch=criteria.index(switch) if switch else layout.PASSIVE if build else layout.RANDOM,
        build=criteria.index(build) if build else 0,
        is_printed=estimator == "printed",
        highest=ties == "highest",
        service=SERVICES.index(service),
    )
    done, iterations, schedule = run_kernel(
        instance, choice, seed=seed, limit=limit, schedule_slots=limit if schedule_slots is None else schedule_slots
    )
    makespan = done if iterations == instance.iterations else None
    return Run(policy=policy, makespan=makespan, iterations=iterations, schedule=schedule, slots=done)


def _first(schedule: Schedule, slots: int) -> Schedule:
    return Schedule(
        schedule.instance,
        tuple(row[:slots] for row in schedule.letters),
        tuple(entry for entry in schedule.configurations if entry.slot < slots),
    )
