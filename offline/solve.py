"""The hindsight optimum of an instance of any family, by the solvers of its family."""

from __future__ import annotations

from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.families import part
from hindsched.offline.results import Result

__all__ = ["solve"]


def solve(instance: Any, *arguments: Any, **options: Any) -> Result:
    """Return the hindsight optimum of an instance of any family, with a schedule that its checker has replayed.

    Parameters
    ----------
    instance
        Returned by `hindsched.instances.read`, or made with a family's own types.
    *arguments, **options
        Passed to the family's own ``solve`` (`offline.coupled.solve`, ...). Every family takes ``solver``,
        ``time_limit_s``, ``memory_limit_mb``, ``threads`` and ``seed``.

    Raises
    ------
    InputError
        If it is not an instance, and as the family's ``solve`` does.

    Examples
    --------
    >>> from hindsched.instances.coupled import Instance
    >>> pair = Instance.from_letters(["uuruu", "uruuu"], w=[1, 2], tasks=2, t_prog=1, n_com=1)
    >>> answer = solve(pair, solver="brute")
    >>> print(answer.status, answer.value, answer.lower, answer.upper)
    optimal 4 4 4
    """
    family = getattr(type(instance), "family", None)
    if not isinstance(family, str):
        raise InputError(f"{type(instance).__name__}, expected an instance of some family", place="instance")
    result: Result = part(family, "offline").solve(instance, *arguments, **options)
    return result
