"""A check for authors of policies: it keeps the rules, repeats its choices, and uses the past only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hindsched.instances.chains import Chain
from hindsched.instances.coupled.check import check
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Schedule
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.simulate import Run, simulate
from hindsched.online.coupled.visible import Policy

__all__ = ["check_policy"]


def check_policy(policy: Policy) -> None:
    """Run a policy on small instances and raise an error for its first fault.

    The checks, in this order: a name and a method ``choose``; at least one completed iteration where every worker is
    always UP; only choices that R2 allows; the same choices in a second run (a policy with memory resets it in slot 0
    and seeds its random numbers); choices that do not depend on later states.

    Parameters
    ----------
    policy
        An object of the author's class.

    Raises
    ------
    InputError
        Naming the policy and its fault.
    SelfCheckError
        If the simulator and the checker disagree: a defect of hindsched, not of the policy.

    Examples
    --------
    >>> from hindsched.online.coupled.policies import make_policy
    >>> check_policy(make_policy("IE"))
    """
    if not isinstance(policy, Policy) or not isinstance(policy.name, str) or not policy.name:
        raise InputError(f"{policy!r}, expected a text attribute name and a method choose(visible)", place="policy")
    place = f"policy {policy.name}"
    easy = _always_up()
    if _checked_run(easy, policy).iterations == 0:
        raise InputError(
            f"completes no iteration in {easy.slots} slots with every worker always UP, expected at least one",
            place=place,
        )
    for instance in _instances():
        first = _checked_run(instance, policy)
        differs = _first_difference(first.schedule, _checked_run(instance, policy).schedule)
        if differs is not None:
            raise InputError(
                f"a second run differs from the first in slot {differs}, expected the same choices: "
                "reset all memory in slot 0, and seed random numbers",
                place=place,
            )
        half = instance.slots // 2
        other = _checked_run(_with_other_future(instance, half), policy)
        differs = _first_difference(first.schedule, other.schedule)
        if differs is not None and differs < half:
            raise InputError(
                f"the choice in slot {differs} changes with the states from slot {half} on, "
                "expected it to depend on the past alone",
                place=place,
            )


def _always_up() -> Instance:
    chain = Chain(((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))
    return Instance.from_letters(
        ["u" * 60] * 3, w=[1, 2, 3], tasks=3, iterations=2, n_com=1, t_prog=2, t_data=1, chains=[chain] * 3
    )


def _instances() -> Iterator[Instance]:
    for seed in range(6):
        yield small(seed, p=4, slots=60, tasks=3, iterations=3)
    yield paper(m=4, n_com=2, wmin=1, scenario=0, trial=0, slots=300, p=6, iterations=3)


def _with_other_future(instance: Instance, first: int) -> Instance:
    """Return the instance with every worker UP from slot ``first`` on where it was not, and DOWN where it was."""
    states = instance.states.copy()
    states[:, first:] = np.where(states[:, first:] == UP, DOWN, UP)
    return instance.replace(states=states)


def _checked_run(instance: Instance, policy: Policy) -> Run:
    run = simulate(instance, policy)
    verdict = check(instance, run.schedule)
    if not verdict.is_valid or (verdict.outcome.makespan, verdict.outcome.iterations) != (run.makespan, run.iterations):
        raise SelfCheckError(f"the checker refuses a run of policy {policy.name}: {verdict}")
    return run


def _first_difference(a: Schedule, b: Schedule) -> int | None:
    """Return the first slot in which two schedules differ; None if one equals the other or its beginning."""
    slots = min(a.slots, b.slots)
    differing = [
        next(slot for slot in range(slots) if one[slot] != two[slot])
        for one, two in zip(a.letters, b.letters, strict=True)
        if one[:slots] != two[:slots]
    ]
    first, second = (
        {(entry.slot, tuple(entry.tasks.items())) for entry in schedule.configurations if entry.slot < slots}
        for schedule in (a, b)
    )
    differing += [slot for slot, _ in first ^ second]
    return min(differing, default=None)
