"""The master ``booking``: it books calls of workers for batches (docs/batches/booking.md).

Three things differ from the paper's Algorithm 3. There is no period: each worker gets the time of its next call within
a batch, and the master counts the calls booked for each batch. A worker's success probability is estimated from its own
past, including its queue. The success probability of a copy decreases with the time for which it has not ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from hindsched.online.batches.algorithms import expect_margins
from hindsched.online.batches.options import Options
from hindsched.online.batches.periods import requests_for
from hindsched.online.batches.visible import Answer, Problem, Visible

__all__ = ["PARAMETERS", "Booking", "BookingParameters", "calls_wanted", "chance_of_record"]


@dataclass(frozen=True, slots=True)
class BookingParameters:
    """Parameters of the master ``booking``.

    Parameters
    ----------
    record_s
        Seconds of a worker's past that count; a longer past follows changes of a worker later.
    moments
        Number of instants of the past that are sampled; more are more exact and cost more time.
    doubt
        Weight, in sampled instants, of the recent share of copies that ended in time.
    rest_s
        Seconds until the next call of a worker that is not needed for the next batches.
    kept
        Factor by which counts of past batches decay at each new batch.
    least_coming
        Least share of booked calls that are expected to come.
    step, most_wanted
        Step and maximum of the least success probability of a worker that is booked.
    revisions
        Number of times per batch at which success probabilities of copies are updated.
    golden
        Fraction that spreads the calls of a batch evenly, the golden ratio less one.
    """

    record_s: int = 14 * 86_400
    moments: int = 16
    doubt: int = 1
    rest_s: int = 2 * 86_400
    kept: float = 0.75
    least_coming: float = 1 / 8
    step: float = 0.05
    most_wanted: float = 0.97
    revisions: int = 8
    golden: float = (5**0.5 - 1) / 2


PARAMETERS = BookingParameters()


def calls_wanted(requests: int) -> int:
    """Return Z, the number of calls to book for a batch: ten ninths of lambda, rounded up."""
    return -(-10 * requests // 9)


def chance_of_record(visible: Visible, length: int, need: int, usual: float) -> float:
    """Return the probability that a worker advances by ``need`` in the next ``length`` seconds, by its own past.

    It is the share of instants, spread evenly over the available time of the last two weeks, after which it did.

    Parameters
    ----------
    visible
        The contact.
    length, need
        Seconds.
    usual
        The probability for a worker without a past.

    Examples
    --------
    >>> past = np.array([[0, 50], [100, 150], [200, 250]])
    >>> contact = Visible(Problem(1, ((0, 300),), 1, 1, 0, 1), 250, 0, 1, past)
    >>> chance_of_record(contact, 100, 60, 0.5) < 0.1 < 0.9 < chance_of_record(contact, 100, 40, 0.5)
    True
    """
    if need > length:
        return 0.0
    since = visible.now - PARAMETERS.record_s
    up = visible.up[int(np.searchsorted(visible.up[:, 1], since, side="right")) :]
    if len(up) == 0:
        return usual
    edges = np.maximum(up, since).ravel()
    lengths = edges[1::2] - edges[::2]
    own = np.zeros(edges.size)  # available seconds up to each edge
    own[1::2] = np.cumsum(lengths)
    own[2::2] = own[1:-1:2]
    seen = float(np.interp(visible.now - length, edges, own, left=0.0))
    if seen < 1:
        return usual
    moments = (np.arange(PARAMETERS.moments) + 0.5) / PARAMETERS.moments * seen
    begins = np.interp(moments, own, edges)
    reached = np.interp(begins + length, edges, own) - moments
    return float(
        (np.count_nonzero(reached >= need) + PARAMETERS.doubt * usual) / (PARAMETERS.moments + PARAMETERS.doubt)
    )


@dataclass(slots=True)
class _Copy:
    """A copy of the present batch that has not ended."""

    sent: int
    need: int
    chance: float

    def at(self, now: int, deadline: int) -> float:
        """Return the probability that it still ends in time, with its end uniform over the possible times."""
        first = self.sent + self.need
        gone = 0.0 if now <= first else min(1.0, (now - first) / max(1, deadline - first))
        left = self.chance * (1 - gone)
        return left / (1 - self.chance + left) if left else 0.0


class Booking:
    """A master that books calls batch by batch and sends tasks by the past of workers.

    Parameters
    ----------
    options
        ``k`` and ``copies_lambda`` determine the number of calls per batch, as for the paper's masters.

    Notes
    -----
    Memory: a few numbers for each worker and booked batch. A contact costs about 60 us, and about 12 us in
    `hindsched.online.batches.kernels.booking_kernels`.
    """

    name = "booking"

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()

    def begin(self, problem: Problem) -> None:
        """Reset for a new run."""
        expect_margins(self.name, problem)
        self.problem = problem
        self.wanted = calls_wanted(requests_for(problem.tasks, self.options.k, self.options.copies_lambda))
        num = len(problem.batches)
        self.booked = [0] * (num + 1)  # the last entry is never full
        self.came = [0] * (num + 1)  # of the booked ones
        self.others = [0] * (num + 1)  # calls of workers that were not booked for the batch
        self.recent_booked, self.recent_came, self.recent_others = 0.0, 0.0, 0.0
        self.least_chance = 0.0
        self.next_open = 0
        self.booking: dict[int, int] = {}  # of each worker: for which batch
        self.queue_ends: dict[int, int] = {}  # in its own time
        self.usual, self.sent, self.ended = 0.5, 1.0, 0.5
        self.periods: list[tuple[int, int]] = []
        self.batch = 0
        self._open()

    def contact(self, visible: Visible) -> Answer:
        """Send the task with the greatest need, if the worker may end it, and book the worker's next call."""
        now, worker = visible.now, visible.worker
        own = int((visible.up[:, 1] - visible.up[:, 0]).sum()) if len(visible.up) else 0
        queue = max(0, self.queue_ends.get(worker, 0) - own)
        self._note_call(now, worker)
        task, in_queue = None, queue
        problem = self.problem
        if self.batch < len(problem.batches) and now >= problem.batches[self.batch][0] and self.unfinished:
            length = problem.batches[self.batch][1] - now
            chance = chance_of_record(visible, length, queue + visible.c, self.usual)
            if chance > 0:
                task = self._send(now, worker, queue + visible.c, chance)
                in_queue = queue + visible.c
                self.queue_ends[worker] = own + in_queue
        call = self._book(visible, in_queue)
        return None if task is None else (self.batch, task), call

    def completed(self, now: int, worker: int, batch: int, task: int) -> None:
        """Handle the end of a copy."""
        if batch != self.batch:
            return
        self.ended += 1
        self.copies[task].pop(worker, None)
        self.unfinished.discard(task)

    def deadline(self, now: int, batch: int) -> None:
        """Close the batch: count the calls that came, and open the next one."""
        self.recent_booked = PARAMETERS.kept * self.recent_booked + self.booked[batch]
        self.recent_came = PARAMETERS.kept * self.recent_came + self.came[batch]
        self.recent_others = PARAMETERS.kept * self.recent_others + (1 - PARAMETERS.kept) * self.others[batch]
        self.usual = min(0.95, max(0.05, self.ended / self.sent))
        self.sent, self.ended = PARAMETERS.kept * self.sent, PARAMETERS.kept * self.ended
        following = min(batch + 1, len(self.booked) - 1)
        step = PARAMETERS.step if self.booked[following] >= self._to_book() else -PARAMETERS.step
        self.least_chance = min(PARAMETERS.most_wanted, max(0.0, self.least_chance + step))
        self.batch = batch + 1
        self._open()

    # ---- tasks

    def _open(self) -> None:
        tasks = range(self.problem.tasks)
        self.unfinished = set(tasks)
        self.copies: list[dict[int, _Copy]] = [{} for _ in tasks]
        self.open = [1.0] * self.problem.tasks  # the probability that no copy ends in time
        self.by_need = [(-1.0, k) for k in tasks]  # a heap; entries may be outdated
        self.revision = 0

    def _send(self, now: int, worker: int, need: int, chance: float) -> int:
        self._revise(now)
        while True:
            need_of, task = self.by_need[0]
            if task in self.unfinished and -need_of == self.open[task]:
                break
            heappop(self.by_need)
        self.copies[task][worker] = _Copy(now, need, chance)
        self.sent += 1
        self.open[task] *= 1 - chance
        heappop(self.by_need)
        heappush(self.by_need, (-self.open[task], task))
        return task

    def _revise(self, now: int) -> None:
        """Update all success probabilities, a few times per batch."""
        since, until = self.problem.batches[self.batch]
        revision = (now - since) * PARAMETERS.revisions // (until - since)
        if revision == self.revision:
            return
        self.revision = revision
        for task in self.unfinished:
            chance = 1.0
            for copy in self.copies[task].values():
                chance *= 1 - copy.at(now, until)
            self.open[task] = chance
        self.by_need = [(-self.open[task], task) for task in self.unfinished]
        heapify(self.by_need)

    # ---- calls

    def _note_call(self, now: int, worker: int) -> None:
        """Count a call for the present batch."""
        booked_for = self.booking.pop(worker, None)
        if self.batch == len(self.problem.batches) or now < self.problem.batches[self.batch][0]:
            return
        (self.came if booked_for == self.batch else self.others)[self.batch] += 1

    def _to_book(self) -> float:
        """Return the calls to book for a batch: those that do not come unbooked, over the share that comes."""
        coming = (self.recent_came + 1) / (self.recent_booked + 2)
        return max(0.0, self.wanted - self.recent_others) / min(1.0, max(PARAMETERS.least_coming, coming))

    def _book(self, visible: Visible, queue: int) -> int | None:
        """Return the second of a worker's next call: in the next batch that needs calls and that it can serve."""
        batches, num = self.problem.batches, len(self.problem.batches)
        to_book = self._to_book()
        again = self._again(visible, queue, to_book)
        if again is not None:
            return again
        following = self.batch + (visible.now >= batches[self.batch][0]) if self.batch < num else num
        if following >= num:
            return None
        since, until = batches[following]
        chance = chance_of_record(visible, until - since, visible.c, self.usual)
        if chance < self.least_chance:
            return visible.now + PARAMETERS.rest_s
        self.next_open = max(self.next_open, following)
        while self.next_open < num and self.booked[self.next_open] >= to_book:
            self.next_open += 1
        place = self.next_open
        if place == num:
            return visible.now + PARAMETERS.rest_s
        self.booked[place] += 1
        self.booking[visible.worker] = place
        return self._slot(visible, place)

    def _again(self, visible: Visible, queue: int, to_book: float) -> int | None:
        """Return the second of another call in the present batch, if that needs calls and there is time; else None."""
        if self.batch == len(self.problem.batches) or not self.unfinished or self.booked[self.batch] >= to_book:
            return None
        since, until = self.problem.batches[self.batch]
        call = max(since, visible.now) + max(1, int(queue / self._share(visible)))
        if visible.now < since or call + visible.c > until:
            return None
        self.booked[self.batch] += 1
        self.booking[visible.worker] = self.batch
        return call

    def _share(self, visible: Visible) -> float:
        """Return the share of the last two weeks in which a worker was available."""
        known = min(PARAMETERS.record_s, visible.now - int(visible.up[0, 0])) if len(visible.up) else 0
        return (visible.available(visible.now - PARAMETERS.record_s, visible.now) + 1) / (known + 1)

    def _slot(self, visible: Visible, place: int) -> int:
        """Return a second in the first part of a batch; this part is longer for fast and often available workers."""
        since, until = self.problem.batches[place]
        latest = (until - since) - 2 * visible.c / self._share(visible)
        width = min(max(latest, (until - since) / 10), (until - since) * 0.9)
        return since + int(self.booked[place] * PARAMETERS.golden % 1.0 * width)
