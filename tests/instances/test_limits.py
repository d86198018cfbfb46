"""Sizes are limited before memory or time run out, and what is read can be written again."""

import json

import pytest

from hindsched import instances
from hindsched.bench.campaign.file import read_campaign
from hindsched.instances import InputError
from hindsched.instances.batches.generate import back_to_back
from hindsched.instances.batches.generate import small as small_batches
from hindsched.instances.batches.volunteers import VolunteerParameters, Volunteers
from hindsched.instances.coupled import Schedule
from hindsched.instances.coupled.generate import small


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Volunteers(2**63), "workers: 9223372036854775808, expected at most 250000"),
        (
            lambda: Volunteers(10**5, habits=VolunteerParameters(cycle_s=1)),
            "workers: about 1677721600000 times of availability, expected at most 10000000000",
        ),
        (lambda: back_to_back(0, 1, 10**8), "batches: 100000000, expected at most 1000000"),
        (lambda: small_batches(0, workers=10**8), "workers: 100000000, expected at most 1000000"),
        (lambda: small_batches(0, workers=10**6, batches=10**6), "workers: up to 8000000000000 seconds of all"),
        (lambda: small(0, p=10**8), "p: 100000000, expected an integer <= 100000"),
        (lambda: small(0, p=10**5, slots=10**5), "slots: 100000 of 100000 workers, expected at most 400000000 states"),
    ],
)
def test_sizes_have_limits(make, message):
    with pytest.raises(InputError) as refused:
        make()
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    "table",
    [
        "m = [1]\nn_com = [1]\nwmin = [1]\nscenarios = 18446744073709551615",
        "m = [1]\nn_com = [1]\nwmin = [1]\nscenarios = 1000\ntrials = 201",
        'family = "grid"\nseeds = 200001',
        'family = "deadline"\nslots = [9]\nup = [0.5]\nseeds = 200001',
        'family = "deadline"\nzones = ["us-east-2a"]\ndeadline_h = [52]\noverhead_s = [1]\nstarts = 200001',
        f'family = "batches"\nseeds = {list(range(2000))}\ntasks = {list(range(1, 102))}',
        'family = "bags"\nmachines = ["M01"]\ntasks = [1]\nreference_s = [1]\ncheckpoints = [1]\nstores = ["shared"]\n'
        "starts = 9223372036854775807",
    ],
)
def test_a_campaign_has_a_limited_number_of_instances(tmp_path, table):
    path = tmp_path / "many.toml"
    path.write_text(f"[[instances]]\n{table}\n")
    with pytest.raises(InputError, match=r"many\.toml: instances\[0\]: [0-9]+ instances, expected at most 200000"):
        read_campaign(path)


GRID = {"format": "grid-schedule/1", "instance": "sha256:0", "allocations": [[0, "0"], None]}
PRICES = {"format": "grid-prices/1", "instance": "sha256:0", "scale": 1, "resources": [{"limit": 1}]}


@pytest.mark.parametrize("document", [GRID, PRICES], ids=["schedule", "prices"])
def test_a_schedule_that_is_read_can_be_written(tmp_path, document):
    path = tmp_path / "a.json"

    def read(document):
        path.write_text(json.dumps(document))
        return instances.read_schedule(path)

    found = read(document)
    instances.write_schedule(found, tmp_path / "b.json")
    assert instances.read_schedule(tmp_path / "b.json") == found
    for key in document:
        with pytest.raises(InputError, match=f"missing key {key}"):
            read({name: value for name, value in document.items() if name != key})
    with pytest.raises(InputError, match="unknown key 'more'"):
        read({**document, "more": 1})
    of_list = list(document)[-1]
    for value in (4294967296, None, "0", {}):
        with pytest.raises(InputError, match=f"{of_list}: .*, expected a list"):
            read({**document, of_list: value})


def test_a_text_with_a_lone_surrogate_is_not_written(tmp_path):
    with pytest.raises(InputError, match="expected Unicode text without a lone surrogate"):
        instances.write_schedule(Schedule("\ud800", (), ()), tmp_path / "a.json")
    assert not list(tmp_path.iterdir())
