"""Policies of every family: make one by name, and run it on an instance."""

from __future__ import annotations

from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.families import part

__all__ = ["make_policy", "our_policy_names", "policy_names", "run_policy"]


def policy_names(family: str) -> tuple[str, ...]:
    """Return the names of a family's built-in policies, in the order of the tables.

    Examples
    --------
    >>> policy_names("coupled")[:2], len(policy_names("coupled"))
    (('IP', 'IE'), 17)
    """
    return tuple(part(family, "online").POLICIES)


def our_policy_names(family: str) -> tuple[str, ...]:
    """Return the names of a family's look-ahead policies, which are not among `policy_names`.

    Examples
    --------
    >>> our_policy_names("coupled")[:3], our_policy_names("bags")
    (('rr', 'sb', 'hot'), ())
    """
    return tuple(getattr(part(family, "online"), "OURS", ()))


def make_policy(text: str, *, family: str, **options: Any) -> Any:
    """Return a family's policy by name.

    Parameters
    ----------
    text
        A built-in policy (see `policy_names` and `our_policy_names`), ``path/to/file.py:ClassName``, or the name of an
        installed entry point in the group ``hindsched.policies``.
    family
        The family of problems, such as ``coupled``.
    **options
        Options of the family's ``make_policy`` (`hindsched.online.coupled.make_policy`, ...).

    Raises
    ------
    InputError
        For an unknown name or option, an unusable file or class, or a policy of another family.
    """
    return part(family, "online").make_policy(text, **options)


def run_policy(instance: Any, policy: Any, *arguments: Any, **options: Any) -> Any:
    """Run a policy on an instance of its family; the policy sees the past only.

    Parameters
    ----------
    instance
        As returned by `hindsched.instances.read`, or made by a family's own types.
    policy
        See `make_policy`.
    *arguments, **options
        Passed to the family's ``run_policy`` (`hindsched.online.coupled.run_policy`, ...).

    Raises
    ------
    InputError
        For an object that is no instance, and as the family's ``run_policy`` does.

    Examples
    --------
    >>> from hindsched.instances.coupled import Instance
    >>> pair = Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2)
    >>> run_policy(pair, "RANDOM", seed=1, engine="plain").makespan
    3
    """
    family = getattr(type(instance), "family", None)
    if not isinstance(family, str):
        raise InputError(f"{type(instance).__name__}, expected an instance of some family", place="instance")
    return part(family, "online").run_policy(instance, policy, *arguments, **options)
