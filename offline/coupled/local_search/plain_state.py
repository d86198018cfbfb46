"""What the walks search, in plain Python: computing windows and programs, what is wrong with them, and the moves.

A schedule in normal form (module `iteration`) computes its k-th iteration in W slots of a *window* first..last, in all
its slots but some *pauses*. Every iteration starts in the slot after the window before; until its own window begins it
is sent data and programs. Given windows and who is sent the program when, the workers that can compute in a window are
known, and the tasks that each could hold if it were alone; if they can hold m tasks, and the channel can serve what
tasks and programs need, that is a schedule.

A *state* need not be one. `faults` tells what it lacks, in tasks and slots of the channel; a walk goes from state to
state, ever less wrong as it cools down, and keeps to states that would end before the best schedule does. A *move* is

- of a window: it begins sooner or later, has another W, has one more pause or one less; the windows after it, or some
  of them, go with it, and the communication before the first that does not becomes longer or shorter;
- of programs: some are taken back.

After each the programs are repaired: one worker after the other is sent it, or not, or in another iteration of the same
availability period, always what helps most, until nothing does. What has been wanting for long weighs more and more in
all this, so that a walk does not stay where the same iteration lacks the same slots for ever.

The kernels of `fitting` and `annealing` do the same, faster; the tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP

__all__ = ["Fault", "State", "Window", "faults", "moves"]


@dataclass(frozen=True, slots=True)
class Window:
    """The slots in which an iteration computes: W of them from ``first`` on, without its pauses."""

    first: int
    work: int
    pauses: frozenset[int]

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots."""
        slots: list[int] = []
        t = self.first
        while len(slots) < self.work:
            if t == self.first or t not in self.pauses:
                slots.append(t)
            t += 1
        return tuple(slots)

    @property
    def last(self) -> int:
        """The last of them."""
        return self.slots[-1]

    def later(self, by: int) -> Window:
        """Return the same so many slots later; pauses stay in their slots."""
        return replace(self, first=self.first + by)


class State(NamedTuple):
    """Windows, in order, and whom the program is sent in each iteration."""

    windows: tuple[Window, ...]
    sent: tuple[frozenset[int], ...]


class Fault(NamedTuple):
    """Tasks that nobody can hold in an iteration, and units that are more than the channel can carry before it."""

    tasks: int
    units: int


def faults(instance: Instance, state: State) -> list[Fault]:
    """Return what is wrong with each iteration, as far as counting tells."""
    found = []
    held: dict[int, int] = {}  # worker: the slot before which its program has arrived
    start = 0
    for window, sent in zip(state.windows, state.sent, strict=True):
        tasks = 0
        for q in range(instance.num_workers):
            row = instance.prefix(window.last + 1)[q]
            downs = (row == DOWN).nonzero()[0]
            born = int(downs[-1]) + 1 if downs.size else 0
            has_program = q in held and born <= held[q]
            if not has_program and q not in sent:
                continue
            received = int((row[max(start, born) : window.first] == UP).sum())
            left = received - (0 if has_program else instance.t_prog)
            if born <= window.first and left >= 0 and all(row[t] == UP for t in window.slots):
                cap = min(instance.capacities[q], window.work // instance.w[q])
                tasks += cap if instance.t_data == 0 else min(cap, left // instance.t_data)
        units = len(sent) * instance.t_prog + instance.tasks * instance.t_data
        room = instance.channels * (window.first - start)
        found.append(Fault(max(0, instance.tasks - tasks), max(0, units - room)))
        held.update((q, window.first) for q in sent)
        start = window.last + 1
    return found


def moves(state: State, works: tuple[int, ...], farthest: int) -> Iterator[tuple[Window, ...]]:
    """Yield the windows of all states that one move of a window leads to.

    Parameters
    ----------
    state
        From where.
    works
        The values that W can take, ascending; a move goes three further at most.
    farthest
        How far a window is moved at most.
    """
    for k, window in enumerate(state.windows):
        for changed in _changes(window, works, farthest):
            by = changed.last - window.last
            for with_it in range(k, len(state.windows)) if by else [k]:
                after = state.windows[k + 1 :]
                moved = tuple(other.later(by) if k + 1 + i <= with_it else other for i, other in enumerate(after))
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
