"""Multipliers of worker slots and the value of a program: how they are set, and how chains of iterations move them.

The value of a program is a mixture of step functions: 1 before a threshold and 0 from it on. The weights follow the
thresholds by which the chains had least slack. A period's share of a step moves to the slots in which chains use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import has
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.scratch_memory import WorkerOrder
from hindsched.offline.coupled.search.state_tables import Table


@dataclass(frozen=True, slots=True)
class SlotLagrangianParameters:
    """Parameters of the slot Lagrangian.

    Parameters
    ----------
    unit
        Value of one unit of program, in the integers of multipliers. The kernels are compiled with the default.
    num_steps
        Number of step functions in the value of a program. The kernels are compiled with the default.
    rate
        How fast the weights of the steps follow their slack. The kernels are compiled with the default.
    initial_usage
        Usage of every UP slot before the first chain. The kernels are compiled with the default.
    max_labels
        Labels of one search.
    max_cells
        Limit of slots times workers.
    patience, child_patience
        Searches for one cost before a node is branched: for the root alone, and once there are several nodes.
    rounds_at_once
        Searches between two looks at the clock.
    max_stored
        Limit of nodes times slots times workers for which usage is kept.
    """

    unit: int = 1 << 20
    num_steps: int = 12
    rate: float = 0.05
    initial_usage: float = 0.02
    max_labels: int = 1 << 15
    max_cells: int = 1 << 20
    patience: int = 40
    child_patience: int = 12
    rounds_at_once: int = 4
    max_stored: int = 1 << 26


DEFAULT_PARAMETERS = SlotLagrangianParameters()
_UNIT, NUM_STEPS = DEFAULT_PARAMETERS.unit, DEFAULT_PARAMETERS.num_steps
_RATE, _INITIAL_USAGE = DEFAULT_PARAMETERS.rate, DEFAULT_PARAMETERS.initial_usage


class SlotMultipliers(NamedTuple):
    """Multipliers, and the statistics that they are set by.

    ``before[t, q]`` is the sum of worker q's multipliers for the slots before t, ``program_value[t]`` the value of a
    program first usable in slot t: a mixture of steps at the ``thresholds``, each with its ``weight``. ``usage[t, q]``
    is how often chains used worker q in slot t, ``slack[i]`` the programs that they had left by the i-th threshold, and
    ``num_chains[0]`` the number of chains.
    """

    usage: Reals
    before: Ints
    program_value: Ints
    thresholds: Ints
    weight: Ints
    slack: Reals
    num_chains: Ints


def make_slot_multipliers(workers: int, slots: int) -> SlotMultipliers:
    """Return room for multipliers of this many workers and slots."""
    return SlotMultipliers(
        usage=np.zeros((slots, workers)),
        before=np.zeros((slots + 1, workers), np.int64),
        program_value=np.zeros(slots + 1, np.int64),
        thresholds=np.zeros(NUM_STEPS, np.int64),
        weight=np.zeros(NUM_STEPS, np.int64),
        slack=np.zeros(NUM_STEPS),
        num_chains=np.zeros(1, np.int64),
    )


@kernel
def reset_statistics(table: Table, problem: Problem, multipliers: SlotMultipliers) -> None:
    """Start with equal usage of all UP slots and without slack."""
    for t in range(multipliers.usage.shape[0]):
        for q in range(problem.p):
            multipliers.usage[t, q] = _INITIAL_USAGE * (table.cnt[t + 1, q] - table.cnt[t, q])
    for i in range(NUM_STEPS):
        multipliers.slack[i] = 0.0


@kernel
def last_of_period(table: Table, q: int, t: int, end: int) -> int:
    """Return the last slot before `end` of the availability period of worker q that contains slot t."""
    while t + 1 < end and table.down[t + 1, q] != t + 1:
        t += 1
    return t


@kernel
def set_multipliers(table: Table, problem: Problem, multipliers: SlotMultipliers, end: int) -> None:
    """Divide the value of a program among the slots of each availability period, in proportion to their usage."""
    _set_program_values(problem, multipliers, end)
    before = multipliers.before
    for q in range(problem.p):
        before[0, q] = 0
        t = 0
        while t < end:
            if table.down[t, q] == t:
                before[t + 1, q] = before[t, q]
                t += 1
                continue
            last = last_of_period(table, q, t, end)
            total = before[t, q]
            for u in range(t, last + 1):
                before[u + 1, q] = total
            for i in range(NUM_STEPS):
                _add_step(problem, multipliers, q, i, t, last)
            t = last + 1


@inlined
def _set_program_values(problem: Problem, multipliers: SlotMultipliers, end: int) -> None:
    """Set the weights of the steps, heaviest where the slack is least, and with them the value of a program."""
    slack, weight = multipliers.slack, multipliers.weight
    least = slack[0]
    for i in range(1, NUM_STEPS):
        least = min(least, slack[i])
    total = 0.0
    rate = _RATE / problem.t_prog
    for i in range(NUM_STEPS):
        total += exp(-rate * (slack[i] - least))
    for i in range(NUM_STEPS):
        weight[i] = int(_UNIT * exp(-rate * (slack[i] - least)) / total)
    for t in range(end + 1):
        multipliers.program_value[t] = 0
        for i in range(NUM_STEPS):
            if multipliers.thresholds[i] > t:
                multipliers.program_value[t] += problem.t_prog * weight[i]


@inlined
def _add_step(problem: Problem, multipliers: SlotMultipliers, q: int, i: int, first: int, last: int) -> None:
    """Divide the value of step i among the slots first..last of a period of worker q that lie before its threshold."""
    before, usage = multipliers.before, multipliers.usage
    threshold = min(multipliers.thresholds[i], last + 1)
    value = problem.t_prog * multipliers.weight[i]
    whole = 0.0
    for u in range(first, threshold):
        whole += usage[u, q]
    part = 0.0
    share = 0
    for u in range(first, last + 1):
        if u < threshold and whole > 0.0:
            part += usage[u, q]
            share = min(value, max(share, int(value * (part / whole))))
        before[u + 1, q] += share


@kernel
def subtract_use(
    table: Table, problem: Problem, multipliers: SlotMultipliers, q: int, c: int, e: int, end: int
) -> None:
    """Subtract what worker q uses of each step in slots c..e from the slack."""
    usage, thresholds = multipliers.usage, multipliers.thresholds
    first = table.down[e, q] + 1
    last = last_of_period(table, q, e, end)
    for i in range(NUM_STEPS):
        whole = part = 0.0
        for t in range(first, min(last + 1, thresholds[i])):
            whole += usage[t, q]
            if c <= t <= e:
                part += usage[t, q]
        if part > 0.0:
            multipliers.slack[i] -= problem.t_prog * part / whole


@kernel
def set_merits(table: Table, problem: Problem, multipliers: SlotMultipliers, end: int, merit: Reals) -> None:
    """Fill ``merit[t, q]`` with the uses of worker q by chains from slot t until its next DOWN or slot `end`."""
    for q in range(problem.p):
        for t in range(merit.shape[0]):
            merit[t, q] = 0.0
        for t in range(min(end, merit.shape[0]) - 1, -1, -1):
            if table.down[t, q] != t:
                merit[t, q] = multipliers.usage[t, q] / max(1, multipliers.num_chains[0])
                if t + 1 < merit.shape[0]:
                    merit[t, q] += merit[t + 1, q]


@kernel
def credit(problem: Problem, order: WorkerOrder, held: Words, t: int) -> float:
    """Return the slots of the channel that the holders' programs save which chains use from slot t on."""
    if t >= order.merit.shape[0]:
        return 0.0
    programs = 0.0
    for q in range(problem.p):
        if has(held, q):
            programs += min(1.0, order.merit[t, q])
    return programs * problem.t_prog / problem.n_com
