"""What prices prove: P1 form, P2 limits, and the exact value of the bound (docs/grid/model.md section 6).

The least cost of a job is found at its submission or where a price changes, in integers throughout; nothing is shared
with the solvers that found the prices.
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
    """What a valid certificate proves.

    Parameters
    ----------
    value
        No schedule in which every job runs has a smaller total wait.
    """

    value: int

    def __str__(self) -> str:
        return f"total wait at least {self.value}"


@dataclass(frozen=True, slots=True)
class _Resource:
    """A resource of the right form: loads by width or by job (loads None: the width itself)."""

    by_job: bool
    loads: dict[int, int] | None
    limit: int
    prices: list[tuple[int, int, int]]


def check_certificate(instance: Instance, prices: PriceCertificate) -> Verdict:
    """Judge a certificate: the first broken rule, or the bound that it proves.

    For prices p >= 0 on resources that no set of jobs which fits together exceeds, the sum over all jobs of the least
    wait + load x prices paid while running, less the sum of limit x prices, is at most the total wait of any schedule
    (docs/grid/model.md section 6).

    Parameters
    ----------
    instance
        The instance.
    prices
        The certificate; another fingerprint than the instance's breaks P1.

    Returns
    -------
    Verdict
        P1: keys, numbers or intervals are not of the form. P2: a limit that jobs which fit together can exceed, or
        that is not M where the load is the width. Else a `Bound` as its outcome.

    Raises
    ------
    InputError
        Where limit and M are both so large that the knapsack of a limit cannot be checked.

    Notes
    -----
    A job costs O(b) for the b prices within reach of its submission: a start is tried only up to where its wait alone
    exceeds what an immediate start costs.

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


def _form(holds: bool, reason: str) -> None:
    if not holds:
        raise _BrokenRule("P1", reason)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _resources(instance: Instance, document: Mapping[str, Any]) -> list[_Resource]:
    """P1: the whole form, before any limit is looked at."""
    for key in _KEYS:
        _form(key in document, f"missing key {key}")
    for key in document:
        _form(key in _KEYS, f"unknown key {key!r}")
    _form(document["format"] in CERTIFICATE_FORMATS, f'another format than "{CERTIFICATE_FORMATS[0]}"')
    _form(document["instance"] == instance.fingerprint, "another fingerprint than the instance's")
    _form(_is_count(document["scale"]) and document["scale"] >= 1, "scale is no integer >= 1")
    _form(isinstance(document["resources"], list), "resources is no list")
    return [_resource(instance, f"resource {i}", resource) for i, resource in enumerate(document["resources"])]


def _resource(instance: Instance, name: str, resource: Any) -> _Resource:
    _form(isinstance(resource, dict), f"{name} is no object")
    by_job = "jobs" in resource
    key = "jobs" if by_job else "loads"
    _form(resource.keys() == {key, "limit", "prices"}, f"{name} has other keys than loads or jobs, limit, prices")
    _form(_is_count(resource["limit"]), f"{name}: limit is no integer >= 0")
    loads = resource[key]
    read: dict[int, int] | None = None
    if loads is not None or by_job:
        _form(isinstance(loads, dict), f"{name}: {key} is no object")
        read = {_named(instance, name, by_job, word): load for word, load in loads.items()}
        _form(all(map(_is_count, read.values())), f"{name}: a load is no integer >= 0")
    return _Resource(by_job, read, resource["limit"], _intervals(name, resource["prices"]))


def _named(instance: Instance, name: str, by_job: bool, word: str) -> int:
    """Return the width or job number that a key names."""
    low, high, what = (0, len(instance) - 1, "job") if by_job else (1, instance.nodes, "width")
    is_number = word.isascii() and word.isdigit() and (word == "0" or not word.startswith("0")) and len(word) < 20
    _form(is_number and low <= int(word) <= high, f"{name}: {word!r} is no {what} from {low} to {high}")
    return int(word)


def _intervals(name: str, prices: Any) -> list[tuple[int, int, int]]:
    _form(isinstance(prices, list), f"{name}: prices is no list")
    last = 0
    for entry in prices:
        _form(isinstance(entry, list) and len(entry) == 3, f"{name}: a price is no list of three, [from, to, p]")
        _form(all(map(_is_count, entry)), f"{name}: a price is not of integers >= 0")
        start, stop, _ = entry
        _form(last <= start < stop, f"{name}: prices are not disjoint and ascending at [{start}, {stop})")
        last = stop
    return [(start, stop, price) for start, stop, price in prices]


def _check_limit(instance: Instance, i: int, resource: _Resource) -> None:
    """P2: no set of jobs that fits together has loads above the limit."""
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
    """A price per slot: ``rate[i]`` from ``at[i]`` to ``at[i + 1]``; ``paid[i]`` sums it before ``at[i]``."""

    at: Numbers
    rate: Numbers
    paid: Numbers

    @classmethod
    def of(cls, parts: list[tuple[int, list[tuple[int, int, int]]]], kind: type) -> _Price:
        """Add up prices, each times its load."""
        entries = [(start, stop, load * price) for load, prices in parts for start, stop, price in prices]
        columns: Numbers = np.array(entries, dtype=kind).reshape(-1, 3).T
        start, stop, price = columns
        at, place = np.unique(np.concatenate((np.zeros(1, dtype=kind), start, stop)), return_inverse=True)
        step: Numbers = np.zeros(len(at), dtype=kind)
        np.add.at(step, place[1:], np.concatenate((price, -price)))
        rate = np.cumsum(step)
        return cls(at, rate, np.concatenate((np.zeros(1, dtype=kind), np.cumsum(np.diff(at) * rate[:-1]))))

    def before(self, slots: Numbers) -> Numbers:
        """Return what is paid in all slots before each of these."""
        i = np.searchsorted(self.at, slots, side="right") - 1
        paid: Numbers = self.paid[i] + self.rate[i] * (slots - self.at[i])
        return paid

    def run(self, starts: Numbers, length: int) -> Numbers:
        """Return what is paid in runs of a length from each of these starts."""
        return self.before(starts + length) - self.before(starts)

    def changes(self, first: int, last: int) -> Numbers:
        """Return the slots from first to last where the price changes."""
        low, high = np.searchsorted(self.at, np.array([first, last + 1], dtype=self.at.dtype))
        return self.at[low:high]


def _least(parts: list[_Price], submit: int, length: int, scale: int) -> int:
    """Return the least of scale x wait + prices of a run, over all starts from the submission on.

    It is linear between slots where a price changes in the first slot or after the last slot of the run, so only these
    are tried, and of these only those whose wait alone does not cost more than to start at once.
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
    """Return scale x the bound before it is rounded up."""
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
    """Return 64-bit integers where no sum can leave them, Python's own where one might."""
    loads = [max(({0: instance.nodes} if part.loads is None else part.loads).values(), default=0) for part in resources]
    most = sum(load * paid for load, paid in zip(loads, spent, strict=True))
    latest = max((part.prices[-1][1] for part in resources if part.prices), default=0)
    reach = max(latest, instance.horizon) + most // scale + 1
    return np.int64 if max(most, reach, scale) + scale * (most // scale + 1) < LARGEST_INT64_SUM else object
