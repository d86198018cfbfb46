"""Runs of policies, in machine code or by the plain simulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hindsched.instances.bags.model import Instance
from hindsched.instances.errors import InputError
from hindsched.online.bags.options import RunOptions
from hindsched.online.bags.policies import POLICIES, make_policy
from hindsched.online.bags.simulate import PolicyRun, simulate
from hindsched.online.bags.visible import Policy
from hindsched.online.options import Engine

__all__ = ["run_policy"]


def run_policy(
    instance: Instance, policy: str | Policy, options: RunOptions | None = None, **changes: Any
) -> PolicyRun:
    """Run a policy on an instance; the policy sees the past only, and the result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A policy, or its name; see `hindsched.online.bags.make_policy`.
    options
        Options of the run; None: every option at its default. A policy given as an object ignores the policy options.
    **changes
        Single options by keyword; they override ``options``: ``run_policy(instance, "FCFS", handover="boundary")``.

    Raises
    ------
    InputError
        For an unknown option, an illegal choice of the policy, or an engine that cannot run it.

    Notes
    -----
    In machine code a run of 32 machines takes less than a millisecond. It is compiled at the first call after
    installation.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuud", "uduu"], ticks=[3, 2], slot=4, tasks=2, segments=2)
    >>> run_policy(pair, "FCFS-TR", engine="plain").turnaround
    6
    """
    chosen = (options or RunOptions()).changed(**changes)
    made = make_policy(policy, chosen) if isinstance(policy, str) else policy
    if chosen.engine is not Engine.PLAIN and getattr(made, "name", None) in POLICIES:
        from hindsched.online.bags.kernels.compiled_run import can_run, run_kernel  # noqa: PLC0415  # numba, only where it is wanted

        if can_run(instance, made):
            return run_kernel(
                instance, made, handover=chosen.handover, absence=chosen.absence, schedule=chosen.schedule
            )
    if chosen.engine is Engine.KERNEL:
        raise InputError(
            f"the kernel runs the built-in schedulers on numbers of 64 bits, not {made.name!r} on this instance",
            place="engine",
        )
    run = simulate(instance, made, handover=chosen.handover, absence=chosen.absence)
    return run if chosen.schedule else replace(run, schedule=None)
