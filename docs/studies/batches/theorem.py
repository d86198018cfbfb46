"""Check Theorem 1 of the paper and its repaired condition case by case (docs/batches/model.md section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from hindsched.instances.batches import Instance
from hindsched.online.batches import Options, run_policy

__all__ = ["Tally", "verify"]


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of cases, and of wrong predictions of each condition.

    Parameters
    ----------
    cases
        Instances, each with both values of ``busy``.
    meets
        Cases in which Algorithm 1 meets every deadline.
    printed_wrong
        Cases in which the paper's condition (hindsight meets every deadline) predicts otherwise.
    repaired_wrong
        Cases in which the repaired condition predicts otherwise.
    """

    cases: int
    meets: int
    printed_wrong: int
    repaired_wrong: int


def verify(most_tasks: int = 12, most_workers: int = 14, most_c: int = 3, batches: int = 2) -> Tally:
    """Run Algorithm 1 on always available equal workers that have called before, and count wrong predictions.

    Parameters
    ----------
    most_tasks, most_workers, most_c
        Greatest N, P and C. For each, D - S ranges from C to two seconds more than the repaired condition requires.
    batches
        M, back to back.

    Examples
    --------
    >>> tally = verify(4, 3, 1)
    >>> tally.printed_wrong > 0, tally.repaired_wrong
    (True, 0)
    """
    cases = meets = printed = repaired = 0
    for tasks, p, c in product(range(1, most_tasks + 1), range(1, most_workers + 1), range(1, most_c + 1)):
        required = c if p >= tasks else c - (-c * (tasks - 1) // p)
        for length, busy in product(range(c, required + 3), ("queue", "wait")):
            pairs = [(5 + i * length, 5 + (i + 1) * length) for i in range(batches)]
            instance = Instance(tasks=tasks, batches=pairs, c=[c] * p, up=[[(0, pairs[-1][1] + 9)]] * p)
            found = run_policy(instance, "A1", Options(busy=busy), engine="plain")
            is_met = found.satisfied == (tasks,) * batches
            cases += 1
            meets += is_met
            printed += is_met != (length >= c * -(-tasks // p))
            repaired += is_met != (p >= tasks or p * (length - c) >= c * (tasks - 1))
    return Tally(cases, meets, printed, repaired)
