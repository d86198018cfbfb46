"""Sources of a campaign's instances: named, cheap to send to another process, loaded on demand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol

from hindsched import instances
from hindsched.bench.family import family_named
from hindsched.bench.shared_types import Problem, Row
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import as_unicode

__all__ = ["MOST_INSTANCES", "Given", "Source", "expect_few", "from_file", "from_path"]

#: Largest number of instances of a table in a campaign file.
MOST_INSTANCES = 200_000


class Source(Protocol):
    """A named instance that is loaded on demand."""

    @property
    def family(self) -> str:
        """The family of the instance."""

    @property
    def name(self) -> str:
        """The name, unique in a campaign."""

    @property
    def setting(self) -> str:
        """The name of the group of instances that are compared together."""

    @property
    def point(self) -> Row | None:
        """The parameters of a generated instance, for tables by parameter; None for other instances."""

    @property
    def identity(self) -> str:
        """A text that identifies the instance: sources of equal identity load equal instances."""

    def load(self) -> Any:
        """Return the instance."""


@dataclass(frozen=True, slots=True)
class Given:
    """An instance in memory."""

    name: str
    setting: str
    instance: Problem
    point: None = None

    @property
    def family(self) -> str:
        """The family of the instance."""
        return str(self.instance.family)

    @property
    def identity(self) -> str:
        """The fingerprint of the instance."""
        return str(self.instance.fingerprint)

    def load(self) -> Any:
        """Return the instance."""
        return self.instance


def expect_few(*axes: Sequence[Any]) -> None:
    """Raise `InputError` if a table of a campaign file with these axes has more than `MOST_INSTANCES` points."""
    number = prod(axis.stop if isinstance(axis, range) else len(axis) for axis in axes)  # a range may exceed ``len``
    if number > MOST_INSTANCES:
        raise InputError(f"{number} instances, expected at most {MOST_INSTANCES}")


def from_file(path: str | os.PathLike[str]) -> Given:
    """Read an instance file; its content, not its path, identifies it in a campaign.

    Its setting is its kind, so that only related files are compared together.
    """
    try:
        instance = instances.read(path)
    except InputError as error:
        if error.place != "line 1, column 1":
            raise
        raise InputError("not an instance, expected one: hindsched import makes them from traces", file=path) from None
    return Given(as_unicode(os.fspath(path)), f"files: {family_named(instance.family).kind(instance)}", instance)


def from_path(path: str | os.PathLike[str]) -> list[Given]:
    """Read an instance file, or the instance files of a folder (``*.json``) in the order of their names.

    Raises
    ------
    InputError
        For a folder without such a file.
    """
    folder = Path(path)
    if not folder.is_dir():
        return [from_file(path)]
    files = sorted(file for file in folder.glob("*.json") if file.is_file())
    if not files:
        raise InputError("no file .json, expected a folder with instances", file=path)
    return [from_file(file) for file in files]
