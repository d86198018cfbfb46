"""Judge the paper's claims by the runs (docs/results/grid/reproduction.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from docs.studies.claims import Claim, Verdict, holds_if
from docs.studies.grid.run_tables import read_rows
from hindsched.bench.grid.experiment import CLASSES
from hindsched.bench.grid.experiment_tables import Rows, confidence_interval, overlay_pairs, select

__all__ = ["claims_of_results", "judge"]

#: Greatest difference of EU and RU, as a share of the grid, that counts as near, and the share of days that need it.
_NEAR, _LEAST_DAYS = 0.1, 0.9


def claims_of_results(folder: Path) -> list[Claim]:
    """Return the claims judged by the tables that ``hindsched reproduce --family grid`` writes into a folder."""
    return judge(read_rows(folder))


def judge(rows: Rows) -> list[Claim]:
    """Return the paper's claims with their verdicts.

    ``source`` begins with the number of the claim, or with two numbers if it covers two claims.
    """
    return [claim for judged in _CLAIMS for claim in judged(select(rows, part="paper"), rows)]


def _by_setting(rows: Rows) -> list[tuple[str, float]]:
    return list(dict.fromkeys((row["mix"], row["load"]) for row in rows))


def _dgs_runs(rows: Rows, mix: str, load: float, **more: Any) -> Rows:
    wanted = {"degree": 20, "overlay": "static", "messaging": "push"} | more
    return select(rows, policy="dgs", mix=mix, load=load, **wanted)


def _text(values: list[float], form: str = ",.0f") -> str:
    mean, half = confidence_interval(values)
    return f"{mean:{form}} ± {half:{form}}"


def _is_above(values: list[float], bar: float) -> Verdict:
    """Return whether the mean over seeds is above a bar, undecided where its confidence interval holds the bar."""
    mean, half = confidence_interval(values)
    return Verdict.UNDECIDED if len(values) < 2 or abs(mean - bar) <= half else holds_if(mean > bar)


def _order_of_methods(paper: Rows, rows: Rows) -> list[Claim]:
    found = []
    for mix, load in _by_setting(paper):
        push = _dgs_runs(paper, mix, load)
        poll = _dgs_runs(paper, mix, load, messaging="poll")
        counts = {name: [float(row[name]) for row in push] for name in ("push", "pull", "poll")}
        ordered = all(row["push"] < row["pull"] < row["poll"] for row in push)
        evidence = f"{mix}, {load:.0%}: " + ", ".join(f"{name} {_text(values)}" for name, values in counts.items())
        found.append(Claim("1, Table I", "Push < Pull < Poll in messages", evidence, holds_if(ordered)))
        exact = all(row["failed_stale"] == 0 for row in push)
        shares = [100 * row["failed_stale"] / row["jobs"] for row in poll]
        evidence = f"{mix}, {load:.0%}: poll {_text(shares, '.2f')} %, push and pull {'none' if exact else 'some'}"
        verdict = Verdict.FAILS if not exact else Verdict.HOLDS if any(shares) else Verdict.UNDECIDED
        found.append(Claim("1, Table I", "only Poll fails by stale knowledge (0.21 %)", evidence, verdict))
    row = _dgs_runs(paper, *_by_setting(paper)[0])[0]
    per_day = 5_000 * 20 * 720
    evidence = f"M d 720 = {per_day:,} is one day of polls every 2 min; "
    evidence += f"the {row['submitted_slots'] / 1440:.0f} days here take {row['poll']:,}"
    claim = "72,000,000 messages of Poll over the experiment"
    return [*found, Claim("1, Table I", claim, evidence, holds_if(row["poll"] <= 1.5 * per_day))]


def _degrees(paper: Rows, rows: Rows) -> list[Claim]:
    found = []
    for mix, load in _by_setting(paper):
        degrees = sorted({row["degree"] for row in select(paper, policy="dgs")})
        runs = {degree: _dgs_runs(paper, mix, load, degree=degree) for degree in degrees}
        failed = {d: [100 * row["failed"] / row["jobs"] for row in mine] for d, mine in runs.items()}
        evidence = f"{mix}, {load:.0%}: " + ", ".join(f"{d}: {_text(values, '.2f')} %" for d, values in failed.items())
        only = sum(failed[10]) > 0 and not any(sum(failed[d]) for d in degrees if d > 10)
        # without a failure no job is wide enough to decide
        verdict = (
            Verdict.HOLDS
            if only
            else Verdict.FAILS
            if any(any(shares) for shares in failed.values())
            else Verdict.UNDECIDED
        )
        found.append(Claim("2, Table II", "failures at degree 10 only (1.5 %)", evidence, verdict))
        push = {d: [row["push"] / (d * row["allocated_nodes"]) for row in mine] for d, mine in runs.items()}
        pull = {d: [row["pull"] / row["jobs"] / (5 * d * (1 + d)) for row in mine] for d, mine in runs.items()}
        evidence = f"{mix}, {load:.0%}: push / (d x nodes): "
        evidence += ", ".join(f"{d}: {_text(values, '.3f')}" for d, values in push.items())
        evidence += "; pull per job / (fwd d (1 + d)): "
        evidence += ", ".join(f"{d}: {_text(values, '.3f')}" for d, values in pull.items())
        near = all(abs(confidence_interval(values)[0] - 1) < 0.1 for values in push.values())
        bounded = all(max(values) <= 1 for values in pull.values())
        claim = "messages grow with the degree: push as d, pull at most as d + d²"
        found.append(Claim("2, 8, Table II", claim, evidence, holds_if(near and bounded)))
    return found


def _dynamic(paper: Rows, rows: Rows) -> list[Claim]:
    printed = {0.28: "936 s dynamic, 848 s static", 0.95: "16,858 s dynamic, 14,913 s static"}
    found = []
    for mix, load in _by_setting(paper):
        pairs = overlay_pairs(rows, mix, load)
        differences = [dynamic - static for dynamic, static in pairs]
        evidence = f"{mix}, {load:.0%}: dynamic {_text([dynamic for dynamic, _ in pairs], ',.1f')} s, static "
        evidence += f"{_text([static for _, static in pairs], ',.1f')} s, difference {_text(differences, ',.1f')} s, "
        evidence += f"{len(pairs)} seeds of {_dgs_runs(paper, mix, load)[0]['jobs']:,} jobs"
        verdict = _is_above(differences, 0)
        if verdict is Verdict.UNDECIDED and confidence_interval(differences)[0]:
            evidence += f"; a decision would take about {_required_seeds(differences):,.0f} such seeds"
        claim = f"jobs wait longer over the dynamic overlay ({printed.get(load, '')})"
        found.append(Claim("3, Table III", claim, evidence, verdict))
    return found


def _reach(paper: Rows, rows: Rows) -> list[Claim]:
    found = []
    for degree, printed in ((10, 110), (20, 420)):
        mine = select(rows, part="reach", degree=degree)
        least, most = min(row["least"] for row in mine), max(row["most"] for row in mine)
        evidence = f"distinct nodes of each of 5,000 searchers, {len(mine)} seeds: {least} to {most}"
        claim = f"a search at degree {degree} reaches {printed} nodes"
        found.append(Claim("4, section 5", claim, evidence, holds_if(most >= printed)))
    return found


def _periods(paper: Rows, rows: Rows) -> list[Claim]:
    settings = reversed(_by_setting(paper))
    days = {load: _dgs_runs(paper, mix, load)[0]["submitted_slots"] / 1440 for mix, load in settings}
    evidence = f"{days[0.28] / 30.4:.2f} and {days[0.95] / 30.4:.2f} months; 2.7 x 28/95 = {2.7 * 28 / 95:.2f}"
    same = abs(days[0.28] / days[0.95] / (95 / 28) - 1) < 0.02
    return [Claim("5, section 5", "28 % over 2.7 months is 95 % over 0.78", evidence, holds_if(same))]


def _utilisation(paper: Rows, rows: Rows) -> list[Claim]:
    found = []
    for mix, load in _by_setting(paper):
        low, booked = [], []
        for row in _dgs_runs(paper, mix, load):
            days: Mapping[str, list[float]] = row["days"]
            for requested, executed, possible in zip(
                days["requested"], days["executed"], days["possible"], strict=True
            ):
                if requested < 0.6:
                    low.append(executed - requested)
                if possible > 0.999:
                    booked.append(executed)
        evidence, verdict = "no day below 60 %", Verdict.UNDECIDED
        if low:
            near = np.mean(np.abs(low) <= _NEAR)
            evidence = f"{len(low)} days below 60 %: mean EU - RU {np.mean(low):+.3f}, within {_NEAR:g} "
            evidence += f"on {near:.0%} of the days"
            verdict = holds_if(bool(near >= _LEAST_DAYS))
        claim = "EU is about RU below 60 %"
        found.append(Claim("6, Figures 4, 5", claim, f"{mix}, {load:.0%}: {evidence}", verdict))
        evidence, verdict = "no day on which all nodes could be busy throughout", Verdict.UNDECIDED
        if booked:
            evidence = f"{len(booked)} days on which all nodes could be busy throughout: mean EU "
            evidence += f"{np.mean(booked):.3f}, least {min(booked):.3f}"
            verdict = holds_if(bool(np.mean(booked) >= 0.9))
        claim = "EU is 90 % or more when overbooked"
        found.append(Claim("6, Figures 4, 5", claim, f"{mix}, {load:.0%}: {evidence}", verdict))
    return found


def _ratio_of_messages(paper: Rows, rows: Rows) -> list[Claim]:
    found = []
    for mix, load in _by_setting(paper):
        runs = _dgs_runs(paper, mix, load)
        ratios = [row["pull"] / row["push"] for row in runs]
        floor = [5 / row["mean_width"] for row in runs]
        evidence = f"{mix}, {load:.0%}: {_text(ratios, '.2f')}; "
        evidence += f"fwd / mean width, the ratio if all searches end among neighbours: {_text(floor, '.2f')}"
        claim = "Push needs more than ten times fewer messages than Pull (14.4 and 28.1)"
        found.append(Claim("7, Tables I, II", claim, evidence, _is_above(ratios, 10)))
    return found


def _classes(paper: Rows, rows: Rows) -> list[Claim]:
    found = []
    for mix, load in _by_setting(paper):
        medians: dict[str, dict[str, float]] = {}
        means: dict[str, dict[str, float]] = {}
        for kind, names in CLASSES.items():
            waits = {name: [row["waits"][kind].get(name) for row in _dgs_runs(paper, mix, load)] for name in names}
            known = {name: [value for value in values if value] for name, values in waits.items() if any(values)}
            medians[kind] = {name: float(np.median([v[1] for v in values])) for name, values in known.items()}
            means[kind] = {
                name: sum(v[0] * v[3] for v in values) / sum(v[3] for v in values) for name, values in known.items()
            }
        evidence = f"{mix}, {load:.0%}, medians: {_by_class(medians)}. Means: {_by_class(means)}"
        width, length, area = (list(medians[kind].values()) for kind in ("width", "length", "area"))
        grows = width == sorted(width) and area[-1] == max(area)
        hardly = (max(length) + 60) / (min(length) + 60) < 2  # classes differ by less than a factor of two
        verdict = holds_if(grows and hardly)
        if max(width) < 60:  # less than a slot: at least half of the jobs of every class do not wait
            verdict = Verdict.UNDECIDED
        claim = "waits grow with width, hardly with length; large areas wait more"
        found.append(Claim("9, Figure 6", claim, evidence, verdict))
    return found


def _by_class(waits: Mapping[str, Mapping[str, float]]) -> str:
    return "; ".join(
        f"{kind} " + ", ".join(f"{name}: {wait:,.0f} s" for name, wait in each.items()) for kind, each in waits.items()
    )


def _size(paper: Rows, rows: Rows) -> list[Claim]:
    size = select(rows, part="size")
    lines = []
    values: dict[str, list[float]] = {"push": [], "pull": []}
    for nodes in sorted({row["nodes"] for row in size}):
        mine = select(size, nodes=nodes)
        rates = {name: [row[name] / nodes / row["submitted_slots"] * 1440 for row in mine] for name in values}
        for name, rate in rates.items():
            values[name].append(confidence_interval(rate)[0])
        lines.append(f"M = {nodes:,}: " + ", ".join(f"{name} {_text(rate, '.2f')}" for name, rate in rates.items()))
    same = all(max(each) / min(each) < 1.15 for each in values.values())
    claim = "messages per node do not depend on the number of nodes"
    return [Claim("10, section 5", claim, "per node and day: " + "; ".join(lines), holds_if(same))]


_CLAIMS: tuple[Callable[[Rows, Rows], list[Claim]], ...] = (
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


def _required_seeds(differences: Sequence[float]) -> float:
    """Estimate how many seeds distinguish these differences from zero at 95 % confidence with a power of 80 %."""
    mean, _ = confidence_interval(differences)
    deviation = sqrt(sum((value - mean) ** 2 for value in differences) / max(1, len(differences) - 1))
    return ((1.96 + 0.84) * deviation / mean) ** 2 if mean else float("inf")
