"""SkyNomad's panel: its printed dollars from stored rows, its jobs, and files of prices that are refused."""

import json
import re

import pytest

from docs.studies.deadline.skynomad import PRINTED, STARTS, ZONES, means, panel, read_panel_prices
from docs.studies.rows import read_rows
from hindsched.instances.deadline import spot_zones
from hindsched.instances.errors import InputError


def written(path, document):
    path.write_text(json.dumps(document))
    return path


def test_the_printed_dollars_are_found_where_the_last_slot_is_not_billed():
    found = means()
    assert {name: round(billed, 2) for name, (_, billed) in found.items()} == PRINTED
    rows = read_rows("deadline_skynomad")
    assert rows["start"].tolist() == list(STARTS)
    assert (rows["free"] <= rows["up_s"]).all()
    assert (rows["free"] > rows["last_free"]).all()
    for zone in ZONES:
        assert (rows["free"] <= rows[f"uniform {zone}"]).all()


def test_a_job_of_the_panel(tmp_path):
    series = {f"{zone}_v100_1": [1.5 + z, *[1.0 + z] * (spot_zones.SAMPLES - 1)] for z, zone in enumerate(ZONES)}
    prices = read_panel_prices(written(tmp_path / "prices.json", series))
    job = panel(prices, 0)
    assert [zone.spot_price[:2] for zone in job.zones] == [
        (1_500_000, 1_000_000),
        (2_500_000, 2_000_000),
        (3_500_000, 3_000_000),
    ]
    assert job.move_delay_s == ((0, 0, 0),) * 3
    assert job.move_cost == ((0, 500_000, 1_000_000), (500_000, 0, 1_000_000), (1_000_000, 1_000_000, 0))
    assert (job.slots, job.work_s, panel(prices, 1).zones[0].spot_price) == (1106, 143_780, 1_000_000)


def test_files_without_the_prices_are_refused(tmp_path):
    for document in ({}, {f"{ZONES[0]}_v100_1": [1.0]}):
        with pytest.raises(InputError, match=re.escape(f"p.json: {ZONES[0]}_v100_1: expected a list of 20158 prices")):
            read_panel_prices(written(tmp_path / "p.json", document))
