"""Where a campaign's instances come from: named, cheap to send to another process, loaded where they are needed."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import instances
from instances.coupled import Instance, generate
from instances.sources import STARTS

__all__ = ["Given", "Paper", "Source", "from_file"]


class Source(Protocol):
    """An instance by name."""

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

    def load(self) -> Instance:
        """Return the instance."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A draw of the paper's generator (see `instances.coupled.generate.paper`)."""

    m: int
    n_com: int | None
    wmin: int
    scenario: int
    trial: int
    slots: int
    seed: int
    p: int
    iterations: int
    mu: int | None = None
    start: str = STARTS[0]

    @property
    def name(self) -> str:
        """The point of the experiment, the scenario and the trial."""
        return f"{self.setting} scenario={self.scenario} trial={self.trial}"

    @property
    def setting(self) -> str:
        """The point of the experiment."""
        n_com = "none" if self.n_com is None else self.n_com
        readings = ("" if self.mu is None else f" mu={self.mu}") + (
            "" if self.start == "up" else f" start={self.start}"
        )
        return f"paper p={self.p} m={self.m} n_com={n_com} wmin={self.wmin} K={self.iterations}{readings}"

    @property
    def point(self) -> dict[str, Any]:
        """Every parameter, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """Every parameter."""
        return f"paper{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Generate it."""
        return generate.paper(**asdict(self), drawn=True)


@dataclass(frozen=True, slots=True)
class Given:
    """An instance at hand."""

    name: str
    setting: str
    instance: Instance
    point: None = None

    @property
    def identity(self) -> str:
        """Its content."""
        return self.instance.fingerprint

    def load(self) -> Instance:
        """Hand it over."""
        return self.instance


def from_file(path: str | os.PathLike[str]) -> Given:
    """Read an instance file; its content, not its path, is what a campaign remembers."""
    return Given(os.fspath(path), "files", instances.read(path))
