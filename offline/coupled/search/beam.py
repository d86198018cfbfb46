"""Good schedules at once: a beam search over the labels, iteration by iteration.

From each label of a level the next iteration is ended in its first possible slot and in some later ones: a longer
iteration sends more programs. Who computes and who is sent the program is found by a short search (module `holders`)
and by what the programs are cost later (module `proposals`), which finds the better ones. Two things count:

    F^(K-k)(t), when the rest could end at the earliest; T_prog / n_com * (programs in H that chains of the channel
    bound use from slot t on), slots that the channel need not spend any more on programs.

So it is known for whom the program is worth having, if the channel bound (module `channel_bound`) has been at work, or
in its place the bound by rents, whose paths tell the same (`rents.search.RentBound.merits`), and where time is better
spent on sending than saved. Since the second is only an estimate, the next level is chosen in
layers: first the labels that no other beats in both, then those that only labels of the first layer beat, and so on, as
many as the beam is wide; within a layer, those with the least difference first. Of two labels, one of which ends no
later with no fewer holders, only that one is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, compose
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import credit
from hindsched.offline.coupled.search.best_first import Question, end_of_interest
from hindsched.offline.coupled.search.bitsets import assign, within
from hindsched.offline.coupled.search.constants import (
    ANY,
    BEAM_EFFORT,
    BEAM_FOUND,
    BEST,
    BEYOND,
    COARSE,
    COARSER,
    COUNT,
    END,
    EXPANDED,
    IN_POOL,
    LAST,
    LATER_ENDS,
    LEVEL_DONE,
    MORE_SLOTS,
    NEXT,
    NO_ROOM,
    NUM_FOUND,
    PAUSE,
    POOL_ROOM,
    RELAXED,
    SPENT,
    STOP,
    TOO_MANY_PLACES,
    TRIED_SLOTS,
    TRIED_TIMES,
    WAIT,
)
from hindsched.offline.coupled.search.greedy_expansion import propose
from hindsched.offline.coupled.search.holders import expand
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.label_search import Incumbent, LabelSearch
from hindsched.offline.coupled.search.labels import Labels, more_labels
from hindsched.offline.coupled.search.normal_form import prepare
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["Beam"]


class Pool(NamedTuple):
    """What follows a level: labels found, the slot in which the rest could end, and the slots spared.

    The cells of ``progress`` are named in `constants`; the other arrays have as many entries as there is room for
    labels, and those of `Labels` their meaning.
    """

    progress: Ints
    ahead: Ints
    spared: Reals
    start: Ints
    parent: Ints
    held: Words
    members: Words
    c: Ints
    iw: Ints


def make_pool(room: int, words: int) -> Pool:
    """Room for so many labels."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    def sets() -> Words:
        return np.zeros((room, words), np.uint64)

    return Pool(ints(5), ints(room), np.zeros(room), ints(room), ints(room), sets(), sets(), ints(room), ints(room))


@kernel
def _widen(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prefetch: Prefetch,
    labels: Labels,
    pool: Pool,
    level: Ints,
    question: Question,
    seed: int,
) -> int:
    """Find labels that follow those of `level`, from where it stopped the last time.

    Returns why it stopped: `constants.LEVEL_DONE` and others.
    """
    at = pool.progress
    end = end_of_interest(question)
    coarse = COARSE if problem.p * problem.m < TOO_MANY_PLACES else COARSER
    while at[NEXT] < level.size:
        if scratch.effort[SPENT] > scratch.effort[STOP]:
            return WAIT
        label = level[at[NEXT]]
        s, done = labels.start[label], labels.done[label]
        if at[END] < 0:  # not begun yet: the first end that is possible, and how far to look for one
            free = compose(table, problem, scratch, prefetch, s, 1, question.horizon)
            if free < 0:
                return WAIT if free == PAUSE else MORE_SLOTS
            at[END] = free - 1
            at[LAST] = free + max(TRIED_SLOTS, TRIED_TIMES * (free - s))
            at[ANY] = 0
        e = at[END]
        if e >= min(at[LAST], end):
            _go_on(pool)
            continue
        ahead = e + 1
        if question.iterations > 0:
            left = question.iterations - done - 1
            ahead = compose(table, problem, scratch, prefetch, e + 1, left, question.horizon)
        if ahead == PAUSE:
            return WAIT
        if ahead == BEYOND or e >= table.length:
            return MORE_SLOTS
        if ahead > end:
            _go_on(pool)
            continue
        if at[IN_POOL] + BEAM_FOUND > pool.start.size:
            return NO_ROOM
        # The iteration is ended in e: sets found by a short search, and others made.
        prepare(table, problem, scratch.needs, s, e, labels.held[label], end)
        expand(table, problem, scratch, question.mode, s, e, end, done + 1 == question.iterations)
        if question.mode != RELAXED:  # where the channel does not bind there is nothing to choose
            propose(table, problem, scratch, question.mode, s, e, seed)
        labels.tally[EXPANDED] += 1
        if scratch.counters[NUM_FOUND] > 0 and at[ANY] == 0:
            at[ANY] = 1
            at[LAST] = e + 1 + max(LATER_ENDS, (e + 1 - s) // 4)
        _collect(problem, scratch, pool, label, e, ahead)
        is_sought = at[ANY] == 0 and coarse == COARSE  # the first may be the only one
        at[END] = e + 1 if is_sought else e + 1 + (e + 1 - s) // coarse
    return LEVEL_DONE


@kernel
def _go_on(pool: Pool) -> None:
    """Go on with the next label of the level."""
    pool.progress[NEXT] += 1
    pool.progress[END] = -1


@inlined
def _collect(problem: Problem, scratch: Scratch, pool: Pool, label: int, e: int, ahead: int) -> None:
    """Put the holder sets found for an iteration after `label` that ended in slot e into the pool."""
    found = scratch.found
    for r in range(scratch.counters[NUM_FOUND]):
        n = pool.progress[IN_POOL]
        pool.progress[IN_POOL] = n + 1
        pool.ahead[n] = ahead
        pool.spared[n] = credit(problem, scratch.order, found.held[r], e + 1)
        pool.start[n] = e + 1
        pool.parent[n] = label
        assign(pool.held[n], found.held[r])
        assign(pool.members[n], found.members[r])
        pool.c[n] = found.c[r]
        pool.iw[n] = found.iw[r]


@kernel
def _divide(spared: Reals, order: Ints, most: Reals, layer: Ints) -> None:
    """Write each label's layer to `layer`; `order` is that of ``ahead``, and among equals that of most ``spared``."""
    count = 0
    for i in order:
        k = 0
        while k < count and most[k] >= spared[i]:
            k += 1
        most[k] = spared[i]
        layer[i] = k
        count = max(count, k + 1)


@kernel
def _choose(pool: Pool, order: Ints, width: int, kept: Ints) -> int:
    """Keep the first `width` in `order`, without those that end no earlier than a kept one, with no more holders."""
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
    """One beam search; `work` does it."""

    def __init__(self, workspace: Workspace, mode: int, iterations: int, width: int, seed: int = 0) -> None:
        super().__init__(workspace, mode, iterations, real=True, dive=True)
        self._width = width
        self._seed = seed

    def work(self, incumbent: Incumbent, steps: int = 0) -> bool:
        """Search and offer the best schedule found; proves nothing."""
        question = self.question(incumbent.cost - 1)
        level = np.zeros(1, np.int64)
        pool = make_pool(max(4 * BEAM_FOUND, POOL_ROOM * self._width), self.workspace.problem.num_words)
        while level.size and (not self.iterations or self.labels.done[level[0]] < self.iterations):
            self._follow(level, pool, question)
            level = self._enter(pool, self._select(pool))
            if level.size:
                self.labels.tally[BEST] = min(level, key=lambda i: int(self.labels.start[i]))
        self.is_finished = True
        if level.size or not self.iterations:
            incumbent.offer(self)
        else:
            self.labels.tally[BEST] = 0
        return False

    def _follow(self, level: Ints, pool: Pool, question: Question) -> None:
        """Fill the pool with what follows a level."""
        workspace = self.workspace
        pool.progress[:] = 0
        pool.progress[END] = -1
        while True:
            workspace.check()
            workspace.limit_expansion(BEAM_EFFORT, BEAM_FOUND)
            workspace.stop_after()
            why = _widen(
                workspace.table,
                workspace.problem,
                workspace.scratch,
                workspace.smooth,
                self.labels,
                pool,
                level,
                question,
                self._seed,
            )
            if why == LEVEL_DONE:
                return
            if why == NO_ROOM:
                self._shrink(pool)
            elif why == MORE_SLOTS:
                workspace.grow()

    def _select(self, pool: Pool) -> Ints:
        """Return the best of what has been found."""
        n = int(pool.progress[IN_POOL])
        ahead, spared = pool.ahead[:n], pool.spared[:n]
        layer = np.zeros(n, np.int64)
        _divide(spared, np.lexsort((np.arange(n), pool.start[:n], -spared, ahead)), np.zeros(n), layer)
        order = np.lexsort((np.arange(n), pool.start[:n], ahead - spared, layer))
        kept = np.zeros(self._width, np.int64)
        return kept[: _choose(pool, order, self._width, kept)]

    def _shrink(self, pool: Pool) -> None:
        """Leave only the best in the pool."""
        kept = self._select(pool)
        for array in pool[1:]:
            array[: kept.size] = array[kept]
        pool.progress[IN_POOL] = kept.size

    def _enter(self, pool: Pool, kept: Ints) -> Ints:
        """Make labels of them."""
        first = int(self.labels.tally[COUNT])
        while first + kept.size > len(self.labels.done):
            self.workspace.claim()
            self.labels = more_labels(self.labels)
        labels = self.labels
        new = np.arange(first, first + kept.size)
        labels.tally[COUNT] = first + kept.size
        labels.parent[new], labels.start[new] = pool.parent[kept], pool.start[kept]
        labels.done[new] = labels.done[labels.parent[new]] + 1
        labels.held[new], labels.members[new] = pool.held[kept], pool.members[kept]
        labels.c[new], labels.iw[new] = pool.c[kept], pool.iw[kept]
        return new
