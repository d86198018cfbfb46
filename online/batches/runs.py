"""Runs of policies, in machine code or by the plain simulator."""

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
from hindsched.online.options import Engine, member

__all__ = ["run_policy"]

#: Number of workers up to which the plain simulator is faster than loading machine code.
_FEW_WORKERS = 50


def run_policy(
    instance: Instance, policy: str | Policy, options: Options | None = None, *, engine: str = Engine.AUTO
) -> Simulation:
    """Run a policy on an instance; the policy sees the past only, and the result does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A name or an object, see `hindsched.online.batches.make_policy`.
    options
        Options of the run.
    engine
        One of `hindsched.online.options.Engine`, or its name.

    Raises
    ------
    InputError
        For an unknown policy or option, an unsuitable instance, an illegal answer, or an engine that cannot run the
        policy.

    Examples
    --------
    >>> pair = Instance(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]])
    >>> run_policy(pair, "A3-copies").satisfied
    (2,)
    """
    options = options or Options()
    chosen = member(Engine, engine, place="engine")
    is_built_in = isinstance(policy, str) and policy in POLICIES
    if not is_built_in and chosen is Engine.KERNEL:
        raise InputError(f"the kernel runs the built-in masters, not {policy!r}", place="engine")
    made = make_policy(policy, replace(options))  # the policy may keep and change its copy
    is_loaded = "hindsched.online.batches.kernels.compiled_run" in sys.modules
    is_large = is_loaded or instance.num_workers > _FEW_WORKERS
    wants_kernel = chosen is Engine.KERNEL or (chosen is Engine.AUTO and is_large)
    if isinstance(policy, str) and is_built_in and wants_kernel:
        from hindsched.online.batches.kernels.compiled_run import run_kernel  # noqa: PLC0415  # numba

        expect_margins(policy, instance)
        done = run_kernel(instance, policy, options)
        if done is not None:
            return simulation(instance, policy, *done)
        if chosen is Engine.KERNEL:
            raise InputError("kernel, but a number exceeds its bits: expected auto or plain", place="engine")
    return simulate(instance, made, options)
