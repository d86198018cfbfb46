"""The reduction of an instance without communication to common-slots problems (docs/model.md section 3).

**An iteration is a team.** With T_prog = T_data = 0 no slot is a communication slot once the configuration is complete.
An iteration that ends keeps one configuration from the start of its computation (R2), with sum x_q = m. It advances in
W = max x_q w_q slots in which all members are UP (R4), and no member is DOWN between the first and the last of them
(R1). That is a team of length W. Conversely, a schedule that enrols a team in its first slot ends the iteration in the
W-th common UP slot from there, at the latest in the team's last slot.

**Greedy iterations are optimal.** Let F(s) be the number of slots before the earliest end of an iteration that starts
in slot s or later. An iteration leaves no program, data or enrolled worker behind (R5). F is monotone, since all that
is possible from s + 1 on is possible from s on. In any schedule iteration i ends at e_i >= F(e_(i-1)), so e_i >= F^i(0)
by induction. The schedule that always takes the earliest finish meets this bound for every i: it has the least
makespan for every K, and the most iterations within N.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

import numpy as np

from hindsched.instances.coupled.communication_free import Round, compute_from, schedule_rounds
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.no_communication import team_lengths
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, Team
from hindsched.offline.coupled.no_communication.team_solvers import answer
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.limits import NO_LIMITS, Limit, Limits, Stopwatch
from hindsched.offline.results import Result, Sense, Status
from hindsched.offline.solvers import AUTO

__all__ = ["earliest_finish", "exists", "largest_m", "largest_w", "problem_of", "solve"]

_LEAST_S = 1e-3  # of a back end when the time is over, as a time limit has to be positive
_FIRST_SLOTS = 256  # that are read first for an earliest finish


def problem_of(instance: Instance, aim: Aim, start: int = 0, stop: int | None = None) -> CommonSlots:
    """Return the common-slots problem of an instance in its slots ``start`` to ``stop`` - 1.

    Parameters
    ----------
    instance
        An instance without communication.
    aim
        ``WIDEST`` divides the w_q by their greatest common divisor, so that with equal w_q the factor is w itself.
        ``HEAVIEST`` is limited by mu, not by m.
    start, stop
        A range of slots, not empty; ``stop`` None: all.

    Raises
    ------
    InputError
        For an instance with communication.
    """
    if instance.t_prog or instance.t_data:
        raise InputError(
            f"t_prog {instance.t_prog} and t_data {instance.t_data}, expected 0 and 0: this solver is for problems"
            " without communication"
        )
    states = instance.prefix(instance.slots if stop is None else stop)[:, start:]
    w = np.array(instance.w, dtype=np.int64)
    most = np.array(instance.capacities, dtype=np.int64)
    if aim is Aim.HEAVIEST:
        slots = states.shape[1]
        most = np.array([slots // w_q if mu is None else mu for w_q, mu in zip(instance.w, instance.mu, strict=True)])
    elif aim is Aim.WIDEST:
        w //= gcd(*instance.w)
    return CommonSlots(states == UP, states == DOWN, w, most, instance.tasks, aim)


def exists(instance: Instance, solver: str = AUTO, limits: Limits = NO_LIMITS) -> Result:
    """Decide whether an iteration can be completed; ``INFEASIBLE`` if not."""
    return answer(problem_of(instance, Aim.ANY), solver, limits)


def largest_w(instance: Instance, solver: str = AUTO, limits: Limits = NO_LIMITS) -> Result:
    """Return the largest w for which an iteration of the instance's m tasks can be completed; 0 if none.

    For workers of different speeds return the largest factor f such that w_q can be f w_q / gcd of all w_q.

    Examples
    --------
    >>> three = Instance.from_letters(["uuru", "uruu", "ruuu"], w=[1, 1, 1], mu=[1, 1, 1], tasks=2)
    >>> largest_w(three).value, largest_m(three).value, earliest_finish(three).value
    (2, 3, 1)
    """
    return answer(problem_of(instance, Aim.WIDEST), solver, limits)


def largest_m(instance: Instance, solver: str = AUTO, limits: Limits = NO_LIMITS) -> Result:
    """Return the largest m for which an iteration can be completed with the instance's w and mu; 0 if none."""
    return answer(problem_of(instance, Aim.HEAVIEST), solver, limits)


def earliest_finish(instance: Instance, start: int = 0, solver: str = AUTO, limits: Limits = NO_LIMITS) -> Result:
    """Return F(start), the fewest slots in which an iteration that starts in ``start`` or later can end.

    The range of slots grows until it holds an iteration, so later slots cost nothing. Value, bound and the team's slots
    count from slot 0.
    """
    watch = Stopwatch(limits)
    width = _FIRST_SLOTS
    while True:
        stop = min(start + width, instance.slots)
        if stop <= start:
            return Result(Status.INFEASIBLE, Sense.MIN, None, None, None, None, solver, watch.elapsed_s())
        found = answer(problem_of(instance, Aim.EARLIEST, start, stop), solver, _left(limits, watch))
        if found.status is not Status.INFEASIBLE or stop == instance.slots:
            return _from_slot_0(found, start, watch)
        width *= 4


def _from_slot_0(found: Result, start: int, watch: Stopwatch) -> Result:
    team: Team | None = found.schedule
    return replace(
        found,
        value=None if found.value is None else found.value + start,
        lower=None if found.lower is None else found.lower + start,
        upper=None if found.upper is None else found.upper + start,
        schedule=None if team is None else Team(team.tasks, tuple(slot + start for slot in team.slots)),
        runtime_s=watch.elapsed_s(),
    )


def _left(limits: Limits, watch: Stopwatch) -> Limits:
    left_s = watch.left_s()
    return limits if left_s is None else replace(limits, time_limit_s=max(left_s, _LEAST_S))


def solve(
    instance: Instance,
    objective: Objective,
    solver: str = AUTO,
    limits: Limits = NO_LIMITS,
    *,
    stand_by: bool = True,
) -> CoupledResult:
    """Return the fewest slots for K iterations, or the most iterations within N slots, with its schedule.

    The schedule takes the earliest finish of each iteration, which the text above proves optimal. After a finish that
    is not proven earliest, the bound continues from the last proven finish with bounds from single workers. Without
    communication no worker receives a program, so ``stand_by`` makes no difference.

    Raises
    ------
    InputError
        For an instance with communication, or a solver that does not apply.

    Examples
    --------
    >>> pair = Instance.from_letters(["uurur", "uuuru"], w=[1, 1], tasks=2, iterations=2, mu=[1, 1])
    >>> found = solve(pair, Objective.MAKESPAN)
    >>> print(found.status, found.value, *found.schedule.letters)
    optimal 2 CC CC
    """
    watch = Stopwatch(limits)
    wanted = instance.iterations if objective is Objective.MAKESPAN else None
    rounds: list[Round] = []
    floors = [0]  # no schedule ends iteration i within fewer than floors[i] slots
    name, is_tight, is_last = solver, True, False
    limit: Limit | None = None
    while len(rounds) != wanted:
        end = _end(rounds)
        is_tight = len(floors) == len(rounds) + 1 and floors[-1] == end
        found = earliest_finish(instance, end, solver, _left(limits, watch))
        name, limit = found.by, found.limit or limit
        if is_tight and found.bound is not None:
            floors.append(int(found.bound))
        if found.schedule is None:
            is_last = is_tight and found.status is Status.INFEASIBLE
            break
        rounds.append(compute_from(instance, found.schedule.tasks, found.schedule.slots[0]))
    if not is_last:
        _extend(floors, instance, wanted)

    def result(status: Status, value: int | None, bound: int | None, slots: int) -> CoupledResult:
        schedule = None if value is None else schedule_rounds(instance, rounds, slots)
        return CoupledResult.of(
            status,
            objective,
            value,
            bound,
            schedule,
            name,
            watch.elapsed_s(),
            {"rounds": len(rounds)},
            limit=limit,
        )

    if wanted is None:
        most = len(floors) - 1
        status = Status.OPTIMAL if most == len(rounds) else Status.FEASIBLE
        return result(status, len(rounds), most, instance.slots)
    bound = floors[wanted] if len(floors) > wanted else None
    if len(rounds) == wanted:
        value = _end(rounds)
        return result(Status.OPTIMAL if value == bound else Status.FEASIBLE, value, bound, value)
    return result(Status.INFEASIBLE if bound is None else Status.UNKNOWN, None, bound, 0)


def _end(rounds: list[Round]) -> int:
    return rounds[-1].slots[-1] + 1 if rounds else 0


def _extend(floors: list[int], instance: Instance, wanted: int | None) -> None:
    """Append bounds from single workers, at most up to iteration ``wanted``."""
    width = _FIRST_SLOTS
    while len(floors) - 1 != wanted and floors[-1] < instance.slots:
        stop = min(floors[-1] + width, instance.slots)
        least = team_lengths.bound(problem_of(instance, Aim.EARLIEST, floors[-1], stop))
        if least is not None:
            floors.append(floors[-1] + least)
        elif stop < instance.slots:
            width *= 4
        else:
            return
