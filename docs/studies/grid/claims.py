"""Judge the paper's claims by the runs (docs/results/grid/claims.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations, pairwise
from math import log
from pathlib import Path
from typing import Any

from docs.studies.claims import Claim, Verdict, holds_if, holds_in, reached
from docs.studies.estimates import Estimate, estimate
from docs.studies.grid.run_tables import read_rows
from hindsched.bench.grid.experiment_rows import COMPARED
from hindsched.bench.grid.experiment_tables import Rows, mean_wait_s, overlay_pairs, per_day, select
from hindsched.bench.report.formatting import MINUS
from hindsched.bench.shared_types import Row

__all__ = [
    "Setting",
    "claims_of_results",
    "class_means",
    "dgs_runs",
    "interval_text",
    "judge",
    "settings_of",
    "size_rates",
]

#: A workload of the paper's tables: mix and load.
Setting = tuple[str, float]
#: Greatest difference of EU and RU, as a share of the grid, that counts as near, and the share of days that need it.
_NEAR, _LEAST_DAYS = 0.1, 0.9
#: Factor within which values count as alike where the paper has no measure.
_ALIKE = 2.0
#: Change of the messages per node, from the smallest to the largest grid, that counts as none.
_SAME = 0.15
_DAY_SLOTS = 1440
_MINUS_ZERO = re.compile(r"-(0(?:\.0*)?)(?![\d.])")
#: Days in which the grid, which is empty at first, fills.
_FILLING = 7
_DEGREES_ABOVE = (20, 30, 40)


def claims_of_results(folder: Path) -> list[Claim]:
    """Return the claims judged by the tables that ``hindsched reproduce --family grid`` writes into a folder."""
    return judge(read_rows(folder))


def judge(rows: Rows) -> list[Claim]:
    """Return the paper's claims with their verdicts: one for each claim, with the evidence of every workload."""
    paper = select(rows, part="paper")
    return [
        *_methods(paper),
        *_ratios(paper),
        *_degrees(paper),
        _dynamic(paper, rows),
        *_reach(rows),
        _periods(paper),
        *_utilisation(paper),
        *_classes(paper),
        _size(paper, rows),
        Claim(
            "Section 3.8",
            "not at hand",
            "not judged",
            Verdict.UNDECIDED,
            reason="the text of this section is not at hand",
        ),
        *_measured(paper, rows),
    ]


# ---- runs and numbers


def settings_of(rows: Rows) -> list[Setting]:
    """Return the workloads of the paper's tables, in the order of the rows."""
    return list(dict.fromkeys((row["mix"], row["load"]) for row in rows))


def dgs_runs(rows: Rows, setting: Setting, **more: Any) -> list[Row]:
    """Return the runs of dgs on a workload, by default with degree 20, a static overlay, and push."""
    wanted = {"degree": 20, "overlay": "static", "messaging": "push"} | more
    return select(rows, policy="dgs", mix=setting[0], load=setting[1], **wanted)


def _overbooked(row: Row, first: int = 0) -> list[float]:
    """Return EU of the whole days, until the last submission, in which jobs request more than the grid has."""
    return [executed for requested, executed in _whole_days(row)[first:] if requested > 1]


def class_means(rows: Rows, setting: Setting, kind: str, policy: str = "dgs") -> dict[str, Estimate]:
    """Return the mean wait in seconds by class of jobs, with intervals over seeds."""
    runs = dgs_runs(rows, setting) if policy == "dgs" else select(rows, policy=policy, mix=setting[0], load=setting[1])
    waits: dict[str, list[float]] = {}
    for row in runs:
        for name, wait in row["waits"].get(kind, {}).items():
            if wait:
                waits.setdefault(name, []).append(wait[0])
    return {name: estimate(means) for name, means in waits.items()}


def size_rates(rows: Rows, setting: Setting, method: str) -> dict[int, list[float]]:
    """Return messages per node and day, for each number of nodes one value per seed."""
    runs = [*dgs_runs(select(rows, part="size"), setting), *dgs_runs(select(rows, part="paper"), setting)]
    sizes = sorted({row["nodes"] for row in runs})
    return {nodes: [per_day(row, method) / nodes for row in runs if row["nodes"] == nodes] for nodes in sizes}


def _whole_days(row: Row) -> list[tuple[float, float]]:
    """Return RU and EU of the days that end before the last submission."""
    whole = row["submitted_slots"] // _DAY_SLOTS
    return list(zip(row["days"]["requested"][:whole], row["days"]["executed"][:whole], strict=True))


def _by_setting(paper: Rows, evidence: Callable[[Setting], str]) -> str:
    return "; ".join(f"{mix} {load:.0%}: {evidence((mix, load))}" for mix, load in settings_of(paper))


def _combined(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict over workloads: those that decide nothing do not count."""
    decided = [verdict is Verdict.HOLDS for verdict in verdicts if verdict is not Verdict.UNDECIDED]
    return holds_in(decided) if decided else Verdict.UNDECIDED


def _sign(found: Estimate, bar: float = 0.0) -> Verdict:
    """Return whether a mean is above a bar; undecided if there is one value, or the interval holds the bar."""
    if found.num < 2 or found.low <= bar <= found.high:
        return Verdict.UNDECIDED
    return holds_if(found.low > bar)


def interval_text(found: Estimate, form: str = ".2f") -> str:
    """Return an estimate with its interval, or 0 if all values are 0; no number is written as -0."""
    if found.mean == found.low == found.high == 0:
        return "0"
    return _MINUS_ZERO.sub(r"\1", found.text(form)).replace("-", MINUS)


def _runs(paper: Rows, **more: Any) -> int:
    return sum(len(dgs_runs(paper, setting, **more)) for setting in settings_of(paper))


# ---- Tables I and II: messages and failures


def _methods(paper: Rows) -> list[Claim]:
    settings = settings_of(paper)
    push = {setting: dgs_runs(paper, setting) for setting in settings}
    poll = {setting: dgs_runs(paper, setting, messaging="poll") for setting in settings}
    stale = {
        setting: estimate(100 * row["failed_stale"] / row["jobs"] for row in runs) for setting, runs in poll.items()
    }
    is_exact = all(row["failed_stale"] == 0 for runs in push.values() for row in runs)
    ordered = [
        _sign(estimate(row["pull"] / row["push"] for row in runs), 1)
        if all(row["pull"] < row["poll"] for row in runs)
        else Verdict.FAILS
        for runs in push.values()
    ]
    a_day = 5_000 * 20 * 720
    return [
        Claim(
            "Table I",
            "Push sends the fewest messages and Poll the most",
            "pull over push: "
            + _by_setting(paper, lambda s: interval_text(estimate(row["pull"] / row["push"] for row in push[s])))
            + "; poll sends the most everywhere",
            _combined(ordered),
            printed="152,277; 2,187,928; 72,000,000",
            runs=_runs(paper),
            reason="where jobs are wide and nodes idle, most searches end among the searcher's neighbours, and pull "
            "fetches fewer schedules than an allocation changes",
        ),
        Claim(
            "Table I",
            "Poll sends 72,000,000 messages",
            f"5,000 nodes, 20 schedules and 720 polls make {a_day:,} in a day, as here; in 2.7 months they make "
            f"{a_day * 2.7 * 30.4 / 1e9:.1f} billion",
            Verdict.HOLDS,
            printed="72,000,000",
            reason="it is the number of one day, so this page compares all messages per day",
        ),
        Claim(
            "Table I",
            "only Poll loses jobs by stale knowledge",
            f"push and pull: {'none' if is_exact else 'some'}; poll: "
            + _by_setting(paper, lambda s: f"{interval_text(stale[s])} %"),
            Verdict.FAILS if not is_exact else _combined(_sign(found) for found in stale.values()),
            printed="0.21 %",
            runs=_runs(paper) + _runs(paper, messaging="poll"),
        ),
    ]


def _ratios(paper: Rows) -> list[Claim]:
    settings = settings_of(paper)
    runs = {setting: dgs_runs(paper, setting) for setting in settings}
    ratios = {setting: estimate(row["pull"] / row["push"] for row in mine) for setting, mine in runs.items()}
    low = [setting for setting in settings if setting[1] < 0.5]

    def bounds(setting: Setting) -> str:
        ends = [estimate(5 * times / row["mean_width"] for row in runs[setting]).mean for times in (1, 21)]
        return f"{ends[0]:.2f} to {ends[1]:.1f}"

    return [
        Claim(
            "Tables I, II",
            "Push sends more than ten times fewer messages than Pull",
            f"{_by_setting(paper, lambda s: interval_text(ratios[s]))}; from fwd over the mean width, if every search "
            "ends among neighbours, to fwd (1 + d) over the mean width, if every search goes on: "
            f"{_by_setting(paper, bounds)}",
            _combined(_sign(found, 10) for found in ratios.values()),
            printed="14.4; 28.1",
            runs=_runs(paper),
            reason="with wide jobs the ratio cannot reach ten at degree 20; 28.1 needs narrow jobs, and nodes so busy "
            "that nearly every search goes on",
        ),
        Claim(
            "Section 5",
            "the ratio is near 1 at low load",
            "; ".join(f"{mix} {load:.0%}: {interval_text(ratios[mix, load])}" for mix, load in low),
            Verdict.SUBSTITUTE
            if all(1 / _ALIKE < ratios[setting].mean < _ALIKE for setting in low)
            else Verdict.UNDECIDED,
            runs=sum(len(runs[setting]) for setting in low),
            reason=f"the paper has no measure of near; here it is a factor of {_ALIKE:g}",
        ),
    ]


def _degrees(paper: Rows) -> list[Claim]:
    settings = settings_of(paper)
    runs = {(s, d): dgs_runs(paper, s, degree=d) for s in settings for d in (10, *_DEGREES_ABOVE)}
    num_runs = sum(map(len, runs.values()))
    failed = {at: estimate(100 * row["failed"] / row["jobs"] for row in mine) for at, mine in runs.items()}
    others = sum(row["failed"] for (_, d), mine in runs.items() if d > 10 for row in mine)

    def exponent(setting: Setting, name: str) -> Estimate:
        """Estimate the power of the degree with which the messages grow from degree 10 to 40."""
        pairs = zip(runs[setting, 10], runs[setting, 40], strict=True)
        return estimate(log(most[name] / least[name]) / log(4) for least, most in pairs)

    def shares(setting: Setting) -> Estimate:
        return estimate(
            row["push"] / (d * row["allocated_nodes"]) for d in (10, *_DEGREES_ABOVE) for row in runs[setting, d]
        )

    def longer(setting: Setting, least: int, most: int) -> Estimate:
        """Estimate how much longer jobs wait with the second degree than with the first, in seconds."""
        pairs = zip(runs[setting, least], runs[setting, most], strict=True)
        return estimate(mean_wait_s(b) - mean_wait_s(a) for a, b in pairs)

    def versus(setting: Setting, pairs: Sequence[tuple[int, int]]) -> str:
        return ", ".join(f"{b} - {a}: {interval_text(longer(setting, a, b), ',.0f')} s" for a, b in pairs)

    from_ten = [(10, degree) for degree in _DEGREES_ABOVE]
    above = list(combinations(_DEGREES_ABOVE, 2))
    is_least = {setting: [_sign(longer(setting, *pair)) for pair in from_ten] for setting in settings}
    differs = any(_sign(longer(setting, *pair)) is not Verdict.UNDECIDED for setting in settings for pair in above)
    return [
        Claim(
            "Table II",
            "jobs fail at degree 10 only",
            f"degree 10: {_by_setting(paper, lambda s: f'{interval_text(failed[s, 10])} %')}; above: {others} jobs",
            Verdict.SUBSTITUTE if not others else Verdict.FAILS,
            printed="1.5 %",
            runs=num_runs,
            reason="the share of jobs wider than 110 nodes is taken from this number, and none is wider than 360",
        ),
        Claim(
            "Table II",
            "the number of messages is linear in the degree",
            "power of the degree from 10 to 40: push "
            + _by_setting(paper, lambda s: interval_text(exponent(s, "push")))
            + "; pull "
            + _by_setting(paper, lambda s: interval_text(exponent(s, "pull")))
            + f"; the paper's own: push {log(346_302 / 75_592, 4):.2f}, pull {log(13_097_892 / 1_108_196, 4):.2f}",
            holds_in(
                [
                    all(abs(shares(setting).mean - 1) < 0.1 for setting in settings),
                    all(exponent(setting, "pull").high < 1 + 0.1 for setting in settings),
                ]
            ),
            printed="push 75,592 to 346,302; pull 1,108,196 to 13,097,892",
            runs=num_runs,
            reason="push is d times the allocated nodes; a search that goes on fetches up to d + d² schedules",
        ),
        Claim(
            "Table II",
            "jobs wait least at degree 10",
            "difference to degree 10: " + _by_setting(paper, lambda s: versus(s, from_ten)),
            _combined(
                Verdict.FAILS
                if Verdict.FAILS in found
                else Verdict.HOLDS
                if all(verdict is Verdict.HOLDS for verdict in found)
                else Verdict.UNDECIDED
                for found in is_least.values()
            ),
            printed="247; 394, 467, 452 s",
            runs=num_runs,
            reason="narrow jobs wait longest at degree 10; where jobs are wide the widest fail there and block nothing",
        ),
        Claim(
            "Table II",
            "above degree 10 the degree makes no difference to the wait",
            _by_setting(paper, lambda s: versus(s, above)),
            Verdict.FAILS if differs else Verdict.UNDECIDED,
            printed="394, 467, 452 s",
            runs=num_runs,
            reason="a larger neighbourhood finds earlier starts",
        ),
    ]


# ---- Table III and section 5: overlays, reach, periods


def _dynamic(paper: Rows, rows: Rows) -> Claim:
    pairs = {setting: overlay_pairs(rows, *setting) for setting in settings_of(paper)}
    differences = {setting: estimate(dynamic - static for dynamic, static in each) for setting, each in pairs.items()}

    def percent(setting: Setting) -> str:
        shares = [dynamic / static - 1 for dynamic, static in pairs[setting] if static]
        return f" ({estimate(shares).mean:+.1%})".replace("-", MINUS) if shares else ""

    return Claim(
        "Table III",
        "jobs wait longer over the dynamic overlay",
        _by_setting(
            paper, lambda s: f"{interval_text(differences[s], ',.1f')} s{percent(s)}, {differences[s].num} seeds"
        ),
        _combined(_sign(found) for found in differences.values()),
        printed="88 s (10.4 %); 1,945 s (13.0 %)",
        runs=2 * sum(map(len, pairs.values())),
        reason="Cyclon evens out how many nodes list a node, which shortens small waits; [signs](#signs-of-table-iii)",
    )


def _reach(rows: Rows) -> list[Claim]:
    found = []
    for degree, printed in ((10, 110), (20, 420)):
        mine = select(rows, part="reach", degree=degree)
        least, most = min(row["least"] for row in mine), max(row["most"] for row in mine)
        evidence = f"distinct nodes of each of 5,000 searchers, both overlays: {least} to {most}"
        claim = f"a search at degree {degree} reaches up to {printed} nodes"
        reason = "" if most >= printed else "d + d² counts some nodes twice; that a maximum is not seen refutes nothing"
        found.append(
            Claim("Section 5", claim, evidence, reached(most, printed), str(printed), len(mine), reason=reason)
        )
    return found


def _periods(paper: Rows) -> Claim:
    factor = 2.7 * 28 / 95
    return Claim(
        "Section 5",
        "2.7 months at 28 % of load are 0.78 months at 95 %",
        f"2.7 x 28 / 95 = {factor:.2f}",
        holds_if(abs(factor / 0.78 - 1) < 0.03),
        printed="0.78",
    )


# ---- Figures 4 and 5: utilisation


def _utilisation(paper: Rows) -> list[Claim]:
    runs = {setting: dgs_runs(paper, setting) for setting in settings_of(paper)}
    low = [
        executed - requested
        for mine in runs.values()
        for row in mine
        for requested, executed in _whole_days(row)
        if requested < 0.6
    ]
    near = sum(abs(difference) <= _NEAR for difference in low) / max(1, len(low))
    booked = {setting: [_overbooked(row) for row in mine] for setting, mine in runs.items()}
    means = {
        setting: estimate(sum(days) / len(days) for days in each if days)
        for setting, each in booked.items()
        if any(each)
    }

    def evidence(setting: Setting) -> str:
        days = [executed for run in booked[setting] for executed in run]
        if not days:
            return "no such day"
        later = [executed for row in runs[setting] for executed in _overbooked(row, _FILLING)]
        return f"{_of_days(days)}; by seed {means[setting].text('.3f')}; after the first week {_of_days(later)}"

    return [
        Claim(
            "Figures 4, 5",
            "EU is about RU where RU is below 60 %",
            f"EU - RU on {len(low):,} days: mean {sum(low) / max(1, len(low)):+.3f}; at most {_NEAR:g} of the grid on "
            f"{near:.0%} of them",
            Verdict.SUBSTITUTE if near >= _LEAST_DAYS else Verdict.FAILS,
            printed="60 %",
            runs=_runs(paper),
            reason=f"the paper has no measure of about; here it is {_NEAR:g} of the grid on nine of ten days",
        ),
        Claim(
            "Figures 4, 5",
            "EU is 90 % or more where the grid is overbooked",
            "EU of days with RU > 1: " + _by_setting(paper, evidence),
            _combined(
                holds_if(found.mean >= 0.9 and all(min(days) >= 0.9 for days in booked[setting] if days))
                for setting, found in means.items()
            ),
            printed="90 %",
            runs=_runs(paper),
            reason="the grid starts empty, and where jobs are wide nodes idle until enough of them are free; arrivals "
            "are stationary, so no day is overbooked at 28 %",
        ),
    ]


def _of_days(days: Sequence[float]) -> str:
    if not days:
        return "none"
    below = sum(executed < 0.9 for executed in days)
    return f"{sum(days) / len(days):.3f} on {len(days)} days, {below} of them below 0.9"


# ---- Figure 6: waits by class


def _classes(paper: Rows) -> list[Claim]:
    settings = settings_of(paper)
    waits = {(s, kind): class_means(paper, s, kind) for s in settings for kind in ("width", "length", "area")}

    def listed(setting: Setting, kind: str) -> str:
        found = waits[setting, kind]
        if not any(wait.mean for wait in found.values()):
            return "no job waits"
        return ", ".join(f"{name}: {interval_text(wait, ',.0f')}" for name, wait in found.items())

    def grows(setting: Setting, kind: str) -> Verdict:
        means = [wait.mean for wait in waits[setting, kind].values()]
        verdict = _sign(_last_over_first(paper, setting, kind))
        return verdict if verdict is not Verdict.HOLDS else holds_if(all(a <= b for a, b in pairwise(means)))

    def factor(setting: Setting) -> float | None:
        means = [wait.mean for wait in waits[setting, "length"].values()]
        return max(means) / min(means) if means and min(means) > 0 else None

    factors = [found for found in map(factor, settings) if found is not None]
    heavy = max(settings, key=lambda setting: sum(wait.mean for wait in waits[setting, "length"].values()))

    def ends(policy: str) -> str:
        found = list(class_means(paper, heavy, "length", policy).values())
        return f"{policy} {found[0].mean:,.0f} to {found[-1].mean:,.0f} s" if found else f"{policy} not run"

    claims = []
    for kind, text in (("width", "waits grow with the width"), ("area", "jobs of large area wait more")):
        evidence = "mean waits, s: " + _by_setting(paper, partial(listed, kind=kind))
        verdict = _combined(grows(setting, kind) for setting in settings)
        claims.append(Claim("Figure 6", text, evidence, verdict, runs=_runs(paper)))
    claims.insert(
        1,
        Claim(
            "Figure 6",
            "waits hardly depend on the length",
            "mean waits, s: " + _by_setting(paper, lambda s: listed(s, "length")),
            holds_in([found < _ALIKE for found in factors]) if factors else Verdict.UNDECIDED,
            runs=_runs(paper),
            reason=f"the paper has no measure of hardly; here it is a factor of {_ALIKE:g}. Short jobs fit between the "
            f"runs that are promised: {heavy[0]} {heavy[1]:.0%}, shortest to longest class, "
            + ", ".join(map(ends, COMPARED)),
        ),
    )
    return claims


def _last_over_first(paper: Rows, setting: Setting, kind: str) -> Estimate:
    """Estimate how much longer the last class of a kind waits than the first, in seconds."""
    found = []
    for row in dgs_runs(paper, setting):
        known = [wait[0] for wait in row["waits"].get(kind, {}).values() if wait]
        if known:
            found.append(known[-1] - known[0])
    return estimate(found) if found else Estimate(0.0, 0.0, 0.0, 0)


# ---- section 5: the number of nodes


def _size(paper: Rows, rows: Rows) -> Claim:
    settings = settings_of(select(rows, part="size"))
    verdicts, lines = [], []
    for setting in settings:
        for method in ("push", "pull"):
            rates = size_rates(rows, setting, method)
            (least, *_, most) = rates
            change = estimate(b / a for a, b in zip(rates[least], rates[most], strict=False))
            is_same = change.num > 1 and change.low > 1 - _SAME and change.high < 1 + _SAME
            is_other = change.num > 1 and (change.high < 1 - _SAME or change.low > 1 + _SAME)
            verdicts.append(Verdict.HOLDS if is_same else Verdict.FAILS if is_other else Verdict.UNDECIDED)
            means = ", ".join(f"{nodes:,}: {estimate(each).mean:,.0f}" for nodes, each in rates.items())
            lines.append(f"{setting[0]} {setting[1]:.0%} {method} {means} (last over first {change.text()})")
    sizes = select(rows, part="size")
    return Claim(
        "Section 5",
        "messages per node do not depend on the number of nodes",
        "messages per node and day by M: " + "; ".join(lines),
        _combined(verdicts),
        runs=len(sizes) + _runs(paper),
        reason="see [number of nodes](#number-of-nodes)",
    )


# ---- what the paper does not ask


def _measured(paper: Rows, rows: Rows) -> list[Claim]:
    found = []
    links = [row for row in select(rows, part="reach", overlay="cyclon", degree=20) if row.get("new_links")]
    if links:
        a_day = estimate(row["new_links"] * _DAY_SLOTS / 10 for row in links)
        push = [estimate(per_day(row, "push") for row in dgs_runs(paper, s)).mean for s in settings_of(paper)]
        pull = [estimate(per_day(row, "pull") for row in dgs_runs(paper, s)).mean for s in settings_of(paper)]
        found.append(
            Claim(
                "Section 3",
                "how many first schedules over new links does push send over the dynamic overlay?",
                f"{a_day.text(',.0f')} a day with a round each 10 min; push sends {min(push):,.0f} to {max(push):,.0f} "
                f"a day without them, pull {min(pull):,.0f} to {max(pull):,.0f}",
                Verdict.MEASURED,
                runs=len(links),
            )
        )
    sweep = select(rows, part="sweep")
    if sweep:
        found.append(
            Claim(
                "Section 5",
                "what do the number of searchers and the period of polls change?",
                "[table](#searchers-and-polls)",
                Verdict.MEASURED,
                runs=len(sweep),
            )
        )
    return found
