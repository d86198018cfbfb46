"""The study on large fleets, and its page."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from docs.studies.coupled.fleets import LANL_WINDOWS, Fleet, drawn_fleets, lanl_fleets, run_fleets
from docs.studies.coupled.lanl import WHOLE_START
from docs.studies.coupled.pages.fleets import FleetsPage
from docs.studies.rows import read_rows
from hindsched.instances import InputError
from hindsched.instances.states import UP
from hindsched.online.coupled import POLICIES, run_policy


def test_rows_are_the_runs_of_the_policies(tmp_path) -> None:
    sources = drawn_fleets([Fleet(30, 600, ("rr",))], 1, 0)[:1]
    rows = run_fleets(sources, tmp_path, time_limit_s=5)
    assert list(rows["policy"]) == [*POLICIES, "rr"]
    instance = sources[0][0].load()
    for policy in ("IE", "E-IAY", "rr"):
        row = rows[rows["policy"] == policy].iloc[0]
        run = run_policy(instance, policy, engine="plain")
        assert (row["makespan"] if row["makespan"] is not pd.NA else None) == run.makespan
    assert (rows["makespan"].dropna() >= rows["optimum_bound"].iloc[0]).all()
    both = [*sources, *drawn_fleets([Fleet(31, 600)], 1, 0)]
    assert run_fleets(both, tmp_path, time_limit_s=5, only_made=True).equals(rows)


def test_windows_of_the_trace_are_disjoint(tmp_path) -> None:
    """The only node is away in the first slot of the second window."""
    slots = [10_000 + 4_500, 60_001]
    spans = [(0, slots[0]), (slots[0] + 1, slots[1])]
    file = tmp_path / "event_trace.tab"
    file.write_text("".join(f"0 0 0 3 n0 1 {WHOLE_START + 600 * a} {WHOLE_START + 600 * b} NULL\n" for a, b in spans))
    sources = [source for source, _ in lanl_fleets(file, [Fleet(1)], LANL_WINDOWS)]
    assert len({source.identity for source in sources}) == LANL_WINDOWS
    instances = [source.load() for source in sources]
    away = [(instance.states != UP).sum() for instance in instances]
    assert away == [0, 1, *(0 for _ in instances[2:])]
    assert {instance.slots for instance in instances} == {4_000}
    assert all(a.tasks != b.tasks for a, b in pairwise(instances))


def test_no_stored_run_beats_its_bound_and_every_heuristic_ran() -> None:
    rows = read_rows("fleets")
    assert (rows["makespan"].dropna() >= rows.loc[rows["makespan"].notna(), "optimum_bound"]).all()
    assert (rows.groupby("instance")["policy"].agg(lambda names: set(POLICIES) <= set(names))).all()
    assert not rows.duplicated(["instance", "policy"]).any()


def test_numbers_of_the_page_are_those_of_the_bare_rows() -> None:
    rows = read_rows("fleets")
    drawn = rows[rows["setting"].str.startswith("paper p=20 ")]
    wide = drawn.pivot_table(index="instance", columns="policy", values="makespan", dropna=False).fillna(np.inf)
    optimum = drawn.groupby("instance")["optimum"].first()
    page = FleetsPage()
    assert page.ratio("drawn", "20", "hot").split()[0] == f"{(wide['hot'] / optimum).median():.2f}"
    assert page.versus("drawn", "20", "E-IE", "IE").split()[0] == f"{(wide['E-IE'] / wide['IE']).median():.2f}"
    assert page.faster("drawn", "20", "E-IE", "IE") == f"{(wide['E-IE'] < wide['IE']).sum()} of {len(wide)}"
    # Every optimum on 20 workers is proven, so that the best known value is the optimum
    medians = wide[list(POLICIES)].div(optimum, axis=0).median()
    assert page.rank("drawn", "20", "Y-IE").split()[0] == f"{medians.rank()['Y-IE']:g}"
    with pytest.raises(InputError, match="expected one of"):
        page.ratio("drawn", "20", "no-such-policy")
    with pytest.raises(InputError, match="expected one of"):
        page.rank("drawn", "20", "hot")
