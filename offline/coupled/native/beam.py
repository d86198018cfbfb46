"""Good schedules at once: a beam search over the labels, iteration by iteration.

From each label of a level the next iteration is ended in its first possible slot and in some later ones: a longer
iteration sends more programs. All that are found are ranked by

    F^(K-k)(t) - T_prog / n_com * (programs in H that chains of the rent bound use from slot t on),

when the rest could end at the earliest, less the slots that the channel need not spend any more on programs; and the
best of them, as many as the beam is wide, are the next level. So the ranking knows for whom the program is worth
having, if the rent bound (module `rent`) has been at work, and where time is better spent on sending than saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from offline.coupled.native.bound import BEYOND, PAUSE, compose
from offline.coupled.native.holders import expand
from offline.coupled.native.iteration import FOUND, NEVER, prepare
from offline.coupled.native.labels import BEST, COUNT, EXPANDED, more_labels
from offline.coupled.native.rent import credit
from offline.coupled.native.stores import Best, Store

if TYPE_CHECKING:
    from offline.coupled.native.rounds import Search

__all__ = ["Beam"]

_EFFORT = 1 << 11  # for an expansion
_FOUND = 8
_LATER = 5  # ends tried after the first
_TRIED = 100  # ends tried in all


class Beam(Store):
    """One beam search; `work` does it."""

    def __init__(self, search: Search, mode: int, iterations: int, width: int) -> None:
        super().__init__(search, mode, iterations, real=True, dive=True)
        self._width = width
        self._end = search.slots

    def work(self, best: Best, steps: int = 0) -> bool:
        """Search and offer the best schedule found; proves nothing."""
        if self.iterations and best.found:
            self._end = best.worth - 1
        level = [0]
        while level and (not self.iterations or self.labels.done[level[0]] < self.iterations):
            found: dict[tuple[int, int], tuple[float, int]] = {}
            for label in level:
                self.search.check()
                self._expand(label, found)
            level = self._best_of(found)
            if level:
                self.labels.tally[BEST] = min(level, key=lambda i: int(self.labels.start[i]))
        self.finished = True
        if level or not self.iterations:
            best.offer(self)
        else:
            self.labels.tally[BEST] = 0
        return False

    def _expand(self, label: int, found: dict[tuple[int, int], tuple[float, int]]) -> None:
        """Add the labels that follow a label to ``found``, by slot and holders: their rank and name."""
        search, prob = self.search, self.search.problem
        start, done = int(self.labels.start[label]), int(self.labels.done[label])
        free = self._earliest(start, 1)
        last = free + _TRIED
        is_first = True
        e = free - 1
        while e < min(last, self._end):
            # Before the expansion: to look further ahead may take more slots, and working memory of another size.
            ahead = self._earliest(e + 1, self.iterations - done - 1) if self.iterations else e + 1
            if ahead > self._end:
                break
            while search.slots_known() <= e:
                search.grow()
            search.allow(_EFFORT, _FOUND)
            tab, spc = search.table, search.space
            prepare(tab, prob, spc, start, e, self.labels.held[label], self._end)
            expand(tab, prob, spc, self.mode, start, e, self._end, done + 1 == self.iterations)
            self.labels.tally[EXPANDED] += 1
            num_found = int(spc.state[FOUND])
            if num_found and is_first:
                is_first = False
                last = e + 1 + max(_LATER, (e + 1 - start) // 4)
            for r in range(num_found):
                key = e + 1, int.from_bytes(spc.found_held[r].tobytes(), "little")
                if key not in found:
                    rank = ahead - float(credit(prob, spc, spc.found_held[r], e + 1))
                    found[key] = rank, self._add(label, r, e + 1)
            e += 1

    def _earliest(self, start: int, iterations: int) -> int:
        search = self.search
        while True:
            t = int(compose(search.table, search.problem, search.space, search.memo, start, iterations, search.slots))
            if t == BEYOND:
                if search.slots_known() >= self._end:
                    return NEVER
                search.grow()
            elif t == PAUSE:
                search.check()
                search.allow(_EFFORT, _FOUND)
            else:
                return t

    def _add(self, parent: int, r: int, start: int) -> int:
        if int(self.labels.tally[COUNT]) == len(self.labels.done):
            self.search.claim()
            self.labels = more_labels(self.labels)
        lab, spc = self.labels, self.search.space
        n = int(lab.tally[COUNT])
        lab.tally[COUNT] = n + 1
        lab.done[n], lab.start[n], lab.parent[n] = lab.done[parent] + 1, start, parent
        lab.held[n], lab.members[n] = spc.found_held[r], spc.found_set[r]
        lab.c[n], lab.iw[n] = spc.found_c[r], spc.found_iw[r]
        return n

    def _best_of(self, found: dict[tuple[int, int], tuple[float, int]]) -> list[int]:
        kept: list[tuple[int, int, int]] = []
        for (t, held), (_, label) in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
            if len(kept) == self._width:
                break
            if not any(t2 <= t and not held & ~held2 for t2, held2, _ in kept):
                kept.append((t, held, label))
        return [label for _, _, label in kept]
