"""The reproduction: the fluid bound, and tables from a small run of the whole experiment, resumed."""

import json

import numpy as np
import pytest

from docs.studies.grid.run_tables import read_rows
from hindsched.bench.grid import experiment, reproduction
from hindsched.bench.grid.experiment_rows import write_rows
from hindsched.bench.grid.experiment_tables import confidence_interval, tables
from hindsched.bench.grid.fluid_bound import fluid_bound
from hindsched.online.grid import run_policy
from tests.cases.grid import random_instance
from tests.cases.grid_experiment import small_experiment


def test_no_schedule_executes_more_than_the_fluid_bound():
    tight = 0
    for seed in range(60):
        instance = random_instance(seed, jobs=12, nodes=5)
        bound = fluid_bound(instance, 80)
        work = [sum(n * min(s, max(0, tau - r)) for r, n, s in instance.rows()) for tau in range(81)]
        assert bound.tolist() == [
            min(work[tau] + instance.nodes * (x - tau) for tau in range(x + 1)) for x in range(81)
        ]
        for policy in ("easy", "queue", "asap_pinned"):
            run = run_policy(instance, policy, engine="plain")
            used = np.zeros(400, dtype=int)
            for start, (_, n, s) in zip(run.starts.tolist(), instance.rows(), strict=True):
                used[start : start + s] += n
            done = np.concatenate(([0], np.cumsum(used)))[:81]
            assert (done <= bound).all()
            tight += (done == bound).all()
    assert tight > 0


def test_intervals():
    assert confidence_interval([4.0]) == (4.0, 0.0)
    mean, half = confidence_interval([1.0, 2.0, 3.0, 4.0])
    assert (mean, half) == (2.5, pytest.approx(3.182 * 1.29099 / 2, rel=1e-3))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return small_experiment(tmp_path_factory.mktemp("paper"))


def test_tables_have_a_line_for_each_setting(rows):
    found = tables(rows)
    assert [(line["mix"], line["load"], line["method"]) for line in found["I"]][:4] == [
        ("wide", 0.28, "push"),
        ("wide", 0.28, "pull"),
        ("wide", 0.28, "poll"),
        ("wide", 0.95, "push"),
    ]
    assert len(found["II"]) == 4 * 4
    assert all({"dynamic_s", "static_s", "difference_s_ci"} <= set(line) for line in found["III"])
    assert [line["seeds"] for line in found["III"]] == [2, 4, 2, 2]  # the overlays were run with two seeds more
    line = found["III"][1]
    assert line["difference_s"] == pytest.approx(line["dynamic_s"] - line["static_s"], abs=0.01)
    first = found["I"][0]
    push = [
        r["push"]
        for r in rows
        if r["part"] == "paper"
        and r["mix"] == "wide"
        and r["load"] == 0.28
        and r["policy"] == "dgs"
        and (r["degree"], r["overlay"], r["messaging"]) == (20, "static", "push")
    ]
    assert first["messages"] == pytest.approx(sum(push) / 2)
    days = [
        r["submitted_slots"] / 1440 for r in rows if r["part"] == "paper" and r["mix"] == "wide" and r["load"] == 0.28
    ]
    assert min(days) <= first["messages"] / first["per_day"] <= max(days)


def test_days_and_classes_of_a_row(rows):
    row = next(row for row in rows if (row["part"], row["policy"], row["load"]) == ("paper", "asap_counted", 0.28))
    days = row["days"]
    assert len(days["requested"]) == len(days["executed"]) == len(days["possible"]) == -(-row["ends"] // 1440) >= 1
    assert sum(days["executed"]) * 1440 * row["nodes"] == pytest.approx(row["area"], rel=1e-4)  # to the end of all jobs
    assert (np.cumsum(days["executed"]) <= np.cumsum(days["possible"]) + 1e-4).all()
    ran = sum(each[3] for each in row["waits"]["width"].values() if each)
    assert ran == row["jobs"] - row["failed"]
    mean = sum(each[0] * each[3] for each in row["waits"]["length"].values() if each) / ran
    assert mean == pytest.approx(row["total_wait"] * 60 / ran)


def test_files_are_written(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reproduction, "run_experiment", lambda *a, **k: rows)
    setup = experiment.Setup(seeds=(0, 1))
    reproduction.reproduce(tmp_path, setup, num_processes=1, dask=None, as_json=True)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"tables.md", "grid_runs.csv", "utilisation.svg", "table_I.csv", "table_log.csv"} <= written
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert printed[0]["method"] == "push"


def test_written_rows_give_the_same_tables(rows, tmp_path):
    write_rows(rows, tmp_path)
    again = read_rows(tmp_path)
    assert len(again) == len(rows)
    first, second = tables(rows), tables(again)
    for name, lines in first.items():
        for line, other in zip(lines, second[name], strict=True):
            assert line.keys() == other.keys()
            for key, value in line.items():
                assert other[key] == (pytest.approx(value, rel=1e-3, abs=1e-3) if isinstance(value, float) else value)


def test_parts_can_be_run_alone():
    setup = experiment.Setup(seeds=(0,), narrow_seeds=(7,), parts=("size", "paper"))
    asked = experiment.experiment(setup)
    assert {part for part, *_ in asked} == {"size", "paper"}
    assert {workload.seed for part, workload, *_ in asked if part == "paper" and workload.mix == "narrow"} == {7}


def test_a_trace_is_a_further_workload_of_the_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "_NODES", 20)
    lines = ["# JobID SubmitTime WaitTime RunTime NProcs ...", "0 0 0 60 99 -1 -1 99"]
    lines += [f"{i} {600 * i} 0 {60 * (1 + i % 7)} {1 + i % 5} -1 -1 {1 + i % 5} -1 -1 1" for i in range(1, 60)]
    log = tmp_path / "trace.gwf"
    log.write_text("\n".join(lines) + "\n")
    setup = experiment.Setup(seeds=(0, 1), log=str(log), parts=("paper", "log", "whole"))
    asked = [run for run in experiment.experiment(setup) if run[1].mix == "trace"]
    assert {part for part, *_ in asked} == {"paper"}
    assert sum(policy == "dgs" for _, _, policy, _ in asked) == 2 * 2 * 6  # two seeds, two loads
    assert sum(policy == "fcfs" for _, _, policy, _ in asked) == 2
    for workload in {run[1] for run in asked}:
        instance = workload.instance()
        assert len(instance) == 59  # without the job wider than the grid
        load = instance.area / (instance.nodes * (int(instance.submit[-1]) + 1))
        assert load == pytest.approx(workload.load, rel=0.1)
    assert {run[1].log for run in experiment.experiment(setup) if run[0] != "paper"} == {None}
    swf = tmp_path / "log.swf"
    swf.write_text("; a comment\n1 0 0 10 4 -1 -1 5 9\n")
    other = experiment.Setup(log=str(swf))
    assert (other.trace, other.kth) == (None, str(swf))


def test_the_log_as_requested(tmp_path):
    log = tmp_path / "log.swf"
    lines = (
        "; a comment",
        "1 0 0 10 4 -1 -1 5 9",
        "2 3 0 0 2 -1 -1 2 9",
        "3 4 0 -1 2 -1 -1 2 9",
        "4 7 0 5 1 -1 -1 1 9",
        "4 7 0 2 1 -1 -1 1 9 -1 2",
        "4 7 0 3 1 -1 -1 1 9 -1 3",
    )
    log.write_text("\n".join(lines) + "\n")
    requested = experiment.Workload("KTH-SP2 as requested", log=str(log), slot_s=1).instance()
    assert list(requested.rows()) == [(0, 5, 10), (3, 2, 1), (7, 1, 5)]
    used = experiment.Workload("KTH-SP2", log=str(log), slot_s=1).instance()
    assert list(used.rows()) == [(0, 4, 10), (7, 1, 5)]
