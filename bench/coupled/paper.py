"""The paper's generator as a source of campaigns: a point of the experiment, a scenario, a trial."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from hindsched.instances.coupled import Instance, generate
from hindsched.instances.state_sources import STARTS

__all__ = ["Paper"]


@dataclass(frozen=True, slots=True)
class Paper:
    """A draw of the paper's generator (see `hindsched.instances.coupled.generate.paper`)."""

    family: ClassVar[str] = "coupled"

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
