"""The paper's experiment as a source of campaigns: instances by point, scenario and trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import ClassVar

from hindsched.bench.shared_types import Row
from hindsched.instances.coupled import Instance, generate
from hindsched.instances.state_sources import STARTS

__all__ = ["SLOTS", "Paper", "experiment"]

MS, N_COMS, WMINS, SCENARIOS, TRIALS = (5, 10), (5, 10, 20), range(1, 11), range(10), range(10)
#: Slot limit of a run.
SLOTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Paper:
    """An instance of the paper's generator (see `hindsched.instances.coupled.generate.paper`)."""

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
    def point(self) -> Row:
        """All parameters, by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}  # asdict takes ten times as long

    @property
    def identity(self) -> str:
        """A text of all parameters."""
        return f"paper{sorted(self.point.items())}"

    def load(self) -> Instance:
        """Return the generated instance."""
        return generate.paper(**self.point, drawn=True)


_PARAMETERS = tuple(field.name for field in fields(Paper))


def experiment(
    *,
    ms: Sequence[int] = MS,
    n_coms: Sequence[int] = N_COMS,
    wmins: Sequence[int] = WMINS,
    scenarios: Sequence[int] = SCENARIOS,
    trials: Sequence[int] = TRIALS,
    slots: int = SLOTS,
    seed: int = 0,
) -> list[Paper]:
    """Return the instances of the experiment: 6,000 by default.

    Examples
    --------
    >>> len(experiment())
    6000
    """
    return [
        Paper(m, n_com, wmin, scenario, trial, slots, seed, p=20, iterations=10)
        for m, n_com, wmin, scenario, trial in product(ms, n_coms, wmins, scenarios, trials)
    ]
