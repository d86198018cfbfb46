"""Workloads as sources of campaigns: random ones, and windows of the log that comes with the toolkit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from math import inf
from typing import Annotated, Any, ClassVar

import msgspec

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, generate
from hindsched.instances.grid.kth_sp2 import kth_sp2
from hindsched.instances.text_files import convert, excerpt

__all__ = ["Generated", "Window", "from_point", "sources"]

_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_MIXES = {"wide": generate.WIDE, "narrow": generate.NARROW}


@dataclass(frozen=True, slots=True)
class Generated:
    """A random workload (see `hindsched.instances.grid.generate`); ``share`` is its load."""

    family: ClassVar[str] = "grid"

    nodes: int
    slot_s: int
    jobs: int
    share: float
    seed: int
    mix: str = "wide"

    @property
    def name(self) -> str:
        """Setting and seed."""
        return f"{self.setting} seed={self.seed}"

    @property
    def setting(self) -> str:
        """What its draws have in common."""
        return f"generated M={self.nodes} slot={self.slot_s}s jobs={self.jobs} load={self.share:g} {self.mix}"

    @property
    def point(self) -> dict[str, Any]:
        """Every parameter, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """Every parameter."""
        return f"generated{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Generate it."""
        return generate.generate(
            nodes=self.nodes,
            slot_s=self.slot_s,
            jobs=self.jobs,
            load=self.share,
            seed=self.seed,
            mix=_mix(self.mix),
        )


@dataclass(frozen=True, slots=True)
class Window:
    """Some jobs of KTH-SP2 (see `hindsched.instances.grid.kth_sp2`)."""

    family: ClassVar[str] = "grid"

    slot_s: int
    first: int
    count: int

    @property
    def name(self) -> str:
        """The window."""
        return f"{self.setting} first={self.first}"

    @property
    def setting(self) -> str:
        """What windows have in common."""
        return f"KTH-SP2 slot={self.slot_s}s jobs={self.count}"

    @property
    def point(self) -> dict[str, Any]:
        """Every parameter, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """Every parameter."""
        return f"kth_sp2{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Read it."""
        return kth_sp2(**asdict(self))


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """Workloads, as a campaign file asks for them: drawn ones, or with ``first`` windows of KTH-SP2."""

    nodes: tuple[_Positive, ...] = (5000,)
    jobs: tuple[_Positive, ...] = (1000,)
    loads: tuple[float, ...] = (0.28,)
    mixes: tuple[str, ...] = ("wide",)
    seeds: _Positive = 5
    first: tuple[_Count, ...] = ()
    slot_s: _Positive = 60


def _mix(name: str) -> generate.Mix:
    if name not in _MIXES:
        raise InputError(f"{excerpt(name)}, expected one of {', '.join(_MIXES)}", place="mixes")
    return _MIXES[name]


def sources(table: dict[str, Any]) -> list[Any]:
    """Return the workloads that a table of a campaign file asks for."""
    asked = convert(dict(table), _Table)
    if asked.first:
        return [Window(asked.slot_s, first, count) for first, count in product(asked.first, asked.jobs)]
    for mix in asked.mixes:
        _mix(mix)
    for load in asked.loads:
        if not 0 < load < inf:
            raise InputError(f"{load:g}, expected a finite number above 0", place="loads")
    drawn = product(asked.nodes, asked.jobs, asked.loads, asked.mixes, range(asked.seeds))
    return [Generated(nodes, asked.slot_s, jobs, load, seed, mix) for nodes, jobs, load, mix, seed in drawn]


def from_point(point: dict[str, Any]) -> Instance:
    """Return the instance that a row's point names."""
    source: type[Window | Generated] = Window if "first" in point else Generated
    return convert(point, source, "point").load()
