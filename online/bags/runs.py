"""A run of a policy, by the faster of two simulators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hindsched.instances.bags.model import Instance
from hindsched.instances.errors import InputError
from hindsched.online.bags.options import Engine, RunOptions
from hindsched.online.bags.policies import POLICIES, make_policy
from hindsched.online.bags.simulate import PolicyRun, simulate
from hindsched.online.bags.visible import Policy

__all__ = ["run_policy"]


def run_policy(
    instance: Instance, policy: str | Policy, options: RunOptions | None = None, **changes: Any
) -> PolicyRun:
    """Run a policy on an instance, showing it only the past.

    The result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A policy, or the name of one; see `hindsched.online.bags.make_policy`.
    options
        How it is run; None: every option at its default. Those of a policy do not count where it is made already.
    **changes
        Single options by keyword, before those of ``options``: ``run_policy(instance, "FCFS", handover="boundary")``.

    Raises
    ------
    InputError
        For an unknown option, a bad choice of the policy, or an engine that cannot run it.

    Notes
    -----
    In machine code a run of 32 machines takes a fraction of a millisecond. It is compiled at the first call after
    installation.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuud", "uduu"], ticks=[3, 2], slot=4, tasks=2, segments=2)
    >>> run_policy(pair, "FCFS-TR", engine="plain").turnaround
    6
    """
    asked = (options or RunOptions()).changed(**changes)
    made = make_policy(policy, asked) if isinstance(policy, str) else policy
    if asked.engine is not Engine.PLAIN and getattr(made, "name", None) in POLICIES:
        from hindsched.online.bags.kernels.compiled_run import can_run, run_kernel  # noqa: PLC0415  # numba, only where it is wanted

        if can_run(instance, made):
            return run_kernel(instance, made, handover=asked.handover, schedule=asked.schedule)
    if asked.engine is Engine.KERNEL:
        raise InputError(
            f"the kernel runs the built-in schedulers on numbers of 64 bits, not {made.name!r} on this instance",
            place="engine",
        )
    run = simulate(instance, made, handover=asked.handover)
    return run if asked.schedule else replace(run, schedule=None)
