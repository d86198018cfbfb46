"""What an on-line master sees: the problem, who calls, that worker's past, and nothing else.

A policy is handed objects that do not hold the future: `Problem` has no availability, and the past of the worker that
calls is copied for it.
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

#: What a policy answers at a contact: ``(batch, task)`` or None, and the second R from which the worker shall call
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
        M pairs of submission and deadline, public beforehand.
    num_workers, sum_c
        W and the sum of all C_j: the mean is public, a worker's own C_j is told when it calls.
    start
        t0.
    active
        P0, the number of workers to expect at first.
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
        What is to be done.
    now
        This second.
    worker
        Who calls.
    c
        Seconds it computes per task.
    up
        Its available intervals before ``now``; shape (n, 2), read-only. The last one ends at ``now`` at the latest.
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
        """Return in how many seconds of [since, until) before ``now`` this worker was available.

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
    """An on-line master: what to answer when a worker calls.

    A class may leave out ``begin``, ``completed``, ``deadline`` and ``name`` (then it is called by its class).

    Examples
    --------
    Send every worker the next task of the present batch, and let it call again a second later.

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
        """Answer a contact: what to send, and from when on the worker shall call again.

        Parameters
        ----------
        visible
            What is known; a new object each time.

        Returns
        -------
        A pair. First ``(batch, task)`` with 0-based indices, of a batch that is submitted, or None. Then an integer R:
        the worker's next contact is in its first available second that is not before R and after this one; or None:
        it never calls again.
        """
        ...


def active_before(instance: Instance) -> int:
    """Return the workers with an available second in the week before the first submission, or since t0; at least 1."""
    first = instance.batches[0][0]
    since = max(instance.start, first - 7 * 24 * 3600)
    if since >= first:
        return 1
    low, high = instance.covering(since, first).places(since, first)
    return max(1, int(np.count_nonzero(high > low)))
