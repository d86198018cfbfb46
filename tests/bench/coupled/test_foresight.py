"""The map of foresight, the tests of real machines, and the command for on-line optima."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import instances
from bench.cli import hindsched
from bench.coupled import foresight, markov
from instances.chains import Chain, StateStream
from instances.coupled import Instance
from instances.errors import InputError
from instances.streams import stream

CHAIN = Chain(((0.9, 0.06, 0.04), (0.3, 0.7, 0.0), (0.2, 0.0, 0.8)))


def drawn(nodes, slots):
    return np.array([StateStream(CHAIN, stream("test", "markov", q)).take(slots) for q in range(nodes)])


def test_chains_pass_for_chains_and_what_ages_does_not():
    """On drawn chains about one test in a hundred rejects; where every UP period lasts ten slots the age test does."""
    names = [f"n{q}" for q in range(12)]
    rows = markov.rows_of_tests("drawn", names, drawn(12, 8_000), 600.0, 0.0)
    rejected = [row[name] < 0.01 for row in rows for name in ("age", "before", "hour")]
    assert sum(rejected) <= 3
    assert all(abs(row["autocorrelation"]) < 2 * row["band"] for row in rows)
    assert np.median([row["young_leaves"] for row in rows]) == pytest.approx(0.1, abs=0.02)
    ageing = np.tile([0] * 10 + [2] * 3, 300)[None, :]
    (row,) = markov.rows_of_tests("ageing", ["n"], ageing, 600.0, 0.0)
    assert row["age"] < 1e-6
    assert row["young_leaves"] == 0
    daily = np.where(np.arange(4_000) % 144 < 72, drawn(1, 4_000)[0], 2)[None, :]
    (row,) = markov.rows_of_tests("daily", ["n"], daily, 600.0, 0.0)
    assert row["hour"] < 1e-6


def test_estimates_are_right_on_chains():
    states = drawn(6, 60_000)
    rows = markov.estimates("drawn", states[:, :30_000], states[:, 30_000:], members=(1, 3, 9), lengths=(1, 6), sets=4)
    assert [(row["members"], row["slots"]) for row in rows] == [(1, 1), (1, 6), (3, 1), (3, 6)]
    for row in rows:
        assert row["observed"] == pytest.approx(row["predicted"], abs=0.03)
        assert row["observed_slots"] == pytest.approx(row["predicted_slots"], rel=0.03)
    assert rows[0]["predicted"] == 1.0
    assert rows[3]["predicted"] < 0.7


def test_the_map_by_its_command(tmp_path):
    arguments = ["bench", "foresight", "--axis", "channels", "--instances", "1", "--no-spot", "--policy", "E-IE"]
    arguments += ["--jobs", "1", "--results", str(tmp_path), "--json"]
    done = CliRunner().invoke(hindsched, arguments)
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [row["value"] for row in rows] == list(foresight.AXES["channels"])
    assert all(row["instances"] == 1 and row["median"] >= 1 for row in rows)
    table = pd.read_csv(tmp_path / "foresight.csv")
    assert list(table.columns) == list(foresight.COLUMNS)
    assert (tmp_path / "foresight.svg").read_text().startswith("<?xml")
    again = CliRunner().invoke(hindsched, arguments)
    assert again.stdout == done.stdout


def test_points_are_what_they_say():
    assert foresight.Point().task in foresight.AXES["task"]
    for axis, values in foresight.AXES.items():
        assert getattr(foresight.Point(), axis) in values
    long = foresight.draw(foresight.Point(lost=0.0, workers=1.5, channels=0.25, program=2.0), 1, 2)
    assert (long.num_workers, long.n_com, long.t_prog) == (6, 1, 24)
    assert all(chain.rows[0][2] == 0.0 for chain in long.chains)
    with pytest.raises(InputError, match="volatile"):
        foresight.mean_period([Chain(((1, 0, 0), (0, 1, 0), (0, 0, 1)))])


def test_the_command_for_on_line_optima(tmp_path):
    path = tmp_path / "pair.json"
    pair = Instance.from_letters(["uu", "uu"], w=[1, 2], tasks=2, n_com=1, t_prog=1, chains=[CHAIN, CHAIN])
    instances.write(pair, path)
    arguments = ["online-optimum", str(path), "--paths", "20", "--bound", "--json"]
    done = CliRunner().invoke(hindsched, arguments)
    assert done.exit_code == 0, done.output
    rows = {row["player"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert list(rows) == ["hindsight", "charged hindsight", "on-line optimum", "its policy", "E-IE"]
    assert rows["hindsight"]["how"] == rows["on-line optimum"]["how"] == "exact"
    assert rows["hindsight"]["high"] < rows["on-line optimum"]["low"]
    assert rows["charged hindsight"]["low"] < rows["on-line optimum"]["slots"]
    few = CliRunner().invoke(hindsched, [*arguments, "--most-states", "10"])
    assert [json.loads(line)["how"] for line in few.stdout.splitlines()][2] == "too many states"
    instances.write(pair.replace(chains=()), path)
    refused = CliRunner().invoke(hindsched, arguments)
    assert refused.stdout == ""
    assert "workers[0].markov" in refused.stderr
