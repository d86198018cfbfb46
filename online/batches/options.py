"""Options of a run: the choices that the paper leaves open (docs/batches/model.md section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hindsched.instances.errors import InputError

__all__ = ["CHOICES", "Options"]

#: The names that each option in words accepts; the first is the default (for ``overdue`` the policy decides).
CHOICES = {
    "active": ("distinct", "connections"),
    "overdue": ("carry", "drop"),
    "busy": ("queue", "wait"),
    "report": ("at_once", "at_contact"),
    "first": ("start", "spread"),
}
#: The integer options and their minima.
_INTEGERS = {"copies": 1, "replays": 0, "copies_lambda": 1, "damping": 1}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of masters and of a run.

    Parameters
    ----------
    k
        K, the probability that a batch gets the requests it needs; above 0, below 1.
    p0
        Initial P: ``week`` (workers available in the week before the first submission), or an integer >= 1.
    active
        Active workers are ``distinct`` workers with a contact in the last two periods, or all ``connections`` count.
    overdue
        After a deadline unsent tasks remain to be sent (``carry``), or the batch is closed (``drop``). None: A1 and A2
        carry, A3 drops.
    busy
        Whether the next contact waits for the end of the worker's queue (``wait``) or not (``queue``).
    report
        The master learns of an end ``at_once``, or ``at_contact``, at the next contact of that worker.
    copies
        Largest number of copies of a task that the predictor ``copies`` sends.
    replays
        Number of past days, and of weeks, that the predictor ``history`` uses.
    copies_lambda
        q, the number of requests per task.
    damping
        Shifting corrects the period by its relative error over this number.
    first
        First contacts from the ``start`` on, or ``spread`` over a period.

    Raises
    ------
    InputError
        Naming the option.

    Examples
    --------
    >>> Options.parse({"overdue": "drop", "k": "0.95"}).changed()
    {'k': 0.95, 'overdue': 'drop'}
    """

    k: float = 0.99
    p0: int | str = "week"
    active: str = "distinct"
    overdue: str | None = None
    busy: str = "queue"
    report: str = "at_once"
    copies: int = 2
    replays: int = 10
    copies_lambda: int = 1
    damping: int = 1
    first: str = "start"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices and not (name == "overdue" and value is None):
                raise InputError(f"{value!r}, expected {' or '.join(choices)}", place=name)
        for name, least in _INTEGERS.items():
            _expect_integer(getattr(self, name), least, name)
        if self.p0 != "week":
            _expect_integer(self.p0, 1, "p0")
        if isinstance(self.k, bool) or not isinstance(self.k, int | float) or not 0 < self.k < 1:
            raise InputError(f"{self.k!r}, expected a number above 0 and below 1", place="k")

    @classmethod
    def parse(cls, texts: Mapping[str, str]) -> Options:
        """Return the options of ``name=value`` pairs as a user writes them."""
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {}
        for name, text in texts.items():
            if name not in known:
                raise InputError(f"unknown option, expected one of {', '.join(sorted(known))}", place=name)
            values[name] = _value(name, text)
        return cls(**values)

    def changed(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        default = Options()
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(default, field.name)
        }

    def settled(self, algorithm: str) -> Options:
        """Return the options with the default of ``overdue`` for A1, A2 or A3 filled in."""
        return self if self.overdue else replace(self, overdue="drop" if algorithm == "A3" else "carry")


def _value(name: str, text: str) -> Any:
    try:
        if name == "k":
            return float(text)
        if name in _INTEGERS or (name == "p0" and text != "week"):
            return int(text)
    except ValueError:
        kind = "a number" if name == "k" else "an integer"
        raise InputError(f"{text!r}, expected {kind}", place=name) from None
    return text


def _expect_integer(value: object, least: int, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{value!r}, expected an integer >= {least}", place=place)
