"""Sources of jobs with a deadline for campaigns: random ones, and windows of the packaged zones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from hindsched.bench.campaign.sources import expect_few
from hindsched.bench.shared_types import Row
from hindsched.instances.deadline import HOUR_S, Instance, generate, spot_zones
from hindsched.instances.text_files import convert

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source

__all__ = ["Generated", "Window", "from_point", "sources", "times_in_words"]

_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Generated:
    """A random job (see `hindsched.instances.deadline.generate`)."""

    family: ClassVar[str] = "deadline"

    zones: int
    slots: int
    up: float
    stay: float
    overhead_s: int
    seed: int

    @property
    def name(self) -> str:
        """The setting and the seed."""
        return f"{self.setting} seed={self.seed}"

    @property
    def setting(self) -> str:
        """The parameters without the seed."""
        return f"generated Z={self.zones} N={self.slots} up={self.up:g} stay={self.stay:g} d={self.overhead_s}s"

    @property
    def point(self) -> Row:
        """All parameters, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """A text of all parameters."""
        return f"deadline generated{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Return the job."""
        given = asdict(self)
        return generate.generate(given.pop("seed"), **given)


@dataclass(frozen=True, slots=True)
class Window:
    """A window of packaged zones (see `hindsched.instances.deadline.spot_zones`); zones are joined by ``+``."""

    family: ClassVar[str] = "deadline"

    zone: str
    start_sample: int
    work_s: int
    deadline_s: int
    overhead_s: int
    checkpoint_gb: float = 0

    @property
    def zones(self) -> int:
        """Number of zones."""
        return len(self.zone.split("+"))

    @property
    def name(self) -> str:
        """The zones, the setting and the first sample."""
        return f"{self.zone} {self._times} start={self.start_sample}"

    @property
    def setting(self) -> str:
        """The number of zones and the parameters: windows of different zones are compared together."""
        return f"{self.zones} zone{'' if self.zones == 1 else 's'} {self._times}"

    @property
    def _times(self) -> str:
        moves = f" {self.checkpoint_gb:g}GB" if self.checkpoint_gb else ""
        return f"{times_in_words(self)}{moves}"

    @property
    def point(self) -> Row:
        """All parameters, by name."""
        return asdict(self)

    @property
    def identity(self) -> str:
        """A text of all parameters."""
        return f"deadline window{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Return the job."""
        given = asdict(self)
        return spot_zones.window(given.pop("zone").split("+"), given.pop("start_sample"), **given)


class _Windows(msgspec.Struct, forbid_unknown_fields=True):
    """Windows of packaged zones in a campaign file."""

    zones: list[str]
    deadline_h: list[_Positive]
    overhead_s: list[_Count]
    starts: _Positive = 40
    work_h: _Positive = 48
    checkpoint_gb: float = 0
    seed: _Count = 0


class _Draws(msgspec.Struct, forbid_unknown_fields=True):
    """Random jobs in a campaign file."""

    slots: list[_Positive]
    up: list[float]
    num_zones: list[_Positive] = msgspec.field(default_factory=lambda: [1])
    stay: list[float] = msgspec.field(default_factory=lambda: [0.8])
    overhead_s: list[_Count] = msgspec.field(default_factory=lambda: [300])
    seeds: _Positive = 10


def from_point(point: Any) -> Instance:
    """Return the instance that a row's ``point`` names."""
    source: type[Generated | Window] = Window if "zone" in point else Generated
    return convert(dict(point), source, "point").load()


def sources(table: Any) -> list[Source]:
    """Return the instances that an ``[[instances]]`` table of a campaign file names: windows, or random jobs."""
    if "zones" in table:
        windows = convert(dict(table), _Windows)
        expect_few(windows.zones, windows.deadline_h, windows.overhead_s, range(windows.starts))
        return [
            Window(zone, start, windows.work_h * HOUR_S, hours * HOUR_S, overhead_s, windows.checkpoint_gb)
            for zone, hours, overhead_s in product(windows.zones, windows.deadline_h, windows.overhead_s)
            for start in spot_zones.starts(zone.split("+"), hours * HOUR_S, windows.starts, windows.seed)
        ]
    draws = convert(dict(table), _Draws)
    axes = (draws.num_zones, draws.slots, draws.up, draws.stay, draws.overhead_s)
    expect_few(*axes, range(draws.seeds))
    return [
        Generated(zones, slots, up, stay, overhead_s, seed)
        for zones, slots, up, stay, overhead_s in product(*axes)
        for seed in range(draws.seeds)
    ]


def times_in_words(job: Window | Instance) -> str:
    """Return work and deadline in hours, and the overhead in seconds, by their symbols."""
    return f"W={job.work_s / HOUR_S:g}h D={job.deadline_s / HOUR_S:g}h d={job.overhead_s}s"
