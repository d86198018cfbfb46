"""Forecasts that use other hosts find a common shock, and no more than the past."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from docs.studies.batches.claims_page import ClaimsPage
from docs.studies.batches.correlated import OTHERS, QUESTIONS, Question, forecast, gain, measure, measure_all
from docs.studies.batches.evidence import read_table, select
from docs.studies.cli import studies
from hindsched.instances.batches.availability import Ints
from hindsched.instances.batches.volunteers import HOUR
from hindsched.instances.errors import InputError
from hindsched.instances.traces import read

_HOURS, _FIRST = 12 * 24, 4 * 24


def crowd(levels: np.ndarray, seed: int = 1) -> list[Ints]:
    """Return 40 hosts that are available in each hour with its probability."""
    is_up = np.random.default_rng(seed).random((40, len(levels))) < levels
    return [np.stack((hours, hours + 1), axis=1) * HOUR for hours in (np.flatnonzero(row) for row in is_up)]


def shocks() -> np.ndarray:
    """Return a level that all hosts share, and that lasts for about ten hours."""
    flips = np.random.default_rng(2).random(_HOURS) < 0.1
    return np.where(np.cumsum(flips) % 2 == 0, 0.2, 0.7)


@pytest.mark.parametrize("question", [Question(1), Question(2, 4000)])
def test_only_the_present_of_others_shows_a_common_shock(question: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docs.studies.batches.correlated.QUESTIONS", (question,))
    levels = shocks()
    for mean, common in ((levels, True), (np.full(_HOURS, 0.4), False)):
        rows = list(measure("hosts", crowd(mean), _HOURS, _FIRST))
        for other in OTHERS:
            assert (gain(rows, other).low > 1) == (common and other in ("present", "all"))


@pytest.mark.parametrize("question", [Question(4), Question(4, 2 * HOUR)])
def test_a_forecast_does_not_depend_on_what_comes_after(question: Question) -> None:
    until = 6 * 24 + 5
    levels = shocks()
    changed = np.where(np.arange(_HOURS) <= until, levels, 0.9 - levels)
    found, outcomes = forecast(crowd(levels), question, _HOURS, _FIRST)
    others, other_outcomes = forecast(crowd(changed), question, _HOURS, _FIRST)
    assert (outcomes != other_outcomes).any()
    for name, chances in found.items():
        assert not np.isnan(chances[:, until]).all()
        np.testing.assert_array_equal(chances[:, : until + 1], others[name][:, : until + 1])
        assert np.nanmax(np.abs(chances - others[name])) > 0


def test_outcomes_are_those_of_the_intervals() -> None:
    hosts = [np.array([[0, HOUR + 600], [3 * HOUR, _HOURS * HOUR]]), np.empty((0, 2), dtype=np.int64)]
    _, is_up = forecast(hosts, Question(1), _HOURS, _FIRST)
    assert is_up[0, :5].tolist() == [True, False, True, True, True]
    _, is_done = forecast(hosts, Question(2, 4201), _HOURS, _FIRST)
    assert is_done[0, :4].tolist() == [False, False, False, True]
    assert not is_up[1].any()


def test_the_study_writes_rows_and_refuses_short_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = (Question(12), Question(4, 2 * HOUR))
    monkeypatch.setattr("docs.studies.batches.correlated.QUESTIONS", asked)
    table = tmp_path / "hosts.tab"
    nights = [(node, day) for node in range(12) for day in range(4)]
    lines = [f"0 0 {n} 0 host{n} 1 {day * 86_400 + 3600 * n} {day * 86_400 + 86_300} 0" for n, day in nights]
    table.write_text("\n".join([*lines, "0 0 0 0 host0 0 345600 345700 0"]) + "\n")
    command = ["batches-correlated", "--trace", str(table), "--workers", "12", "--results", str(tmp_path), "--json"]
    result = CliRunner().invoke(studies, command)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert read_table("correlated", tmp_path) == rows
    assert {(row["source"], Question(row["horizon_h"], row["c"])) for row in rows} == {
        (source, question) for source in ("hosts", "volunteers") for question in asked
    }
    days = {row["block"] for row in select(rows, source="hosts", blocks="days")}
    assert days == {2, 3}
    for source in ("hosts", "volunteers"):
        both = [sum(row["forecasts"] for row in select(rows, source=source, blocks=what)) for what in ("days", "hosts")]
        assert both[0] == both[1] > 0
    table.write_text("\n".join(lines[:3]) + "\n")
    with pytest.raises(InputError, match=r"--trace: 2 days, expected at least 4: two of them are history"):
        next(measure_all(read(table), 1))


def test_the_page_says_what_the_rows_say() -> None:
    rows = read_table("correlated")
    above = {
        (question, other)
        for question in QUESTIONS
        for other in OTHERS
        if gain(select(rows, source="hosts", horizon_h=question.horizon_h, c=question.c), other).low > 0
    }
    assert above == {(Question(12), "neighbours")}
    assert ClaimsPage().correlated().count("**") == 2
