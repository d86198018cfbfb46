"""A master of our own that books its calls (docs/batches/beyond.md): a ledger, records of workers, tasks by need.

Three things differ from the paper's Algorithm 3. There is no period: each worker is told a call within a batch's time,
and a ledger counts the calls booked for each batch. A worker's chance is counted on its own past, its queue included. A
copy that has not ended for long no longer counts for much.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from hindsched.online.batches.algorithms import expect_margins
from hindsched.online.batches.options import Options
from hindsched.online.batches.periods import requests_for
from hindsched.online.batches.visible import Answer, Problem, Visible

__all__ = ["Booking", "calls_wanted", "chance_of_record"]

_DAY = 86_400

#: How far back a record reaches, and how many moments of it are looked at.
RECORD_S, MOMENTS = 14 * _DAY, 16
#: So many moments with the share of copies that ended of late are put beside the record.
DOUBT = 1
#: How long a worker rests that is not wanted for the next batches.
REST_S = 2 * _DAY
#: Of what is counted batch after batch so much is kept at each new one.
KEPT = 0.75
#: Bounds of the share of booked calls that come.
LEAST_COMING = 1 / 8
#: The chance that a worker must have to be booked moves in such steps, up to the bound.
STEP, MOST_WANTED = 0.05, 0.97
#: Times in a batch at which chances of copies are reckoned anew.
REVISIONS = 8
GOLDEN = (5**0.5 - 1) / 2


def calls_wanted(requests: int) -> int:
    """Return Z, the calls wanted for a batch: ten ninths of lambda, rounded up."""
    return -(-10 * requests // 9)


def chance_of_record(visible: Visible, length: int, need: int, usual: float) -> float:
    """Return the chance that a worker advances by ``need`` seconds in the next ``length`` ones, by its own past.

    Moments of the last two weeks in which it was available, evenly over them, are looked at: how often did it?

    Parameters
    ----------
    visible
        The contact.
    length, need
        Seconds.
    usual
        What a worker without a past is taken for.

    Examples
    --------
    >>> past = np.array([[0, 50], [100, 150], [200, 250]])
    >>> contact = Visible(Problem(1, ((0, 300),), 1, 1, 0, 1), 250, 0, 1, past)
    >>> chance_of_record(contact, 100, 60, 0.5) < 0.1 < 0.9 < chance_of_record(contact, 100, 40, 0.5)
    True
    """
    if need > length:
        return 0.0
    since = visible.now - RECORD_S
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
    moments = (np.arange(MOMENTS) + 0.5) / MOMENTS * seen
    begins = np.interp(moments, own, edges)
    reached = np.interp(begins + length, edges, own) - moments
    return float((np.count_nonzero(reached >= need) + DOUBT * usual) / (MOMENTS + DOUBT))


@dataclass(slots=True)
class _Copy:
    """A copy that was sent in the present batch and has not ended."""

    sent: int
    need: int
    chance: float

    def at(self, now: int, deadline: int) -> float:
        """Return the chance that it still ends in time, its end being equally likely at any time that is left to it."""
        first = self.sent + self.need
        gone = 0.0 if now <= first else min(1.0, (now - first) / max(1, deadline - first))
        left = self.chance * (1 - gone)
        return left / (1 - self.chance + left) if left else 0.0


class Booking:
    """A master that books calls batch by batch and sends tasks by the records of workers.

    Parameters
    ----------
    options
        ``k`` and ``copies_lambda`` say how many calls a batch shall have, as for the paper's masters.

    Notes
    -----
    Memory: a few numbers for each worker and booked batch. Some 60 us a contact; the kernel
    (`hindsched.online.batches.kernels.booking_kernels`) makes the same runs in a dozen.
    """

    name = "booking"

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()

    def begin(self, problem: Problem) -> None:
        """Start afresh."""
        expect_margins(self.name, problem)
        self.problem = problem
        self.wanted = calls_wanted(requests_for(problem.tasks, self.options.k, self.options.copies_lambda))
        num = len(problem.batches)
        self.booked = [0] * (num + 1)  # the last one: never full
        self.came = [0] * (num + 1)  # of the booked ones
        self.others = [0] * (num + 1)  # calls of others in a batch's time
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
        """Send the task that needs it most, if this worker can be of use, and book its next call."""
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
        """Hear that a copy has ended."""
        if batch != self.batch:
            return
        self.ended += 1
        self.copies[task].pop(worker, None)
        self.unfinished.discard(task)

    def deadline(self, now: int, batch: int) -> None:
        """Close the batch: count who came, and go on to the next one."""
        self.recent_booked = KEPT * self.recent_booked + self.booked[batch]
        self.recent_came = KEPT * self.recent_came + self.came[batch]
        self.recent_others = KEPT * self.recent_others + (1 - KEPT) * self.others[batch]
        self.usual = min(0.95, max(0.05, self.ended / self.sent))
        self.sent, self.ended = KEPT * self.sent, KEPT * self.ended
        following = min(batch + 1, len(self.booked) - 1)
        step = STEP if self.booked[following] >= self._to_book() else -STEP
        self.least_chance = min(MOST_WANTED, max(0.0, self.least_chance + step))
        self.batch = batch + 1
        self._open()

    # ---- tasks

    def _open(self) -> None:
        tasks = range(self.problem.tasks)
        self.unfinished = set(tasks)
        self.copies: list[dict[int, _Copy]] = [{} for _ in tasks]
        self.open = [1.0] * self.problem.tasks  # the chance that no copy ends in time
        self.by_need = [(-1.0, k) for k in tasks]  # a heap; what it says of a task may be out of date
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
        """Reckon all chances anew, a few times a batch."""
        since, until = self.problem.batches[self.batch]
        revision = (now - since) * REVISIONS // (until - since)
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
        """Count a call for the batch in whose time it comes."""
        booked_for = self.booking.pop(worker, None)
        if self.batch == len(self.problem.batches) or now < self.problem.batches[self.batch][0]:
            return
        (self.came if booked_for == self.batch else self.others)[self.batch] += 1

    def _to_book(self) -> float:
        """How many calls to book for a batch: what is missing to those that come by themselves, over who comes."""
        coming = (self.recent_came + 1) / (self.recent_booked + 2)
        return max(0.0, self.wanted - self.recent_others) / min(1.0, max(LEAST_COMING, coming))

    def _book(self, visible: Visible, queue: int) -> int | None:
        """Return when a worker shall call again: in the time of the next batch with room, while it can be of use."""
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
            return visible.now + REST_S
        self.next_open = max(self.next_open, following)
        while self.next_open < num and self.booked[self.next_open] >= to_book:
            self.next_open += 1
        place = self.next_open
        if place == num:
            return visible.now + REST_S
        self.booked[place] += 1
        self.booking[visible.worker] = place
        return self._slot(visible, place)

    def _again(self, visible: Visible, queue: int, to_book: float) -> int | None:
        """Return when a worker shall call once more in the present batch, if that lacks calls and there is time."""
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
        known = min(RECORD_S, visible.now - int(visible.up[0, 0])) if len(visible.up) else 0
        return (visible.available(visible.now - RECORD_S, visible.now) + 1) / (known + 1)

    def _slot(self, visible: Visible, place: int) -> int:
        """Return a second in the first part of a batch's time, longer for who computes fast and is often there."""
        since, until = self.problem.batches[place]
        latest = (until - since) - 2 * visible.c / self._share(visible)
        width = min(max(latest, (until - since) / 10), (until - since) * 0.9)
        return since + int(self.booked[place] * GOLDEN % 1.0 * width)
