"""What an on-line scheduler of ``deadline`` sees: the job, the present slot, and the past of spot and prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hindsched.instances.deadline.model import Instance
from hindsched.instances.deadline.schedule import Kind, Placement

__all__ = ["Job", "Policy", "Visible"]


@dataclass(frozen=True, slots=True)
class Job:
    """The instance without spot and prices; the fields are those of `hindsched.instances.deadline.Instance`.

    Parameters
    ----------
    slot_s, deadline_s, work_s, overhead_s, move_delay_s, move_cost
        See `hindsched.instances.deadline.Instance`.
    names, regions
        Of the zones.
    """

    slot_s: int
    deadline_s: int
    work_s: int
    overhead_s: int
    names: tuple[str, ...]
    regions: tuple[str, ...]
    move_delay_s: tuple[tuple[int, ...], ...]
    move_cost: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, instance: Instance) -> Job:
        """Return what a scheduler may know of an instance before it starts."""
        return cls(
            slot_s=instance.slot_s,
            deadline_s=instance.deadline_s,
            work_s=instance.work_s,
            overhead_s=instance.overhead_s,
            names=tuple(zone.name for zone in instance.zones),
            regions=tuple(zone.region for zone in instance.zones),
            move_delay_s=instance.move_delay_s,
            move_cost=instance.move_cost,
        )

    @property
    def slots(self) -> int:
        """N, the number of slots before the deadline."""
        return self.deadline_s // self.slot_s

    @property
    def num_zones(self) -> int:
        """Z, the number of zones."""
        return len(self.names)


class Visible:
    """What a policy sees when it decides about a slot; valid in that slot only.

    Attributes
    ----------
    job
        The job to run.
    slot
        t, the slot to decide about.
    done_s
        Seconds of work done.
    left_s
        Seconds of overhead left of the last launch.
    home
        The zone that has the checkpoint; None before the first slot that was paid.
    last
        Placement in the slot before.
    current
        The same after preemption: None if it was a spot instance that is lost now.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.slot = -1
        self.done_s = 0
        self.left_s = 0
        self.home: int | None = None
        self.last: Placement = None
        self.current: Placement = None
        # own arrays, filled slot by slot: views of the instance's would show the future
        self._spot = np.zeros((job.num_zones, job.slots), dtype=bool)
        self._prices = np.zeros((job.num_zones, 2, job.slots), dtype=np.int64)

    def reveal(self, spot: npt.NDArray[np.bool_], prices: npt.NDArray[np.int64]) -> None:
        """Begin the next slot, with the spot and the prices of all zones in it (for the simulator)."""
        self.slot += 1
        self._spot[:, self.slot] = spot
        self._prices[:, :, self.slot] = prices

    @property
    def spot(self) -> npt.NDArray[np.bool_]:
        """Where spot could be had in slots 0 to t; shape (Z, t + 1), read-only."""
        return _read_only(self._spot[:, : self.slot + 1])

    @property
    def prices(self) -> npt.NDArray[np.int64]:
        """Micro-dollars an hour in slots 0 to t; shape (Z, 2, t + 1), spot before on-demand, read-only."""
        return _read_only(self._prices[:, :, : self.slot + 1])

    def has_spot(self, zone: int = 0) -> bool:
        """Return whether a spot instance can be had in this slot."""
        return bool(self._spot[zone, self.slot])

    def price(self, zone: int, kind: Kind) -> int:
        """Return the price in this slot, in micro-dollars an hour."""
        return int(self._prices[zone, 1 if kind is Kind.ON_DEMAND else 0, self.slot])

    @property
    def kind(self) -> Kind | None:
        """Kind of the instance that still runs; None if none does."""
        return None if self.current is None else self.current[1]

    @property
    def work_left_s(self) -> int:
        """Seconds of work that are not done."""
        return self.job.work_s - self.done_s

    @property
    def elapsed_s(self) -> int:
        """Seconds since slot 0 began."""
        return self.slot * self.job.slot_s

    @property
    def slots_left(self) -> int:
        """Slots before the deadline, this one included."""
        return self.job.slots - self.slot


def _read_only(view: np.ndarray) -> np.ndarray:
    view = view.view()
    view.setflags(write=False)
    return view


@runtime_checkable
class Policy(Protocol):
    """A scheduler: an object with a name and a decision for each slot until the work is done.

    An object serves one run; a run begins with a fresh copy.
    """

    name: str

    def choose(self, visible: Visible) -> Placement:
        """Return where the job runs in this slot: zone and kind, or None.

        A spot instance that cannot be had becomes None. The guard may overrule the choice in a critical slot.
        """
        ...
