"""Compilation ahead of time runs every family once and leaves only machine code."""

import json

from hindsched.bench.campaign.warm_up import warm_up
from hindsched.bench.family import family_named


def test_every_policy_of_a_family_is_run():
    assert warm_up(["grid", "grid"]) == 2 * (1 + len(family_named("grid").policies()))


def test_the_command_prints_its_work_and_refuses_unknown_families(hindsched):
    code, out, _ = hindsched("compile", "bags", "--json", "--jobs", "1")
    row = json.loads(out)
    assert (code, row["families"]) == (0, "bags")
    assert row["runs"] >= 1 + len(family_named("bags").policies())
    code, out, error = hindsched("compile", "bag")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert "'bag', expected one of" in error
