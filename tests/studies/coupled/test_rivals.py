"""Rivals of the exact search: their answers are those of brute force, and a stopped one claims no more than is true."""

from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from docs.studies.cli import studies
from docs.studies.coupled import rivals, solver_races
from hindsched import offline
from hindsched.bench.campaign.sources import Given
from hindsched.instances import SelfCheckError
from hindsched.instances.coupled.generate import paper, small
from hindsched.offline.backends import horizons
from hindsched.offline.coupled.models import round_windows
from hindsched.offline.limits import NO_LIMITS, Limits
from tests.cases.coupled import tiny

INSTALLED = [name for name, rival in rivals.RIVALS.items() if rival.is_available()]
DIDP = pytest.mark.skipif(find_spec("didppy") is None, reason="needs didppy")


@pytest.mark.parametrize("is_helped", [True, False])
@pytest.mark.parametrize("name", rivals.RIVALS)
def test_a_rival_agrees_with_brute_force(name, is_helped, monkeypatch):
    if name not in INSTALLED:
        pytest.skip(f"{name} is not installed")
    seeds = range(80 if name.startswith("didp") else 24)
    if not is_helped:  # without the first schedule and short horizons, the model itself finds the optimum
        monkeypatch.setattr(round_windows, "greedy_plan", lambda *_: [])
        monkeypatch.setattr(horizons, "_FIRST_STEP", 100)
    for seed in seeds:
        instance = tiny(seed)
        exact = offline.solve(instance, solver="brute")
        answer = rivals.solve(instance, name, stand_by=True, limits=NO_LIMITS)
        assert (answer.status, answer.value) == (exact.status, exact.value), seed


@DIDP
@pytest.mark.parametrize("name", [name for name in rivals.RIVALS if name.startswith("didp")])
def test_the_dynamic_program_agrees_where_the_channel_binds(name):
    for seed in range(12):
        instance = small(seed, p=5, slots=24, tasks=4, iterations=2, up=0.7, down=0.1).replace(
            n_com=2, t_prog=2, t_data=1
        )
        exact = offline.solve(instance)
        answer = rivals.solve(instance, name, stand_by=True, limits=NO_LIMITS)
        assert (answer.status, answer.value) == (exact.status, exact.value), seed


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_a_stopped_rival_is_honest(name):
    if name not in INSTALLED:
        pytest.skip(f"{name} is not installed")
    instance = paper(m=5, n_com=5, wmin=1, scenario=1, trial=0, slots=60, iterations=4)  # the optimum is 32
    answer = rivals.solve(instance, name, stand_by=True, limits=Limits(0.2))
    assert answer.status.is_proven or answer.limit is not None
    assert answer.value is None or answer.value >= 32
    assert answer.bound is None or answer.bound <= 32


@DIDP
def test_a_rival_runs_in_a_process_of_its_own_and_may_lose_it(tmp_path, monkeypatch):
    source = Given("tiny", "tiny", tiny(1))
    limits = solver_races.Limits(5)
    rows = solver_races.race([source], ["native", "didp-cabs"], tmp_path / "a", limits)
    assert [row["status"] for row in rows] == ["optimal", "optimal"]
    monkeypatch.setattr(solver_races, "_time_within_limits", _end_process)
    rows = solver_races.race([source], ["native", "didp-cabs"], tmp_path / "b", limits)
    assert [(row["status"], row["seconds"]) for row in rows[1:]] == [("unknown", 5)]


def _end_process(*_):
    import os

    os._exit(1)


@pytest.mark.parametrize(
    ("status", "value", "bound"),
    [("feasible", 6, 3), ("unknown", None, 8), ("optimal", 8, 8), ("infeasible", None, None)],
)
def test_contradictions_of_a_proven_optimum_are_found(status, value, bound):
    optimum = {"solver": "native", "status": "optimal", "value": 7, "bound": 7}
    other = {"solver": "other", "status": status, "value": value, "bound": bound}
    with pytest.raises(SelfCheckError, match="other"):
        solver_races._expect_agreement("an instance", [optimum, other])
    solver_races._expect_agreement("an instance", [optimum, other | {"status": "feasible", "value": 9, "bound": 7}])


def test_missing_rivals_are_left_out_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("hindsched.offline.solvers.find_spec", lambda name: None if name == "didppy" else object())
    arguments = ["solvers", "--wmin", "1", "--n-com", "5", "--m", "5", "--iterations", "1", "--instances", "1"]
    arguments += ["--slots", "300", "--solver", "native", "--solver", "didp-cabs", "--results", str(tmp_path), "--json"]
    result = CliRunner().invoke(studies, arguments, catch_exceptions=False)
    assert "didp-cabs is left out: it needs didppy (extra rivals)" in result.stderr
    assert result.stdout.count("\n") == 1
