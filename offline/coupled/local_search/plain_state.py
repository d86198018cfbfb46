"""What the local search searches, in plain Python: windows and programs, violations, and moves.

A schedule in normal form (module `search.normal_form`) computes its k-th iteration in W slots of a *window*
first..last: all its slots except some *pauses*. An iteration starts in the slot after the window before it; until its
own window starts, it receives data and programs. Windows and programs determine which workers can compute in a window,
and how many tasks each can hold if it is served alone. If these are at least m, and the channel can send all data and
programs, that is a schedule.

A *state* need not be a schedule. `violations` counts its missing tasks and excess units of the channel. Simulated
annealing goes from state to state, accepts fewer violations as the temperature falls, and keeps to states that end
before the incumbent. A *move* changes

- a window: it starts earlier or later, has another W, or one pause more or less. Later windows shift with it, all of
  them, or those before a communication phase whose length then changes;
- programs: some are withdrawn.

After each move the programs are repaired: a program is sent, withdrawn, or sent in another iteration of the same
availability period, each time by the change that reduces the violations most, until none does. Violations that last
get larger penalties, so that the search leaves states that violate the same iteration.

The kernels of `repair` and `annealing` do the same faster; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP

__all__ = ["State", "Violation", "Window", "moves", "violations"]


@dataclass(frozen=True, slots=True)
class Window:
    """The computing slots of an iteration: W slots from ``first`` on, without its pauses."""

    first: int
    work: int
    pauses: frozenset[int]

    @property
    def slots(self) -> tuple[int, ...]:
        """The computing slots."""
        slots: list[int] = []
        t = self.first
        while len(slots) < self.work:
            if t == self.first or t not in self.pauses:
                slots.append(t)
            t += 1
        return tuple(slots)

    @property
    def last(self) -> int:
        """The last computing slot."""
        return self.slots[-1]

    def later(self, by: int) -> Window:
        """Return the window shifted by this many slots; its pauses stay."""
        return replace(self, first=self.first + by)


class State(NamedTuple):
    """The windows in order, and the workers that receive the program in each iteration."""

    windows: tuple[Window, ...]
    sent: tuple[frozenset[int], ...]


class Violation(NamedTuple):
    """Tasks of an iteration that no worker can hold, and units that exceed the channel before its window."""

    tasks: int
    units: int


def violations(instance: Instance, state: State) -> list[Violation]:
    """Return the violations of each iteration that counting finds."""
    found = []
    held: dict[int, int] = {}  # worker: the slot before which it has received the program
    start = 0
    for window, sent in zip(state.windows, state.sent, strict=True):
        tasks = 0
        for q in range(instance.num_workers):
            row = instance.prefix(window.last + 1)[q]
            downs = (row == DOWN).nonzero()[0]
            period_start = int(downs[-1]) + 1 if downs.size else 0
            has_program = q in held and period_start <= held[q]
            if not has_program and q not in sent:
                continue
            received = int((row[max(start, period_start) : window.first] == UP).sum())
            left = received - (0 if has_program else instance.t_prog)
            if period_start <= window.first and left >= 0 and all(row[t] == UP for t in window.slots):
                cap = min(instance.capacities[q], window.work // instance.w[q])
                tasks += cap if instance.t_data == 0 else min(cap, left // instance.t_data)
        units = len(sent) * instance.t_prog + instance.tasks * instance.t_data
        room = instance.channels * (window.first - start)
        found.append(Violation(max(0, instance.tasks - tasks), max(0, units - room)))
        held.update((q, window.first) for q in sent)
        start = window.last + 1
    return found


def moves(state: State, works: tuple[int, ...], farthest: int) -> Iterator[tuple[Window, ...]]:
    """Yield the windows of all states that one move of a window reaches.

    Parameters
    ----------
    state
        The state that the move changes.
    works
        The values of W, ascending; a move changes W by at most three places.
    farthest
        The most slots by which a window shifts.
    """
    for k, window in enumerate(state.windows):
        for changed in _changes(window, works, farthest):
            by = changed.last - window.last
            for shifted in range(k, len(state.windows)) if by else [k]:
                after = state.windows[k + 1 :]
                moved = tuple(other.later(by) if k + 1 + i <= shifted else other for i, other in enumerate(after))
                yield (*state.windows[:k], changed, *moved)


def _changes(window: Window, works: tuple[int, ...], farthest: int) -> Iterator[Window]:
    for by in range(1, farthest + 1):
        yield window.later(-by)
        yield window.later(by)
    at = works.index(window.work)
    for work in works[max(0, at - 3) : at + 4]:
        if work != window.work:
            yield replace(window, work=work)
            yield replace(window, work=work, first=window.first - work + window.work)
    for by, pauses in (
        *((1, window.pauses - {t}) for t in window.pauses),
        *((-1, window.pauses | {t}) for t in range(window.first + 1, window.last + 1)),
    ):
        yield replace(window, pauses=pauses)
        yield replace(window, pauses=pauses).later(by)
