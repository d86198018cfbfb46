"""Verdicts on the paper of batches follow the rows."""

from __future__ import annotations

from typing import Any

import pytest

from docs.studies.batches import pages
from docs.studies.batches.claims import PREDICTORS, judge, orders_of_hosts, printed_numbers
from docs.studies.batches.evidence import Evidence, Rows, read_table, select
from docs.studies.batches.theorem import Tally


def evidence(*, arrivals: Rows = (), crowd: Rows = (), copies: Rows = (), hosts: Rows = ()) -> Evidence:
    return Evidence(arrivals, crowd, copies, Tally(cases=10, meets=5, printed_wrong=0, repaired_wrong=0), hosts)


def verdicts(claim: str, runs: Rows, other: Evidence) -> list[str]:
    return [found.verdict for found in judge(runs, other) if found.claim.startswith(claim)]


def algorithm_3(batches: dict[str, list[float]], tasks: dict[str, float] | None = None) -> list[dict[str, Any]]:
    """Return runs with two copies per task, one per crowd, in two settings of times."""
    return [
        {
            "seed": seed,
            "deadline_s": 14_400,
            "c": c,
            "policy": policy,
            "copies_lambda": 2,
            "copies": 2.0,
            "satisfied_batches": share if c == 3600 else 0.0,
            "satisfied_tasks": (tasks or batches)[policy] if tasks else share,
        }
        for c in (3600, 7200)
        for policy, shares in batches.items()
        for seed, share in enumerate(shares)
    ]


def alike(share: float, num: int = 3) -> dict[str, list[float]]:
    return {policy: [share] * num for policy in PREDICTORS}


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        (alike(0.95), "holds"),
        (alike(0.85), "does not hold here"),
        (alike(0.95, num=1), "undecided"),
        (alike(0.5) | {"A3-history": [0.99, 0.99, 0.85]}, "does not hold here"),
    ],
)
def test_ninety_percent_is_judged_by_the_interval_of_history(shares: dict[str, list[float]], verdict: str) -> None:
    assert verdicts("with history over 90 %", [], evidence(copies=algorithm_3(shares))) == [verdict]


@pytest.mark.parametrize(
    ("tasks", "verdict"),
    [
        ((0.9, 0.8, 0.7), "holds"),
        ((0.9, 0.9, 0.7), "holds in part"),
        ((0.7, 0.8, 0.9), "does not hold here"),
    ],
)
def test_the_order_of_predictors_is_judged_by_differences(tasks: tuple[float, ...], verdict: str) -> None:
    rows = algorithm_3(alike(0.5), dict(zip(PREDICTORS, tasks, strict=True)))
    assert verdicts("history satisfies more", [], evidence(copies=rows)) == [verdict]


@pytest.mark.parametrize(
    ("below", "above", "verdict"),
    [(0.95, 0.99, "holds"), (0.3, 0.99, "holds in part"), (0.3, 0.5, "does not hold here")],
)
def test_ninety_percent_is_judged_by_the_runs_next_to_two_copies(below: float, above: float, verdict: str) -> None:
    shares = {0.9: 0.0, 1.9: below, 2.2: above, 3.5: 0.0}
    rows = [
        row | {"copies_lambda": requests, "copies": copies}
        for requests, (copies, share) in enumerate(shares.items(), start=1)
        for row in algorithm_3(alike(share))
    ]
    assert verdicts("with history over 90 %", [], evidence(copies=rows)) == [verdict]


def test_the_order_of_predictors_names_tasks_and_batches() -> None:
    rows = algorithm_3(alike(0.5), dict(zip(PREDICTORS, (0.9, 0.8, 0.7), strict=True)))
    (found,) = (claim for claim in judge([], evidence(copies=rows)) if claim.claim.startswith("history satisfies more"))
    tasks, batches = found.evidence.split("Satisfied batches: ")
    assert "history before speed in 2 of 2 settings" in tasks
    assert "history before speed in 0 of 2 settings" in batches


def requests(shares: dict[str, list[float]]) -> list[dict[str, Any]]:
    return [
        {
            "part": "arrivals",
            "policy": policy,
            "first": "spread",
            "deadline_s": 3600,
            "c": 1800,
            "tasks": 10,
            "day": day,
            "fed": share,
            "requests": [0.5, share],
        }
        for policy, by_day in shares.items()
        for day, share in enumerate(by_day)
    ]


@pytest.mark.parametrize(
    ("without", "shifted", "verdict"),
    [
        ([0.8, 0.81, 0.8], [0.79, 0.8, 0.8], "holds"),
        ([0.8, 0.81, 0.8], [0.5, 0.51, 0.5], "holds in part"),
        ([0.6, 0.95, 0.8], [0.5, 0.51, 0.5], "does not hold here"),
    ],
)
def test_requests_are_judged_by_intervals_over_start_dates(
    without: list[float], shifted: list[float], verdict: str
) -> None:
    rows = requests({"A2": without, "A2-shift": shifted})
    assert verdicts("over 70 %", rows, evidence()) == [verdict]
    assert verdicts("shifting has a worse tail", rows, evidence()) == [
        "holds" if verdict == "holds in part" else "does not hold here"
    ]


@pytest.mark.parametrize(
    ("changes", "verdict"), [({}, "holds"), ({"p5_300s": 0.01}, "holds in part"), ({"p5_7200s": 0.01}, "holds in part")]
)
def test_hypothesis_1_is_judged_in_every_window(changes: dict[str, float], verdict: str) -> None:
    usual = {"p5_300s": 0.06, "p5_7200s": 0.25, "even_gap_s": 3.6, "mean_gap_s": 3.9, "dispersion_3600s": 1.0}
    usual |= {"rejected_even": 0.1, "rejected_mean": 0.1}
    rows = [
        {"seed": seed, "stream": stream, "period_h": hours} | usual | changes
        for seed in (0, 1)
        for stream in ("workers", "Poisson")
        for hours in (1, 4, 24)
    ]
    assert verdicts("contacts are a Poisson stream", [], evidence(arrivals=rows)) == [verdict]


def test_hypothesis_1_is_judged_by_the_interval() -> None:
    usual = {"p5_7200s": 0.25, "even_gap_s": 3.6, "mean_gap_s": 3.9, "dispersion_3600s": 1.0}
    usual |= {"rejected_even": 0.1, "rejected_mean": 0.1}
    rows = [
        {"seed": seed, "stream": stream, "period_h": 4, "p5_1800s": fifth} | usual
        for seed, fifth in enumerate((0.01, 0.11, 0.06))
        for stream in ("workers", "Poisson")
    ]
    assert verdicts("contacts are a Poisson stream", [], evidence(arrivals=rows)) == ["holds in part"]


def test_first_calls_are_compared_where_tasks_are_short_and_few() -> None:
    usual = {"part": "batches", "copies_lambda": 2, "tasks": 10, "deadline_s": 14_400, "c": 1800}
    firsts = {"start": 0.5, "spread": 0.9}
    rows = [
        usual | {"policy": policy, "first": first, "day": day, "satisfied_batches": share}
        for policy in PREDICTORS
        for first, share in firsts.items()
        for day in (1, 2)
    ]
    others = [
        row | change | {"satisfied_batches": 0.0} for row in rows for change in ({"c": 7200}, {"deadline_s": 3600})
    ]
    others += [row | {"tasks": 20, "satisfied_batches": 0.0} for row in rows if row["first"] == "spread"]
    (found,) = (claim for claim in judge(rows + others, evidence()) if "first calls" in claim.claim)
    assert "history 50.0 % (50.0 to 50.0) and 90.0 % (90.0 to 90.0), speed" in found.evidence
    assert found.runs == 2


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [((3.78, 3.79), "holds"), ((3.9, 3.91), "holds in part"), ((3.5, 3.51), "does not hold here")],
)
def test_the_mean_gap_is_judged_by_the_printed_factor(gaps: tuple[float, ...], verdict: str) -> None:
    usual = {"period_h": 4, "even_gap_s": 3.6, "p5_7200s": 0.2, "rejected_even": 0.1, "rejected_mean": 0.1}
    usual["dispersion_3600s"] = 1.0
    rows = [
        usual | {"seed": seed, "stream": stream, "mean_gap_s": gap}
        for seed, gap in enumerate(gaps)
        for stream in ("workers", "Poisson")
    ]
    assert verdicts("the mean gap is longer", [], evidence(arrivals=rows)) == [verdict]


def test_the_order_on_real_hosts_is_compared_on_each_start_date() -> None:
    rows = [
        run | {"hosts": 9, "date": run["seed"] + 1, "copies_lambda": requests, "copies": sent}
        for run in algorithm_3(alike(0.5), dict(zip(PREDICTORS, (0.9, 0.7, 0.8), strict=True)))
        for requests, sent in ((1, 1.5), (2, 2.5))
    ]
    for order in orders_of_hosts(rows):
        assert (order.history.mean, order.history.num) == (pytest.approx(20), 3)
        assert order.speed.high < 0
        assert order.sent == (2.0,) * 3
    assert orders_of_hosts(rows, 4.0)[0].sent == (2.5,) * 3
    (found,) = (found for found in judge([], evidence(hosts=rows)) if "real hosts" in found.claim)
    assert "history before speed in 2 of 2 settings" in found.evidence
    assert found.evidence.endswith("behind in 2 ([real hosts](#real-hosts))")


def test_missing_runs_give_no_verdict() -> None:
    sources = {found.source for found in judge([], evidence())}
    assert sources == {"Theorem 1", "Equation 1", "Section 4.2", "Algorithms 1 to 3", "Section 5"}


def test_printed_numbers_have_the_interval_of_the_stored_rows() -> None:
    stored = Evidence.stored()
    (fifth,) = (number for number in printed_numbers(stored) if number.printed == 0.22)
    rows = select(read_table("arrivals"), stream="workers", period_h=4)
    assert fifth.runs == len(rows)
    assert fifth.here == pytest.approx(sum(row["p5_7200s"] for row in rows) / len(rows))
    assert fifth.low is not None
    assert fifth.high is not None
    assert fifth.low < fifth.here < fifth.high


def test_least_and_most_are_of_all_starts_and_deciles_their_means(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "part": "arrivals",
            "policy": "A2",
            "first": "spread",
            "deadline_s": 3600,
            "c": 1800,
            "tasks": 10,
            "day": day,
            "fed": 0.5,
            "requests": [low, *[mid] * 9, high],
            "shortest_period": 1,
            "longest_period": 2,
        }
        for day, low, mid, high in ((1, 0.2, 1.0, 1.5), (2, 0.4, 2.0, 9.5))
    ]
    monkeypatch.setattr(pages, "read_table", lambda name: rows)
    line = pages.Published().requests().splitlines()[-1]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[-6:-1] == ["0.20", "1.50", "1.50", "1.50", "9.50"]
    assert pages._decile([{"fractions": [0.25]}, {"fractions": [0.75]}], "fractions", 0) == 0.25
