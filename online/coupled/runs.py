"""Runs of policies, in machine code or by the plain simulator."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.objective import Objective
from hindsched.instances.coupled.schedule import Schedule
from hindsched.instances.errors import InputError
from hindsched.online.coupled.isolated import IsolatedPolicy
from hindsched.online.coupled.lookahead.planner import Planner
from hindsched.online.coupled.lookahead.replays import Replay
from hindsched.online.coupled.options import RunOptions
from hindsched.online.coupled.policies import BUILT_IN, OURS, criteria_of, make_policy
from hindsched.online.coupled.simulate import Run, limit_of, simulate
from hindsched.online.coupled.visible import Policy, Problem
from hindsched.online.options import Engine

__all__ = ["run_policy"]

#: Limits of the kernels, for the size of tables: tasks, and tasks times workers.
_MOST_TASKS, _MOST_CHOICES = 10_000, 10_000_000
#: Number of slots that the plain simulator runs faster than machine code loads.
_FEW_SLOTS = 2_000


def run_policy(instance: Instance, policy: str | Policy, options: RunOptions | None = None, **changes: Any) -> Run:
    """Run a policy on an instance; the policy sees the past only, and the result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A name or an object, see `hindsched.online.coupled.make_policy`.
    options
        Options of the run; None: every option at its default.
    **changes
        Single options by keyword; they override ``options``: ``run_policy(instance, "E-IE", ties="highest")``.

    Raises
    ------
    InputError
        For an unknown option, an illegal choice of the policy, or an engine that cannot run it.

    Notes
    -----
    States are drawn during the run. With the engine ``auto``, machine code runs the built-in policies with at most
    10,000 tasks, and fewer on more than 1,000 workers; short runs use it only if it is loaded already. It is compiled
    at the first call after installation. A slot on 20 workers costs tens of nanoseconds for passive heuristics, and 100
    to 200 for proactive ones.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2)
    >>> run_policy(pair, "RANDOM", seed=1, engine="plain").makespan
    3
    """
    if not isinstance(instance, Instance):
        raise InputError(f"{type(instance).__name__}, expected an instance of coupled", place="instance")
    chosen = (options or RunOptions()).changed(**changes)
    limit = limit_of(instance, chosen.slots)
    if chosen.objective is Objective.ITERATIONS:
        endless = instance.replace(iterations=limit)  # an iteration takes at least one slot
        run = run_policy(endless, policy, chosen.changed(objective=Objective.MAKESPAN))
        return replace(run, makespan=None, schedule=replace(run.schedule, instance=instance.fingerprint))
    engine, recorded = chosen.engine, chosen.schedule_slots
    is_built_in = isinstance(policy, str) and policy in BUILT_IN
    if chosen.isolated and not is_built_in and engine is not Engine.KERNEL:
        with IsolatedPolicy(policy, chosen, time_limit_s=chosen.policy_time_limit_s) as isolated:
            run = simulate(instance, isolated, service=chosen.service, slots=limit)
        return run if recorded is None else replace(run, schedule=_first(run.schedule, recorded))
    made = make_policy(policy, chosen)
    p, tasks = instance.num_workers, instance.tasks
    can_compile = is_built_in and tasks <= _MOST_TASKS and p * tasks <= _MOST_CHOICES
    if engine is Engine.KERNEL and not can_compile:
        name = policy if isinstance(policy, str) else made.name
        raise InputError(
            f"the kernel runs the built-in policies with at most {_MOST_TASKS:,} tasks, and {_MOST_CHOICES:,} tasks "
            f"times workers, not {name!r} with {p:,} workers and {tasks:,} tasks",
            place="engine",
        )
    compiled = "lookahead.kernels.compiled_planner" if policy in (*OURS, Replay.name) else "kernels.compiled_run"
    is_worth_it = limit > _FEW_SLOTS or f"hindsched.online.coupled.{compiled}" in sys.modules
    if engine is Engine.PLAIN or not can_compile or (engine is Engine.AUTO and not is_worth_it):
        run = simulate(instance, made, service=chosen.service, slots=limit)
        return run if recorded is None else replace(run, schedule=_first(run.schedule, recorded))
    recorded = limit if recorded is None else recorded
    runner = made.policy_for(Problem.of(instance)) if isinstance(made, Replay) else made
    if isinstance(runner, Planner):
        from hindsched.online.coupled.lookahead.kernels.compiled_planner import run_kernel as run_planner  # noqa: PLC0415  # numba

        settings = runner.settings_for(Problem.of(instance))
        found = run_planner(instance, runner.options, settings, limit=limit, schedule_slots=recorded)
        return _run(made.name, instance, found)
    from hindsched.online.coupled.kernels import arguments  # noqa: PLC0415  # numba, only where it is wanted
    from hindsched.online.coupled.kernels.compiled_run import run_kernel  # noqa: PLC0415

    heuristic = arguments.heuristic_of(*criteria_of(runner.name), chosen)
    found = run_kernel(instance, heuristic, seed=chosen.seed, limit=limit, schedule_slots=recorded)
    return _run(made.name, instance, found)


def _run(name: str, instance: Instance, found: tuple[int, int, Schedule]) -> Run:
    """Return a run from the result of a kernel: slots simulated, iterations completed and the schedule."""
    done, iterations, schedule = found
    makespan = done if iterations == instance.iterations else None
    return Run(policy=name, makespan=makespan, iterations=iterations, schedule=schedule, slots=done)


def _first(schedule: Schedule, slots: int) -> Schedule:
    return Schedule(
        schedule.instance,
        tuple(row[:slots] for row in schedule.letters),
        tuple(entry for entry in schedule.configurations if entry.slot < slots),
    )
