"""The instance type of the family ``bags``: identical tasks of equal segments, and volatile machines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hindsched.instances import states as st
from hindsched.instances.base_instance import BaseInstance, as_integer
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt

__all__ = ["MOST", "WEEK_S", "Instance", "Store"]

#: The largest number in an instance: a product of two still fits 64 bits.
MOST = 2**31 - 1
#: Seconds of a week. The clock of an instance is below it.
WEEK_S = 7 * 24 * 3600


class Store(StrEnum):
    """Where saved states can be used: on every machine, or only on the machine that saved them."""

    SHARED = "shared"
    PRIVATE = "private"


@dataclass(frozen=True, eq=False, init=False)
class Instance(BaseInstance):
    """A bag of n identical tasks on p machines with known states (docs/bags/model.md section 1).

    An instance is immutable and is validated when it is made. Equality, hash and `fingerprint` follow the content.

    Parameters
    ----------
    tasks
        n, number of tasks.
    segments
        k, number of equal segments of a task: one more than its checkpoints.
    slot
        L, ticks of a slot; slot t is the instants [tL, (t+1)L).
    ticks
        p integers g_q: UP ticks that machine q needs for one segment.
    states
        The (p, N) states array (see `instances.states`). A RECLAIMED machine suspends its task and loses nothing; a
        DOWN machine loses what is not saved.
    store
        Where saved states can be used.
    on_demand
        Whether a state may be saved at any instant, not only at the end of a segment.
    tick_ms
        Milliseconds of a tick, for reports.
    reference_s
        R, CPU seconds of a task on the reference machine. Deadlines depend on it.
    clock_s
        Seconds since Monday 00:00 at tick 0; None: it is always day.
    move
        UP ticks that a machine spends to fetch a state that it has not saved itself (docs/bags/model.md section 2).

    Raises
    ------
    InputError
        If a value is invalid. The message names the machine and the field.

    Examples
    --------
    >>> pair = Instance.from_letters(["uud", "uru"], ticks=[2, 3], slot=4, tasks=2, segments=2)
    >>> pair.num_machines, pair.slots, pair.horizon, str(pair.store)
    (2, 3, 12, 'shared')
    """

    family: ClassVar[str] = "bags"

    tasks: int
    segments: int
    slot: int
    ticks: tuple[int, ...]
    states: st.States = field(repr=False)
    store: Store
    on_demand: bool
    tick_ms: int
    reference_s: int
    clock_s: int | None
    move: int

    def __init__(
        self,
        tasks: int,
        segments: int,
        slot: int,
        ticks: Sequence[int],
        states: st.States,
        store: Store | str = Store.SHARED,
        on_demand: bool = False,
        tick_ms: int = 1,
        reference_s: int = 1800,
        clock_s: int | None = None,
        move: int = 0,
    ) -> None:
        if len(ticks) == 0:
            raise InputError("no machine, expected at least one", place="machines")
        if store not in (*Store,):
            raise InputError(f"{excerpt(str(store))}, expected one of {', '.join(Store)}", place="store")
        if not isinstance(on_demand, bool | np.bool_):
            raise InputError(f"{on_demand!r}, expected true or false", place="on_demand")
        checked = {
            "tasks": as_integer(tasks, 1, MOST, "tasks"),
            "segments": as_integer(segments, 1, MOST, "segments"),
            "slot": as_integer(slot, 1, MOST, "slot"),
            "ticks": tuple(as_integer(value, 1, MOST, f"machines[{q}].segment") for q, value in enumerate(ticks)),
            "states": _checked_states(states, len(ticks)),
            "store": Store(store),
            "on_demand": bool(on_demand),
            "tick_ms": as_integer(tick_ms, 1, MOST, "tick_ms"),
            "reference_s": as_integer(reference_s, 1, MOST, "reference_s"),
            "clock_s": None if clock_s is None else as_integer(clock_s, 0, WEEK_S - 1, "clock_s"),
            "move": as_integer(move, 0, MOST, "move"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_letters(cls, states: Sequence[str], *, ticks: Sequence[int], **others: Any) -> Instance:
        """Return an instance from one string of states per machine; ``others`` are the other arguments."""
        return cls(ticks=ticks, states=st.from_letters(states, "machines"), **others)

    @property
    def num_machines(self) -> int:
        """Number of machines, p."""
        return len(self.ticks)

    @property
    def slots(self) -> int:
        """N, the number of known slots."""
        return int(self.states.shape[1])

    @property
    def horizon(self) -> int:
        """N L, the instant at which the known slots end."""
        return self.slots * self.slot

    @property
    def is_shared(self) -> bool:
        """Whether every machine can start from any saved state."""
        return self.store is Store.SHARED

    @property
    def is_move_paid(self) -> bool:
        """Whether starting from a state of another machine costs time."""
        return self.move > 0 and self.is_shared and (self.segments > 1 or self.on_demand)

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the content. It binds schedules and results to this instance."""
        digest = hashlib.sha256(b"bags/1\0")
        numbers = (self.tasks, self.segments, self.slot, self.ticks, str(self.store), self.on_demand)
        clock = (self.tick_ms, self.reference_s, self.clock_s)
        digest.update(repr((numbers, clock, self.states.shape)).encode())
        if self.move:  # an instance without it keeps its fingerprint
            digest.update(f"move {self.move}".encode())
        digest.update(self.states.tobytes())
        return f"sha256:{digest.hexdigest()}"


def _checked_states(states: st.States, machines: int) -> st.States:
    if not isinstance(states, np.ndarray) or states.dtype != np.uint8 or states.ndim != 2:
        raise InputError("expected a two-dimensional array of dtype uint8", place="states")
    if states.shape[0] != machines:
        raise InputError(f"{states.shape[0]} rows, expected one per machine, {machines}", place="states")
    if states.shape[1] == 0:
        raise InputError("no slot, expected at least one", place="machines[0].states")
    if states.shape[1] > st.MOST_SLOTS:
        raise InputError(f"{states.shape[1]} slots, expected at most {st.MOST_SLOTS}", place="machines[0].states")
    if states.max() > st.DOWN:
        raise InputError("a code above 2, expected 0 (UP), 1 (RECLAIMED) or 2 (DOWN)", place="states")
    return st.frozen(states)
