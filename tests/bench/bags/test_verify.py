"""The machine confirms the theorems and finds a false one."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hindsched.bench.bags import verify as study
from hindsched.bench.bags.verify import CLAIMS, dealt, interval_instance, splits, verify
from hindsched.bench.commands.group import hindsched
from hindsched.bench.verification import Sample
from hindsched.instances.errors import SelfCheckError
from tests.cases.bags import letters


def test_every_claim_is_confirmed() -> None:
    done = verify(Sample(12, seed=3))
    assert set(done) == set(CLAIMS)
    assert all(done[name] > 0 for name in CLAIMS if name != "timeouts")


def test_a_contradiction_ends_it_and_the_instance_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "optimum", lambda instance: 1)
    with pytest.raises(SelfCheckError, match=r"brute\.json: the optimum is that of exhaustive search.*contradicted"):
        verify(Sample(5, failures=tmp_path))
    assert (tmp_path / "brute.json").is_file()


def test_the_counts_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    ran = CliRunner().invoke(hindsched, ["verify-bags", "--instances", "4", "-o", str(file)])
    assert ran.exit_code == 0, ran.output
    lines = file.read_text().splitlines()
    assert lines[:2] == ["claim,times", "instances,4"]
    assert [line.partition(",")[0] for line in lines[2:]] == list(CLAIMS)


def test_splitting_intervals() -> None:
    assert splits([(0, 1), (1, 2), (2, 3)], 1, 3)
    assert not splits([(0, 2), (1, 3), (2, 4), (3, 5)], 1, 4)
    assert splits([(0, 2), (1, 3), (2, 4), (3, 5)], 2, 2)
    # two sets of two exist in number, but three overlap at 2
    assert not splits([(0, 3), (1, 3), (2, 3), (3, 4)], 2, 2)
    instance = interval_instance([(0, 2), (1, 3), (2, 4), (3, 5)], 2)
    assert (instance.segments, instance.ticks, instance.slots) == (2, (2, 2, 2, 2), 5)


def test_counting_positions() -> None:
    pair = letters("uud", "udu", ticks=[2, 2], slot=3, tasks=1, segments=3)
    assert dealt(pair) == 4  # ends at 2, 4, 6 and 2, 8
    assert dealt(pair.replace(tasks=2)) is None
