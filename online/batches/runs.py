"""A run of a policy by name, by the faster of two simulators."""

from __future__ import annotations

import sys
from dataclasses import replace

from hindsched.instances.batches.model import Instance
from hindsched.instances.errors import InputError
from hindsched.online.batches.algorithms import expect_margins
from hindsched.online.batches.options import Options
from hindsched.online.batches.outcome import Simulation, simulation
from hindsched.online.batches.policies import POLICIES, make_policy
from hindsched.online.batches.simulate import simulate
from hindsched.online.batches.visible import Policy

__all__ = ["ENGINES", "run_policy"]

#: ``kernel``: machine code, for the built-in masters. ``plain``: `simulate`. ``auto``: the first that can.
ENGINES = ("auto", "plain", "kernel")

#: Up to so many workers the plain simulator is done before machine code is loaded.
_FEW_WORKERS = 50


def run_policy(
    instance: Instance, policy: str | Policy, options: Options | None = None, *, engine: str = ENGINES[0]
) -> Simulation:
    """Run a policy on an instance, showing it only the past.

    The result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A name or an object, see `hindsched.online.batches.make_policy`.
    options
        The readings.
    engine
        One of `ENGINES`.

    Raises
    ------
    InputError
        For an unknown policy or option, an instance that the policy cannot work with, a bad answer of a policy, or an
        engine that cannot run it.

    Examples
    --------
    >>> pair = Instance(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]])
    >>> run_policy(pair, "A3-copies").satisfied
    (2,)
    """
    options = options or Options()
    if engine not in ENGINES:
        raise InputError(f"{engine!r}, expected one of {', '.join(ENGINES)}", place="engine")
    is_kernels = isinstance(policy, str) and policy in POLICIES
    if not is_kernels and engine == "kernel":
        raise InputError(f"the kernel runs the built-in masters, not {policy!r}", place="engine")
    made = make_policy(policy, replace(options))  # it may keep them; the run's are its own
    is_loaded = "hindsched.online.batches.kernels.compiled_run" in sys.modules
    wants_kernel = engine == "kernel" or (engine == "auto" and (is_loaded or instance.num_workers > _FEW_WORKERS))
    if isinstance(policy, str) and is_kernels and wants_kernel:
        from hindsched.online.batches.kernels.compiled_run import run_kernel  # noqa: PLC0415  # numba, only where it is wanted

        expect_margins(policy, instance)
        done = run_kernel(instance, policy, options)
        if done is not None:
            return simulation(instance, policy, *done)
        if engine == "kernel":
            raise InputError("its numbers need more bits than the kernel has, expected auto or plain", place="engine")
    return simulate(instance, made, options)
