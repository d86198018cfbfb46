"""Campaigns that are killed at random instants and resumed have the rows of an undisturbed run: a small sample.

``python tests/bench/kill_campaigns.py --kills 60`` runs a larger one.
"""

import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


@pytest.mark.skipif(os.name != "posix", reason="signals of posix systems")
def test_rows_after_kills_equal_those_of_an_undisturbed_run(tmp_path):
    spec = spec_from_file_location("kill_campaigns", Path(__file__).with_name("kill_campaigns.py"))
    kill_campaigns = module_from_spec(spec)
    spec.loader.exec_module(kill_campaigns)
    kills, compared = kill_campaigns.run_kills(tmp_path, 2, seed=2)
    assert kills >= 2
    assert compared >= 1
