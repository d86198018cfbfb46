"""Price certificates: values compared with enumeration, bounds on every schedule, and broken rules."""

import copy
import random
from fractions import Fraction
from math import ceil

import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, PriceCertificate, Resource, check, read_schedule, write_certificate
from hindsched.instances.grid.load_knapsack import largest_load
from hindsched.instances.text_files import read_json
from tests.cases.grid import most_load as most_load_by_enumeration
from tests.cases.grid import random_instance, random_prices, random_schedule


def value_by_enumeration(instance, prices):
    document = prices.document
    end = instance.horizon + 20
    total = Fraction(0)
    paid = []
    for resource in document["resources"]:
        row = [0] * (3 * end)
        for start, stop, price in resource["prices"]:
            row[start:stop] = [price] * (stop - start)
        paid.append(row)
        total -= resource["limit"] * sum(row)
    for j, (submit, width, length) in enumerate(instance.rows()):
        loads = []
        for resource in document["resources"]:
            if "jobs" in resource:
                loads.append(resource["jobs"].get(str(j), 0))
            else:
                loads.append(width if resource["loads"] is None else resource["loads"].get(str(width), 0))
        total += min(
            document["scale"] * (start - submit)
            + sum(load * sum(row[start : start + length]) for load, row in zip(loads, paid, strict=True))
            for start in range(submit, end)
        )
    return max(0, ceil(total / document["scale"]))


def test_values_equal_an_enumeration_and_bound_every_schedule():
    values = []
    for seed in range(150):
        instance = random_instance(seed, jobs=6, span=3)
        prices = random_prices(instance, seed)
        found = check(instance, prices)
        assert found.is_valid, found.reason
        assert found.outcome.value == value_by_enumeration(instance, prices)
        assert found.outcome.value <= check(instance, random_schedule(instance, seed)).outcome.total_wait
        values.append(found.outcome.value)
    assert sum(value > 0 for value in values) > 20


def test_numbers_beyond_64_bits_stay_exact():
    pair = Instance(nodes=2, slot_s=1, submit=[0, 0], width=[2, 2], length=[5, 5])
    for scale in (4, 4 * 10**30):  # an immediate start costs each job 10 p = 2.5; limit times prices is 2 x 5 p
        prices = PriceCertificate.of(pair, scale, [Resource(2, [(0, 5, scale // 4)])])
        assert check(pair, prices).outcome.value == ceil(2 * 2.5 - 2 * 5 / 4)
    far = Instance(nodes=1, slot_s=1, submit=[2**59, 2**59], width=[1, 1], length=[2**58, 2**58])
    prices = PriceCertificate.of(far, 1, [Resource(1, [(2**59, 2**59 + 2**58, 1)])])
    assert check(far, prices).outcome.value == 2**58


def test_random_knapsacks_against_enumeration():
    refused = 0
    for seed in range(300):
        draw = random.Random(seed)
        nodes = draw.randint(1, 30)
        items = [(draw.randint(1, 6), draw.randint(1, nodes)) for _ in range(draw.randint(1, 6))]
        repeated = draw.random() < 0.5
        several = {(i, c): item for i, item in enumerate(items) for c in range(nodes // item[1] if repeated else 1)}
        if len(several) > 14:
            continue
        most = most_load_by_enumeration(several, nodes)
        for limit in {0, 1, most - 1, most, most + 1, 3 * nodes}:
            assert (largest_load(items, nodes, limit, repeated=repeated) > limit) == (most > limit), (
                items,
                nodes,
                limit,
            )
            refused += most > limit
    assert refused > 200


BASE = Instance(nodes=6, slot_s=60, submit=[0, 0, 3], width=[4, 2, 6], length=[5, 3, 2])
GOOD = {
    "format": "grid-prices/1",
    "instance": BASE.fingerprint,
    "scale": 10,
    "resources": [
        {"loads": None, "limit": 6, "prices": [[0, 5, 1], [5, 7, 2]]},
        {"loads": {"4": 2, "2": 1, "5": 3}, "limit": 3, "prices": [[2, 9, 1]]},
        {"jobs": {"0": 1, "2": 1}, "limit": 1, "prices": []},
    ],
}


def changed(path, value):
    document = copy.deepcopy(GOOD)
    *way, last = path
    inner = document
    for step in way:
        inner = inner[step]
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    return document


def test_a_valid_certificate():
    assert check(BASE, PriceCertificate(GOOD)).is_valid
    assert check(BASE, PriceCertificate(GOOD)).outcome.value == value_by_enumeration(BASE, PriceCertificate(GOOD))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "grid-prices/2"),
        (("instance",), "sha256:0"),
        (("scale",), 0),
        (("scale",), 1.0),
        (("scale",), True),
        (("scale",), KeyError),
        (("by",), "me"),
        (("resources",), {}),
        (("resources", 0), []),
        (("resources", 0, "limit"), KeyError),
        (("resources", 0, "loads"), KeyError),
        (("resources", 0, "jobs"), {}),
        (("resources", 0, "loads"), []),
        (("resources", 0, "limit"), -6),
        (("resources", 0, "limit"), 6.0),
        (("resources", 0, "note"), 1),
        (("resources", 0, "prices"), None),
        (("resources", 0, "prices", 0), [0, 5]),
        (("resources", 0, "prices", 0), [0, 5, -1]),
        (("resources", 0, "prices", 0), [0, 5, 1.0]),
        (("resources", 0, "prices", 0), [0, 6, 1]),
        (("resources", 0, "prices", 0), [0, 0, 1]),
        (("resources", 0, "prices", 0), [-1, 5, 1]),
        (("resources", 0, "prices", 1), [4, 7, 1]),
        (("resources", 1, "loads", "0"), 1),
        (("resources", 1, "loads", "7"), 1),
        (("resources", 1, "loads", "x"), 1),
        (("resources", 1, "loads", "03"), 1),
        (("resources", 1, "loads", "4"), -1),
        (("resources", 1, "loads", "4"), "2"),
        (("resources", 2, "jobs", "3"), 1),
        (("resources", 2, "jobs", "-1"), 1),
        (("resources", 2, "jobs"), None),
    ],
)
def test_a_certificate_without_the_right_form_breaks_p1(path, value):
    document = changed(path, value)
    assert check(BASE, PriceCertificate(document)).rule == "P1"
    document["resources"] = document["resources"] and [*document["resources"]]
    if path[0] == "resources" and len(path) > 1 and path[1] != 1:
        document["resources"][1]["limit"] = 0  # P1 comes before P2
        assert check(BASE, PriceCertificate(document)).rule == "P1"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("resources", 0, "limit"), 5),
        (("resources", 0, "limit"), 7),
        (("resources", 1, "limit"), 2),
        (("resources", 1, "loads", "3"), 2),  # twice width 3, though no job has it
        (("resources", 1, "loads", "6"), 4),
        (("resources", 2, "limit"), 0),
        (("resources", 2, "jobs", "1"), 1),  # jobs 0 and 1 fit together
    ],
)
def test_a_limit_that_can_be_exceeded_breaks_p2(path, value):
    assert check(BASE, PriceCertificate(changed(path, value))).rule == "P2"


def test_files_of_prices(tmp_path):
    path = tmp_path / "prices.json"
    path.write_text(write_certificate(PriceCertificate(GOOD)))
    assert read_schedule(read_json(path)) == PriceCertificate(GOOD)
    with pytest.raises(InputError):
        read_schedule({"format": "grid-price/1"})
