"""Answers of the solvers: for each batch the satisfied tasks and the latency, each with its proof."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hindsched.instances.batches import Contacts, CutCertificate, Instance, Run, Rung
from hindsched.instances.batches.cut_certificate import Cut

__all__ = ["BatchAnswer", "BatchContacts", "Hindsight", "contacts_of"]

#: Contacts of a schedule: columns of time, worker and end, in order of time and worker.
BatchContacts = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The answer for one batch on one rung.

    Parameters
    ----------
    satisfied
        The largest number of tasks that can end by the deadline.
    cut
        The proof that it is largest.
    contacts
        A schedule that reaches it.
    latency
        The least number of seconds in which all its tasks can end, without the other batches; None if they cannot end
        by the end of the run.
    latency_cut
        The proof that one second less does not suffice; without a latency, that the time until the end of the run does
        not suffice.
    latency_contacts
        A schedule that reaches it; None without a latency.
    """

    satisfied: int
    cut: Cut
    contacts: BatchContacts = field(repr=False)
    latency: int | None
    latency_cut: Cut
    latency_contacts: BatchContacts | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Hindsight:
    """The answers for all batches on one rung: a certificate that the checker can verify.

    Parameters
    ----------
    rung
        The rung.
    batches
        One answer for each batch; for the first ones only, if the time limit stopped the solver.
    """

    rung: Rung
    batches: tuple[BatchAnswer, ...]

    @property
    def satisfied(self) -> tuple[int, ...]:
        """The largest number of satisfied tasks of each batch."""
        return tuple(batch.satisfied for batch in self.batches)

    @property
    def latency(self) -> tuple[int | None, ...]:
        """The least latency of each batch alone."""
        return tuple(batch.latency for batch in self.batches)

    def claim(self, instance: Instance) -> CutCertificate:
        """Return the numbers of satisfied tasks with their cuts, for the checker."""
        return CutCertificate(
            self.rung, self.satisfied, tuple(batch.cut for batch in self.batches), instance.fingerprint
        )

    def run(self, instance: Instance) -> Run:
        """Return the schedules of all batches as one certificate."""
        contacts = contacts_of([(i, batch.contacts) for i, batch in enumerate(self.batches)])
        return Run(instance.fingerprint, contacts, None, self.rung)

    def latency_runs(self, instance: Instance) -> list[Run]:
        """Return schedules of the least latencies; one run holds those that end before the next one begins."""
        groups: list[tuple[int, list[tuple[int, BatchContacts]]]] = []
        for i, answer in enumerate(self.batches):
            if answer.latency is None or answer.latency_contacts is None:
                continue
            submission = instance.batches[i][0]
            place = next((n for n, (over, _) in enumerate(groups) if over <= submission), len(groups))
            schedules = groups.pop(place)[1] if place < len(groups) else []
            groups.insert(place, (submission + answer.latency, [*schedules, (i, answer.latency_contacts)]))
        return [Run(instance.fingerprint, contacts_of(schedules), None, self.rung) for _, schedules in groups]


def contacts_of(schedules: list[tuple[int, BatchContacts]]) -> Contacts:
    """Return the contacts of schedules of single batches, in order; the tasks of a batch are numbered in order too."""
    if not schedules:
        return Contacts.of([])
    sizes = [contacts[0].size for _, contacts in schedules]
    time, worker, end = (np.concatenate([contacts[column] for _, contacts in schedules]) for column in range(3))
    batch = np.repeat(np.array([i for i, _ in schedules], dtype=np.int64), sizes)
    task = np.concatenate([np.arange(size, dtype=np.int64) for size in sizes])
    return Contacts(time, worker, batch, task, end)
