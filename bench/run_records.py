"""Records that pass between families and campaigns: options, runs, and the optimum a run is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hindsched.offline.results import Number, Result, Status

__all__ = ["OptimumBounds", "Options", "RunRecord", "json_number"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a campaign treats every instance.

    Parameters
    ----------
    run
        Options of policies and simulator as (name, value) pairs in the family's order; others have their defaults.
    solve
        Further options of the family's ``solve``, as pairs.
    solver, time_limit_s
        As in `hindsched.offline.solve`.
    seed
        Seed of random policies; the seed of a run is derived from it and from the instance.
    check_slots
        Number of slots, from the first, that the checker replays of a run, where the family can stop; None: all.
    isolated
        Whether users' policies run in processes of their own, which do not hold the future.
    """

    run: tuple[tuple[str, str], ...] = ()
    solve: tuple[tuple[str, Any], ...] = ()
    solver: str = "auto"
    time_limit_s: float | None = None
    seed: int = 0
    check_slots: int | None = None
    isolated: bool = False

    def with_run(self, changes: Mapping[str, str]) -> Options:
        """Return these options with some options of the run changed."""
        return replace(self, run=tuple(sorted({**dict(self.run), **changes}.items())))


@dataclass(frozen=True, slots=True)
class OptimumBounds:
    """Bounds of the optimum that a run is compared with.

    Parameters
    ----------
    status, value, lower, upper, by
        As in `hindsched.offline.Result`.
    """

    status: Status
    value: Number | None
    lower: Number | None
    upper: Number | None
    by: str

    @classmethod
    def of(cls, result: Result) -> OptimumBounds:
        """Return the bounds of a solver's result."""
        return cls(result.status, result.value, result.lower, result.upper, result.by)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of a policy, as a campaign keeps it.

    Parameters
    ----------
    policy
        Name of the policy.
    value
        The objective value of the run (`Family.value`); None if the run did not finish.
    limit
        The value of an unfinished run is worse than this; None if nothing is known.
    schedule
        The schedule, of the family's own type.
    facts
        Further entries of the row, by the names of the family's model.
    optimum
        The optimum that this run is compared with, where it differs from the instance's: a run that rejects jobs is
        compared with the optimum over the accepted ones.
    """

    policy: str
    value: Number | None
    limit: Number | None
    schedule: Any
    facts: Mapping[str, Any] = field(default_factory=dict)
    optimum: OptimumBounds | None = None


def json_number(number: Number | None) -> int | str | None:
    """Return a number as JSON holds it exactly: an integer, or a fraction as a text ``a/b``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> json_number(Fraction(6, 2)), json_number(Fraction(1, 3)), json_number(None)
    (3, '1/3', None)
    """
    if number is None or isinstance(number, int):
        return number
    return int(number) if number.denominator == 1 else str(number)
