"""The view and the answers of a scheduler: the protocol for your own (docs/grid/model.md section 3.6)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from hindsched.instances.errors import InputError

__all__ = ["Allocation", "Answer", "Job", "Scheduler", "Visible"]


@dataclass(frozen=True, slots=True)
class Job:
    """A job that has been submitted.

    Parameters
    ----------
    index
        Its number, from 0 in order of submission.
    submit, width, length
        As in `hindsched.instances.grid.Instance`.
    """

    index: int
    submit: int
    width: int
    length: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """The promise to a job: a start and its nodes, ascending."""

    start: int
    nodes: tuple[int, ...]


#: The answer of a scheduler for a job: a start and nodes, or None: the job fails and never runs.
Answer: TypeAlias = tuple[int, Iterable[int]] | None


class Visible:
    """The state of a grid in a slot: the jobs submitted so far, and the promises to them.

    Parameters
    ----------
    nodes, slot_s
        M and the seconds of a slot.

    Attributes
    ----------
    now
        The slot.
    waiting
        Numbers of the jobs that have been submitted and not answered, ascending.
    """

    def __init__(self, nodes: int, slot_s: int) -> None:
        self.nodes = nodes
        self.slot_s = slot_s
        self.now = 0
        self.waiting: tuple[int, ...] = ()
        self._jobs: list[Job] = []
        self._allocations: dict[int, Allocation | None] = {}
        self._runs: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]

    @property
    def jobs(self) -> Sequence[Job]:
        """All jobs submitted so far, by number; a copy."""
        return tuple(self._jobs)

    def job(self, index: int) -> Job:
        """Return a job that has been submitted."""
        return self._jobs[index]

    def allocation(self, index: int) -> Allocation | None:
        """Return the promise to a job; None if there is none."""
        return self._allocations.get(index)

    def is_free(self, node: int, start: int, length: int) -> bool:
        """Return whether no promised job runs on a node from ``start`` on for ``length`` slots."""
        return all(stop <= start or start + length <= begin for begin, stop in self._runs[node])

    def free_nodes(self, start: int, length: int) -> list[int]:
        """Return the nodes that are free from ``start`` on for ``length`` slots, ascending."""
        return [node for node in range(self.nodes) if self.is_free(node, start, length)]

    def earliest(self, width: int, length: int) -> int:
        """Return the least start, from now on, with at least ``width`` nodes free for ``length`` slots."""
        ends = {stop for runs in self._runs for _, stop in runs if stop > self.now}
        return next(start for start in sorted({self.now, *ends}) if len(self.free_nodes(start, length)) >= width)

    def _submit(self, job: Job) -> None:
        self._jobs.append(job)
        self.waiting += (job.index,)

    def _settle(self, index: int, answer: Answer) -> Allocation | None:
        """Apply an answer for a waiting job; an `InputError` says why it is illegal."""
        job = self._jobs[index]
        self.waiting = tuple(other for other in self.waiting if other != index)
        allocation = None if answer is None else self._allocated(job, answer)
        self._allocations[index] = allocation
        if allocation is not None:
            for node in allocation.nodes:
                runs = self._runs[node]
                while runs and runs[0][1] <= self.now:
                    runs.pop(0)
                insort(runs, (allocation.start, allocation.start + job.length))
        return allocation

    def _allocated(self, job: Job, answer: tuple[int, Iterable[int]]) -> Allocation:
        try:
            start, nodes = answer
            held = sorted(nodes)
        except (TypeError, ValueError):
            raise InputError(f"{answer!r}, expected a start and nodes, or None") from None
        if not all(type(number) is int for number in (start, *held)):
            raise InputError(f"{answer!r}, expected integers, a start and nodes")
        if start < self.now:
            raise InputError(f"start {start}, expected {self.now}, the present slot, or later")
        if len(held) != job.width or len(set(held)) != len(held):
            raise InputError(f"{len(set(held))} nodes, expected {job.width}, all different")
        if held[0] < 0 or held[-1] >= self.nodes:
            raise InputError(f"nodes {held[0]} to {held[-1]}, expected 0 to {self.nodes - 1}")
        for node in held:
            if not self.is_free(node, start, job.length):
                raise InputError(f"node {node} is not free from slot {start} on for {job.length} slots")
        return Allocation(start, tuple(held))


@runtime_checkable
class Scheduler(Protocol):
    """A scheduler of your own.

    The simulator calls `choose` in each slot in which a job is submitted or a promised run ends. It answers for any of
    the waiting jobs. Jobs without answer remain waiting, and fail if there is no further call. An answer is final: a
    start, in the present slot or later, and as many nodes as the job is wide, which must be free from then on for its
    length; or None, and the job fails.
    """

    name: str

    def choose(self, visible: Visible) -> Mapping[int, Answer]:
        """Return answers by job number."""
        ...
