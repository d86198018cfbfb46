"""Instances on LANL's cluster: the table is found, or refused in one line."""

import pytest

from docs.studies.coupled.lanl import WHOLE_START, lanl_sources
from hindsched.instances.errors import InputError


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
