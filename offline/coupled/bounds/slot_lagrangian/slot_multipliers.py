"""Prices of workers' slots and the value of a program: how they are set, and learnt from chains.

What they are for, and why any may be taken: module `channel_bound`.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import has
from hindsched.offline.coupled.search.constants import FAINT, RATE, STEPS, UNIT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.scratch_memory import WorkerOrder
from hindsched.offline.coupled.search.state_tables import Table


class Prices(NamedTuple):
    """Prices, and what they are learnt from.

    ``before[t, q]`` is the sum of worker q's prices for the slots before t, ``program_value[t]`` what a program is
    worth that can first be used in slot t: a mixture of ``steps``, each with its ``weight``. ``usage[t, q]`` is how
    often chains used worker q in slot t, ``left_over[i]`` what they had left over by the i-th step, and
    ``num_chains[0]`` how many they were.
    """

    usage: Reals
    before: Ints
    program_value: Ints
    steps: Ints
    weight: Ints
    left_over: Reals
    num_chains: Ints


def make_prices(workers: int, slots: int) -> Prices:
    """Room for prices of so many workers and slots."""
    return Prices(
        usage=np.zeros((slots, workers)),
        before=np.zeros((slots + 1, workers), np.int64),
        program_value=np.zeros(slots + 1, np.int64),
        steps=np.zeros(STEPS, np.int64),
        weight=np.zeros(STEPS, np.int64),
        left_over=np.zeros(STEPS),
        num_chains=np.zeros(1, np.int64),
    )


@kernel
def begin_prices(table: Table, problem: Problem, prices: Prices) -> None:
    """Start with equal prices for all UP slots."""
    for t in range(prices.usage.shape[0]):
        for q in range(problem.p):
            prices.usage[t, q] = FAINT * (table.cnt[t + 1, q] - table.cnt[t, q])
    for i in range(STEPS):
        prices.left_over[i] = 0.0


@kernel
def last_of_period(table: Table, q: int, t: int, end: int) -> int:
    """Return the last slot before `end` of the availability period of worker q that contains slot t."""
    while t + 1 < end and table.down[t + 1, q] != t + 1:
        t += 1
    return t


@kernel
def set_prices(table: Table, problem: Problem, prices: Prices, end: int) -> None:
    """Divide the value of a program among the slots of each availability period, in proportion to their usage."""
    _set_values(problem, prices, end)
    before = prices.before
    for q in range(problem.p):
        before[0, q] = 0
        t = 0
        while t < end:
            if table.down[t, q] == t:
                before[t + 1, q] = before[t, q]
                t += 1
                continue
            last = last_of_period(table, q, t, end)
            paid = before[t, q]
            for u in range(t, last + 1):
                before[u + 1, q] = paid
            for i in range(STEPS):
                _add_step(problem, prices, q, i, t, last)
            t = last + 1


@inlined
def _set_values(problem: Problem, prices: Prices, end: int) -> None:
    """Set the weights of the steps, those with least left over heaviest, and with them the value of a program."""
    left_over, weight = prices.left_over, prices.weight
    least = left_over[0]
    for i in range(1, STEPS):
        least = min(least, left_over[i])
    total = 0.0
    rate = RATE / problem.t_prog
    for i in range(STEPS):
        total += exp(-rate * (left_over[i] - least))
    for i in range(STEPS):
        weight[i] = int(UNIT * exp(-rate * (left_over[i] - least)) / total)
    for t in range(end + 1):
        prices.program_value[t] = 0
        for i in range(STEPS):
            if prices.steps[i] > t:
                prices.program_value[t] += problem.t_prog * weight[i]


@inlined
def _add_step(problem: Problem, prices: Prices, q: int, i: int, first: int, last: int) -> None:
    """Divide what the i-th step is worth among the slots first..last, a period of worker q, as far as the step goes."""
    before, usage = prices.before, prices.usage
    tau = min(prices.steps[i], last + 1)
    value = problem.t_prog * prices.weight[i]
    whole = 0.0
    for u in range(first, tau):
        whole += usage[u, q]
    part = 0.0
    share = 0
    for u in range(first, last + 1):
        if u < tau and whole > 0.0:
            part += usage[u, q]
            share = min(value, max(share, int(value * (part / whole))))
        before[u + 1, q] += share


@kernel
def charge(table: Table, problem: Problem, prices: Prices, q: int, c: int, e: int, end: int) -> None:
    """Take what worker q pays for slots c..e, by each step, from what is left over."""
    usage, steps = prices.usage, prices.steps
    born = table.down[e, q] + 1
    last = last_of_period(table, q, e, end)
    for h in range(STEPS):
        whole = part = 0.0
        for t in range(born, min(last + 1, steps[h])):
            whole += usage[t, q]
            if c <= t <= e:
                part += usage[t, q]
        if part > 0.0:
            prices.left_over[h] -= problem.t_prog * part / whole


@kernel
def merits(table: Table, problem: Problem, prices: Prices, end: int, merit: Reals) -> None:
    """Fill ``merit[t, q]`` with how often a chain used worker q from slot t on, until its next DOWN or slot `end`."""
    for q in range(problem.p):
        for t in range(merit.shape[0]):
            merit[t, q] = 0.0
        for t in range(min(end, merit.shape[0]) - 1, -1, -1):
            if table.down[t, q] != t:
                merit[t, q] = prices.usage[t, q] / max(1, prices.num_chains[0])
                if t + 1 < merit.shape[0]:
                    merit[t, q] += merit[t + 1, q]


@kernel
def credit(problem: Problem, order: WorkerOrder, held: Words, t: int) -> float:
    """Slots that the channel would take for those programs of the holders that chains use from slot t on."""
    if t >= order.merit.shape[0]:
        return 0.0
    programs = 0.0
    for q in range(problem.p):
        if has(held, q):
            programs += min(1.0, order.merit[t, q])
    return programs * problem.t_prog / problem.n_com
