"""Verdicts on the paper's claims, and the tables of the published rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from docs.studies.batches import pages
from docs.studies.batches.arrivals import _statistics
from docs.studies.batches.claims import judge


def calls(**changes: dict[int, float]) -> list[dict[str, Any]]:
    """Return arrivals of a Poisson stream with a daily cycle, with changes by period."""
    usual = {
        "even_gap_s": 3.5,
        "mean_gap_s": 4.0,
        "ks_p_5th_percentile": 0.05,
        "ks_rejected_at_5_percent": 0.05,
        "ks_fitted_p_5th_percentile": 0.05,
        "ks_fitted_rejected_at_5_percent": 0.05,
        "dispersion_3600s": 1.0,
        "daily_swing": 0.1,
    }
    return [
        {"period_h": hours} | usual | {name: by[hours] for name, by in changes.items() if hours in by}
        for hours in (1, 2, 4, 8, 12, 24)
    ]


def verdicts(claim: str, rows: list[dict[str, Any]], arrivals: list[dict[str, Any]]) -> list[str]:
    return [found.verdict for found in judge(rows, arrivals, None) if found.claim.startswith(claim)]


def every(value: float) -> dict[int, float]:
    return dict.fromkeys((1, 2, 4, 8, 12, 24), value)


@pytest.mark.parametrize(
    ("claim", "name", "by", "verdict"),
    [
        ("a daily cycle", "daily_swing", {}, "holds"),
        ("a daily cycle", "daily_swing", {24: 0.3}, "holds in part"),
        ("a daily cycle", "daily_swing", every(0.01), "does not hold here"),
        ("a jump", "dispersion_3600s", {}, "does not hold here"),
        ("a jump", "dispersion_3600s", {24: 2.0}, "holds"),
        ("a jump", "dispersion_3600s", {12: 2.0, 24: 2.0}, "does not hold here"),
        ("contacts are", "ks_rejected_at_5_percent", {24: 0.9}, "holds"),
        ("contacts are", "ks_rejected_at_5_percent", {1: 0.9}, "holds in part"),
        ("contacts are", "ks_rejected_at_5_percent", every(0.9), "does not hold here"),
        ("contacts are", "ks_fitted_rejected_at_5_percent", every(0.9), "holds"),
        ("and with any rate", "ks_fitted_rejected_at_5_percent", every(0.9), "does not hold here"),
        ("and by counts", "dispersion_3600s", {1: 3.0}, "holds in part"),
        ("the mean gap", "mean_gap_s", {4: 3.4}, "does not hold here"),
    ],
)
def test_claims_on_arrivals_follow_the_rows(claim: str, name: str, by: dict[int, float], verdict: str) -> None:
    assert verdicts(claim, [], calls(**{name: by})) == [verdict]


@pytest.mark.parametrize(
    ("copies", "verdict"),
    [
        ([2.0, 1.9], ["holds"]),
        ([2.0, 3.0], ["holds in part"]),
        ([1.2, 3.0], ["does not hold here"]),
        ([2.0, None], ["holds"]),
        ([None, None], []),
        ([], []),
    ],
)
def test_the_claim_on_two_copies_per_task_can_fail(copies: list[float | None], verdict: list[str]) -> None:
    rows = [
        {
            "part": "batches",
            "first": "spread",
            "copies_lambda": 2,
            "policy": f"A3-{n}",
            "copies_per_task": count,
            "deadline_s": 8,
            "c": 1,
        }
        for n, count in enumerate(copies)
    ]
    assert verdicts("two copies a task", rows, []) == verdict


def test_missing_runs_give_no_verdict() -> None:
    judged = judge([], [], None)
    assert {found.source for found in judged}.isdisjoint({"Theorem 1", "Hypothesis 1", "Figures 6, 7", "Section 5.1"})
    assert all(found.claim != "a jump where the period is a day" for found in judge([], calls()[:-1], None))


def test_gaps_are_tested_at_the_claimed_rate() -> None:
    numbers = np.random.default_rng(1)
    times = np.floor(np.cumsum(numbers.exponential(4.0, size=40_000))).astype(np.int64)
    until = int(times[-1]) // 7200 * 7200
    found = {even: _statistics(times, 0, until, even, np.random.default_rng(2)) for even in (4.0, 2.5)}
    assert found[4.0]["ks_rejected_at_5_percent"] <= 0.15
    assert found[2.5]["ks_rejected_at_5_percent"] >= 0.9
    for row in found.values():
        assert row["ks_fitted_rejected_at_5_percent"] <= 0.15


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
