"""A run of a policy by name, by the faster of two simulators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from instances.bags.model import Instance
from instances.errors import InputError
from online.bags.policies import MAX_COPIES, POLICIES, make_policy
from online.bags.predictors import Predictor
from online.bags.simulate import HANDOVERS, PolicyRun, simulate
from online.bags.visible import Policy

__all__ = ["ENGINES", "run_policy"]

#: ``kernel``: machine code, for the built-in schedulers. ``plain``: `simulate`. ``auto``: the first that can.
ENGINES = ("auto", "plain", "kernel")


def run_policy(
    instance: Instance,
    policy: str | Policy,
    *,
    predictor: str | Predictor | None = None,
    max_copies: int = MAX_COPIES,
    day_tolerance: str | float | Fraction | None = None,
    handover: str = HANDOVERS[0],
    training: Instance | None = None,
    options: Mapping[str, object] | None = None,
    schedule: bool = True,
    engine: str = ENGINES[0],
) -> PolicyRun:
    """Run a policy on an instance, showing it only the past.

    The result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A policy, or the name of one; see `online.bags.make_policy`.
    predictor, max_copies, day_tolerance, training, options
        Of a policy that is named; see `online.bags.make_policy`.
    handover
        One of `HANDOVERS`.
    schedule
        Whether the schedule is wanted; without it a run is quicker.
    engine
        One of `ENGINES`.

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
    if engine not in ENGINES:
        raise InputError(f"{engine!r}, expected one of {', '.join(ENGINES)}", place="engine")
    if handover not in HANDOVERS:
        raise InputError(f"{handover!r}, expected one of {', '.join(HANDOVERS)}", place="handover")
    made = policy
    if isinstance(policy, str):
        made = make_policy(
            policy,
            predictor=predictor,
            max_copies=max_copies,
            day_tolerance=day_tolerance,
            training=training,
            options=options,
        )
    assert not isinstance(made, str)  # for type checkers
    if engine != "plain" and made.name in POLICIES:
        from online.bags.kernels.driver import can_run, run_kernel  # noqa: PLC0415  # numba, only where it is wanted

        if can_run(instance, made):
            return run_kernel(instance, made, handover=handover, schedule=schedule)
    if engine == "kernel":
        raise InputError(
            f"the kernel runs the built-in schedulers on numbers of 64 bits, not {made.name!r} on this instance",
            place="engine",
        )
    run = simulate(instance, made, handover=handover)
    return run if schedule else replace(run, schedule=None)
