"""Instances and their files: validation by zone and field, strict reading, exact writing, fingerprints by the law."""

import hashlib
import json
import pickle

import numpy as np
import pytest

from hindsched import instances
from hindsched.instances import InputError
from hindsched.instances.deadline import Instance, Zone, read_instance, read_schedule, write_instance, write_schedule
from hindsched.instances.deadline.model import spot_from_text, spot_to_text
from tests.cases.deadline import drawn, job, schedule

GOOD = {
    "format": "deadline/1",
    "slot_s": 10,
    "deadline_s": 45,
    "work_s": 20,
    "overhead_s": 5,
    "zones": [
        {"name": "a", "region": "east", "spot": "1101", "spot_price": 1, "on_demand_price": [3, 3, 4, 3]},
        {"spot": "0000", "spot_price": [2, 2, 2, 2], "on_demand_price": 5},
    ],
    "move_delay_s": [[0, 8], [9, 0]],
}


def changed(**changes):
    return json.loads(json.dumps(GOOD)) | changes


def with_zone(**changes):
    document = changed()
    document["zones"][1] |= changes
    return document


def test_drawn_instances_read_back_equal():
    for seed in range(40):
        instance = drawn(seed)
        text = write_instance(instance)
        again = read_instance(json.loads(text))
        assert again == instance
        assert (again.fingerprint, write_instance(again)) == (instance.fingerprint, text)
        assert pickle.loads(pickle.dumps(instance)) == instance
        assert [zone.name for zone in again.zones] == [zone.name for zone in instance.zones]


def test_defaults_and_what_counts():
    instance = read_instance(GOOD)
    assert [(zone.name, zone.region) for zone in instance.zones] == [("a", "east"), ("zone1", "zone1")]
    assert instance.slots == 4
    assert instance.zones[1].spot_price == 2
    assert instance.move_cost == ((0, 0), (0, 0))
    assert instance.prices[0].tolist() == [[1, 1, 1, 1], [3, 3, 4, 3]]
    assert instance.replace(deadline_s=49) != instance
    assert instance.replace(deadline_s=49).slots == 4
    renamed = [Zone(z.spot, z.spot_price, z.on_demand_price, f"n{i}", "r") for i, z in enumerate(instance.zones)]
    assert instance.replace(zones=renamed) == instance
    assert not instance.spot.flags.writeable
    assert not instance.prices.flags.writeable


def test_the_fingerprint_is_the_digest_of_the_law():
    for instance in (read_instance(GOOD), *(drawn(seed) for seed in range(20))):
        zones = [
            [spot_to_text(zone.spot), *(price if isinstance(price, int) else list(price) for price in prices)]
            for zone in instance.zones
            for prices in [(zone.spot_price, zone.on_demand_price)]
        ]
        delays, costs = ([list(row) for row in rows] for rows in (instance.move_delay_s, instance.move_cost))
        content = [instance.slot_s, instance.deadline_s, instance.work_s, instance.overhead_s, zones, delays, costs]
        text = b"deadline/1\x00" + json.dumps(content, separators=(",", ":")).encode()
        assert instance.fingerprint == f"sha256:{hashlib.sha256(text).hexdigest()}"
    # equal prices of all slots are one integer; the numbers are those of the first file above
    assert read_instance(GOOD).fingerprint == read_instance(with_zone(spot_price=2)).fingerprint
    text = b'deadline/1\x00[10,45,20,5,[["1101",1,[3,3,4,3]],["0000",2,5]],[[0,8],[9,0]],[[0,0],[0,0]]]'
    assert read_instance(GOOD).fingerprint == f"sha256:{hashlib.sha256(text).hexdigest()}"


BAD_FILES = [
    (changed(colour=1), "colour"),
    ({name: value for name, value in GOOD.items() if name != "work_s"}, "work_s"),
    (changed(format="deadline/2"), "format"),
    (changed(slot_s=0), "slot_s"),
    (changed(slot_s=True), "slot_s"),
    (changed(slot_s=10.0), "slot_s"),
    (changed(slot_s=46), "deadline_s: 45, expected at least one slot of 46 s"),
    (changed(work_s=0), "work_s"),
    (changed(work_s=2**31), "work_s"),
    (changed(overhead_s=-1), "overhead_s"),
    (changed(overhead_s="5"), "overhead_s"),
    (changed(zones=[]), "zones: none, expected at least one zone"),
    (changed(zones={}), "zones"),
    (with_zone(colour=1), "zones[1]: unknown key colour"),
    (with_zone(spot="01x1"), "zones[1].spot: character 'x' in slot 2"),
    (with_zone(spot="01\u0661\u0661"), "zones[1].spot: character"),
    (with_zone(spot="010"), "zones[1].spot: 3 slots, expected 4"),
    (with_zone(spot=[0, 1, 0, 1]), "zones[1].spot"),
    (with_zone(spot_price=-1), "zones[1].spot_price"),
    (with_zone(spot_price=1.5), "zones[1].spot_price"),
    (with_zone(spot_price=[1, 2, 3]), "zones[1].spot_price: 3 prices, expected one, or one for each of 4 slots"),
    (with_zone(spot_price=[1, 2, 3, True]), "zones[1].spot_price"),
    (with_zone(on_demand_price=2**31), "zones[1].on_demand_price"),
    (with_zone(on_demand_price=None), "zones[1].on_demand_price"),
    (with_zone(name="a"), "zones[1].name: 'a' is also the name of zones[0]"),
    (with_zone(region=7), "zones[1].region"),
    (changed(move_delay_s=[[0, 8]]), "move_delay_s: 1 rows, expected one for each of 2 zones"),
    (changed(move_delay_s=[[0, 8], [9]]), "move_delay_s[1]: 1 numbers, expected one for each of 2 zones"),
    (changed(move_delay_s=[[0, 8], [9, 1]]), "move_delay_s[1][1]: 1, expected 0 on the diagonal"),
    (changed(move_cost=[[0, -8], [9, 0]]), "move_cost[0][1]"),
    (changed(move_cost=[[0, 2**31], [9, 0]]), "move_cost[0][1]"),
]


@pytest.mark.parametrize(("document", "expected"), BAD_FILES, ids=[expected for _, expected in BAD_FILES])
def test_bad_files_are_refused_in_one_line_by_file_zone_and_field(document, expected, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as error:
        instances.read(path)
    said = str(error.value)
    assert said.startswith(f"{path}: ")
    assert expected in said
    assert "\n" not in said


def test_a_key_may_occur_once(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('{"format": "deadline/1", "slot_s": 1, "slot_s": 1}')
    with pytest.raises(InputError, match="slot_s"):
        instances.read(path)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"slot_s": 2.0}, "slot_s"),
        ({"zones": [Zone(np.array([1, 0, 1, 1]), 1, 2)]}, r"zones\[0\].spot: expected a one-dimensional array of bool"),
        ({"zones": [Zone(np.ones((1, 4), bool), 1, 2)]}, r"zones\[0\].spot: expected a one-dimensional"),
        ({"zones": [Zone(np.ones(3, bool), 1, 2)]}, r"zones\[0\].spot: 3 slots, expected 4"),
        ({"zones": [Zone(np.ones(4, bool), "1", 2)]}, r"zones\[0\].spot_price"),
        ({"zones": [Zone(np.ones(4, bool), 1, 2, 3)]}, r"zones\[0\].name: 3, expected a text"),
    ],
)
def test_objects_are_validated_as_files_are(changes, expected):
    arguments = {"slot_s": 10, "deadline_s": 40, "work_s": 5, "overhead_s": 0, "zones": [Zone(np.ones(4, bool), 1, 2)]}
    Instance(**arguments)
    with pytest.raises(InputError, match=expected):
        Instance(**{**arguments, **changes})


def test_numpy_integers_and_arrays_of_prices_are_accepted():
    zone = Zone(np.ones(4, bool), np.array([1, 2, 3, 4]), np.int64(7))
    instance = Instance(np.int32(10), 40, 5, 0, [zone])
    assert instance.zones[0].spot_price == (1, 2, 3, 4)
    assert instance == read_instance(json.loads(write_instance(instance)))


def test_a_caller_cannot_change_an_instance():
    spot = np.ones(4, bool)
    instance = Instance(10, 40, 5, 0, [Zone(spot, 1, 2)])
    spot[:] = False
    assert instance.spot.all()


def test_schedules_are_written_exactly_and_read_strictly():
    plan = schedule("ss.oO", 5, 10**15)
    text = write_schedule(plan)
    assert json.loads(text)["runs"] == [[0, 2, 0, "s"], [3, 4, 0, "o"], [4, 5, 1, "o"]]
    assert read_schedule(json.loads(text)) == plan
    late = schedule("", None, 0)
    assert read_schedule(json.loads(write_schedule(late))) == late
    with pytest.raises(InputError, match="format"):
        read_schedule({"format": "deadline-schedule/2"})


def test_texts_of_spot():
    assert spot_to_text(spot_from_text("0110")) == "0110"
    assert job("10", work_s=1).spot.tolist() == [[True, False]]
