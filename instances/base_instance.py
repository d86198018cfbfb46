"""Base class of the instances of all families: integer checks, equality by content, copies and pickling."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from operator import index
from typing import Any, ClassVar, Self, SupportsIndex

from hindsched.instances.errors import InputError

__all__ = ["BaseInstance", "as_integer"]


class BaseInstance:
    """Base class of the frozen dataclasses ``Instance``: equality and hash follow the content.

    The arguments of ``__init__`` are the dataclass fields in the same order.
    """

    #: Names of the arguments that differ from the name of their field.
    _argument_names: ClassVar[Mapping[str, str]] = {}

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the content."""

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    def replace(self, **changes: Any) -> Self:
        """Return a validated copy with some arguments changed."""
        arguments = {self._argument_names.get(name, name): value for name, value in self._fields().items()}
        return type(self)(**{**arguments, **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self._fields().values())  # validates again and drops caches

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def as_integer(number: object, least: int, most: int, place: str) -> int:
    """Convert an integer of any type to a Python int.

    Raises
    ------
    InputError
        If it is not an integer (True and 1.0 are not), or is outside ``least`` to ``most``. The message names
        ``place``.

    Examples
    --------
    >>> as_integer(3, 1, 9, "tasks")
    3
    """
    if isinstance(number, bool) or not isinstance(number, SupportsIndex) or index(number) < least:
        raise InputError(f"{number!r}, expected an integer >= {least}", place=place)
    if index(number) > most:
        raise InputError(f"{number!r}, expected an integer <= {most}", place=place)
    return index(number)
