"""The map of foresight, the tests of real machines, and the command for on-line optima."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from docs.studies.cli import studies
from docs.studies.commands.traces import named_traces
from docs.studies.coupled import foresight, markov
from hindsched.instances.chains import Chain, StateStream
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream

CHAIN = Chain(((0.9, 0.06, 0.04), (0.3, 0.7, 0.0), (0.2, 0.0, 0.8)))


def drawn(nodes, slots):
    return np.array([StateStream(CHAIN, stream("test", "markov", q)).take(slots) for q in range(nodes)])


def test_chains_pass_the_tests_and_aging_machines_do_not():
    """About one test in a hundred rejects drawn chains; the age test rejects UP periods of exactly ten slots."""
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
    rows = markov.estimates("drawn", states[:, :30_000], states[:, 30_000:], members=(1, 3, 9), lengths=(1, 6), teams=4)
    assert [(row["members"], row["slots"]) for row in rows] == [(1, 1), (1, 6), (3, 1), (3, 6)]
    for row in rows:
        assert row["observed"] == pytest.approx(row["predicted"], abs=0.03)
        assert row["observed_slots"] == pytest.approx(row["predicted_slots"], rel=0.03)
    assert rows[0]["predicted"] == 1.0
    assert rows[3]["predicted"] < 0.7


def test_the_map_by_its_command(tmp_path):
    arguments = ["foresight", "--axis", "channels", "--instances", "1", "--no-spot", "--policy", "E-IE"]
    arguments += ["--jobs", "1", "--results", str(tmp_path), "--json"]
    done = CliRunner().invoke(studies, arguments)
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [row["value"] for row in rows] == list(foresight.AXES["channels"])
    assert all(row["instances"] == 1 and row["median"] >= 1 for row in rows)
    table = pd.read_csv(tmp_path / "foresight.csv")
    assert list(table.columns) == list(foresight.COLUMNS)
    assert (tmp_path / "foresight.svg").read_text().startswith("<?xml")
    again = CliRunner().invoke(studies, arguments)
    assert again.stdout == done.stdout


def event_table(path, nodes):
    """Write an event table of 30 days of an unknown desktop grid; some intervals have owners."""
    lines = ["# event_id component_id node_id platform_id node_name type start stop reason"]
    for q in nodes:
        states = StateStream(CHAIN, stream("test", "table", q)).take(8_640)
        changes = np.flatnonzero(np.diff(states)) + 1
        for number, (a, b) in enumerate(zip([0, *changes], [*changes, states.size], strict=True)):
            kind = {0: 1, 1: 2 + number % 2, 2: 0}[states[a]]
            lines.append(f"{number} 1 {q} 1 pc{q}.lab {kind} {1.2e9 + 300 * a:.3f} {1.2e9 + 300 * b:.3f} -1")
    path.write_text("\n".join(lines) + "\n")


def rows_of(arguments, tmp_path):
    done = CliRunner().invoke(studies, [*arguments, "--jobs", "1", "--results", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done.stderr


def test_an_unknown_trace(tmp_path, capsys):
    """It has fewer nodes than required, and owners; windows follow from the availability periods."""
    event_table(tmp_path / "a.tab", range(7))
    mine = ["--trace", f"desk={tmp_path}/a.tab", "--slot-s", "300", "--windows", "1"]
    ((name, trace),) = named_traces(mine[1:2]).items()
    found = foresight.trace_sources(name, trace, 300, foresight.Windows(2, nodes=20))
    assert [source.name for source in found] == [
        f"desk task={task} window {n}" for n in (0, 1) for task in (0.1, 0.2, 0.4)
    ]
    messages = capsys.readouterr().err
    assert "desk: 7 nodes, 8,640 slots; chains from 2,880, windows of 4" in messages  # of periods of ten slots
    assert "left out in some windows: tasks of 0.02, 0.05 periods" in messages
    command = ["foresight", "--instances", "0", "--no-spot", *mine, "--policy", "IE"]
    rows, _ = rows_of([*command, "--window-slots", "100"], tmp_path)
    assert rows[0] | {"machines": "desk", "axis": "task", "value": 0.1, "instances": 1} == rows[0]
    assert rows[0]["median"] >= 1
    for arguments, said in (
        (
            [*command, "--train-slots", "8000", "--window-slots", "700"],
            "desk: 8640 slots, expected 8000 for the chains",
        ),
        (["markov", *mine, "--trace", f"{tmp_path}/a.tab"], "2 names, expected one trace"),
        ([*command, "--trace", "drawn=x"], "expected a name other than that of generated machines"),
    ):
        assert said in str(CliRunner().invoke(studies, arguments).exception)


def test_files_of_one_name_are_one_trace(tmp_path):
    for zone in ("east", "west"):
        (tmp_path / f"{zone} 1.csv").write_text("date,availability\n2023-01-01 00:00:00,1\n2023-01-01 00:05:00,0\n")
    files = [str(tmp_path / f"{zone} 1.csv") for zone in ("east", "west")]
    assert {name: len(trace.nodes) for name, trace in named_traces([f"spot={file}" for file in files]).items()} == {
        "spot": 2
    }
    assert list(named_traces(files)) == ["east_1", "west_1"]


def test_points_are_on_their_axes():
    assert foresight.Point().task in foresight.AXES["task"]
    for axis, values in foresight.AXES.items():
        assert getattr(foresight.Point(), axis) in values
    long = foresight.draw(foresight.Point(lost=0.0, workers=1.5, channels=0.25, program=2.0), 1, 2)
    assert (long.num_workers, long.n_com, long.t_prog) == (6, 1, 24)
    assert all(chain.rows[0][2] == 0.0 for chain in long.chains)
    with pytest.raises(InputError, match="volatile"):
        foresight.mean_period([Chain(((1, 0, 0), (0, 1, 0), (0, 0, 1)))])
