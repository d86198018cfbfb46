"""What a real job has paid, beside what foresight and policies would have paid on the same availability.

docs/deadline/audit.md says what is exact, what is rounded to slots, and what is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from hindsched.bench.deadline.audit_market import AuditMarket, AuditTerms, Span
from hindsched.instances.deadline import HOUR_S, UNITS_PER_DOLLAR, Instance, Kind, Run, Rung, Schedule, check
from hindsched.instances.deadline.job_log import JobLog
from hindsched.instances.deadline.model import Price
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.traces.trace import Trace
from hindsched.offline.deadline.api import solve
from hindsched.online.deadline import OURS, POLICIES, run_policy
from hindsched.online.deadline.policies import is_for_one_zone

__all__ = ["Audit", "Bill", "Loss", "audit"]

_KIND_NAMES = {Kind.SPOT: "spot", Kind.ON_DEMAND: "on-demand", None: "nothing"}


class Bill(NamedTuple):
    """What somebody pays, in dollars, and for which hours.

    Parameters
    ----------
    who
        The log, an optimum or a policy.
    dollars
        Where nothing was observed, there is no spot. None: the deadline cannot be met.
    dollars_if_there
        Where nothing was observed, there is spot.
    hours
        From the start to the end of the work; None: the deadline is missed, and ``dollars`` pay unfinished work.
    spot_h, on_demand_h, overhead_h
        Hours paid of each kind, and of both together those in which a launch computed nothing.
    launches
        Number of launches.
    """

    who: str
    dollars: float | None
    dollars_if_there: float | None
    hours: float | None
    spot_h: float | None = None
    on_demand_h: float | None = None
    overhead_h: float | None = None
    launches: int | None = None


class Loss(NamedTuple):
    """A run of the log, or a wait between two runs, and what it has lost.

    Parameters
    ----------
    start_h, stop_h
        Hours since the start.
    zone, kind
        Where the job ran; an empty zone and ``nothing``: it waited.
    spot_h
        Hours of it in which a zone was known to have spot.
    paid
        Dollars paid.
    lost, lost_if_there
        Dollars lost; where nothing was observed there is no spot, or there is.
    """

    start_h: float
    stop_h: float
    zone: str
    kind: str
    spot_h: float
    paid: float
    lost: float
    lost_if_there: float


@dataclass(frozen=True)
class Audit:
    """An audit: bills, losses, and what they rest on.

    Parameters
    ----------
    job, job_if_there
        The job in slots: where nothing was observed there is no spot, or there is.
    run, best
        The log in slots, for pictures; the optimum, None: the deadline cannot be met.
    bills
        The log, the optimum, the guarded optimum, and the policies.
    losses
        In order of time. Their sum is what the log has paid less the optimum.
    least
        Dollars below which no schedule stays, in slots or not, wherever spot was.
    assumptions
        Sentences on what was assumed, rounded or not observed.
    """

    job: Instance
    job_if_there: Instance
    run: Schedule
    best: Schedule | None
    bills: tuple[Bill, ...]
    losses: tuple[Loss, ...]
    least: float
    assumptions: tuple[str, ...]

    @property
    def is_known(self) -> bool:
        """Whether spot is known in every slot."""
        return self.job is self.job_if_there


def audit(log: JobLog, trace: Trace | None, terms: AuditTerms, nodes: Sequence[str] = ()) -> Audit:
    """Return what a job has paid, what it could have paid, and where money was lost.

    The loss of a run or a wait is what it pays, and the least cost of the work left after it, less the least cost of
    the work left before it. These losses add up to the difference between the log and the optimum.

    Parameters
    ----------
    log
        What the job did.
    trace
        When spot was there; None: only what the log shows.
    terms
        Deadline, overhead and prices.
    nodes
        Nodes of the trace that the job could have used, besides the zones of the log.

    Raises
    ------
    InputError
        If the trace observes none of its zones while the job runs, a price is missing, a node is unknown, or the log
        computes nothing.
    """
    market = AuditMarket(log, trace, terms, nodes)
    spans = market.spans()
    computed_s = sum(span.computed_s for span in spans)
    work_s = terms.work_s or ceil(computed_s)
    if work_s < 1:
        raise InputError(f"no run is longer than {terms.overhead_s} s, expected one that computes", place="overhead_h")
    job, if_there = market.jobs(work_s)
    guarded, best = _optimum(job, Rung.GUARDED), _optimum(job, Rung.FREE)
    bills = [
        _bill_of_log(log, spans, work_s <= computed_s),
        _bill("foresight", job, best, _optimum(if_there, Rung.FREE)),
        _bill("foresight with the guard", job, guarded, _optimum(if_there, Rung.GUARDED)),
    ]
    for policy in (*POLICIES, *OURS):
        if job.num_zones == 1 or not is_for_one_zone(policy):
            run, other = run_policy(job, policy), run_policy(if_there, policy)
            bills.append(_bill(policy, job, run.schedule, None if other.finish is None else other.schedule))
    said = market.assumptions(work_s, computed_s)
    losses, least = _losses(log, spans, job, if_there), market.least(work_s)
    return Audit(job, if_there, _in_slots(log, job, spans), best, tuple(bills), losses, least, said)


def _optimum(job: Instance, rung: Rung) -> Schedule | None:
    schedule: Schedule | None = solve(job, rung=rung).schedule
    return schedule


def _bill(who: str, job: Instance, schedule: Schedule | None, if_there: Schedule | None) -> Bill:
    """Return the bill of a schedule, and that of another one if spot is there wherever nothing was observed."""
    other = None if if_there is None else if_there.cost / UNITS_PER_DOLLAR
    if schedule is None:
        return Bill(who, None, other, None)
    found = check(job, schedule).outcome
    hour = job.slot_s / HOUR_S
    return Bill(
        who,
        schedule.cost / UNITS_PER_DOLLAR,
        other,
        None if schedule.finish is None else schedule.finish * hour,
        found.spot_slots * hour,
        found.on_demand_slots * hour,
        found.overhead_s / HOUR_S,
        found.launches,
    )


def _bill_of_log(log: JobLog, spans: Sequence[Span], is_complete: bool) -> Bill:
    paid = _dollars(sum(span.paid for span in spans))
    hours = {kind: float(sum(run.stop - run.start for run in log.runs if run.kind is kind)) / HOUR_S for kind in Kind}
    return Bill(
        "the log",
        paid,
        paid,
        float(log.stop - log.start) / HOUR_S if is_complete else None,
        hours[Kind.SPOT],
        hours[Kind.ON_DEMAND],
        float(sum(span.overhead_s for span in spans)) / HOUR_S,
        len(log.runs),
    )


def _dollars(units: Seconds) -> float:
    return float(Fraction(units) / UNITS_PER_DOLLAR)


def _slot_of(time: Seconds, log: JobLog, job: Instance) -> int:
    """Return the slot that begins nearest to a time, N at most."""
    return min(job.slots, round(Fraction(time - log.start) / job.slot_s))


def _losses(log: JobLog, spans: Sequence[Span], job: Instance, if_there: Instance) -> tuple[Loss, ...]:
    borders = [_slot_of(span.start, log, job) for span in spans] + [_slot_of(log.stop, log, job)]
    left_s = [Fraction(job.work_s)]
    for span in spans:
        left_s.append(left_s[-1] - span.computed_s)
    states = [(border, max(0, ceil(left))) for border, left in zip(borders, left_s, strict=True)]
    values = [_rest_cost(job, *state) for state in states]
    others = values if if_there is job else [_rest_cost(if_there, *state) for state in states]
    is_somewhere = np.any(job.spot, axis=0)
    losses = []
    for span, slots, value, other in zip(spans, pairwise(borders), pairwise(values), pairwise(others), strict=True):
        run = span.run
        losses.append(
            Loss(
                float(span.start - log.start) / HOUR_S,
                float(span.stop - log.start) / HOUR_S,
                "" if run is None else run.zone,
                _KIND_NAMES[None if run is None else run.kind],
                int(np.count_nonzero(is_somewhere[slice(*slots)])) * job.slot_s / HOUR_S,
                _dollars(span.paid),
                _dollars(span.paid + value[1] - value[0]),
                _dollars(span.paid + other[1] - other[0]),
            )
        )
    return tuple(losses)


def _rest_cost(job: Instance, slot: int, work_s: int) -> int:
    """Return the least cost of an amount of work from a slot on, with no instance running, in units of money.

    If the slots until the deadline cannot hold it, it is done on-demand after the deadline too.
    """
    if work_s == 0:
        return 0
    if slot < job.slots:
        rest = Instance(
            job.slot_s,
            (job.slots - slot) * job.slot_s,
            work_s,
            job.overhead_s,
            [
                replace(
                    zone,
                    spot=zone.spot[slot:],
                    spot_price=_later(zone.spot_price, slot),
                    on_demand_price=_later(zone.on_demand_price, slot),
                )
                for zone in job.zones
            ],
            job.move_delay_s,
            job.move_cost,
        )
        schedule = _optimum(rest, Rung.FREE)
        if schedule is not None:
            return schedule.cost
    return (work_s + job.overhead_s) * int(job.prices[:, 1, -1].min())


def _later(price: Price, slot: int) -> Price:
    return price if isinstance(price, int) else price[slot:]


def _in_slots(log: JobLog, job: Instance, spans: Sequence[Span]) -> Schedule:
    """Return the log with its times rounded to slots, at its exact cost. It need not obey the rules."""
    names = [zone.name for zone in job.zones]
    runs = []
    for run in log.runs:
        first, end = _slot_of(run.start, log, job), _slot_of(run.stop, log, job)
        if first < end:
            runs.append(Run(first, end, names.index(run.zone), run.kind))
    is_late = log.stop - log.start > job.deadline_s
    finish = None if is_late or not runs else runs[-1].end
    return Schedule(None, tuple(runs), finish, round(sum(span.paid for span in spans)))
