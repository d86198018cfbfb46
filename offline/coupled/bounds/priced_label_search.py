"""The searches by labels that pay rents, merged ones and all of them, on the workspace of a solve."""

from __future__ import annotations

from collections.abc import Callable, Generator
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Int32s, Ints
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.priced_labels import (
    Outlook,
    PayingLabels,
    find_path,
    make_paying_labels,
    trace_label,
)
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Path
from hindsched.offline.coupled.bounds.state_space_relaxation import (
    ArcRoom,
    Charges,
    Merged,
    lower,
    make_arc_room,
    make_merged,
    narrow,
    trace,
    unfold,
    weigh,
    weigh_members,
)
from hindsched.offline.coupled.search.constants import BEYOND, FAR_AWAY, FIND_EFFORT, PAUSE_EFFORT, SPENT
from hindsched.offline.coupled.search.feasible_team_cache import make_feasible_team_cache
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits

__all__ = ["PayingSearch", "Possible", "Room", "rehearse"]


class Room:
    """Working memory that all searches of an instance share: only one of them works at a time."""

    def __init__(self, workers: int, iterations: int) -> None:
        self._workers, self._iterations = workers, iterations
        self.labels: PayingLabels = make_paying_labels(workers, iterations)
        self._witnesses = make_feasible_team_cache(workers)
        self._arcs: dict[int, ArcRoom] = {}

    def arcs(self, width: int) -> ArcRoom:
        """Return room for arcs between so many nodes of each number of iterations."""
        if width not in self._arcs:
            self._arcs[width] = make_arc_room(self._iterations, width, self._workers, self._witnesses)
        return self._arcs[width]

    def nbytes(self) -> int:
        """Memory taken."""
        labels = sum(array.nbytes for array in self.labels[:-1])
        return labels + sum(room.cost.nbytes + room.c.nbytes + room.iw.nbytes for room in self._arcs.values())


class Possible(NamedTuple):
    """Who can compute in schedules of interest: lives, as numbered by worker and slot in ``life``, by iteration.

    ``first`` are the slots from which iterations can compute; ``early`` and ``top`` are those of a `Merged`.
    """

    life: Int32s
    member: Flags
    first: Flags
    early: Ints
    top: Int32s

    def last_first(self, k: int, s: int, t: int) -> int:
        """Return the last slot from which iteration k can compute between slots s and t; -1 if it can from none."""
        return int(self.top[k, s - self.early[k - 1], t - self.early[k]])


class PayingSearch:
    """What labels that pay rents tell of a part of the schedules within a horizon.

    Parameters
    ----------
    workspace
        With T_prog >= 1 and a channel that binds.
    early, late
        (K + 1,), windows for the slot after iterations 1..k; that of K is the horizon.
    room
        Shared by all searches.

    Arcs that are left out for a horizon are so for every smaller one. The workspace's effort stays as it was: what is
    taken is told instead.
    """

    def __init__(self, workspace: Workspace, early: Ints, late: Ints, room: Room) -> None:
        self._workspace, self._room = workspace, room
        self.early, self.late = early.copy(), late.copy()
        self.iterations, self.horizon = len(early) - 1, int(late[-1])
        self._merged: Merged | None = None
        self._from = self._to = np.zeros((0, 0), np.int64)
        self._possible: Possible | None = None

    def narrow(self) -> Generator[int, None, bool]:
        """Make the windows as narrow as the free-prefetch bound allows; yields the effort, False if none is left."""
        workspace = self._workspace
        while workspace.slots_known() < self.late[-1]:
            workspace.grow()
        while True:
            why, spent = self._run(narrow, workspace.prefetch, self.iterations, workspace.slots, self.early, self.late)
            yield spent
            if why >= 0:
                return bool(why)
            if why == BEYOND:
                workspace.grow()

    def most_arcs(self) -> int:
        """Return how many arcs there can be."""
        width = self.late - self.early + 1
        return int((width[1:] * width[:-1]).sum())

    def cut(self, early: Ints, late: Ints) -> None:
        """Leave out what is not within these windows; the horizon is what they end with."""
        self.early, self.late = np.maximum(self.early, early), np.minimum(self.late, late)
        self.horizon = min(self.horizon, int(late[-1]))
        merged = self._merged
        if merged is not None:
            for k in range(1, self.iterations + 1):
                merged.top[k, :, : max(0, self.early[k] - merged.early[k])] = -1
                merged.top[k, :, max(0, self.late[k] + 1 - merged.early[k]) :] = -1

    def unfold(self) -> Generator[int, None, bool]:
        """Find the nodes and arcs, anew where others were left out; yields the effort, False if no path is left."""
        workspace = self._workspace
        merged = self._merged
        if merged is None:
            room = self._room.arcs(int((self.late - self.early).max()) + 1)
            merged = self._merged = make_merged(self.early.copy(), self.late.copy(), workspace.problem.p, room)
        is_there = np.zeros(merged.is_new.shape[1], np.bool_)
        is_there[0] = True
        for k in range(1, self.iterations + 1):
            held_before = merged.held[k].copy()
            merged.held[k] = 0
            merged.top[k, ~is_there] = -1
            for row in np.flatnonzero((merged.top[k] >= 0).any(axis=1)).tolist():
                s = int(merged.early[k - 1]) + row
                yield self._run(unfold, workspace.prefetch, merged, k, s, workspace.slots)[1]
            merged.is_new[k - 1] = False
            merged.is_new[k] |= (merged.held[k] != held_before).any(axis=1)
            is_there = (merged.top[k] >= 0).any(axis=0)
            if not is_there.any():
                return False
        return True

    def weigh(self, charges: Charges) -> Generator[int, None, int]:
        """Find what all arcs cost; yields the effort, returns the cost of the least path."""
        merged, last = self._merged, self.iterations
        assert merged is not None
        merged.cost.fill(FAR_AWAY)  # another search may have used it
        for k in range(1, last + 1):
            yield self._run(weigh, charges, merged, k)[1]
        # Distances from the root, and to the end.
        self._from = np.full(merged.is_new.shape, FAR_AWAY, np.int64)
        self._to = self._from.copy()
        self._from[0, 0] = charges.paid
        self._to[-1, : merged.late[-1] - merged.early[-1] + 1] = 0
        for k in range(1, last + 1):
            self._from[k] = np.minimum(FAR_AWAY, (self._from[k - 1][:, None] + merged.cost[k]).min(axis=0))
        for k in range(last, 0, -1):
            self._to[k - 1] = np.minimum(FAR_AWAY, (merged.cost[k] + self._to[k]).min(axis=1))
        return int(self._to[0, 0]) + charges.paid

    def fix(self, charges: Charges) -> Generator[int, None, int]:
        """Leave out arcs that no schedule of interest has, given what they cost.

        Yields the effort, returns how many are left.
        """
        merged = self._merged
        assert merged is not None
        num_arcs = 0
        for k in range(1, self.iterations + 1):
            left, spent = self._run(lower, charges, merged, k, self._from[k - 1], self._to[k])
            num_arcs += left
            yield spent
        self._keep(np.any(merged.top >= 0, axis=1))
        return num_arcs

    def exclude(self, charges: Charges) -> Generator[int, None, bool]:
        """Find who can compute in which iterations of paths that cost 0 or less, and when.

        Yields the effort, False if there is no such path.
        """
        if (yield from self.weigh(charges)) > 0:
            return False
        merged = self._merged
        assert merged is not None
        least = np.full(charges.rents.shape, FAR_AWAY, np.int64)
        is_first = np.zeros((self.iterations + 1, self.horizon + 1), np.bool_)
        for k in range(1, self.iterations + 1):
            distances = self._from[k - 1], self._to[k]
            yield self._run(weigh_members, charges, merged, k, *distances, least[k], is_first[k])[1]
        known = self.possible_for(charges.life)
        if known is not None:
            least[~known.member] = FAR_AWAY
            is_first &= known.first[:, : is_first.shape[1]]
        self._possible = Possible(charges.life, least <= 0, is_first, merged.early, merged.top)
        return True

    def possible_for(self, life: Int32s) -> Possible | None:
        """Return what `exclude` has found, if lives are numbered as they were then."""
        return self._possible if self._possible is not None and self._possible.life is life else None

    def _keep(self, are_there: Flags) -> None:
        """Leave out all nodes but these."""
        merged = self._merged
        assert merged is not None
        for k in range(1, self.iterations + 1):
            merged.top[k][:, ~are_there[k]] = -1
            there = np.flatnonzero(are_there[k])
            if there.size:
                self.early[k] = max(self.early[k], merged.early[k] + there[0])
                self.late[k] = min(self.late[k], merged.early[k] + there[-1])

    def find(self, charges: Charges) -> Generator[int, None, int]:
        """Look for a path of labels that are not merged; yields the effort, returns what `paying.find_path` does."""
        merged, workspace = self._merged, self._workspace
        assert merged is not None
        top = np.where(merged.cost < FAR_AWAY, merged.top, -1).astype(np.int64)
        outlook = Outlook(
            np.maximum.accumulate(top[:, ::-1], axis=1)[:, ::-1].copy(),
            np.minimum.accumulate(merged.cost[:, ::-1], axis=1)[:, ::-1].copy(),
            np.minimum.accumulate(self._to[:, ::-1], axis=1)[:, ::-1].copy(),
            np.zeros(merged.is_new.shape, np.bool_),
        )
        labels = self._room.labels
        rest = workspace.prefetch, charges, merged, outlook, labels, self.iterations, workspace.slots
        label, spent = self._run(find_path, *rest, stop_after=FIND_EFFORT)
        yield spent
        if label >= 0:
            self._keep(outlook.reached)
        return label

    def path(self, charges: Charges, label: int) -> tuple[int, Path]:
        """Return the cost and the path of a label; those of the least path of merged ones if ``label`` is negative."""
        merged, workspace = self._merged, self._workspace
        assert merged is not None
        used = np.zeros(charges.rents.shape)
        sent, ends = np.zeros((2, self.iterations + 1), np.int64)
        common = workspace.table, workspace.problem, workspace.scratch, charges
        if label >= 0:
            labels = self._room.labels
            trace_label(*common, labels, label, int(merged.late[-1]), used, sent, ends)
            return int(labels.cost[label]), Path(used, sent, ends)
        row = 0
        for k in range(1, self.iterations + 1):
            row = int(np.argmin(merged.cost[k, row] + self._to[k]))
            ends[k] = merged.early[k] + row
        trace(*common, merged, used, sent, ends)
        return int(self._to[0, 0]) + charges.paid, Path(used, sent, ends)

    def copy(self) -> PayingSearch:
        """Return the same, to be cut; what arcs cost is to be found again in either."""
        other = copy(self)
        if self._merged is not None:
            merged = self._merged
            other._merged = merged._replace(held=merged.held.copy(), is_new=merged.is_new.copy(), top=merged.top.copy())
        return other

    def _run(self, kernel: Callable[..., int | None], *rest: Any, stop_after: int = PAUSE_EFFORT) -> tuple[int, int]:
        """Call a kernel; return what it returns, and the effort, which is told and not booked."""
        workspace = self._workspace
        before = workspace.effort_spent()
        workspace.stop_after(stop_after)
        result = kernel(workspace.table, workspace.problem, workspace.scratch, *rest)
        spent = workspace.effort_spent() - before
        workspace.scratch.effort[SPENT] = before
        return int(result or 0), max(1, spent)

    def nbytes(self) -> int:
        """Memory taken that no copy shares."""
        return 0 if self._merged is None else self._merged.top.nbytes + self._merged.held.nbytes


def rehearse() -> None:
    """Call every kernel once, so that all are ready in time."""
    tiny = Instance.from_letters(["uuuuuu", "uuuuuu"], w=[1, 1], tasks=2, iterations=1, n_com=1, t_prog=1)
    search = PayingSearch(Workspace(tiny, Limits()), np.array([0, 1]), np.array([0, 6]), Room(2, 1))
    life = np.tile(np.arange(2, dtype=np.int32), (6, 1))
    charges = Charges(life, np.zeros((2, 2), np.int64), np.ones(2, np.int64), 0)
    for going in (
        search.narrow(),
        search.unfold(),
        search.weigh(charges),
        search.fix(charges),
        search.exclude(charges),
    ):
        for _ in going:
            pass
    for _ in search.find(charges):
        pass
    search.path(charges, 1)  # the first label after the root
    search.path(charges, -1)
