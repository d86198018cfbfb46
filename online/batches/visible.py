"""What an on-line master sees at a contact: the problem, the worker that calls, and its past.

The objects that a policy receives do not hold the future: `Problem` has no availability, and the past of the worker is
a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from hindsched.instances.batches.model import Instance

__all__ = ["Answer", "Policy", "Problem", "Visible", "active_before"]

#: The answer of a policy at a contact: ``(batch, task)`` or None, and the second R from which on the worker calls
#: again, or None for never.
Answer: TypeAlias = tuple[tuple[int, int] | None, int | None]


@dataclass(frozen=True, slots=True)
class Problem:
    """The instance without its availability (docs/batches/model.md section 1).

    Parameters
    ----------
    tasks
        N, tasks per batch.
    batches
        M pairs of submission and deadline, known from the beginning.
    num_workers, sum_c
        W and the sum of all C_j: the mean is public, a worker's own C_j is known when it calls.
    start
        t0.
    active
        P0, the number of workers expected at the start.
    """

    tasks: int
    batches: tuple[tuple[int, int], ...]
    num_workers: int
    sum_c: int
    start: int
    active: int

    @classmethod
    def of(cls, instance: Instance, active: int) -> Problem:
        """Return what a master may know before it starts."""
        return cls(
            tasks=instance.tasks,
            batches=instance.batches,
            num_workers=instance.num_workers,
            sum_c=instance.sum_c,
            start=instance.start,
            active=active,
        )

    def margin(self, batch: int) -> int:
        """Return W (L_i - S_i), where L_i = D_i less the mean of all C_j."""
        submission, deadline = self.batches[batch]
        return self.num_workers * (deadline - submission) - self.sum_c

    def last_call(self, batch: int) -> int:
        """Return L_i rounded down."""
        return self.batches[batch][0] + self.margin(batch) // self.num_workers


@dataclass(frozen=True, slots=True)
class Visible:
    """What a policy sees at a contact, after the ends and deadlines of this second (V2, V3).

    Parameters
    ----------
    problem
        The problem to schedule.
    now
        This second.
    worker
        The worker that calls.
    c
        Seconds it computes per task.
    up
        Its available intervals before ``now``, shape (n, 2), read-only; the last one ends by ``now``.
    last_contacts
        The second of the last contact of each worker that has called before.
    """

    problem: Problem
    now: int
    worker: int
    c: int
    up: npt.NDArray[Any] = field(repr=False)
    last_contacts: Mapping[int, int] = field(repr=False, default_factory=lambda: MappingProxyType({}))

    @property
    def batches(self) -> tuple[tuple[int, int], ...]:
        """M pairs of submission and deadline."""
        return self.problem.batches

    @property
    def tasks(self) -> int:
        """N, tasks per batch."""
        return self.problem.tasks

    def available(self, since: int, until: int) -> int:
        """Return the number of seconds of [since, until) before ``now`` in which this worker was available.

        Examples
        --------
        >>> past = np.array([[0, 4], [6, 9]])
        >>> Visible(Problem(1, ((0, 9),), 1, 1, 0, 1), 9, 0, 1, past).available(2, 8)
        4
        """
        inside = np.clip(self.up, since, max(since, until))
        return int((inside[:, 1] - inside[:, 0]).sum())


@runtime_checkable
class Policy(Protocol):
    """An on-line master: the answers to calls of workers.

    The methods ``begin``, ``completed`` and ``deadline`` are optional. So is ``name``; its default is the class name.

    Examples
    --------
    This policy sends every worker the next task of the present batch, and lets it call again a second later.

    >>> class Eager:
    ...     def begin(self, problem):
    ...         self.sent = [0] * len(problem.batches)
    ...
    ...     def contact(self, visible):
    ...         for batch, (submission, deadline) in enumerate(visible.batches):
    ...             if submission <= visible.now < deadline and self.sent[batch] < visible.tasks:
    ...                 self.sent[batch] += 1
    ...                 return (batch, self.sent[batch] - 1), visible.now + 1
    ...         return None, visible.now + 1
    >>> from hindsched.online.batches.simulate import simulate
    >>> pair = Instance(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]])
    >>> simulate(pair, Eager()).satisfied
    (2,)
    """

    def contact(self, visible: Visible) -> Answer:
        """Return the answer to a contact: the task to send, and the time of the next call.

        Parameters
        ----------
        visible
            What is known; a new object each time.

        Returns
        -------
        A pair: ``(batch, task)``, 0-based, of a submitted batch, or None; and an integer R or None. The worker's next
        contact is in its first available second from R on, after the present second; None: it never calls again.
        """
        ...


def active_before(instance: Instance) -> int:
    """Return the number of workers available in the week before the first submission, or since t0; at least 1."""
    first = instance.batches[0][0]
    since = max(instance.start, first - 7 * 24 * 3600)
    if since >= first:
        return 1
    low, high = instance.covering(since, first).row_ranges(since, first)
    return max(1, int(np.count_nonzero(high > low)))
