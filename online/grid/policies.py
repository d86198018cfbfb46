"""Schedulers by name, and runs of schedulers (docs/grid/model.md section 3)."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, TypeAlias

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance
from hindsched.online.grid import baselines
from hindsched.online.grid.dgs import simulate_dgs
from hindsched.online.grid.late import simulate_late
from hindsched.online.grid.options import BUILT_IN, CHOICES, AsapCounted, AsapPinned, BuiltIn, Dgs, Easy, Fcfs, Late
from hindsched.online.grid.runs import Run
from hindsched.online.grid.user_schedulers import simulate
from hindsched.online.grid.visible import Scheduler
from hindsched.online.loading import load_policy
from hindsched.online.options import Engine, member

__all__ = ["OPTIONS", "POLICIES", "Policy", "make_policy", "run_plain", "run_policy"]

#: The built-in schedulers.
POLICIES = tuple(BUILT_IN)
#: The options of all built-in schedulers, with their defaults.
OPTIONS: dict[str, Any] = {
    field.name: field.default for kind in BUILT_IN.values() for field in dataclasses.fields(kind)
}
#: A built-in scheduler with its options, or one of your own.
Policy: TypeAlias = BuiltIn | Scheduler

#: Numbers of jobs, nodes and slots of submission up to which the plain simulator is faster than loading machine code.
_FEW_JOBS, _FEW_NODES, _FEW_SLOTS = 150, 64, 3_000


def make_policy(text: str | Policy, **options: Any) -> Policy:
    """Return a scheduler by name.

    Parameters
    ----------
    text
        One of `POLICIES`, or ``path/to/file.py:ClassName``, or the name of an installed entry point in the group
        ``hindsched.policies``; or a policy of your own as an object, which is copied.
    **options
        Any of `OPTIONS`, numbers or their texts. A scheduler ignores options that it does not have; a user's class
        receives those that its constructor names.

    Raises
    ------
    InputError
        For an unknown name or option, an invalid value, and an unusable file or class.

    Examples
    --------
    >>> make_policy("queue", rule="area", fwd="3")
    Queue(rule='area')
    """
    if isinstance(text, BuiltIn):
        return text
    given = {name: _value(name, value) for name, value in options.items()}
    for kind in BUILT_IN.values():  # an invalid value is an error even if the scheduler ignores it
        made = kind(**{field.name: given[field.name] for field in dataclasses.fields(kind) if field.name in given})
        if made.name == text:
            chosen = made
    if isinstance(text, str) and text in BUILT_IN:
        return chosen
    own: Scheduler = load_policy(
        text,
        OPTIONS | given,
        family="grid",
        built_in=POLICIES,
        protocol=Scheduler,
        expected="a text attribute name and a method choose(visible)",
    )
    return own


def _value(name: str, value: Any) -> Any:
    if name not in OPTIONS:
        raise InputError(f"no such option, expected one of {', '.join(OPTIONS)}", place=name)
    if name not in CHOICES and isinstance(value, str):
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
            raise InputError(f"{value!r}, expected an integer", place=name)
        return int(value)
    return value


def run_policy(instance: Instance, policy: Policy | str, *, engine: str = Engine.AUTO, **options: Any) -> Run:
    """Run a scheduler on an instance; the scheduler sees the past only, and the run does not depend on the engine.

    Parameters
    ----------
    instance
        The instance.
    policy
        A scheduler, or its name (see `make_policy`).
    engine
        One of `hindsched.online.options.Engine`, or its name.
    **options
        Options of `make_policy`, if ``policy`` is a name.

    Raises
    ------
    InputError
        For an unknown engine or option, an illegal answer, or an engine that cannot run the scheduler.

    Notes
    -----
    In machine code, dgs takes tens of microseconds per job on 5,000 nodes, a round of Cyclon about a microsecond per
    node, and schedulers that count nodes about a microsecond per job.

    Examples
    --------
    >>> trio = Instance(nodes=2, slot_s=60, submit=[0, 0, 0], width=[1, 2, 1], length=[3, 1, 3])
    >>> run_policy(trio, "easy").metrics().total_wait
    3
    """
    chosen = member(Engine, engine, place="engine")
    if isinstance(policy, str):
        policy = make_policy(policy, **options)
    elif options:
        raise InputError("options go with the name of a scheduler, not with a scheduler", place=next(iter(options)))
    if not isinstance(policy, BuiltIn):
        if chosen is Engine.KERNEL:
            raise InputError(f"the kernel runs the built-in schedulers, not {policy.name!r}", place="engine")
        return simulate(instance, policy)
    is_loaded = "hindsched.online.grid.kernels.compiled_run" in sys.modules
    is_small = (
        len(instance) <= _FEW_JOBS
        and instance.nodes <= _FEW_NODES
        and (not len(instance) or int(instance.submit[-1]) <= _FEW_SLOTS)
    )
    if chosen is Engine.PLAIN or (chosen is Engine.AUTO and is_small and not is_loaded):
        return run_plain(instance, policy)
    from hindsched.online.grid.kernels.compiled_run import run_kernel  # noqa: PLC0415  # numba, only where it is wanted

    return run_kernel(instance, policy)


def run_plain(instance: Instance, policy: BuiltIn) -> Run:
    """Run a built-in scheduler by the plain simulator."""
    if isinstance(policy, Dgs):
        return simulate_dgs(instance, policy)
    if isinstance(policy, Late):
        return simulate_late(instance, policy)
    if isinstance(policy, AsapPinned):
        return baselines.simulate_asap_pinned(instance)
    if isinstance(policy, AsapCounted):
        return baselines.simulate_asap_counted(instance)
    if isinstance(policy, Fcfs):
        return baselines.simulate_fcfs(instance)
    if isinstance(policy, Easy):
        return baselines.simulate_easy(instance)
    return baselines.simulate_queue(instance, policy.rule)
