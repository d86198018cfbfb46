"""ENCD -> OFF-LINE-COUPLED with mu = 1 and with mu unbounded: the two halves of Theorem 4.1 (docs/model.md section 7).

A worker stands for a node of V and a slot for a node of W. The worker is UP where there is an edge, and RECLAIMED where
there is none. An iteration is then a set of workers with enough common UP slots: a biclique. If non-edges were DOWN,
the slots of an iteration would have to be consecutive, and other bicliques would be lost: `unsound` is the smallest
example.

Larger a than |V| + 1 and larger b than |W| + 1 are replaced by these: the instance is a no-instance in both cases, and
its numbers have to fit into 32 bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hindsched.instances import check
from hindsched.instances.coupled import Instance, Schedule
from hindsched.instances.coupled.communication_free import compute_from, schedule_rounds
from hindsched.instances.coupled.schedule import COMPUTE
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, RECLAIMED, UP, States
from hindsched.reductions.bipartite_graph import from_matrix
from hindsched.reductions.encd import Biclique, Encd
from hindsched.reductions.reduction import Size

__all__ = ["REDUCTIONS", "ToMu1", "ToMuInf", "WitnessData", "unsound", "with_down"]


@dataclass(frozen=True, slots=True)
class WitnessData:
    """The data of the witness maps: the problem and its image."""

    problem: Encd
    instance: Instance


class _ToCoupled(ABC):
    """Common part of both reductions: no communication, one iteration, and the witness maps."""

    @abstractmethod
    def size(self, problem: Encd) -> Size:
        """Return the number of workers and slots."""

    @abstractmethod
    def apply(self, problem: Encd) -> tuple[Instance, WitnessData]:
        """Return the instance, and the data for the witness maps."""

    def forward(self, witness: Biclique, data: WitnessData) -> Schedule:
        """Map a biclique to a schedule that completes the iteration.

        The workers of v take a task each and compute in all their common UP slots until they are done, as R4 demands.
        So the map keeps v, and takes the first common neighbours of v as slots.

        Raises
        ------
        InputError
            If the witness is not a biclique of the problem.
        """
        data.problem.check(witness)
        workers = {q: 1 for q, node in enumerate(data.problem.v) if node in set(witness.v)}
        return schedule_rounds(data.instance, [compute_from(data.instance, workers, 0)])

    def backward(self, witness: Schedule, data: WitnessData) -> Biclique:
        """Map a schedule that completes the iteration to a biclique.

        In the slot in which the iteration ends, exactly its members have letter C. Each has one task, so these are a
        workers, and the last w slots in which they have letter C are the slots of the iteration.

        Raises
        ------
        InputError
            If the schedule breaks a rule or completes no iteration.
        """
        instance, problem = data.instance, data.problem
        verdict = check(instance, witness)
        if not verdict.is_valid or verdict.outcome.makespan is None:
            raise InputError(f"{verdict}, expected a schedule that completes the iteration", place="schedule")
        end = verdict.outcome.makespan
        members = [q for q, row in enumerate(witness.letters) if row[end - 1] == COMPUTE]
        computed = [t for t, letter in enumerate(witness.letters[members[0]][:end]) if letter == COMPUTE]
        slots = [t for t in computed[-instance.w[0] :] if t < len(problem.w)]
        return Biclique(
            tuple(problem.v[q] for q in members),
            tuple(problem.w[t] for t in slots[: problem.b]),
        )


class ToMu1(_ToCoupled):
    """ENCD -> OFF-LINE-COUPLED(mu=1): a worker per node of V, a slot per node of W; m = a, w = b.

    Size: |V| workers and |W| slots. Two kinds of trivial no-instances are larger, since instances need workers and
    slots: for a > |V| there is one more worker, which is never UP; for empty W there is one slot, without an UP worker.

    Examples
    --------
    >>> problem = Encd(from_matrix([[1, 0, 1], [1, 1, 1]]), a=2, b=2)
    >>> instance, data = ToMu1().apply(problem)
    >>> instance.tasks, instance.w, instance.states.tolist()
    (2, (2, 2), [[0, 1, 0], [0, 0, 0]])
    >>> schedule = ToMu1().forward(Biclique((0, 1), (2, 4)), data)
    >>> schedule.letters, ToMu1().backward(schedule, data)
    (('CIC', 'CIC'), Biclique(v=(0, 1), w=(2, 4)))
    """

    name = "mu1"

    def size(self, problem: Encd) -> Size:
        """Return the number of workers and slots."""
        num_v = len(problem.v)
        return Size(num_v + 1 if problem.a > num_v else num_v, max(len(problem.w), 1))

    def apply(self, problem: Encd) -> tuple[Instance, WitnessData]:
        """Return the instance, and the data for the witness maps."""
        states = _states(problem, self.size(problem))
        instance = _instance(states, tasks=_capped(problem)[0], w=_capped(problem)[1], mu=1)
        return instance, WitnessData(problem, instance)


class ToMuInf(_ToCoupled):
    """ENCD -> OFF-LINE-COUPLED(mu=inf): |W| + 1 further slots with all workers UP; m = a, w = b + |W| + 1.

    N = 2 |W| + 1 < 2 w, so no worker can complete two tasks. At most |W| + 1 of the w slots of a team are further
    slots, so at least b are nodes of W.

    Size: |V| workers and 2 |W| + 1 slots (one worker, never UP in a slot of W, if V is empty).

    Examples
    --------
    >>> problem = Encd(from_matrix([[1, 0], [1, 1]]), a=2, b=1)
    >>> instance, data = ToMuInf().apply(problem)
    >>> instance.tasks, instance.w, instance.mu, instance.states.tolist()
    (2, (4, 4), (None, None), [[0, 1, 0, 0, 0], [0, 0, 0, 0, 0]])
    >>> ToMuInf().forward(Biclique((0, 1), (2,)), data).letters
    ('CICCC', 'CICCC')
    """

    name = "muinf"

    def size(self, problem: Encd) -> Size:
        """Return the number of workers and slots."""
        return Size(max(len(problem.v), 1), 2 * len(problem.w) + 1)

    def apply(self, problem: Encd) -> tuple[Instance, WitnessData]:
        """Return the instance, and the data for the witness maps."""
        num_w = len(problem.w)
        states = _states(problem, self.size(problem))
        states[:, num_w:] = UP
        instance = _instance(states, tasks=_capped(problem)[0], w=_capped(problem)[1] + num_w + 1, mu=None)
        return instance, WitnessData(problem, instance)


#: The reductions by name.
REDUCTIONS: dict[str, ToMu1 | ToMuInf] = {reduction.name: reduction for reduction in (ToMu1(), ToMuInf())}


def with_down(instance: Instance) -> Instance:
    """Return the instance with DOWN instead of RECLAIMED, which makes the reductions unsound."""
    states = np.where(instance.states == RECLAIMED, DOWN, instance.states).astype(np.uint8)
    return instance.replace(states=states)


def unsound() -> Encd:
    """Return the smallest yes-instance that both reductions would lose if non-edges were DOWN.

    One node of V and three of W, the middle one not adjacent; a = 1, b = 2. The worker is UP in slots 0 and 2, and
    needs two slots; if it were DOWN in slot 1, it would lose the first of them (R1).

    Examples
    --------
    >>> instance, _ = ToMu1().apply(unsound())
    >>> from hindsched.instances.states import to_letters
    >>> to_letters(instance.states), to_letters(with_down(instance).states)
    (['uru'], ['udu'])
    """
    return Encd(from_matrix([[1, 0, 1]]), a=1, b=2)


def _capped(problem: Encd) -> tuple[int, int]:
    return min(problem.a, len(problem.v) + 1), min(problem.b, len(problem.w) + 1)


def _states(problem: Encd, size: Size) -> States:
    """Return states that are UP where there is an edge, and otherwise RECLAIMED."""
    is_edge = problem.matrix
    states = np.full((size.workers, size.slots), RECLAIMED, dtype=np.uint8)
    states[: is_edge.shape[0], : is_edge.shape[1]][is_edge] = UP
    return states


def _instance(states: States, *, tasks: int, w: int, mu: int | None) -> Instance:
    p = states.shape[0]
    return Instance(tasks=tasks, iterations=1, n_com=None, t_prog=0, t_data=0, w=(w,) * p, mu=(mu,) * p, states=states)
