"""What a solver of the rungs answers: per batch what can be satisfied and how fast, each with its proof."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hindsched.instances.batches import Claim, Contacts, Instance, Run, Rung
from hindsched.instances.batches.cuts import Cut

__all__ = ["BatchAnswer", "BatchContacts", "Hindsight", "contacts_of"]

#: Contacts of a play: columns of time, worker and end, in order of time and worker.
BatchContacts = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """One batch on one rung.

    Parameters
    ----------
    satisfied
        The most tasks that can end by the deadline.
    cut
        What proves that there are no more.
    contacts
        Contacts that reach it.
    latency
        The least seconds in which all its tasks can end, the other batches given up; None if not by the run's end.
    latency_cut
        What proves that a second less is too little; or, with no latency, the time until the run's end.
    latency_contacts
        Contacts that reach it; None with no latency.
    """

    satisfied: int
    cut: Cut
    contacts: BatchContacts = field(repr=False)
    latency: int | None
    latency_cut: Cut
    latency_contacts: BatchContacts | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Hindsight:
    """A rung's answer for all batches, as far as there was time: a certificate that can be checked apart.

    Parameters
    ----------
    rung
        The rung.
    batches
        One answer for each batch, or for the first ones if the time was over.
    """

    rung: Rung
    batches: tuple[BatchAnswer, ...]

    @property
    def satisfied(self) -> tuple[int, ...]:
        """The most satisfied tasks of each batch; both objectives peak together."""
        return tuple(batch.satisfied for batch in self.batches)

    @property
    def latency(self) -> tuple[int | None, ...]:
        """The least latency of each batch, alone."""
        return tuple(batch.latency for batch in self.batches)

    def claim(self, instance: Instance) -> Claim:
        """Return what the checker recomputes: the numbers of satisfied tasks with their cuts."""
        return Claim(self.rung, self.satisfied, tuple(batch.cut for batch in self.batches), instance.fingerprint)

    def run(self, instance: Instance) -> Run:
        """Return the plays of all batches as one certificate."""
        contacts = contacts_of([(i, batch.contacts) for i, batch in enumerate(self.batches)])
        return Run(instance.fingerprint, contacts, None, self.rung)

    def latency_runs(self, instance: Instance) -> list[Run]:
        """Return the plays that give batches their least latencies; in one run those that are over before the next."""
        groups: list[tuple[int, list[tuple[int, BatchContacts]]]] = []
        for i, answer in enumerate(self.batches):
            if answer.latency is None or answer.latency_contacts is None:
                continue
            submission = instance.batches[i][0]
            place = next((n for n, (over, _) in enumerate(groups) if over <= submission), len(groups))
            plays = groups.pop(place)[1] if place < len(groups) else []
            groups.insert(place, (submission + answer.latency, [*plays, (i, answer.latency_contacts)]))
        return [Run(instance.fingerprint, contacts_of(plays), None, self.rung) for _, plays in groups]


def contacts_of(plays: list[tuple[int, BatchContacts]]) -> Contacts:
    """Return the contacts of plays of single batches, in order; the tasks of a batch are sent in order too."""
    if not plays:
        return Contacts.of([])
    sizes = [play[0].size for _, play in plays]
    time, worker, end = (np.concatenate([play[column] for _, play in plays]) for column in range(3))
    batch = np.repeat(np.array([i for i, _ in plays], dtype=np.int64), sizes)
    task = np.concatenate([np.arange(size, dtype=np.int64) for size in sizes])
    return Contacts(time, worker, batch, task, end)
