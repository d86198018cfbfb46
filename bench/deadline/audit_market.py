"""Zones, availability and prices of the job of a log, its bill, and a bound that needs no slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.deadline import HOUR_S, UNITS_PER_DOLLAR, Instance, Kind, Zone
from hindsched.instances.deadline.job_log import JobLog, LoggedRun
from hindsched.instances.deadline.model import Price
from hindsched.instances.deadline.moves import moves_of_checkpoint, region_of
from hindsched.instances.deadline.observed_spot import ObservedSpot, node_of, observed_spot
from hindsched.instances.deadline.prices import PriceTable
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.text_files import excerpt
from hindsched.instances.traces.trace import Trace
from hindsched.offline.deadline.api import solve

__all__ = ["AuditMarket", "AuditTerms", "Span"]

#: Longest and shortest slot that is chosen, in seconds.
_LONGEST_S, _SHORTEST_S = 300, 60
#: Seconds of a slot of the bound that holds for all schedules: the usual one, the part of each zone if there are many,
#: and the shortest one. Shorter overheads have a weaker bound.
_SLOT_OF_BOUND_S, _EACH_ZONE_S, _SHORTEST_OF_BOUND_S = 60, 20, 10


@dataclass(frozen=True, slots=True)
class AuditTerms:
    """What a log does not say about its job.

    Parameters
    ----------
    deadline_s
        D, seconds from the first row of the log to the deadline.
    overhead_s
        d, seconds after each launch in which nothing is computed.
    spot_price, on_demand_price
        Micro-dollars an hour of all zones.
    prices
        Spot prices over time, in place of ``spot_price``.
    work_s
        W, seconds of computing that the job needs; None: what the log has computed.
    slot_s
        Seconds of a slot of the comparison; None: 300, or the shortest interval of the trace, or half the overhead if
        one of them is shorter, and at least 60.
    checkpoint_gb
        Size of the checkpoint; see `hindsched.instances.deadline.moves.moves_of_checkpoint`.
    """

    deadline_s: int
    overhead_s: int
    spot_price: int
    on_demand_price: int
    prices: PriceTable | None = None
    work_s: int | None = None
    slot_s: int | None = None
    checkpoint_gb: float = 0.0


class Span(NamedTuple):
    """A run or a wait of the log: money in units, seconds of computing and of overhead."""

    start: Seconds
    stop: Seconds
    run: LoggedRun | None
    paid: Seconds = 0
    computed_s: Seconds = 0
    overhead_s: Seconds = 0


class AuditMarket:
    """Zones, availability and prices of an audit."""

    def __init__(self, log: JobLog, trace: Trace | None, terms: AuditTerms, nodes: Sequence[str]) -> None:
        self.log, self.trace, self.terms = log, trace, terms
        self.zones = zones = _zones(log, trace, nodes)
        if terms.deadline_s < 1:
            raise InputError(f"{terms.deadline_s} s, expected at least one second", place="deadline_h")
        self.slot_s = terms.slot_s or _slot_s(trace, terms)
        if not 1 <= self.slot_s <= terms.deadline_s:
            raise InputError(f"{self.slot_s} s, expected at most {terms.deadline_s}, the deadline", place="slot_s")
        self.seen = self._seen(self.slot_s)
        regions = [region_of(zone) for zone, _ in zones]
        self.delays, self.costs = moves_of_checkpoint(regions, terms.checkpoint_gb)

    def _seen(self, slot_s: int) -> ObservedSpot:
        return observed_spot(self.log, self.trace, self.zones, slot_s, self.terms.deadline_s // slot_s)

    def spans(self) -> list[Span]:
        """Return runs and waits of the log with their bills."""
        names = [zone for zone, _ in self.zones]
        spans: list[Span] = []
        time, home = self.log.start, None
        for run in self.log.runs:
            if run.start > time:
                spans.append(Span(time, run.start, None))
            z = names.index(run.zone)
            overhead_s = self.terms.overhead_s + (0 if home is None else self.delays[home][z])
            move = 0 if home is None else HOUR_S * self.costs[home][z]
            length = run.stop - run.start
            waited_s = min(overhead_s, length)
            spans.append(Span(run.start, run.stop, run, self._paid(run) + move, length - waited_s, waited_s))
            time, home = run.stop, z
        return spans

    def _paid(self, run: LoggedRun) -> Seconds:
        terms = self.terms
        if run.kind is Kind.SPOT and terms.prices is not None:
            return terms.prices.paid(run.zone, run.start, run.stop)
        return (run.stop - run.start) * (terms.spot_price if run.kind is Kind.SPOT else terms.on_demand_price)

    def jobs(self, work_s: int) -> tuple[Instance, Instance]:
        """Return the job in slots; where nothing was observed, there is no spot, or there is.

        If everything was observed, both are the same object.
        """
        least, most = self.seen.least, self.seen.most
        job = self._instance(least, self.slot_s, work_s, self.terms.overhead_s)
        if (least == most).all():
            return job, job
        return job, self._instance(most, self.slot_s, work_s, self.terms.overhead_s)

    def _instance(
        self, spot: npt.NDArray[np.bool_], slot_s: int, work_s: int, overhead_s: int, *, is_bound: bool = False
    ) -> Instance:
        terms = self.terms
        slots = spot.shape[1]

        def price(zone: str) -> Price:
            if terms.prices is None:
                return terms.spot_price
            read = terms.prices.least_in_slots if is_bound else terms.prices.in_slots
            return tuple(read(zone, self.log.start, slot_s, slots))

        return Instance(
            slot_s,
            terms.deadline_s,
            work_s,
            overhead_s,
            [
                Zone(spot[z], price(zone), terms.on_demand_price, zone, region_of(zone))
                for z, (zone, _) in enumerate(self.zones)
            ],
            None if is_bound else self.delays,
            self.costs,
        )

    def least(self, work_s: int) -> float:
        """Return dollars below which no schedule stays, in slots or not.

        A run of any schedule contains all but less than two slots of its time as whole slots. So the schedule without
        its parts of slots is one in slots, does as much work with an overhead that is two slots shorter, and costs no
        more.
        """
        overhead_s = self.terms.overhead_s
        fast_s = max(_SLOT_OF_BOUND_S, _EACH_ZONE_S * len(self.zones))
        slot_s = min(self.slot_s, overhead_s // 2, fast_s)
        if slot_s >= _SHORTEST_OF_BOUND_S:
            seen = self.seen if slot_s == self.slot_s else self._seen(slot_s)
            relaxed = self._instance(seen.most, slot_s, work_s, overhead_s - 2 * slot_s, is_bound=True)
            result = solve(relaxed)
            if result.lower is not None:
                return float(result.lower / UNITS_PER_DOLLAR)
        job = self._instance(self.seen.most, self.slot_s, work_s, overhead_s, is_bound=True)
        return float((work_s + overhead_s) * int(job.prices.min()) / UNITS_PER_DOLLAR)

    def assumptions(self, work_s: int, computed_s: Seconds) -> tuple[str, ...]:
        """Return sentences on what was assumed, rounded or not observed."""
        terms, log = self.terms, self.log
        said = [*log.assumptions, *(() if self.trace is None else self.trace.assumptions)]
        if terms.work_s is None:
            said.append(f"the job needs what the log has computed: {work_s / HOUR_S:.2f} h without overheads")
        elif computed_s < work_s:
            said.append(
                f"the log has computed {float(computed_s) / HOUR_S:.2f} h of {work_s / HOUR_S:.2f} h: its last run is "
                "charged with the rest, at least cost"
            )
        if not terms.overhead_s:
            said.append("a launch computes at once: no overhead is given")
        said.append(
            f"optima and policies act at the start of slots of {self.slot_s} s and pay whole slots; what the log has "
            "paid is exact to the second"
        )
        if self.trace is None:
            said.append("spot is known while the log runs on it, and where the log loses it")
        blind = [zone for zone, node in self.zones if node is None]
        if self.trace is not None and blind:
            said.append(f"the trace has no node of {', '.join(blind)}: spot there is known from the log only")
        unknown = float(np.mean(self.seen.least != self.seen.most))
        if unknown:
            said.append(f"spot is unknown in {unknown:.0%} of the slots of all zones, so there are two answers")
        if self.seen.corrected:
            said.append(
                f"in {self.seen.corrected} slots of {self.slot_s} s the log contradicts the trace, and the log counts"
            )
        late_s = log.stop - log.start - terms.deadline_s
        if late_s > 0:
            said.append(f"the log ends {float(late_s) / HOUR_S:.2f} h after the deadline")
        left_out = () if self.trace is None else set(self.trace.nodes) - {node for _, node in self.zones}
        if left_out:
            said.append(f"{len(left_out)} other nodes of the trace are left out; --nodes all takes them in")
        return tuple(said)


def _slot_s(trace: Trace | None, terms: AuditTerms) -> int:
    """Return the slot that fits the samples of a trace and the overhead."""
    candidates = [_LONGEST_S]
    if trace is not None:
        lengths = [stop - start for row in trace.intervals for start, stop, _ in row]
        candidates += [int(length) for length in lengths if length >= 1]
    if terms.overhead_s:
        candidates.append(terms.overhead_s // 2)
    return min(terms.deadline_s, max(_SHORTEST_S, min(candidates)))


def _zones(log: JobLog, trace: Trace | None, nodes: Sequence[str]) -> list[tuple[str, str | None]]:
    """Return names of zones, and their nodes of the trace: those of the log, then others."""
    known = () if trace is None else trace.nodes
    zones: list[tuple[str, str | None]] = [(zone, node_of(zone, known)) for zone in log.zones]
    if trace is not None and not nodes and all(node is None for _, node in zones):
        message = f"its zones are {', '.join(known[:9])}, expected one of the log ({', '.join(log.zones[:9])}), as the "
        message += "name of the file or in a column node"
        raise InputError(message, place="trace")
    for name in nodes:
        node = node_of(name, known)
        if node is None:
            raise InputError(f"{excerpt(name)}, expected one of {', '.join(known[:9]) or 'no trace'}", place="nodes")
        if node not in [taken for _, taken in zones]:
            zones.append((name, node))
    return zones
