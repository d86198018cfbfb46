"""Drawn volunteers as sources of campaigns: a point of the paper's experiment, and a seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Annotated, ClassVar

import msgspec

from hindsched.bench.campaign.sources import Source, expect_few
from hindsched.bench.commands.options import LARGEST
from hindsched.bench.shared_types import Given, Row
from hindsched.instances.batches import Instance
from hindsched.instances.batches.generate import paper
from hindsched.instances.text_files import convert

__all__ = ["Drawn", "drawn_sources"]

_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Batches on drawn volunteers (see `hindsched.instances.batches.generate.paper`)."""

    family: ClassVar[str] = "batches"

    workers: int = 37_472
    tasks: int = 1024
    deadline_s: int = 14_400
    c: int = 1800
    batches: int = 256
    first_day: int = 153
    seed: int = 0
    homogeneous: bool = False

    @property
    def name(self) -> str:
        """Setting and seed."""
        return f"{self.setting} seed={self.seed}"

    @property
    def setting(self) -> str:
        """What its draws have in common."""
        kind = " homogeneous" if self.homogeneous else ""
        return (
            f"volunteers W={self.workers} N={self.tasks} D-S={self.deadline_s}s c={self.c}s M={self.batches} "
            f"day={self.first_day}{kind}"
        )

    @property
    def point(self) -> Row:
        """Every parameter, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """Every parameter."""
        return f"volunteers{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Return the instance, whose workers are generated on demand."""
        return paper(**asdict(self))


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """Random workers in a campaign file."""

    workers: tuple[_Positive, ...] = (37_472,)
    tasks: tuple[_Positive, ...] = (1024,)
    deadlines_s: tuple[_Positive, ...] = (14_400,)
    c: tuple[_Positive, ...] = (1800,)
    first_days: tuple[_Count, ...] = (153,)
    batches: _Positive = 256
    seeds: tuple[_Count, ...] = (0,)
    homogeneous: bool = False


def drawn_sources(table: Given) -> list[Source]:
    """Return the instances of a table in a campaign file.

    Examples
    --------
    >>> [source.name for source in drawn_sources({"workers": [50], "tasks": [4], "batches": 2})]
    ['volunteers W=50 N=4 D-S=14400s c=1800s M=2 day=153 seed=0']
    """
    points = convert(dict(table), _Table)
    axes = (points.workers, points.first_days, points.seeds, points.tasks, points.deadlines_s, points.c)
    expect_few(*axes)
    return [
        Drawn(workers, tasks, deadline_s, c, points.batches, day, seed, points.homogeneous)
        for workers, day, seed, tasks, deadline_s, c in product(*axes)
    ]
