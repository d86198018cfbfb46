"""Options that are one of a few names."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from hindsched.instances.errors import InputError
from hindsched.instances.textio import excerpt

__all__ = ["member"]

Name = TypeVar("Name", bound=StrEnum)


def member(names: type[Name], name: str, *, place: str) -> Name:
    """Return the member of an enumeration by name; an `InputError` lists the names there are.

    Examples
    --------
    >>> from hindsched.online.coupled.options import Service
    >>> member(Service, "begun", place="service")
    <Service.BEGUN: 'begun'>
    """
    try:
        return names(name)
    except ValueError:
        raise InputError(f"{excerpt(name)}, expected one of {', '.join(_texts(names))}", place=place) from None


def _texts(names: Iterable[StrEnum]) -> list[str]:
    return [str(each) for each in names]
