"""Beam search over labels, iteration by iteration, for good schedules early.

From each label of a level the next iteration ends in its first possible slot or in a later one, as a longer iteration
sends more programs. The holder sets come from a short enumeration (module `holders`) and from the greedy expansion
(module `greedy_expansion`), which finds the better ones. Two numbers rate a label (k, t, H):

- F^(K-k)(t), the completion bound of the free prefetch;
- T_prog / n_com times the programs in H that the paths of a dual bound use from slot t on: slots that the channel
  saves. The bounds set these merits (`bounds.dual_bounds.DualBounds.advise`).

The second number is an estimate, so the next level is selected in layers: first the labels that no other label beats in
both numbers, then those that only labels of the first layer beat, and so on up to the width of the beam. Within a
layer, the least difference of the numbers comes first. A label that ends no earlier than a selected one, with a subset
of its holders, is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, compose
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import credit
from hindsched.offline.coupled.search.best_first import SearchSettings, horizon_of
from hindsched.offline.coupled.search.bitsets import assign, within
from hindsched.offline.coupled.search.effort import EFFORT_PER_STEP, SPENT, STOP
from hindsched.offline.coupled.search.greedy_expansion import expand_greedily
from hindsched.offline.coupled.search.holders import expand
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.label_search import Incumbent, LabelSearch
from hindsched.offline.coupled.search.labels import BEST_LABEL, NUM_EXPANDED, NUM_LABELS, Labels, more_labels
from hindsched.offline.coupled.search.modes import RELAXED
from hindsched.offline.coupled.search.normal_form import prepare
from hindsched.offline.coupled.search.parameters import BeamParameters, GreedyParameters
from hindsched.offline.coupled.search.scratch_memory import NUM_FOUND, Scratch
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import EFFORT_LIMIT_MET, SLOTS_UNKNOWN
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["Beam", "BeamSequence"]

LEVEL_DONE, POOL_FULL, EFFORT_USED, NEED_SLOTS = range(4)
"""Why `_expand_level` stopped: the level is expanded; the pool is full; the effort is spent; more slots are needed."""

NEXT_LABEL, NEXT_END, LAST_END, POOL_SIZE, HAS_SUCCESSOR = range(5)
"""Cells of ``Pool.progress``.

The index in the level of the label that is expanded; its next end, -1 before the first; the end before which its
expansion stops; the number of successors in the pool; whether the label has a successor.
"""

_PARAMETERS = BeamParameters()
_GREEDY_PARAMETERS = GreedyParameters()


class Pool(NamedTuple):
    """The successors of a level, with their completion bounds and the slots that their programs save.

    The cells of ``progress`` are named above; arrays named as in `Labels` have the same meaning.
    """

    progress: Ints
    completion: Ints
    saved: Reals
    start: Ints
    parent: Ints
    held: Words
    members: Words
    c: Ints
    iw: Ints


class BeamSettings(NamedTuple):
    """Settings of one beam: those of its searches, the seed of the greedy expansion, and parameters."""

    search: SearchSettings
    seed: int
    parameters: BeamParameters
    greedy: GreedyParameters


def make_pool(room: int, words: int) -> Pool:
    """Return an empty pool for this many labels."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    def sets() -> Words:
        return np.zeros((room, words), np.uint64)

    return Pool(ints(5), ints(room), np.zeros(room), ints(room), ints(room), sets(), sets(), ints(room), ints(room))


@kernel
def _expand_level(
    arrays: SearchArrays, prefetch: Prefetch, labels: Labels, pool: Pool, level: Ints, beam: BeamSettings
) -> int:
    """Put successors of the labels of `level` into the pool, continuing the last call; return why it stopped."""
    problem, scratch = arrays.problem, arrays.scratch
    at = pool.progress
    settings, parameters = beam.search, beam.parameters
    end = horizon_of(settings)
    is_fine = problem.p * problem.m < parameters.coarse_places
    length = parameters.fine_length if is_fine else parameters.coarse_length
    while at[NEXT_LABEL] < level.size:
        if scratch.effort[SPENT] > scratch.effort[STOP]:
            return EFFORT_USED
        label = level[at[NEXT_LABEL]]
        s, done = labels.start[label], labels.done[label]
        if at[NEXT_END] < 0:  # a new label: its first possible end, and where the search for one stops
            free = compose(arrays, prefetch, s, 1, settings.horizon)
            if free < 0:
                return EFFORT_USED if free == EFFORT_LIMIT_MET else NEED_SLOTS
            at[NEXT_END] = free - 1
            at[LAST_END] = free + max(parameters.first_end_slots, parameters.first_end_factor * (free - s))
            at[HAS_SUCCESSOR] = 0
        e = at[NEXT_END]
        if e >= min(at[LAST_END], end):
            _start_next_label(pool)
            continue
        completion = e + 1
        if settings.iterations > 0:
            left = settings.iterations - done - 1
            completion = compose(arrays, prefetch, e + 1, left, settings.horizon)
        if completion == EFFORT_LIMIT_MET:
            return EFFORT_USED
        if completion == SLOTS_UNKNOWN or e >= arrays.table.length:
            return NEED_SLOTS
        if completion > end:
            _start_next_label(pool)
            continue
        if at[POOL_SIZE] + parameters.holder_sets > pool.start.size:
            return POOL_FULL
        # Holder sets of the iteration that ends in e: by a short enumeration, and greedily.
        prepare(arrays.table, problem, scratch.needs, s, e, labels.held[label], end)
        expand(arrays, settings.mode, s, e, end, done + 1 == settings.iterations)
        if settings.mode != RELAXED:  # without a binding channel there is no choice of holders
            expand_greedily(arrays, settings.mode, s, e, beam.seed, beam.greedy)
        labels.tally[NUM_EXPANDED] += 1
        if scratch.counters[NUM_FOUND] > 0 and at[HAS_SUCCESSOR] == 0:
            at[HAS_SUCCESSOR] = 1
            at[LAST_END] = e + 1 + max(parameters.later_ends, (e + 1 - s) // 4)
        _collect(problem, scratch, pool, label, e, completion)
        tries_every_end = is_fine and at[HAS_SUCCESSOR] == 0  # the first end may be the only one
        at[NEXT_END] = e + 1 if tries_every_end else e + 1 + (e + 1 - s) // length
    return LEVEL_DONE


@kernel
def _start_next_label(pool: Pool) -> None:
    """Start the expansion of the next label of the level."""
    pool.progress[NEXT_LABEL] += 1
    pool.progress[NEXT_END] = -1


@inlined
def _collect(problem: Problem, scratch: Scratch, pool: Pool, label: int, e: int, completion: int) -> None:
    """Put the holder sets found for an iteration after `label` that ended in slot e into the pool."""
    found = scratch.found
    for r in range(scratch.counters[NUM_FOUND]):
        n = pool.progress[POOL_SIZE]
        pool.progress[POOL_SIZE] = n + 1
        pool.completion[n] = completion
        pool.saved[n] = credit(problem, scratch.order, found.held[r], e + 1)
        pool.start[n] = e + 1
        pool.parent[n] = label
        assign(pool.held[n], found.held[r])
        assign(pool.members[n], found.members[r])
        pool.c[n] = found.c[r]
        pool.iw[n] = found.iw[r]


@kernel
def _assign_layers(saved: Reals, order: Ints, most: Reals, layer: Ints) -> None:
    """Write each label's layer to `layer`; `order` sorts by ``completion``, then by falling ``saved``."""
    count = 0
    for i in order:
        k = 0
        while k < count and most[k] >= saved[i]:
            k += 1
        most[k] = saved[i]
        layer[i] = k
        count = max(count, k + 1)


@kernel
def _select_undominated(pool: Pool, order: Ints, width: int, kept: Ints) -> int:
    """Keep the first `width` labels in `order` that no kept label beats in start and holders; return their number."""
    n = 0
    for i in order:
        if n == width:
            break
        good = True
        for k in range(n):
            j = kept[k]
            if pool.start[j] <= pool.start[i] and within(pool.held[i], pool.held[j]):
                good = False
                break
        if good:
            kept[n] = i
            n += 1
    return n


class Beam(LabelSearch):
    """One beam search, which `work` runs."""

    def __init__(
        self,
        workspace: Workspace,
        mode: int,
        iterations: int,
        width: int,
        seed: int = 0,
        parameters: BeamParameters = _PARAMETERS,
    ) -> None:
        super().__init__(workspace, mode, iterations, real=True, dive=True)
        self._width = width
        self._seed = seed
        self._parameters = parameters

    def work(self, incumbent: Incumbent, steps: int = 0) -> bool:
        """Search and offer the best schedule found; return False, as a beam proves nothing."""
        parameters = self._parameters
        settings = self.settings(incumbent.cost - 1)
        level = np.zeros(1, np.int64)
        room = max(4 * parameters.holder_sets, parameters.pool_factor * self._width)
        pool = make_pool(room, self.workspace.problem.num_words)
        while level.size and (not self.iterations or self.labels.done[level[0]] < self.iterations):
            self._fill(pool, level, settings)
            level = self._enter(pool, self._select(pool))
            if level.size:
                self.labels.tally[BEST_LABEL] = min(level, key=lambda i: int(self.labels.start[i]))
        self.is_finished = True
        if level.size or not self.iterations:
            incumbent.offer(self)
        else:
            self.labels.tally[BEST_LABEL] = 0
        return False

    def _fill(self, pool: Pool, level: Ints, settings: SearchSettings) -> None:
        """Fill the pool with successors of a level."""
        workspace, parameters = self.workspace, self._parameters
        pool.progress[:] = 0
        pool.progress[NEXT_END] = -1
        while True:
            workspace.check()
            workspace.limit_expansion(parameters.effort, parameters.holder_sets)
            workspace.stop_after()
            reason = _expand_level(
                workspace.arrays,
                workspace.unraised_prefetch,
                self.labels,
                pool,
                level,
                BeamSettings(settings, self._seed, parameters, _GREEDY_PARAMETERS),
            )
            if reason == LEVEL_DONE:
                return
            if reason == POOL_FULL:
                self._shrink(pool)
            elif reason == NEED_SLOTS:
                workspace.grow()

    def _select(self, pool: Pool) -> Ints:
        """Return the best labels of the pool."""
        n = int(pool.progress[POOL_SIZE])
        completion, saved = pool.completion[:n], pool.saved[:n]
        layer = np.zeros(n, np.int64)
        _assign_layers(saved, np.lexsort((np.arange(n), pool.start[:n], -saved, completion)), np.zeros(n), layer)
        order = np.lexsort((np.arange(n), pool.start[:n], completion - saved, layer))
        kept = np.zeros(self._width, np.int64)
        return kept[: _select_undominated(pool, order, self._width, kept)]

    def _shrink(self, pool: Pool) -> None:
        """Keep only the best labels of the pool."""
        kept = self._select(pool)
        for array in pool[1:]:
            array[: kept.size] = array[kept]
        pool.progress[POOL_SIZE] = kept.size

    def _enter(self, pool: Pool, kept: Ints) -> Ints:
        """Make labels of the kept successors and return their numbers."""
        first = int(self.labels.tally[NUM_LABELS])
        while first + kept.size > len(self.labels.done):
            self.workspace.claim()
            self.labels = more_labels(self.labels)
        labels = self.labels
        new = np.arange(first, first + kept.size)
        labels.tally[NUM_LABELS] = first + kept.size
        labels.parent[new], labels.start[new] = pool.parent[kept], pool.start[kept]
        labels.done[new] = labels.done[labels.parent[new]] + 1
        labels.held[new], labels.members[new] = pool.held[kept], pool.members[kept]
        labels.c[new], labels.iw[new] = pool.c[kept], pool.iw[kept]
        return new


class BeamSequence:
    """One beam in each round: wider while beams take no more than their share, narrow at first on large instances."""

    def __init__(
        self,
        workspace: Workspace,
        mode: int,
        iterations: int,
        share: int,
        parameters: BeamParameters = _PARAMETERS,
    ) -> None:
        self._workspace, self._mode, self._iterations = workspace, mode, iterations
        self._share, self._parameters = share, parameters
        places = workspace.problem.p * workspace.problem.m
        least = parameters.min_width if places < parameters.coarse_places else 1
        self._width = max(least, min(parameters.first_width, parameters.first_places // places))
        self._seed = self._taken = 0
        self.last: Beam | None = None
        self.has_failed = False  # the last beam found nothing better

    def work(self, incumbent: Incumbent, steps: int) -> int:
        """Run the next beam; return 0, or the steps that it took if those exceed its share of the round.

        While the last beam took more than its share of two such rounds, none is run.
        """
        if self._taken <= 2 * steps:
            self._seed += 1
            self.last = Beam(self._workspace, self._mode, self._iterations, self._width, self._seed, self._parameters)
            before, cost = self._workspace.effort_spent(), incumbent.cost
            self.last.work(incumbent)
            self.has_failed = incumbent.cost == cost
            self._taken = (self._workspace.effort_spent() - before) // (self._share * EFFORT_PER_STEP)
            if self._taken < steps:
                widest = self._parameters.max_words // self._workspace.problem.num_words
                self._width = max(self._width, min(2 * self._width, widest))
            else:
                return self._taken
        return 0
