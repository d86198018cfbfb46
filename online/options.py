"""Options of runs: closed sets of names, and changes of single options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["ENGINES", "Engine", "change_options", "member"]

Name = TypeVar("Name", bound=StrEnum)
Options = TypeVar("Options", bound="DataclassInstance")


class Engine(StrEnum):
    """The simulator that runs a policy; all give the same run."""

    #: machine code where it can run the policy and the run is large enough to load it
    AUTO = "auto"
    #: the plain simulator, for every policy
    PLAIN = "plain"
    #: machine code, for the built-in policies
    KERNEL = "kernel"


#: The names of `Engine`; the first is the default.
ENGINES = tuple(Engine)


def member(names: type[Name], name: str, *, place: str) -> Name:
    """Return the member of an enumeration by name; an `InputError` lists the names.

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


def change_options(options: Options, changes: Mapping[str, Any]) -> Options:
    """Return options with some of them changed; an `InputError` names a keyword that is no option."""
    known = [field.name for field in fields(options)]
    for name in changes:
        if name not in known:
            raise InputError(f"no such option, expected one of {', '.join(known)}", place=name)
    return replace(options, **changes)


def _texts(names: Iterable[StrEnum]) -> list[str]:
    return [str(each) for each in names]
