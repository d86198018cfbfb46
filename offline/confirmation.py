"""Confirmation of answers, for every family: a schedule is refused unless the checker accepts it."""

from __future__ import annotations

from hindsched.instances.errors import SelfCheckError
from hindsched.instances.verdict import Verdict

__all__ = ["expect_valid", "expect_value"]


def expect_valid(verdict: Verdict, by: str, what: str = "a schedule") -> None:
    """Raise `SelfCheckError` unless the checker accepts the schedule of a solver."""
    if not verdict.is_valid:
        raise SelfCheckError(f"{by} made {what} that the checker refuses: {verdict}")


def expect_value(claimed: object, found: object, what: str, by: str) -> None:
    """Raise `SelfCheckError` unless the value that a solver claims is the one that the checker found."""
    if claimed != found:
        raise SelfCheckError(f"{by} claims {what} {claimed}, the checker found {found}")
