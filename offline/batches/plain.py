"""A solver that follows section 6 of docs/batches/model.md, for at most thousands of seconds; it is there to be read.

``free`` and ``stream`` count second by second; ``traffic`` is a maximum flow of an explicit network, solved by SciPy;
the latency is found by bisection. The solver shares only the type of the answer with the kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import zip_longest

import numpy as np

from hindsched.instances.batches import Compute, Instance, Run, Rung
from hindsched.instances.batches.cut_certificate import Cut
from hindsched.instances.errors import InputError
from hindsched.offline.batches.hindsight import BatchAnswer, BatchContacts

__all__ = ["BatchSolver"]

_MOST_SECONDS = 2_000_000  # of all workers together
Pair = tuple[int, int]


class BatchSolver:
    """Solves an instance batch by batch.

    Parameters
    ----------
    instance
        With all availability.
    rung
        The rung.
    of
        The run that defines the rung; ignored on ``free``.

    Raises
    ------
    InputError
        If the workers together have too many seconds.
    """

    def __init__(self, instance: Instance, rung: Rung, of: Run | None) -> None:
        if instance.end * instance.num_workers > _MOST_SECONDS:
            seconds = instance.end * instance.num_workers
            raise InputError(f"{seconds} s of all workers, expected at most {_MOST_SECONDS}", place="solver")
        self.instance = instance
        self.rung = rung
        up = instance.window(0, instance.end)
        self.is_up = np.zeros((instance.num_workers, instance.end), dtype=bool)
        for j in range(instance.num_workers):
            for a, b in up.of_worker(j).tolist():
                self.is_up[j, a:b] = True
        advances = self.is_up if instance.compute is Compute.AVAILABLE else np.ones_like(self.is_up)
        self.own = np.concatenate(
            (np.zeros((instance.num_workers, 1), dtype=np.int64), advances.cumsum(axis=1)), axis=1
        )
        self.of = of

    @cached_property
    def traffic(self) -> Counter[int]:
        """The number of contacts of the run in each second."""
        return Counter([] if self.of is None else self.of.contacts.time.tolist())

    def solve(self, batch: int) -> BatchAnswer:
        """Return the answer for a batch."""
        submission, deadline = self.instance.batches[batch]
        pairs, cut = self._best(submission, deadline)
        low, high = submission, self.instance.end + 1
        while high - low > 1:
            middle = (low + high) // 2
            if len(self._best(submission, middle)[0]) == self.instance.tasks:
                high = middle
            else:
                low = middle
        _, latency_cut = self._best(submission, low)
        found = high <= self.instance.end
        return BatchAnswer(
            satisfied=len(pairs),
            cut=cut,
            contacts=self._columns(pairs),
            latency=high - submission if found else None,
            latency_cut=latency_cut,
            latency_contacts=self._columns(self._best(submission, high)[0]) if found else None,
        )

    def rank(self, j: int, second: int, deadline: int) -> int:
        """Return the number of tasks of a worker that fit between a second and a deadline."""
        return int(self.own[j, deadline] - self.own[j, second]) // self.instance.c[j]

    def _best(self, submission: int, deadline: int) -> tuple[list[Pair], Cut]:
        """Return the contacts of a best schedule for one batch alone, and the cut that proves it."""
        if self.rung is Rung.TRAFFIC:
            return self._flow(submission, deadline)
        offered: list[Iterable[int]]
        if self.rung is Rung.FREE:
            offered = [np.flatnonzero(row[submission:deadline]) + submission for row in self.is_up]
        else:
            offered = [[] for _ in range(self.instance.num_workers)]
            assert self.of is not None
            for time, j in zip(self.of.contacts.time.tolist(), self.of.contacts.worker.tolist(), strict=True):
                if submission <= time < deadline:
                    offered[j] = [*offered[j], time]
        pairs = [(int(second), j) for j, row in enumerate(offered) for second in self._chosen(j, row, deadline)]
        return pairs[: self.instance.tasks], ()

    def _chosen(self, j: int, seconds: Iterable[int], deadline: int) -> list[int]:
        """Return a largest set of contacts of a worker whose tasks all end in time: the latest that ranks allow."""
        chosen: list[int] = []
        for second in sorted(seconds, reverse=True):
            if self.rank(j, second, deadline) > len(chosen):
                chosen.append(second)
        return chosen

    def _flow(self, submission: int, deadline: int) -> tuple[list[Pair], Cut]:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        seconds = [second for second in range(submission, deadline) if self.traffic[second]]
        edges: list[tuple[object, object, int]] = [("source", second, self.traffic[second]) for second in seconds]
        pairs = [
            (second, j)
            for second in seconds
            for j in range(self.instance.num_workers)
            if self.is_up[j, second] and self.rank(j, second, deadline) >= 1
        ]
        for second, j in pairs:
            edges.append((second, ("link", j, self.rank(j, second, deadline)), 1))
        for j in range(self.instance.num_workers):
            ranks = sorted({self.rank(j, second, deadline) for second, worker in pairs if worker == j})
            for r, above in zip_longest(ranks, ranks[1:]):
                edges.append((("link", j, r), "sink" if above is None else ("link", j, above), r))
        names = {name: place for place, name in enumerate(dict.fromkeys(["source", "sink", *_names(edges)]))}
        tails, heads = ([names[edge[side]] for edge in edges] for side in (0, 1))
        capacity = csr_array(
            (np.array([edge[2] for edge in edges], dtype=np.int32), (tails, heads)), shape=(len(names),) * 2
        )
        flow = maximum_flow(capacity, names["source"], names["sink"]).flow
        used = [
            (second, j) for second, j in pairs if flow[names[second], names["link", j, self.rank(j, second, deadline)]]
        ]
        residual = csr_array(capacity - flow)
        residual.eliminate_zeros()
        reached = set(breadth_first_order(residual, names["source"], return_predecessors=False).tolist())
        cut = [second for second in seconds if names[second] not in reached]
        if len(used) >= self.instance.tasks:  # any N of them suffice
            return sorted(used)[: self.instance.tasks], ()
        return sorted(used), tuple((second, second + 1) for second in cut)

    def _columns(self, pairs: Sequence[Pair]) -> BatchContacts:
        """Return contacts with their ends, where each worker runs its tasks one after the other."""
        busy: dict[int, int] = {}
        ends = []
        for second, j in sorted(pairs):
            begin = max(second, busy.get(j, 0))
            busy[j] = int(np.searchsorted(self.own[j], self.own[j, begin] + self.instance.c[j]))
            ends.append(busy[j])
        times, workers = (np.array([pair[side] for pair in sorted(pairs)], dtype=np.int64) for side in (0, 1))
        return times, workers, np.array(ends, dtype=np.int64)


def _names(edges: Iterable[tuple[object, object, int]]) -> Iterable[object]:
    for tail, head, _ in edges:
        yield tail
        yield head
