"""Runs of policies, in machine code or by the plain simulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hindsched.instances.deadline.model import Instance
from hindsched.instances.errors import InputError
from hindsched.online.deadline.options import RunOptions
from hindsched.online.deadline.policies import BUILT_IN, is_for_one_zone, make_policy
from hindsched.online.deadline.simulate import PolicyRun, simulate
from hindsched.online.deadline.strategy_files import TIME_LIMIT_S, StrategyFile
from hindsched.online.deadline.visible import Policy
from hindsched.online.options import Engine

__all__ = ["run_policy"]


def run_policy(
    instance: Instance, policy: str | Policy, options: RunOptions | None = None, **changes: Any
) -> PolicyRun:
    """Run a policy on an instance; the policy sees the past and the present slot, never the future.

    Parameters
    ----------
    instance
        The instance.
    policy
        A policy, or its name; see `hindsched.online.deadline.make_policy`.
    options
        Options of the run; None: every option at its default.
    **changes
        Single options by keyword; they override ``options``: ``run_policy(instance, "greedy", guard="none")``.

    Raises
    ------
    InputError
        For an unknown option, a policy of one zone where there are several, or an illegal choice of the policy.

    Examples
    --------
    >>> from hindsched.instances.deadline.generate import generate
    >>> job = generate(4, slots=12)
    >>> run_policy(job, "on_demand").cost, run_policy(job, "greedy").cost
    (14688000000, 12767580000)
    """
    chosen = (options or RunOptions()).changed(**changes)
    made = make_policy(policy, chosen) if isinstance(policy, str) else policy
    if instance.num_zones > 1 and (isinstance(made, StrategyFile) or is_for_one_zone(made.name)):
        raise InputError(f"{made.name} is for one zone, expected up_s or a policy of your own", place="policy")
    if chosen.engine is not Engine.PLAIN and type(made) in BUILT_IN:
        from hindsched.online.deadline.kernels.compiled_run import can_run, run_kernel  # noqa: PLC0415  # numba, only where it is wanted

        if can_run(instance, made):
            return run_kernel(instance, made, guard=chosen.guard, schedule=chosen.schedule)
    if chosen.engine is Engine.KERNEL:
        raise InputError(
            f"the kernel runs the built-in policies on numbers of 62 bits, not {made.name!r} on this instance",
            place="engine",
        )
    if isinstance(made, StrategyFile):
        from hindsched.online.deadline.isolated import IsolatedPolicy  # noqa: PLC0415  # it imports the policies

        with IsolatedPolicy(made.text, chosen, time_limit_s=TIME_LIMIT_S) as isolated:
            run = simulate(instance, isolated, guard=chosen.guard)
    else:
        run = simulate(instance, made, guard=chosen.guard)
    return run if chosen.schedule else replace(run, schedule=None)
