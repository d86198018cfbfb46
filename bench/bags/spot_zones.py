"""Run bags on real machines: nine packaged spot zones, with one start on each day of the second half of their trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, ClassVar

from hindsched.bench.shared_types import Row
from hindsched.instances.bags import Instance
from hindsched.instances.bags.from_trace import from_trace
from hindsched.instances.traces import Trace, read_packaged
from hindsched.online.bags.predictors import SPOT, SPOT_SLOT_S

__all__ = ["PREDICTOR", "SpotZones", "start_slots"]

#: Predictor trained on the first half of the trace, which no instance uses.
PREDICTOR = f"hour:{SPOT}"
_DAY_SLOTS = 24 * 3600 // SPOT_SLOT_S
#: Slots of an instance: a week.
_SLOTS = 7 * _DAY_SLOTS


@dataclass(frozen=True, slots=True)
class SpotZones:
    """A bag on nine spot zones of type D, which starts on a day of the second half of their trace."""

    family: ClassVar[str] = "bags"
    on_demand: ClassVar[bool] = True
    clock_s: ClassVar[int] = 0

    tasks: int
    reference_s: int
    checkpoints: int
    store: str
    start_slot: int
    seed: None = None

    @property
    def name(self) -> str:
        """Name of the bag and its start."""
        return f"{self.setting} start={self.start_slot}"

    @property
    def setting(self) -> str:
        """Name of the bag."""
        bag = f"tasks={self.tasks} reference_s={self.reference_s} checkpoints={self.checkpoints}"
        return f"zones {self.store} daily {bag}"

    @property
    def point(self) -> Row:
        """Parameters by name."""
        return {**asdict(self), "zones": SPOT}

    @property
    def identity(self) -> str:
        """Text that determines the instance."""
        return f"bags zones{sorted(asdict(self).items())}"

    def load(self) -> Instance:
        """Return the instance, cut from the trace."""
        trace, first, _ = _trace()
        return from_trace(
            trace,
            tasks=self.tasks,
            slot_s=SPOT_SLOT_S,
            checkpoints=self.checkpoints,
            reference_s=self.reference_s,
            store=self.store,
            on_demand=True,
            start=first + self.start_slot * SPOT_SLOT_S,
            slots=_SLOTS,
        )


@cache
def _trace() -> tuple[Trace, Any, int]:
    trace = read_packaged(SPOT)
    window = trace.window(slot_s=SPOT_SLOT_S)
    return trace, window.start, window.slots


def start_slots() -> Sequence[int]:
    """Return the slots in which instances start: one per day of the second half, at least a week before the end."""
    slots = _trace()[2]
    return range(slots // 2, slots - _SLOTS + 1, _DAY_SLOTS)
