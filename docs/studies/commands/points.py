"""Options that choose instances of the paper's experiment, as one object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from hindsched.bench.coupled.paper import SLOTS, Paper, experiment

__all__ = ["ExperimentPoints"]


@dataclass(frozen=True, slots=True)
class ExperimentPoints:
    """Parameters of instances of the paper's experiment; every combination is an instance.

    Parameters
    ----------
    ms
        Tasks per iteration.
    n_coms
        Workers served at once.
    wmins
        Speeds are drawn from [wmin, 10 wmin].
    scenarios, trials
        Draws of the workers, and of their states.
    """

    ms: Sequence[int]
    n_coms: Sequence[int]
    wmins: Sequence[int]
    scenarios: Sequence[int]
    trials: Sequence[int]

    def sources(self, seed: int, slots: int = SLOTS) -> list[Paper]:
        """Return the instances of a seed."""
        return experiment(**asdict(self), seed=seed, slots=slots)
