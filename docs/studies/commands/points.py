"""Options that choose instances of the paper's experiment, as one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import click

from hindsched.bench.commands import options
from hindsched.bench.coupled.paper import SLOTS, Paper, experiment

__all__ = ["ExperimentPoints", "draws", "points"]

F = TypeVar("F", bound=Callable[..., Any])


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


def points(wmins: str = "1-10") -> Callable[[F], F]:
    """Add --m, --n-com and --wmin: points of the experiment of `coupled`."""
    return _all_of(
        click.option("--m", "ms", type=options.NUMBERS, default="5,10", help="Tasks per iteration."),
        click.option("--n-com", "n_coms", type=options.NUMBERS, default="5,10,20", help="Workers served in a slot."),
        click.option("--wmin", "wmins", type=options.NUMBERS, default=wmins, help="w is in [wmin, 10 wmin]."),
    )


def draws(trials: str = "0-9") -> Callable[[F], F]:
    """Add --scenarios and --trials: instances at a point of the experiment."""
    return _all_of(
        click.option("--scenarios", type=options.NUMBERS, default="0-9", help="Scenarios: draws of the workers."),
        click.option(
            "--trials", type=options.NUMBERS, default=trials, help="Trials: draws of the states of a scenario."
        ),
    )


def _all_of(*added: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds several options, in this order."""

    def add(command: F) -> F:
        for one in reversed(added):
            command = one(command)
        return command

    return add
