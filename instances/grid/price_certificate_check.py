"""The independent checker of price certificates: form (P1), limits (P2) and the exact value of the bound.

A job costs least at its submission or next to a change of a price (docs/grid/model.md section 6). All numbers are
integers. This module shares no code with a solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hindsched.instances.grid.load_knapsack import LARGEST_INT64_SUM, Numbers, largest_load
from hindsched.instances.grid.model import Instance
from hindsched.instances.grid.price_certificate import CERTIFICATE_FORMATS, PriceCertificate
from hindsched.instances.verdict import Verdict

__all__ = ["Bound", "check_certificate"]

_KEYS = ("format", "instance", "scale", "resources")


@dataclass(frozen=True, slots=True)
class Bound:
    """The lower bound that a valid certificate proves.

    Parameters
    ----------
    value
        No schedule that runs all jobs has a smaller total wait.
    """

    value: int

    def __str__(self) -> str:
        return f"total wait at least {self.value}"


@dataclass(frozen=True, slots=True)
class _Resource:
    """A resource of the right form, with loads by width or by job; if ``loads`` is None, the load is the width."""

    by_job: bool
    loads: dict[int, int] | None
    limit: int
    prices: list[tuple[int, int, int]]


def check_certificate(instance: Instance, prices: PriceCertificate) -> Verdict:
    """Return the bound that a certificate proves, or the first rule that it breaks.

    Let the cost of a start be the wait plus load times price, summed over the slots of the run and the resources. Then
    the least costs of all jobs, minus limit times price summed over all slots and resources, are a lower bound on the
    total wait of every schedule (docs/grid/model.md section 6).

    Parameters
    ----------
    instance
        The instance.
    prices
        The certificate. A fingerprint that is not the instance's breaks P1.

    Returns
    -------
    Verdict
        With a `Bound` as outcome, or with a broken rule. P1: keys, numbers or intervals do not have the right form.
        P2: jobs that fit together can exceed a limit, or the limit of the resource of nodes is not M.

    Raises
    ------
    InputError
        If a limit and M are both too large for the knapsack that checks the limit.

    Notes
    -----
    O(b) for a job with b changes of prices near its submission. Later starts are skipped as soon as their wait alone
    costs more than an immediate start.

    Examples
    --------
    >>> from hindsched.instances.grid.price_certificate import Resource
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 2], length=[5, 5])
    >>> half = Resource(3, [(0, 5, 1)])  # one node costs 1/4 of a slot's wait
    >>> print(check_certificate(pair, PriceCertificate.of(pair, 4, [half])).outcome)
    total wait at least 2
    >>> both = Resource(1, [(0, 5, 1)], loads={2: 1})  # two jobs of width 2 do not fit together
    >>> print(check_certificate(pair, PriceCertificate.of(pair, 1, [both])).outcome)
    total wait at least 5
    """
    try:
        resources = _resources(instance, prices.document)
        for i, resource in enumerate(resources):
            _check_limit(instance, i, resource)
    except _BrokenRule as broken:
        return Verdict(None, broken.rule, broken.reason, None)
    total = _sum(instance, prices.document["scale"], resources)
    return Verdict(None, None, None, Bound(max(0, -(-total // prices.document["scale"]))))


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the check, not an error
    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(rule, reason)
        self.rule = rule
        self.reason = reason


def _expect_form(holds: bool, reason: str) -> None:
    if not holds:
        raise _BrokenRule("P1", reason)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _resources(instance: Instance, document: Mapping[str, Any]) -> list[_Resource]:
    """Return the resources, after all checks of P1."""
    for key in _KEYS:
        _expect_form(key in document, f"missing key {key}")
    for key in document:
        _expect_form(key in _KEYS, f"unknown key {key!r}")
    _expect_form(document["format"] in CERTIFICATE_FORMATS, f'another format, expected "{CERTIFICATE_FORMATS[0]}"')
    _expect_form(document["instance"] == instance.fingerprint, "another fingerprint, expected the instance's")
    _expect_form(_is_count(document["scale"]) and document["scale"] >= 1, "scale is not an integer >= 1")
    _expect_form(isinstance(document["resources"], list), "resources is not a list")
    return [_resource(instance, f"resource {i}", resource) for i, resource in enumerate(document["resources"])]


def _resource(instance: Instance, name: str, resource: Any) -> _Resource:
    _expect_form(isinstance(resource, dict), f"{name} is not an object")
    by_job = "jobs" in resource
    key = "jobs" if by_job else "loads"
    _expect_form(
        resource.keys() == {key, "limit", "prices"}, f"{name} has other keys than loads or jobs, limit, prices"
    )
    _expect_form(_is_count(resource["limit"]), f"{name}: limit is not an integer >= 0")
    loads = resource[key]
    read: dict[int, int] | None = None
    if loads is not None or by_job:
        _expect_form(isinstance(loads, dict), f"{name}: {key} is not an object")
        read = {_number_of_key(instance, name, by_job, word): load for word, load in loads.items()}
        _expect_form(all(map(_is_count, read.values())), f"{name}: a load is not an integer >= 0")
    return _Resource(by_job, read, resource["limit"], _intervals(name, resource["prices"]))


def _number_of_key(instance: Instance, name: str, by_job: bool, word: str) -> int:
    """Return the width or job number that is a key of the loads."""
    low, high, what = (0, len(instance) - 1, "job") if by_job else (1, instance.nodes, "width")
    is_number = word.isascii() and word.isdigit() and (word == "0" or not word.startswith("0")) and len(word) < 20
    _expect_form(
        is_number and low <= int(word) <= high, f"{name}: key {word!r}, expected a {what} from {low} to {high}"
    )
    return int(word)


def _intervals(name: str, prices: Any) -> list[tuple[int, int, int]]:
    _expect_form(isinstance(prices, list), f"{name}: prices is not a list")
    last = 0
    for entry in prices:
        _expect_form(isinstance(entry, list) and len(entry) == 3, f"{name}: a price is not a list [from, to, p]")
        _expect_form(all(map(_is_count, entry)), f"{name}: a price has a number that is not an integer >= 0")
        start, stop, _ = entry
        _expect_form(last <= start < stop, f"{name}: prices are not disjoint and ascending at [{start}, {stop})")
        last = stop
    return [(start, stop, price) for start, stop, price in prices]


def _check_limit(instance: Instance, i: int, resource: _Resource) -> None:
    """Check P2: no set of jobs that fits together has loads above the limit."""
    if resource.loads is None:
        if resource.limit != instance.nodes:
            raise _BrokenRule("P2", f"resource {i}: limit {resource.limit}, but there are {instance.nodes} nodes")
        return
    widths = instance.width.tolist() if resource.by_job else None
    items = [(load, k if widths is None else widths[k]) for k, load in resource.loads.items() if load]
    if largest_load(items, instance.nodes, resource.limit, repeated=not resource.by_job) > resource.limit:
        raise _BrokenRule("P2", f"resource {i}: jobs that fit together load more than the limit {resource.limit}")


@dataclass(frozen=True, slots=True)
class _Price:
    """A price by slot: ``rate[i]`` from slot ``at[i]`` to ``at[i + 1]``; ``paid[i]`` is its sum before ``at[i]``."""

    at: Numbers
    rate: Numbers
    paid: Numbers

    @classmethod
    def of(cls, parts: list[tuple[int, list[tuple[int, int, int]]]], kind: type) -> _Price:
        """Return the sum of prices, each multiplied by its load."""
        entries = [(start, stop, load * price) for load, prices in parts for start, stop, price in prices]
        columns: Numbers = np.array(entries, dtype=kind).reshape(-1, 3).T
        start, stop, price = columns
        at, place = np.unique(np.concatenate((np.zeros(1, dtype=kind), start, stop)), return_inverse=True)
        step: Numbers = np.zeros(len(at), dtype=kind)
        np.add.at(step, place[1:], np.concatenate((price, -price)))
        rate = np.cumsum(step)
        return cls(at, rate, np.concatenate((np.zeros(1, dtype=kind), np.cumsum(np.diff(at) * rate[:-1]))))

    def before(self, slots: Numbers) -> Numbers:
        """Return the sum of prices before each of these slots."""
        i = np.searchsorted(self.at, slots, side="right") - 1
        paid: Numbers = self.paid[i] + self.rate[i] * (slots - self.at[i])
        return paid

    def run(self, starts: Numbers, length: int) -> Numbers:
        """Return the sum of prices during a run from each of these starts."""
        return self.before(starts + length) - self.before(starts)

    def changes(self, first: int, last: int) -> Numbers:
        """Return the slots from first to last where the price changes."""
        low, high = np.searchsorted(self.at, np.array([first, last + 1], dtype=self.at.dtype))
        return self.at[low:high]


def _least(parts: list[_Price], submit: int, length: int, scale: int) -> int:
    """Return the least scale x wait + prices of the run, over all starts from the submission on.

    This cost is linear in the start, except where a price changes at the start or the end of the run. So only these
    starts are tried, and the submission. Starts whose wait alone costs more than an immediate start are skipped.
    """
    now = np.array([submit], dtype=parts[0].at.dtype)
    at_once = sum(int(part.run(now, length)[0]) for part in parts)
    last = submit + at_once // scale
    tried = [now]
    for part in parts:
        tried += [part.changes(submit, last), part.changes(submit + length, last + length) - length]
    starts = np.concatenate(tried)
    costs = scale * (starts - submit)
    for part in parts:
        costs = costs + part.run(starts, length)
    return int(costs.min())


def _sum(instance: Instance, scale: int, resources: list[_Resource]) -> int:
    """Return scale times the bound, before it is rounded up."""
    spent = [sum((stop - start) * price for start, stop, price in resource.prices) for resource in resources]
    total = -sum(resource.limit * paid for resource, paid in zip(resources, spent, strict=True))
    kind = _kind(instance, scale, resources, spent)
    own: dict[int, list[_Price]] = {}
    for resource in resources:
        if resource.by_job and resource.loads:
            unit = {load: _Price.of([(load, resource.prices)], kind) for load in set(resource.loads.values()) if load}
            for j, load in resource.loads.items():
                if load:
                    own.setdefault(j, []).append(unit[load])
    by_width: dict[int, _Price] = {}
    for j, (submit, n, length) in enumerate(instance.rows()):
        if n not in by_width:
            loads = [(n if part.loads is None else part.loads.get(n, 0), part) for part in resources if not part.by_job]
            by_width[n] = _Price.of([(load, part.prices) for load, part in loads if load], kind)
        total += _least([by_width[n], *own.get(j, ())], submit, length, scale)
    return total


def _kind(instance: Instance, scale: int, resources: list[_Resource], spent: list[int]) -> type:
    """Return the type of integers that holds all sums: 64-bit integers if possible, otherwise Python integers."""
    loads = [max(({0: instance.nodes} if part.loads is None else part.loads).values(), default=0) for part in resources]
    most = sum(load * paid for load, paid in zip(loads, spent, strict=True))
    latest = max((part.prices[-1][1] for part in resources if part.prices), default=0)
    reach = max(latest, instance.horizon) + most // scale + 1
    return np.int64 if max(most, reach, scale) + scale * (most // scale + 1) < LARGEST_INT64_SUM else object
