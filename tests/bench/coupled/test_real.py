"""Instances on real machines: the spot zones come along, larger tables are named."""

import pytest

from hindsched.bench.coupled.real import SPOT_SLOTS, SPOT_WINDOWS, WHOLE_START, lanl_sources, spot_sources
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP


def test_spot_instances_need_nothing_but_the_toolkit(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HINDSCHED_TRACES", raising=False)
    sources = spot_sources()
    assert len({source.name for source in sources}) == len({source.identity for source in sources}) == SPOT_WINDOWS
    for source in sources:
        instance = source.load()
        assert (instance.num_workers, instance.slots) == (9, SPOT_SLOTS)
        assert all(chain is not None for chain in instance.chains)
        assert set(instance.states.ravel().tolist()) == {UP, DOWN}


def test_lanl_without_its_table_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="expected LANL's table") as caught:
        lanl_sources(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lanl_is_found_in_the_folder_or_in_its_folder(tmp_path):
    begin = WHOLE_START
    table = "".join(f"0 0 {q} 3 n{q} 1 {begin} {begin + 600 * 60_001} NULL\n" for q in range(500))
    (tmp_path / "fta_lanl").mkdir()
    (tmp_path / "fta_lanl" / "event_trace.tab").write_text(table)
    names = [source.name for source in lanl_sources(tmp_path)]
    assert names == [source.name for source in lanl_sources(tmp_path / "fta_lanl")]
    some = [f"LANL m={m} w={w}" for m in (20, 50) for w in (10, 100, 1000)]
    assert names == [*some, *(f"LANL p=500 m={m} w={w}" for m in (50, 100, 500) for w in (10, 100))]
