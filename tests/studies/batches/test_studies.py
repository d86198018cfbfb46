"""The studies of batches, on few volunteers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from docs.studies.batches.arrivals import PERIODS_H
from docs.studies.batches.copies import DAMPINGS
from docs.studies.batches.hosts import Size, measure
from docs.studies.cli import studies
from hindsched.bench.batches.experiment import Setup
from hindsched.bench.batches.reproduction import reproduce
from hindsched.instances.errors import InputError
from hindsched.instances.traces import read


def rows(*arguments: object) -> list[dict[str, Any]]:
    result = CliRunner().invoke(studies, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_claims_are_judged_by_a_reproduction(tmp_path: Path) -> None:
    reproduce(tmp_path, Setup((12,), 2, 0.004), num_processes=1, dask=None, as_json=True)
    first = rows("claims", "batches", "--results", tmp_path)
    of_requests = "Section 5.1, Figures 7 and 8"
    assert {"Theorem 1", "Hypothesis 1", "Figure 5", of_requests} <= {row["source"] for row in first}
    table = pd.read_csv(tmp_path / "batches_runs.csv")
    table[table["policy"] != "A2-shift"].to_csv(tmp_path / "batches_runs.csv", index=False)
    partly = rows("claims", "batches", "--results", tmp_path)
    assert {row["source"] for row in first} - {row["source"] for row in partly} == {of_requests}


def test_arrivals_and_theorem_write_their_rows(tmp_path: Path) -> None:
    found = rows("batches-arrivals", "--workers", 400, "--seeds", 1, "--results", tmp_path)
    assert [row["period_h"] for row in found if row["stream"] == "workers"] == list(PERIODS_H)
    assert (tmp_path / "batches_arrivals.csv").is_file()
    (tally,) = rows("batches-theorem", "--results", tmp_path)
    assert (tally["cases"], tally["printed_wrong"], tally["repaired_wrong"]) == (5188, 292, 0)


def test_copies_and_crowds_write_their_rows(tmp_path: Path) -> None:
    size = ["--workers", 60, "--tasks", 3, "--batches", 4, "--seeds", 1, "--jobs", 1, "--results", tmp_path]
    found = rows("batches-copies", *size)
    assert [row["policy"] for row in found].count("A2-shift") == 2 * len(DAMPINGS)
    assert len({row["requests"] for row in found if row["policy"] == "A2-shift" and row["c"] == 3600}) > 1
    for row in found:
        assert row["satisfied_batches"] <= row["at_least_99"] <= row["at_least_95"] <= row["at_least_90"]
        assert row["satisfied_tasks"] <= row["copies"]
    described = rows("batches-crowd", "--workers", 200, "--seeds", 1, "--results", tmp_path)
    shares = [row["value"] for row in described if row["statistic"] == "predicted"]
    assert shares
    assert all(0 < share < 1 for share in shares)


def test_readings_answer_three_questions(tmp_path: Path) -> None:
    size = ["--workers", 60, "--tasks", 3, "--batches", 4, "--crowds", 2, "--jobs", 1, "--results", tmp_path]
    found = rows("batches-readings", *size)
    assert [row["question"] for row in found].count("requests") == 6
    assert [row["question"] for row in found].count("begin") == 8
    closing = [row for row in found if row["question"] == "closing"]
    assert {(row["overdue"], row["runs"]) for row in closing} == {("carry", 2), ("drop", 2)}
    assert sum(row["stuck"] for row in closing if row["overdue"] == "carry") > 0
    for row in found:
        if row["stream_tasks"] is not None:
            assert row["stream_tasks"] >= row["satisfied_tasks"]
            assert row["stream_batches"] >= row["satisfied_batches"]
    assert rows("batches-readings", *size) == found  # from the folder


def test_hosts_of_an_event_table_are_compared_by_start_date(tmp_path: Path) -> None:
    table = tmp_path / "hosts.tab"
    nights = [(node, day) for node in range(5) for day in range(4)]
    lines = [f"0 0 {n} 0 host{n} 1 {day * 86_400 + 3600 * n} {day * 86_400 + 72_000} 0" for n, day in nights]
    table.write_text("\n".join(lines) + "\n")
    size = ["--tasks", 2, "--dates", 2, "--seeds", 1, "--results", tmp_path]
    found = rows("batches-hosts", "--trace", table, *size)
    assert {(row["hosts"], row["date"], row["batches"] * row["deadline_s"]) for row in found} == {
        (5, 1, 86_400),
        (5, 2, 86_400),
    }
    assert (
        len({(row["date"], row["c"], row["deadline_s"], row["policy"], row["copies_lambda"]) for row in found}) == 168
    )
    assert all(row["satisfied_tasks"] <= min(1, row["copies"]) for row in found)
    assert max(row["satisfied_batches"] for row in found) > 0
    assert (tmp_path / "batches_hosts.csv").is_file()
    with pytest.raises(InputError, match=r"--trace: 3\.8 days, expected at least 5 for the start dates"):
        measure(read(table), Size(tasks=2, dates=4, seeds=1))
