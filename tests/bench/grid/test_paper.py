"""The reproduction: the fluid bound, tables and claims from a small run of the whole experiment, resumed."""

import json

import numpy as np
import pytest

from hindsched.bench.grid.paper import page, runs
from hindsched.bench.grid.paper.claims import findings
from hindsched.bench.grid.paper.fluid import fluid_bound
from hindsched.bench.grid.paper.published import TABLES, read_rows, write_rows
from hindsched.bench.grid.paper.tables import interval, tables
from hindsched.instances.grid.kth_sp2 import kth_sp2
from hindsched.online.grid import run_policy
from tests.cases.grid import random_instance


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
    assert interval([4.0]) == (4.0, 0.0)
    mean, half = interval([1.0, 2.0, 3.0, 4.0])
    assert (mean, half) == (2.5, pytest.approx(3.182 * 1.29099 / 2, rel=1e-3))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_NODES", 100)
        patch.setattr(runs, "_SIZES", (40, 80))
        patch.setattr(runs, "_COMPRESS", ("1", "3/5"))
        patch.setattr(runs, "kth_sp2", lambda slot_s: kth_sp2(slot_s=slot_s, count=40))
        patch.setattr(runs, "MIXES", {name: (mix, 300) for name, (mix, _) in runs.MIXES.items()})
        setup = runs.Setup(seeds=(0, 1), scale=0.5, overlay_seeds=(1, 2, 3))
        first = runs.run_experiment(setup, folder, num_processes=1, dask=None)
        again = runs.run_experiment(setup, folder, num_processes=1, dask=None)
        assert first == again
        lines = (folder / "runs.jsonl").read_text().splitlines()
        assert len(lines) == len(runs.experiment(setup)) == len(first)  # nothing was made twice
    return first


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


def test_every_claim_gets_a_verdict(rows):
    found = findings(rows)
    assert {number for finding in found for number in finding.number.split(", ")} == {*map(str, range(1, 11))}
    assert {finding.verdict for finding in found} <= {"holds", "does not hold here", "cannot be told"}
    months = next(finding for finding in found if finding.number == "5")
    assert months.verdict == "holds"
    dynamic = next(finding for finding in found if finding.number == "3" and "95%" in finding.ours)
    assert "4 seeds" in dynamic.ours
    stale = [finding for finding in found if "only Poll fails" in finding.claim]
    assert {finding.verdict for finding in stale if "poll 0.00 ± 0.00" in finding.ours} <= {"cannot be told"}
    poll = [finding for finding in found if "Poll over" in finding.claim]
    assert "72,000,000" in poll[0].ours


def test_days_and_classes_of_a_row(rows):
    row = next(row for row in rows if (row["part"], row["policy"], row["load"]) == ("paper", "asap_counted", 0.28))
    days = row["days"]
    assert len(days["requested"]) == len(days["executed"]) == len(days["possible"]) >= 1
    assert (np.cumsum(days["executed"]) <= np.cumsum(days["possible"]) + 1e-4).all()
    ran = sum(each[3] for each in row["waits"]["width"].values() if each)
    assert ran == row["jobs"] - row["failed"]
    mean = sum(each[0] * each[3] for each in row["waits"]["length"].values() if each) / ran
    assert mean == pytest.approx(row["total_wait"] * 60 / ran)


def test_files_are_written(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(page, "run_experiment", lambda *a, **k: rows)
    page.reproduce(tmp_path, num_processes=1, dask=None, as_json=True, seeds=(0, 1), scale=1.0, log=None)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"tables.md", "claims.md", "claims.csv", "utilisation.svg", "table_I.csv", "table_log.csv"} <= written
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert printed[-1]["verdict"]
    assert "does not hold here" in (tmp_path / "claims.md").read_text()


def test_published_rows_say_the_same(rows, tmp_path):
    write_rows(rows, tmp_path)
    texts = {name: (tmp_path / f"grid_{name}.csv").read_text() for name in TABLES}
    again = read_rows(texts)
    assert len(again) == len(rows)
    first, second = tables(rows), tables(again)
    for name, lines in first.items():
        for line, other in zip(lines, second[name], strict=True):
            assert line.keys() == other.keys()
            for key, value in line.items():
                assert other[key] == (pytest.approx(value, rel=1e-3, abs=1e-3) if isinstance(value, float) else value)
    assert [finding.verdict for finding in findings(again)] == [finding.verdict for finding in findings(rows)]


def test_parts_can_be_run_alone():
    setup = runs.Setup(seeds=(0,), narrow_seeds=(7,), parts=("size", "paper"))
    asked = runs.experiment(setup)
    assert {part for part, *_ in asked} == {"size", "paper"}
    assert {workload.seed for part, workload, *_ in asked if part == "paper" and workload.mix == "narrow"} == {7}


def test_the_log_as_requested(tmp_path):
    log = tmp_path / "log.swf"
    lines = (
        "; a comment",
        "1 0 0 10 4 -1 -1 5 9",
        "2 3 0 0 2 -1 -1 2 9",
        "3 4 0 -1 2 -1 -1 2 9",
        "4 7 0 5 1 -1 -1 1 9",
    )
    log.write_text("\n".join(lines) + "\n")
    requested = runs.Workload("KTH-SP2 as requested", log=str(log), slot_s=1).instance()
    assert list(requested.rows()) == [(0, 5, 10), (3, 2, 1), (7, 1, 5)]
    used = runs.Workload("KTH-SP2", log=str(log), slot_s=1).instance()
    assert list(used.rows()) == [(0, 4, 10), (7, 1, 5)]
