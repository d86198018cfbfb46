"""Types that the adapters of all families share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

__all__ = ["Given", "Policy", "Problem", "ProblemT", "Row", "Schedule", "ScheduleT"]

#: A row of a journal, of a table or of ``--json``: values that JSON can hold, by key.
Row: TypeAlias = dict[str, Any]
#: Values of the options of a command, by parameter name; click converts them.
Given: TypeAlias = Mapping[str, Any]
#: A policy: a text as for `hindsched.online.make_policy`, or an object of the family's own class.
Policy: TypeAlias = Any


class Problem(Protocol):
    """An instance of some family."""

    family: ClassVar[str]

    @property
    def fingerprint(self) -> str:
        """The digest of its content."""


class Schedule(Protocol):
    """A schedule, a run or a certificate of some family."""

    family: ClassVar[str]


ProblemT = TypeVar("ProblemT", bound=Problem)
ScheduleT = TypeVar("ScheduleT", bound=Schedule)
