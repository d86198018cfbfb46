"""Results of a run by batch, computed from its contacts (docs/batches/model.md section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hindsched.instances.batches.model import Instance
from hindsched.instances.batches.run import NOTHING, Contacts, Run

__all__ = ["Simulation", "simulation"]


@dataclass(frozen=True, slots=True)
class Simulation:
    """A run and its results, each a tuple with one number per batch.

    Parameters
    ----------
    policy
        The name of the policy.
    run
        All contacts, and the periods.
    satisfied
        Tasks of which a copy ended by the deadline.
    latency
        Seconds from the submission until all tasks had ended; None if some had not at the end of the run.
    copies
        Copies sent.
    requests
        X_i: contacts from the submission to L_i.
    distributed
        Tasks first sent by L_i.
    contacts
        Contacts from the submission to before the deadline.
    """

    policy: str
    run: Run = field(repr=False)
    satisfied: tuple[int, ...]
    latency: tuple[int | None, ...]
    copies: tuple[int, ...]
    requests: tuple[int, ...]
    distributed: tuple[int, ...]
    contacts: tuple[int, ...]

    @property
    def satisfied_tasks(self) -> int:
        """Tasks that met their deadline, over all batches."""
        return sum(self.satisfied)

    def satisfied_batches(self, tasks: int) -> int:
        """Return the number of batches all of whose ``tasks`` tasks met the deadline."""
        return sum(count == tasks for count in self.satisfied)

    @property
    def all_contacts(self) -> int:
        """Contacts of the whole run."""
        return len(self.run.contacts)


def simulation(instance: Instance, policy: str, contacts: Contacts, periods: tuple[tuple[int, int], ...]) -> Simulation:
    """Return a run with its results.

    Notes
    -----
    O(n log n) for n contacts that carry a task, O(M log n) for the others.
    """
    batches = np.array(instance.batches, dtype=np.int64)
    last_calls = np.array([instance.last_call(i) for i in range(instance.num_batches)], dtype=np.int64)
    begin, until, stop = (
        np.searchsorted(contacts.time, borders) for borders in (batches[:, 0], last_calls + 1, batches[:, 1])
    )
    sends = np.flatnonzero(contacts.batch != NOTHING)
    batch, end = contacts.batch[sends].astype(np.int64), contacts.end[sends].astype(np.int64)
    pair = batch * instance.tasks + contacts.task[sends]
    first_sent = _first_of(pair, contacts.time[sends].astype(np.int64))
    ended = end != NOTHING
    first_end = _first_of(pair[ended], end[ended])
    sent_in, ended_in = (keys // instance.tasks for keys in (first_sent[0], first_end[0]))
    num = instance.num_batches
    finished = np.bincount(ended_in, minlength=num)
    last = np.zeros(num, dtype=np.int64)
    np.maximum.at(last, ended_in, first_end[1])
    return Simulation(
        policy=policy,
        run=Run(instance.fingerprint, contacts, policy, None, periods),
        satisfied=tuple(np.bincount(ended_in[first_end[1] <= batches[ended_in, 1]], minlength=num).tolist()),
        latency=tuple(int(last[i] - batches[i, 0]) if finished[i] == instance.tasks else None for i in range(num)),
        copies=tuple(np.bincount(batch, minlength=num).tolist()),
        requests=tuple(np.maximum(until - begin, 0).tolist()),
        distributed=tuple(np.bincount(sent_in[first_sent[1] <= last_calls[sent_in]], minlength=num).tolist()),
        contacts=tuple((stop - begin).tolist()),
    )


def _first_of(keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each key once, with the least of its values."""
    order = np.lexsort((values, keys))
    keys, first = np.unique(keys[order], return_index=True)
    return keys, values[order][first]
