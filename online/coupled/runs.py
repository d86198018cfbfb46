"""A run of a policy by name, by the faster of two simulators."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Schedule
from hindsched.instances.errors import InputError
from hindsched.online.coupled.criteria import Criterion
from hindsched.online.coupled.estimates import ESTIMATORS
from hindsched.online.coupled.options import Engine, RunOptions, Ties
from hindsched.online.coupled.ours.planner import Planner
from hindsched.online.coupled.policies import OURS, POLICIES, criteria_of, make_policy
from hindsched.online.coupled.simulate import SERVICES, Run, limit_of, simulate
from hindsched.online.coupled.visible import Policy

__all__ = ["ENGINES", "run_policy"]

#: The names of `Engine`; the first is the default.
ENGINES = tuple(Engine)

_MOST_WORKERS, _MOST_TASKS = 64, 10_000  # of the kernel
#: Up to so many slots the plain simulator is done before machine code is loaded.
_FEW_SLOTS = 2_000


def run_policy(instance: Instance, policy: str | Policy, options: RunOptions | None = None, **changes: Any) -> Run:
    """Run a policy on an instance, showing it only the past.

    The result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A name or an object, see `hindsched.online.coupled.make_policy`.
    options
        How it is run; None: every option at its default.
    **changes
        Single options by keyword, before those of ``options``: ``run_policy(instance, "E-IE", ties="highest")``.

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
    if not isinstance(instance, Instance):
        raise InputError(f"{type(instance).__name__}, expected an instance of coupled", place="instance")
    asked = (options or RunOptions()).changed(**changes)
    limit = limit_of(instance, asked.slots)
    made = make_policy(policy, asked)
    engine, recorded = asked.engine, asked.schedule_slots
    is_built_in = isinstance(policy, str) and policy in (*POLICIES, *OURS)
    can_compile = is_built_in and instance.num_workers <= _MOST_WORKERS and instance.tasks <= _MOST_TASKS
    if engine is Engine.KERNEL and not can_compile:
        asked_for = policy if isinstance(policy, str) else made.name
        raise InputError(
            f"the kernel runs the built-in policies with at most {_MOST_WORKERS} workers and {_MOST_TASKS} tasks, "
            f"not {asked_for!r} with {instance.num_workers} and {instance.tasks}",
            place="engine",
        )
    driver = (
        "hindsched.online.coupled.ours.kernels.driver" if policy in OURS else "hindsched.online.coupled.kernels.driver"
    )
    is_worth_it = limit > _FEW_SLOTS or driver in sys.modules
    if engine is Engine.PLAIN or not can_compile or (engine is Engine.AUTO and not is_worth_it):
        run = simulate(instance, made, service=asked.service, slots=limit)
        return run if recorded is None else replace(run, schedule=_first(run.schedule, recorded))
    recorded = limit if recorded is None else recorded
    if isinstance(made, Planner):
        from hindsched.online.coupled.ours.kernels.driver import run_kernel as run_ours  # noqa: PLC0415  # numba

        return _run(made.name, instance, run_ours(instance, made, limit=limit, schedule_slots=recorded))
    from hindsched.online.coupled.kernels import layout  # noqa: PLC0415  # numba, only where it is wanted
    from hindsched.online.coupled.kernels.driver import run_kernel  # noqa: PLC0415

    switch, build = criteria_of(made.name)
    criteria = list(Criterion)
    choice = layout.Choice(
        switch=criteria.index(switch) if switch else layout.PASSIVE if build else layout.RANDOM,
        build=criteria.index(build) if build else 0,
        estimator=ESTIMATORS.index(asked.estimator),
        highest=asked.ties is Ties.HIGHEST,
        service=SERVICES.index(asked.service),
        keeps_value=asked.comparison.keeps_value and switch is not None,
        is_fresh=asked.comparison.is_fresh,
    )
    found = run_kernel(instance, choice, seed=asked.seed, limit=limit, schedule_slots=recorded)
    return _run(made.name, instance, found)


def _run(name: str, instance: Instance, found: tuple[int, int, Schedule]) -> Run:
    """Return what a kernel found: slots simulated, iterations completed and the schedule."""
    done, iterations, schedule = found
    makespan = done if iterations == instance.iterations else None
    return Run(policy=name, makespan=makespan, iterations=iterations, schedule=schedule, slots=done)


def _first(schedule: Schedule, slots: int) -> Schedule:
    return Schedule(
        schedule.instance,
        tuple(row[:slots] for row in schedule.letters),
        tuple(entry for entry in schedule.configurations if entry.slot < slots),
    )
