"""Good schedules at once: a beam search over the labels, iteration by iteration.

From each label of a level the next iteration is ended in its first possible slot and in some later ones: a longer
iteration sends more programs. Who computes and who is sent the program is found by a short search (module `holders`)
and by what the programs are worth later (module `proposals`), which finds the better ones. Two things count:

    F^(K-k)(t), when the rest could end at the earliest;
    T_prog / n_com * (programs in H that chains of the rent bound use from slot t on), slots that the channel need not
    spend any more on programs.

So it is known for whom the program is worth having, if the rent bound (module `channel_bound`) has been at work, and
where time is better spent on sending than saved. Since the second is only an estimate, the next level is chosen in
layers: first the labels that no other beats in both, then those that only labels of the first layer beat, and so on, as
many as the beam is wide; within a layer, those with the least difference first. Of two labels, one of which ends no
later with no fewer holders, only that one is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offline.coupled.native.channel_bound import credit
from offline.coupled.native.constants import (
    ANY,
    BEAM_EFFORT,
    BEAM_FOUND,
    BEST,
    BEYOND,
    COARSE,
    COUNT,
    END,
    EXPANDED,
    FOUND,
    IN_POOL,
    LAST,
    LATER_ENDS,
    LEVEL_DONE,
    MORE_SLOTS,
    NEXT,
    NO_ROOM,
    PAUSE,
    POOL_ROOM,
    RELAXED,
    SPENT,
    STOP,
    TRIED_SLOTS,
    TRIED_TIMES,
    WAIT,
)
from offline.coupled.native.holders import expand
from offline.coupled.native.iteration import Space, prepare
from offline.coupled.native.kernels import Ints, Reals, Words, assign, kernel, within
from offline.coupled.native.label_search import Best, Store
from offline.coupled.native.labels import Labels, more_labels
from offline.coupled.native.parameters import Problem
from offline.coupled.native.prefetch import compose
from offline.coupled.native.proposals import propose
from offline.coupled.native.state_tables import Table
from offline.coupled.native.workspace import Workspace

__all__ = ["Beam"]


class Pool(NamedTuple):
    """What follows a level: labels found, the slot in which the rest could end, and the slots spared."""

    at: Ints
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
    tab: Table,
    prob: Problem,
    spc: Space,
    memo: Ints,
    lab: Labels,
    pool: Pool,
    level: Ints,
    mode: int,
    iterations: int,
    horizon: int,
    end: int,
    seed: int,
) -> int:
    """Find labels that follow those of `level`, from where it stopped the last time."""
    at = pool.at
    while at[NEXT] < level.size:
        if spc.effort[SPENT] > spc.effort[STOP]:
            return WAIT
        label = level[at[NEXT]]
        s, done = lab.start[label], lab.done[label]
        e = at[END]
        if e < 0:
            free = compose(tab, prob, spc, memo, s, 1, horizon)
            if free == PAUSE:
                return WAIT
            if free == BEYOND:
                return MORE_SLOTS
            e = at[END] = free - 1
            at[LAST] = free + max(TRIED_SLOTS, TRIED_TIMES * (free - s))
            at[ANY] = 0
        if e >= min(at[LAST], end):
            at[NEXT] += 1
            at[END] = -1
            continue
        ahead = compose(tab, prob, spc, memo, e + 1, iterations - done - 1, horizon) if iterations > 0 else e + 1
        if ahead == PAUSE:
            return WAIT
        if ahead == BEYOND or e >= tab.length:
            return MORE_SLOTS
        if ahead > end:
            at[NEXT] += 1
            at[END] = -1
            continue
        if at[IN_POOL] + BEAM_FOUND > pool.start.size:
            return NO_ROOM
        prepare(tab, prob, spc, s, e, lab.held[label], end)
        expand(tab, prob, spc, mode, s, e, end, done + 1 == iterations)
        if mode != RELAXED:  # where the channel does not bind there is nothing to choose
            propose(tab, prob, spc, mode, s, e, seed)
        lab.tally[EXPANDED] += 1
        if spc.state[FOUND] > 0 and at[ANY] == 0:
            at[ANY] = 1
            at[LAST] = e + 1 + max(LATER_ENDS, (e + 1 - s) // 4)
        for r in range(spc.state[FOUND]):
            n = at[IN_POOL]
            pool.ahead[n] = ahead
            pool.spared[n] = credit(prob, spc, spc.found_held[r], e + 1)
            pool.start[n] = e + 1
            pool.parent[n] = label
            assign(pool.held[n], spc.found_held[r])
            assign(pool.members[n], spc.found_set[r])
            pool.c[n] = spc.found_c[r]
            pool.iw[n] = spc.found_iw[r]
            at[IN_POOL] = n + 1
        at[END] = e + 1 if at[ANY] == 0 else e + 1 + (e + 1 - s) // COARSE
    return LEVEL_DONE


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


class Beam(Store):
    """One beam search; `work` does it."""

    def __init__(self, workspace: Workspace, mode: int, iterations: int, width: int, seed: int = 0) -> None:
        super().__init__(workspace, mode, iterations, real=True, dive=True)
        self._width = width
        self._seed = seed
        self._end = workspace.slots

    def work(self, best: Best, steps: int = 0) -> bool:
        """Search and offer the best schedule found; proves nothing."""
        if self.iterations and best.found:
            self._end = best.worth - 1
        level = np.zeros(1, np.int64)
        pool = make_pool(max(4 * BEAM_FOUND, POOL_ROOM * self._width), self.workspace.problem.words)
        while level.size and (not self.iterations or self.labels.done[level[0]] < self.iterations):
            self._follow(level, pool)
            level = self._enter(pool, self._select(pool))
            if level.size:
                self.labels.tally[BEST] = min(level, key=lambda i: int(self.labels.start[i]))
        self.finished = True
        if level.size or not self.iterations:
            best.offer(self)
        else:
            self.labels.tally[BEST] = 0
        return False

    def _follow(self, level: Ints, pool: Pool) -> None:
        workspace = self.workspace
        pool.at[:] = 0, -1, 0, 0, 0
        while True:
            workspace.check()
            workspace.limit_expansion(BEAM_EFFORT, BEAM_FOUND)
            workspace.stop_after()
            why = _widen(
                workspace.table,
                workspace.problem,
                workspace.space,
                workspace.memo,
                self.labels,
                pool,
                level,
                self.mode,
                self.iterations,
                workspace.slots,
                self._end,
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
        n = int(pool.at[IN_POOL])
        ahead, spared = pool.ahead[:n], pool.spared[:n]
        layer = np.zeros(n, np.int64)
        _divide(spared, np.lexsort((np.arange(n), pool.start[:n], -spared, ahead)), np.zeros(n), layer)
        order = np.lexsort((np.arange(n), pool.start[:n], ahead - spared, layer))
        kept = np.zeros(self._width, np.int64)
        return kept[: _choose(pool, order, self._width, kept)]

    def _shrink(self, pool: Pool) -> None:
        kept = self._select(pool)
        for array in pool[1:]:
            array[: kept.size] = array[kept]
        pool.at[IN_POOL] = kept.size

    def _enter(self, pool: Pool, kept: Ints) -> Ints:
        """Make labels of them."""
        first = int(self.labels.tally[COUNT])
        while first + kept.size > len(self.labels.done):
            self.workspace.claim()
            self.labels = more_labels(self.labels)
        lab = self.labels
        new = np.arange(first, first + kept.size)
        lab.tally[COUNT] = first + kept.size
        lab.parent[new], lab.start[new] = pool.parent[kept], pool.start[kept]
        lab.done[new] = lab.done[lab.parent[new]] + 1
        lab.held[new], lab.members[new] = pool.held[kept], pool.members[kept]
        lab.c[new], lab.iw[new] = pool.c[kept], pool.iw[kept]
        return new
