"""Sources of workloads for campaigns: random workloads, and windows of the packaged log."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec

from hindsched.bench.campaign.sources import expect_few
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, generate
from hindsched.instances.grid.packaged_log import kth_sp2
from hindsched.instances.text_files import convert, excerpt

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source

__all__ = ["Generated", "Window", "from_point", "sources"]

_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_MIXES = {"wide": generate.WIDE_MIX, "narrow": generate.NARROW_MIX}


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
        """The setting and the seed."""
        return f"{self.setting} seed={self.seed}"

    @property
    def setting(self) -> str:
        """The parameters without the seed."""
        return f"generated M={self.nodes} slot={self.slot_s}s jobs={self.jobs} load={self.share:g} {self.mix}"

    @property
    def point(self) -> Row:
        """All parameters, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """A text of all parameters."""
        return f"generated{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Return the generated workload."""
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
    """Some jobs of KTH-SP2 (see `hindsched.instances.grid.packaged_log`)."""

    family: ClassVar[str] = "grid"

    slot_s: int
    first: int
    count: int

    @property
    def name(self) -> str:
        """The setting and the first job."""
        return f"{self.setting} first={self.first}"

    @property
    def setting(self) -> str:
        """The parameters without the first job."""
        return f"KTH-SP2 slot={self.slot_s}s jobs={self.count}"

    @property
    def point(self) -> Row:
        """All parameters, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """A text of all parameters."""
        return f"kth_sp2{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Return the jobs of the window."""
        return kth_sp2(**asdict(self))


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """Workloads in a campaign file: random ones, or windows of KTH-SP2 if ``first`` is given."""

    nodes: tuple[_Positive, ...] = (5000,)
    jobs: tuple[_Positive, ...] = (1000,)
    loads: tuple[float, ...] = (0.28,)
    mixes: tuple[str, ...] = ("wide",)
    seeds: _Positive = 5
    first: tuple[_Count, ...] = ()
    slot_s: _Positive = 60


def _mix(name: str) -> generate.JobMix:
    if name not in _MIXES:
        raise InputError(f"{excerpt(name)}, expected one of {', '.join(_MIXES)}", place="mixes")
    return _MIXES[name]


def sources(table: Row) -> list[Source]:
    """Return the workloads of a table in a campaign file."""
    given = convert(dict(table), _Table)
    if given.first:
        expect_few(given.first, given.jobs)
        return [Window(given.slot_s, first, count) for first, count in product(given.first, given.jobs)]
    for mix in given.mixes:
        _mix(mix)
    for load in given.loads:
        if not 0 < load < inf:
            raise InputError(f"{load:g}, expected a finite number above 0", place="loads")
    axes = (given.nodes, given.jobs, given.loads, given.mixes, range(given.seeds))
    expect_few(*axes)
    return [Generated(nodes, given.slot_s, jobs, load, seed, mix) for nodes, jobs, load, mix, seed in product(*axes)]


def from_point(point: Row) -> Instance:
    """Return the instance that a row's point names."""
    source: type[Window | Generated] = Window if "first" in point else Generated
    return convert(point, source, "point").load()
