"""Jobs from traces: windows, prices over time, moves of a checkpoint, and the packaged zones sample by sample."""

import gzip
import json

import numpy as np
import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline import HOUR_S, spot_zones
from hindsched.instances.deadline.from_trace import from_trace, hours_to_s
from hindsched.instances.deadline.moves import moves_of_checkpoint, region_of
from hindsched.instances.deadline.prices import micro_dollars, read_prices
from hindsched.instances.random_streams import stream
from hindsched.instances.traces import read

SAMPLES = "date,zone,availability\n" + "".join(
    f"2024-01-01 00:{minute:02d}:00,{zone},{up}\n"
    for zone, states in (("us-east-2a", "1101"), ("us-west-2b", "0111"))
    for minute, up in zip((0, 10, 20, 30), states, strict=True)
)
SIZES = {"slot_s": 600, "work_s": 600, "deadline_s": 2400, "overhead_s": 60}


def letters(instance):
    return ["".join("01"[int(spot)] for spot in row) for row in instance.spot]


def test_nodes_are_zones(write):
    job = from_trace(read(write("zones.csv", SAMPLES)), **SIZES)
    assert letters(job) == ["1101", "0111"]
    assert [(zone.name, zone.region) for zone in job.zones] == [
        ("us-east-2a", "us-east-2"),
        ("us-west-2b", "us-west-2"),
    ]
    assert (job.zones[0].spot_price, job.zones[0].on_demand_price) == (973_100, 3_060_000)
    assert (job.move_delay_s, job.move_cost) == (((0, 0), (0, 0)), ((0, 0), (0, 0)))


def test_a_slot_has_spot_if_the_node_is_available_during_all_of_it(write):
    trace = read(write("zones.csv", SAMPLES))
    assert letters(from_trace(trace, **SIZES | {"slot_s": 1200})) == ["10", "01"]
    assert letters(from_trace(trace, **SIZES | {"slot_s": 300}, nodes=["us-west-2b"])) == ["00111111"]
    later = from_trace(trace, **SIZES | {"deadline_s": 1299}, start="2024-01-01T00:10:00", nodes=1)
    assert letters(later) == ["10"]
    with pytest.raises(InputError, match="deadline_s: 599, expected at least one slot of 600 s"):
        from_trace(trace, **SIZES | {"deadline_s": 599})
    with pytest.raises(InputError, match="not observed during all of slot 3"):
        from_trace(trace, **SIZES | {"deadline_s": 3000}, start="2024-01-01T00:10:00")


FORMS = {
    "json": ("a.json", json.dumps({"gap_s": 600, "data": [1, 1, 0, 1]})),
    "inverted": ("a.json", json.dumps({"gap_s": 600, "preempted": [0, 0, 1, 0]})),
    "counts": ("a.csv", "date,count\n" + "".join(f"{600 * i},{n}\n" for i, n in enumerate([1, 1, 0, 1]))),
    "log": ("a.csv", "0,add,a\n1200000,remove,a\n1800000,add,b\n2400000,remove,b\n"),
    "events": ("a.tab", "0 0 7 3 a 1 0 1200 NULL\n1 0 7 3 a 0 1200 1800 NULL\n2 0 7 3 a 1 1800 2400 NULL\n"),
    "packed": ("a.csv.gz", gzip.compress(SAMPLES.encode())),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_trace_is_read(write, form):
    trace = read(write(*FORMS[form]))
    job = from_trace(trace, **SIZES, nodes=[trace.nodes[0]])
    assert letters(job)[0].startswith("110")


# --- prices -----------------------------------------------------------------------------------------------------------

PRICES = """Timestamp,AvailabilityZone,InstanceType,SpotPrice
2024-01-01T00:20:00Z,us-east-2a,p3,0.5
2024-01-01T00:00:00Z,us-east-2a,p3,1.25
2023-12-31T23:00:00Z,us-east-2a,p3,9
2024-01-01T00:25:00Z,us-west-2b,p3,0.0000005
2023-12-01T00:00:00Z,us-west-2b,p3,2
"""


def test_a_price_holds_until_the_next_one(write):
    table = read_prices(write("prices.csv", PRICES))
    job = from_trace(read(write("zones.csv", SAMPLES)), **SIZES, prices=table)
    assert job.zones[0].spot_price == (1_250_000, 1_250_000, 500_000, 500_000)
    assert job.zones[1].spot_price == (2_000_000, 2_000_000, 2_000_000, 1)


def test_zones_are_found_by_the_part_before_an_underscore(write):
    table = read_prices(write("prices.csv.gz", gzip.compress(b"time,zone,price\n0,b,1\n5,b,2\n")))
    assert table.in_slots("b_v100_1", 0, 4, 3) == [1_000_000, 1_000_000, 2_000_000]
    with pytest.raises(InputError, match="zone: no price of 'c', expected one of b"):
        table.in_slots("c", 0, 1, 1)
    with pytest.raises(InputError, match="zone 'b': the first price is of"):
        table.in_slots("b", -1, 1, 1)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("time,zone\n0,b\n", r"prices\.csv: line 1: no line names one column each of time, zone and price"),
        ("time,zone,price,usd\n0,b,1,1\n", "line 1: no line names one column each"),
        ("time,zone,price\n", "line 1: no price, expected at least one"),
        ("time,zone,price\n0,b,1\n0,b,2\n", "line 3: another price of"),
        ("time,zone,price\n0,b,-1\n", "line 2: '?-1'?, expected dollars an hour, 0 to 2147"),
        ("time,zone,price\n0,b,2148\n", "line 2: '?2148'?, expected dollars"),
        ("time,zone,price\n0,b,cheap\n", "line 2: '?cheap'?, expected dollars"),
        ("time,zone,price\nlater,b,1\n", "line 2"),
    ],
)
def test_bad_tables_are_refused_by_file_and_line(write, text, place):
    path = write("prices.csv", text)
    with pytest.raises(InputError, match=place) as error:
        read_prices(path)
    assert str(error.value).startswith(str(path))


def test_dollars_are_rounded_to_micro_dollars():
    assert micro_dollars("0.0000004", "x") == 0
    assert micro_dollars("0.0000005", "x") == 1
    assert micro_dollars(3.06, "x") == 3_060_000
    for wrong in ("", "nan", "1e99", "-0.1"):
        with pytest.raises(InputError, match="x: "):
            micro_dollars(wrong, "x")


def test_hours_are_whole_seconds():
    assert hours_to_s("0.05", "x") == 180
    assert hours_to_s(92, "x") == 92 * HOUR_S
    for wrong in ("0.0001", "-1", "one"):
        with pytest.raises(InputError, match="x: "):
            hours_to_s(wrong, "x")


# --- moves ------------------------------------------------------------------------------------------------------------


def test_moves_at_the_published_rates():
    """50 GB: 8 s between regions of a continent; to another continent 72 s; a dollar, or half of it."""
    regions = ["us-east-1", "us-east-1", "us-east-2", "us-west-2", "eu-west-1"]
    delays, costs = moves_of_checkpoint(regions, 50)
    assert delays[0] == [0, 0, 8, 8, 72]
    assert costs[0] == [0, 0, 500_000, 1_000_000, 1_000_000]
    assert round(8192 * 50 * (1 / 3590 - 1 / 9720)) == 72
    assert [list(row) for row in zip(*delays, strict=True)] == delays
    assert moves_of_checkpoint(regions, 0) == ([[0] * 5] * 5, [[0] * 5] * 5)
    for wrong in (-1, float("nan"), float("inf"), 100_001):
        with pytest.raises(InputError, match=f"checkpoint_gb: {wrong}, expected gigabytes from 0 to 100000"):
            moves_of_checkpoint(regions, wrong)
    assert max(map(max, moves_of_checkpoint(regions, 100_000)[1])) == 2_000_000_000


def test_regions_of_names():
    names = ("us-east-2a", "us-gov-west-1b", "europe-west4-a", "asia-northeast1-c_x", "lab", "us-east-2abc")
    assert [region_of(name) for name in names] == [
        *("us-east-2", "us-gov-west-1", "europe-west4", "asia-northeast1", "lab", "us-east-2abc"),
    ]


# --- packaged zones ---------------------------------------------------------------------------------------------------


def test_packaged_windows_have_one_slot_a_sample():
    names = spot_zones.spot_zone_names()
    assert len(names) == 9
    whole = spot_zones.window(names[:2], 0, work_s=1, deadline_s=195 * spot_zones.SAMPLES, overhead_s=0)
    part = spot_zones.window(names[:2], 700, work_s=172_800, deadline_s=187_200, overhead_s=180, checkpoint_gb=50)
    assert part.slots == 960
    assert (part.spot == whole.spot[:, 700 : 700 + 960]).all()
    assert part.move_delay_s[0][1] == (0 if part.zones[0].region == part.zones[1].region else 8)
    assert 0 < whole.spot.mean() < 1
    with pytest.raises(InputError, match="zone: 'nowhere', expected one of"):
        spot_zones.window(["nowhere"], 0, work_s=1, deadline_s=195, overhead_s=0)
    with pytest.raises(InputError, match="start: samples 20158 to 20159"):
        spot_zones.window(names[:1], spot_zones.SAMPLES, work_s=1, deadline_s=195, overhead_s=0)


def test_starts_are_those_of_the_law():
    for deadline_h, slots in ((52, 960), (70, 1292), (92, 1698)):
        deadline_s = deadline_h * HOUR_S
        drawn = stream("deadline", "us-east-2a", deadline_s, 0).random(40)
        expected = np.floor(drawn * (20_159 - slots)).astype(int).tolist()
        assert spot_zones.starts(["us-east-2a"], deadline_s, 40) == expected
    assert spot_zones.starts(["us-east-2a", "us-west-2a"], 187_200, 3) != spot_zones.starts(["us-east-2a"], 187_200, 3)
