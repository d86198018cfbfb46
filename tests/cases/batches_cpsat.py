"""A constraint program of the rungs: tasks are intervals in the own time of a worker, and contacts are optional.

The own time of a worker counts the seconds in which a task advances. A task is an interval of length C_j in own time
that does not begin before its contact, and tasks do not overlap. The model has neither ranks nor flows.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from hindsched.instances.batches import Compute, Instance, Run, Rung
from hindsched.instances.errors import InputError
from hindsched.offline.limits import Limits

__all__ = ["best_satisfied", "least_latency"]


def best_satisfied(
    instance: Instance, rung: Rung, of: Run | None = None, *, whole_batches: bool = False, limits: Limits | None = None
) -> int | None:
    """Return the largest number of satisfied tasks, or batches; None without a proof.

    Parameters
    ----------
    instance
        Small.
    rung
        The rung.
    of
        The run that defines the rung.
    whole_batches
        Whether batches count instead of tasks.
    limits
        Time and threads.
    """
    model = _Model(instance, rung, of, range(instance.num_batches), [deadline for _, deadline in instance.batches])
    if whole_batches:
        whole = []
        for sent in model.sent:
            full = model.cp.new_bool_var("")
            model.cp.add(sum(sent) >= instance.tasks * full)
            whole.append(full)
        model.cp.maximize(sum(whole))
    else:
        model.cp.maximize(sum(literal for sent in model.sent for literal in sent))
    return model.solve(limits or Limits())


def least_latency(
    instance: Instance, rung: Rung, batch: int, of: Run | None = None, *, limits: Limits | None = None
) -> int | None:
    """Return the least latency of one batch alone; None if its tasks cannot all end, or without a proof."""
    model = _Model(instance, rung, of, [batch], [instance.end])
    submission = instance.batches[batch][0]
    last = model.cp.new_int_var(0, instance.end - submission, "")
    for j, stop, literal in model.tasks:
        clock = [end - submission for end in model.ends_of(j)]
        end = model.cp.new_int_var(0, max(clock), "")
        model.cp.add_element(stop, clock, end)
        model.cp.add(last >= end).only_enforce_if(literal)
    model.cp.add(sum(model.sent[0]) >= instance.tasks)
    model.cp.minimize(last)
    return model.solve(limits or Limits())


class _Model:
    """Optional tasks, one for each possible contact and each batch that it may serve."""

    def __init__(self, instance: Instance, rung: Rung, of: Run | None, batches: range | list[int], ends: list[int]):
        from ortools.sat.python import cp_model

        if rung is not Rung.FREE and of is None:
            raise InputError(f'"{rung}", expected the run that defines it as well', place="rung")
        self.cp = cp_model.CpModel()
        self.instance = instance
        self.sent: list[list[cp_model.IntVar]] = [[] for _ in batches]
        self.tasks: list[tuple[int, cp_model.IntVar, cp_model.IntVar]] = []
        times = [] if of is None else of.contacts.time.tolist()
        traffic = Counter(times)
        stream = set() if of is None else set(zip(times, of.contacts.worker.tolist(), strict=True))
        calls: dict[int, list[cp_model.IntVar]] = {}
        up = instance.window(0, instance.end)
        self.own = []
        for j in range(instance.num_workers):
            is_up = np.zeros(instance.end, dtype=np.int64)
            for a, b in up.of_worker(j).tolist():
                is_up[a:b] = 1
            advances = is_up if instance.compute is Compute.AVAILABLE else np.ones_like(is_up)
            own = np.concatenate(([0], np.cumsum(advances)))
            self.own.append(own)
            intervals = []
            for second in np.flatnonzero(is_up).tolist():
                if rung is Rung.STREAM and (second, j) not in stream:
                    continue
                served = []
                for place, i in enumerate(batches):
                    if not instance.batches[i][0] <= second < ends[place]:
                        continue
                    first, last = int(own[second]), int(own[ends[place]])
                    if first + instance.c[j] > last:
                        continue
                    literal = self.cp.new_bool_var("")
                    stop = self.cp.new_int_var(first + instance.c[j], last, "")
                    start = stop - instance.c[j]
                    intervals.append(self.cp.new_optional_interval_var(start, instance.c[j], stop, literal, ""))
                    self.sent[place].append(literal)
                    self.tasks.append((j, stop, literal))
                    served.append(literal)
                if served:
                    self.cp.add_at_most_one(served)
                    calls.setdefault(second, []).extend(served)
            self.cp.add_no_overlap(intervals)
        if rung is Rung.TRAFFIC:
            for second, literals in calls.items():
                self.cp.add(sum(literals) <= traffic[second])
        for literals in self.sent:
            self.cp.add(sum(literals) <= instance.tasks)

    def ends_of(self, j: int) -> list[int]:
        """Return for each amount of own time the second in which a worker reaches it."""
        own = self.own[j]
        return [int(np.searchsorted(own, amount)) for amount in range(int(own[-1]) + 1)]

    def solve(self, limits: Limits) -> int | None:
        from ortools.sat.python import cp_model

        from hindsched.offline.backends.cpsat_runs import make_solver, solve_interruptibly

        solver = make_solver(limits, limits.time_limit_s)
        is_proven = solve_interruptibly(solver, self.cp) == cp_model.OPTIMAL
        return round(solver.objective_value) if is_proven else None
