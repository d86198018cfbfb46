"""Where a campaign's instances come from: named, cheap to send to another process, loaded where they are needed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol

from hindsched import instances
from hindsched.instances.text_files import as_unicode

__all__ = ["Given", "Source", "from_file"]


class Source(Protocol):
    """An instance by name."""

    @property
    def family(self) -> str:
        """Whose instance it is."""

    @property
    def name(self) -> str:
        """What a person calls it; unique in a campaign."""

    @property
    def setting(self) -> str:
        """Which instances it is compared together with."""

    @property
    def point(self) -> dict[str, Any] | None:
        """The parameters it was generated with, for tables by parameter; None where it was not."""

    @property
    def identity(self) -> str:
        """What it is: sources of equal identity load equal instances."""

    def load(self) -> Any:
        """Return the instance."""


@dataclass(frozen=True, slots=True)
class Given:
    """An instance at hand."""

    name: str
    setting: str
    instance: Any
    point: None = None

    @property
    def family(self) -> str:
        """The instance's."""
        return str(self.instance.family)

    @property
    def identity(self) -> str:
        """Its content."""
        return str(self.instance.fingerprint)

    def load(self) -> Any:
        """Hand it over."""
        return self.instance


def from_file(path: str | os.PathLike[str]) -> Given:
    """Read an instance file; its content, not its path, is what a campaign remembers."""
    return Given(as_unicode(os.fspath(path)), "files", instances.read(path))
