"""What the paper claims, one by one, beside what the runs say (docs/grid/model.md section 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hindsched.bench.grid.paper.runs import CLASSES
from hindsched.bench.grid.paper.tables import Rows, interval, overlay_pairs, pick, seeds_to_tell

__all__ = ["Finding", "findings"]

_HOLDS, _NOT, _OPEN = "holds", "does not hold here", "cannot be told"
#: EU is about RU if they differ by no more than so much of the grid, on so many of the days at least.
_NEAR, _MOST_DAYS = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim of the paper and what became of it.

    Parameters
    ----------
    number
        In the list of docs/grid/model.md section 7.
    source, claim
        Where it stands in the paper, and what it says.
    ours
        What the runs say, with confidence intervals over seeds.
    verdict
        ``holds``, ``does not hold here`` or ``cannot be told``.
    """

    number: str
    source: str
    claim: str
    ours: str
    verdict: str


def findings(rows: Rows) -> list[Finding]:
    """Go through the paper's claims."""
    return [finding for claim in _CLAIMS for finding in claim(pick(rows, part="paper"), rows)]


def _by_setting(rows: Rows) -> list[tuple[str, float]]:
    return list(dict.fromkeys((row["mix"], row["load"]) for row in rows))


def _base(rows: Rows, mix: str, load: float, **more: Any) -> Rows:
    wanted = {"degree": 20, "overlay": "static", "messaging": "push"} | more
    return pick(rows, policy="dgs", mix=mix, load=load, **wanted)


def _text(values: list[float], form: str = ",.0f") -> str:
    mean, half = interval(values)
    return f"{mean:{form}} ± {half:{form}}"


def _is_above(values: list[float], bar: float) -> str:
    """Return whether a mean over seeds is above a bar, as far as its interval tells."""
    mean, half = interval(values)
    return _OPEN if len(values) < 2 or abs(mean - bar) <= half else _HOLDS if mean > bar else _NOT


def _order_of_methods(paper: Rows, rows: Rows) -> list[Finding]:
    found = []
    for mix, load in _by_setting(paper):
        push = _base(paper, mix, load)
        poll = _base(paper, mix, load, messaging="poll")
        counts = {name: [float(row[name]) for row in push] for name in ("push", "pull", "poll")}
        ordered = all(row["push"] < row["pull"] < row["poll"] for row in push)
        told = ", ".join(f"{name} {_text(values)}" for name, values in counts.items())
        claim = "Push < Pull < Poll in messages"
        found.append(Finding("1", "Table I", claim, f"{mix}, {load:.0%}: {told}", _HOLDS if ordered else _NOT))
        exact = all(row["failed_stale"] == 0 for row in push)
        shares = [100 * row["failed_stale"] / row["jobs"] for row in poll]
        told = f"poll {_text(shares, '.2f')} %, push and pull {'none' if exact else 'some'}"
        verdict = _NOT if not exact else _HOLDS if any(shares) else _OPEN  # nobody fails
        claim = "only Poll fails by stale knowledge (0.21 %)"
        found.append(Finding("1", "Table I", claim, f"{mix}, {load:.0%}: {told}", verdict))
    row = _base(paper, *_by_setting(paper)[0])[0]
    per_day = 5_000 * 20 * 720
    told = f"M d 720 = {per_day:,} is one day of polls every 2 min; the {row['submitted_slots'] / 1440:.0f} days run "
    told += f"here take {row['poll']:,}"
    claim = "72,000,000 messages of Poll over the experiment"
    found.append(Finding("1", "Table I", claim, told, _NOT if row["poll"] > 1.5 * per_day else _HOLDS))
    return found


def _degrees(paper: Rows, rows: Rows) -> list[Finding]:
    found = []
    for mix, load in _by_setting(paper):
        degrees = sorted({row["degree"] for row in pick(paper, policy="dgs")})
        failed = {d: [100 * row["failed"] / row["jobs"] for row in _base(paper, mix, load, degree=d)] for d in degrees}
        told = ", ".join(f"{d}: {_text(values, '.2f')} %" for d, values in failed.items())
        only = sum(failed[10]) > 0 and not any(sum(failed[d]) for d in degrees if d > 10)
        verdict = _HOLDS if only else _NOT if any(map(sum, failed.values())) else _OPEN  # no job is so wide
        claim = "failures at degree 10 only (1.5 %)"
        found.append(Finding("2", "Table II", claim, f"{mix}, {load:.0%}: {told}", verdict))
        part = {
            d: [row["push"] / (d * row["allocated_nodes"]) for row in _base(paper, mix, load, degree=d)]
            for d in degrees
        }
        pull = {
            d: [row["pull"] / row["jobs"] / (5 * d * (1 + d)) for row in _base(paper, mix, load, degree=d)]
            for d in degrees
        }
        told = "push / (d x nodes): " + ", ".join(f"{d}: {_text(values, '.3f')}" for d, values in part.items())
        told += "; pull a job / (fwd d (1 + d)): " + ", ".join(f"{d}: {_text(v, '.3f')}" for d, v in pull.items())
        near = all(abs(interval(values)[0] - 1) < 0.1 for values in part.values())
        bounded = all(max(values) <= 1 for values in pull.values())
        claim = "messages grow with the degree: push as d, pull at most as d + d²"
        found.append(
            Finding("2, 8", "Table II", claim, f"{mix}, {load:.0%}: {told}", _HOLDS if near and bounded else _NOT)
        )
    return found


def _dynamic(paper: Rows, rows: Rows) -> list[Finding]:
    printed = {0.28: "936 s dynamic, 848 s static", 0.95: "16,858 s dynamic, 14,913 s static"}
    found = []
    for mix, load in _by_setting(paper):
        pairs = overlay_pairs(rows, mix, load)
        differences = [dynamic - static for dynamic, static in pairs]
        mean, half = interval(differences)
        told = f"dynamic {_text([dynamic for dynamic, _ in pairs], ',.1f')} s, static "
        told += f"{_text([static for _, static in pairs], ',.1f')} s, difference {mean:,.1f} ± {half:,.1f} s, "
        told += f"{len(pairs)} seeds of {_base(paper, mix, load)[0]['jobs']:,} jobs"
        verdict = _is_above(differences, 0)
        if verdict == _OPEN and mean:
            told += f"; to tell it would take about {seeds_to_tell(differences):,.0f} such seeds"
        claim = f"jobs wait longer over the dynamic overlay ({printed.get(load, '')})"
        found.append(Finding("3", "Table III", claim, f"{mix}, {load:.0%}: {told}", verdict))
    return found


def _reach(paper: Rows, rows: Rows) -> list[Finding]:
    found = []
    for degree, printed in ((10, 110), (20, 420)):
        mine = pick(rows, part="reach", degree=degree)
        least, most = min(row["least"] for row in mine), max(row["most"] for row in mine)
        told = f"distinct nodes of each of 5,000 searchers, {len(mine)} seeds: {least} to {most}"
        verdict = _HOLDS if most >= printed else _NOT
        claim = f"a search at degree {degree} reaches {printed} nodes"
        found.append(Finding("4", "section 5", claim, told, verdict))
    return found


def _periods(paper: Rows, rows: Rows) -> list[Finding]:
    days = {load: _base(paper, mix, load)[0]["submitted_slots"] / 1440 for mix, load in reversed(_by_setting(paper))}
    told = f"{days[0.28] / 30.4:.2f} and {days[0.95] / 30.4:.2f} months; 2.7 x 28/95 = {2.7 * 28 / 95:.2f}"
    same = abs(days[0.28] / days[0.95] / (95 / 28) - 1) < 0.02
    claim = "28 % over 2.7 months is 95 % over 0.78"
    return [Finding("5", "section 5", claim, told, _HOLDS if same else _NOT)]


def _utilisation(paper: Rows, rows: Rows) -> list[Finding]:
    found = []
    for mix, load in _by_setting(paper):
        low, booked = [], []
        for row in _base(paper, mix, load):
            days: Mapping[str, list[float]] = row["days"]
            for asked, done, most in zip(days["requested"], days["executed"], days["possible"], strict=True):
                if asked < 0.6:
                    low.append(done - asked)
                if most > 0.999:
                    booked.append(done)
        told, verdict = "no day below 60 %", _OPEN
        if low:
            near = np.mean(np.abs(low) <= _NEAR)
            told = f"{len(low)} days below 60 %: EU - RU {np.mean(low):+.3f} in the mean, within {_NEAR:g} "
            told += f"on {near:.0%} of the days"
            verdict = _HOLDS if near >= _MOST_DAYS else _NOT
        claim = "EU is about RU below 60 %"
        found.append(Finding("6", "Figures 4, 5", claim, f"{mix}, {load:.0%}: {told}", verdict))
        told, verdict = "no day on which all nodes could be busy throughout", _OPEN
        if booked:
            told = f"{len(booked)} days on which all nodes could be busy throughout: EU "
            told += f"{np.mean(booked):.3f} in the mean, {min(booked):.3f} at least"
            verdict = _HOLDS if np.mean(booked) >= 0.9 else _NOT
        claim = "EU is 90 % or more when overbooked"
        found.append(Finding("6", "Figures 4, 5", claim, f"{mix}, {load:.0%}: {told}", verdict))
    return found


def _ratio_of_messages(paper: Rows, rows: Rows) -> list[Finding]:
    found = []
    for mix, load in _by_setting(paper):
        runs = _base(paper, mix, load)
        ratios = [row["pull"] / row["push"] for row in runs]
        floor = [5 / row["mean_width"] for row in runs]
        told = f"{_text(ratios, '.2f')}; fwd / mean width, where all find among their own: {_text(floor, '.2f')}"
        claim = "Push needs more than ten times fewer messages than Pull (14.4 and 28.1)"
        found.append(Finding("7", "Tables I, II", claim, f"{mix}, {load:.0%}: {told}", _is_above(ratios, 10)))
    return found


def _classes(paper: Rows, rows: Rows) -> list[Finding]:
    found = []
    for mix, load in _by_setting(paper):
        medians: dict[str, dict[str, float]] = {}
        means: dict[str, dict[str, float]] = {}
        for kind, names in CLASSES.items():
            told_of = {name: [row["waits"][kind].get(name) for row in _base(paper, mix, load)] for name in names}
            known = {name: [value for value in values if value] for name, values in told_of.items() if any(values)}
            medians[kind] = {name: float(np.median([v[1] for v in values])) for name, values in known.items()}
            means[kind] = {
                name: sum(v[0] * v[3] for v in values) / sum(v[3] for v in values) for name, values in known.items()
            }
        told = f"medians: {_by_class(medians)}. Means: {_by_class(means)}"
        width, length, area = (list(medians[kind].values()) for kind in ("width", "length", "area"))
        grows = width == sorted(width) and area[-1] == max(area)
        hardly = (max(length) + 60) / (min(length) + 60) < 2  # classes differ by less than a factor of two
        verdict = _HOLDS if grows and hardly else _NOT
        if max(width) < 60:  # less than a slot in every class: half of the jobs and more do not wait
            verdict = _OPEN
        claim = "waits grow with width, hardly with length; large areas wait more"
        found.append(Finding("9", "Figure 6", claim, f"{mix}, {load:.0%}, {told}", verdict))
    return found


def _by_class(waits: Mapping[str, Mapping[str, float]]) -> str:
    return "; ".join(
        f"{kind} " + ", ".join(f"{name}: {wait:,.0f} s" for name, wait in each.items()) for kind, each in waits.items()
    )


def _size(paper: Rows, rows: Rows) -> list[Finding]:
    size = pick(rows, part="size")
    told = []
    values: dict[str, list[float]] = {"push": [], "pull": []}
    for nodes in sorted({row["nodes"] for row in size}):
        mine = pick(size, nodes=nodes)
        rates = {name: [row[name] / nodes / row["submitted_slots"] * 1440 for row in mine] for name in values}
        for name, rate in rates.items():
            values[name].append(interval(rate)[0])
        told.append(f"M = {nodes:,}: " + ", ".join(f"{name} {_text(rate, '.2f')}" for name, rate in rates.items()))
    same = all(max(each) / min(each) < 1.15 for each in values.values())
    claim = "messages a node do not depend on the number of nodes"
    return [Finding("10", "section 5", claim, "a node and day: " + "; ".join(told), _HOLDS if same else _NOT)]


_CLAIMS: tuple[Callable[[Rows, Rows], list[Finding]], ...] = (
    _order_of_methods,
    _degrees,
    _dynamic,
    _reach,
    _periods,
    _utilisation,
    _ratio_of_messages,
    _classes,
    _size,
)
