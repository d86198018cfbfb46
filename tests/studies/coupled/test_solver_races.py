"""Races of solvers: the pairs that are compared, and the weight of a stopped solve."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from docs.studies.cli import studies
from docs.studies.coupled.solver_races import Limits, compare, race, spread
from hindsched import offline
from hindsched.instances import SelfCheckError


def row(solver, instance, seconds, status="optimal", iterations=2):
    return {"iterations": iterations, "instance": instance, "solver": solver, "seconds": seconds, "status": status}


def test_ratios_are_over_the_base_on_the_same_instance():
    rows = [
        *(row("native", name, seconds) for name, seconds in (("a", 0.01), ("b", 0.1), ("c", 0.02))),
        row("cpsat", "a", 1.0),
        row("cpsat", "b", 1.0),
        row("cpsat", "c", 60.0, "feasible"),
    ]
    base, other = compare(rows, "native")
    assert (base["median_ratio"], base["mean_ratio"], base["stopped"]) == (1.0, 1.0, 0)
    assert (other["median_ms"], other["most_ms"]) == (1000.0, 60_000.0)
    assert other["median_ratio"] == pytest.approx(100)
    assert other["mean_ratio"] == pytest.approx((100 * 10 * 3000) ** (1 / 3))
    assert (other["instances"], other["proven"], other["stopped"]) == (3, 2, 1)


def test_instances_are_spread_over_all_points():
    sources = spread([5, 10], [5, 10, 20], range(1, 11), [1, 2], 60, 1000)
    points = [(source.m, source.n_com, source.wmin) for source in sources if source.iterations == 1]
    assert len(set(points)) == 60
    more = spread([5], [5], [1], [1], 30, 1000)
    assert len({source.name for source in more}) == 30


def test_the_command_races_and_resumes(tmp_path):
    arguments = ["solvers", "--wmin", "1", "--n-com", "5", "--m", "5", "--iterations", "1,2", "--instances", "2"]
    arguments += ["--slots", "500", "--results", str(tmp_path), "--json"]
    first = CliRunner().invoke(studies, arguments, catch_exceptions=False).stdout
    rows = [json.loads(line) for line in first.splitlines()]
    assert [(row["K"], row["solver"], row["instances"], row["proven"]) for row in rows] == [
        (k, solver, 2, 2) for k in (1, 2) for solver in ("native", "cpsat")
    ]
    assert (tmp_path / "table.csv").exists()
    assert (tmp_path / "table.md").exists()
    assert CliRunner().invoke(studies, arguments, catch_exceptions=False).stdout == first  # nothing is measured twice


def test_two_optima_are_a_contradiction(tmp_path, monkeypatch):
    solve = offline.solve

    def lie(instance, *arguments, **options):
        result = solve(instance, *arguments, **options)
        if options["solver"] == "cpsat":
            return replace(result, value=1, lower=1, upper=1)
        return result

    monkeypatch.setattr(offline, "solve", lie)
    with pytest.raises(SelfCheckError, match="scenario=0 trial=0"):
        race(spread([5], [5], [1], [1], 1, 500), ["native", "cpsat"], tmp_path, Limits(10))
