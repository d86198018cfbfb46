"""The published optima are complete, belong to their instances, and are confirmed on a sample."""

import pytest

from docs.studies.coupled.optima import distribution, known_optima
from hindsched import offline
from hindsched.bench.coupled.paper import experiment
from hindsched.offline.results import Status


@pytest.fixture(scope="module")
def optima():
    return known_optima()


def test_every_instance_is_proven_in_both_settings(optima):
    sources = experiment()
    assert len(optima) == len(sources) == 6000
    for ending in ("", "_no_stand_by"):
        assert set(optima[f"status{ending}"]) <= {"optimal", "infeasible"}
        finished = optima[f"status{ending}"] == "optimal"
        assert (optima[f"makespan{ending}"].notna() == finished).all()
        assert (optima[f"bound{ending}"][finished] == optima[f"makespan{ending}"][finished]).all()
    both = optima.dropna()
    assert (both["makespan"] <= both["makespan_no_stand_by"]).all()
    assert optima["fingerprint"].is_unique


@pytest.mark.parametrize("row", range(0, 6000, 400))
def test_a_sample_is_found_again(optima, row):
    source, known = experiment()[row], optima.iloc[row]
    instance = source.load()
    assert instance.fingerprint == known["fingerprint"]
    for stand_by, ending in ((True, ""), (False, "_no_stand_by")):
        result = offline.solve(instance, stand_by=stand_by)
        if known[f"status{ending}"] == "optimal":
            assert (result.status, result.value) == (Status.OPTIMAL, known[f"makespan{ending}"])
        else:
            assert result.status is Status.INFEASIBLE


def test_the_distribution_counts_every_instance_once(optima):
    summary = distribution(optima)
    assert len(summary) == 60
    assert summary["instances"].sum() == 6000
    assert summary["finished"].sum() == (optima["status"] == "optimal").sum()
    assert summary["open"].sum() == 0
