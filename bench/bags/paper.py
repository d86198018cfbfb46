"""The paper's experiment as a source of campaigns: machines, bag, store, and the slot of the trace it starts in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from hindsched.bench.shared_types import Row
from hindsched.instances.bags import Instance
from hindsched.instances.bags.clock import TimeOfWeek, time_of_week
from hindsched.instances.bags.generate import MIXES, SLOT_S, TRACES, paper

__all__ = ["WEEK_SLOTS", "Paper", "starts"]

#: Slots of a week, and of the hours at which weekday and weekend starts lie.
WEEK_SLOTS = 7 * 24 * 3600 // SLOT_S
_HOUR_SLOTS = 3600 // SLOT_S
#: Number of first weeks of the trace in which starts lie.
_WEEKS = 4
#: Default number of slots: a week, in which almost every run of the experiment ends.
USUAL_SLOTS = WEEK_SLOTS


@dataclass(frozen=True, slots=True)
class Paper:
    """An instance of the paper's experiment (see `hindsched.instances.bags.generate.paper`).

    Saves on demand are allowed, so that all four schedulers run on the same instance; each is measured by the optimum
    with its options.
    """

    family: ClassVar[str] = "bags"
    on_demand: ClassVar[bool] = True
    clock_s: ClassVar[int] = 0

    machines: str
    tasks: int
    reference_s: int
    checkpoints: int
    store: str
    start_slot: int
    slots: int = USUAL_SLOTS
    seed: int = 0
    mix: str = MIXES[0]
    trace: str = TRACES[0]

    @property
    def is_weekend(self) -> bool:
        """Whether it starts on a weekend."""
        return time_of_week(self.start_slot * SLOT_S * 1000) is TimeOfWeek.WEEKEND

    @property
    def name(self) -> str:
        """The point of the experiment, the start and the seed."""
        return f"{self.setting} start={self.start_slot} seed={self.seed}"

    @property
    def setting(self) -> str:
        """The point of the experiment."""
        mix = "".join(f" {name}" for name in (self.mix, self.trace) if name not in (MIXES[0], TRACES[0]))
        when = "weekend" if self.is_weekend else "weekday"
        bag = f"tasks={self.tasks} reference_s={self.reference_s} checkpoints={self.checkpoints}"
        return f"{self.machines}{mix} {self.store} {when} {bag}"

    @property
    def point(self) -> Row:
        """Every parameter, by name; the trace only if it is not the default."""
        point = asdict(self)
        return {name: point[name] for name in point if name != "trace" or self.trace != TRACES[0]}

    @property
    def identity(self) -> str:
        """Every parameter."""
        return f"bags{sorted(self.point.items())}"

    def load(self) -> Instance:
        """Generate it."""
        return paper(
            self.machines,
            tasks=self.tasks,
            reference_s=self.reference_s,
            checkpoints=self.checkpoints,
            store=self.store,
            on_demand=True,
            slots=self.slots,
            start=self.start_slot,
            seed=self.seed,
            mix=self.mix,
            trace=self.trace,
        )


def starts(when: str, number: int) -> Sequence[int]:
    """Return slots of the trace in which runs start, spread evenly over candidates in the first four weeks.

    Parameters
    ----------
    when
        ``weekday``: the candidates are all even hours from Monday 8:00 to Friday 22:00, nights included, 56 a week.
        ``weekend``: all hours from Saturday 21:00 to Sunday 20:00, 24 a week.
    number
        Number of starts.

    Examples
    --------
    >>> [slot // 30 for slot in starts("weekday", 3)], [slot // 30 for slot in starts("weekend", 2)]
    ([8, 212, 418], [141, 477])
    """
    first, last, step = (8, 4 * 24 + 22, 2) if when == "weekday" else (5 * 24 + 21, 6 * 24 + 20, 1)
    hours = [week * 7 * 24 + hour for week in range(_WEEKS) for hour in range(first, last + 1, step)]
    return [hours[i * len(hours) // number] * _HOUR_SLOTS for i in range(number)]
