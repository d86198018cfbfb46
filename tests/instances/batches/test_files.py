"""Files of instances and runs: reading, writing, and errors that name the place."""

from __future__ import annotations

import json

import pytest

from hindsched.instances import InputError
from hindsched.instances.batches import (
    Contacts,
    Instance,
    Run,
    Volunteers,
    read_instance,
    read_schedule,
    write_instance,
    write_schedule,
)
from hindsched.instances.batches.generate import paper
from tests.cases.batches import runs, varied

GOOD = {
    "format": "batches/1",
    "tasks": 2,
    "compute": "available",
    "start": 1,
    "batches": [[2, 5], [5, 9]],
    "workers": [{"c": 1, "up": []}, {"c": 2, "up": [[0, 3], [4, 7]]}],
}


def test_random_instances_read_back_equal() -> None:
    for seed in range(30):
        instance = varied(seed)
        again = read_instance(json.loads(write_instance(instance)))
        assert again == instance
        assert again.fingerprint == instance.fingerprint
        assert write_instance(again) == write_instance(instance)


def test_drawn_volunteers_have_a_short_file_and_equal_intervals() -> None:
    drawn = paper(workers=5, batches=2, tasks=3, seed=4, first_day=30)
    document = json.loads(write_instance(drawn))
    assert document["format"] == "batches/2"
    again = read_instance(document)
    assert again == drawn
    known = drawn.replace(up=drawn.up)
    assert json.loads(write_instance(known))["format"] == "batches/1"
    assert known.fingerprint != drawn.fingerprint
    assert (again.up.ups == known.up.ups).all()
    assert isinstance(again.source, Volunteers)


def test_start_and_compute_may_be_left_out() -> None:
    short = {name: GOOD[name] for name in ("format", "tasks", "batches", "workers")}
    instance = read_instance(short)
    assert (instance.start, instance.compute) == (0, "available")


def changed(path: list, value: object) -> dict:
    document = json.loads(json.dumps(GOOD))
    target = document
    for step in path[:-1]:
        target = target[step]
    if value is ...:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["tasks"], 0, "tasks"),
        (["tasks"], 1.0, "tasks"),
        (["tasks"], True, "tasks"),
        (["tasks"], ..., None),
        (["colour"], 1, None),
        (["start"], -1, "start"),
        (["start"], 3, "batches[0]"),
        (["compute"], "sometimes", "compute"),
        (["batches"], [], "batches"),
        (["batches", 0], [5, 5], "batches[0]"),
        (["batches", 0], [2, 6], "batches[1]"),
        (["batches", 1], [5, "9"], "batches[1]"),
        (["batches", 1], [5], "batches[1]"),
        (["workers"], [], "workers"),
        (["workers", 1, "c"], 0, "workers[1].c"),
        (["workers", 1, "c"], ..., "workers[1]"),
        (["workers", 1, "speed"], 3, "workers[1]"),
        (["workers", 1, "up", 0], [-1, 3], "workers[1].up[0]"),
        (["workers", 1, "up", 0], [0, 0], "workers[1].up[0]"),
        (["workers", 1, "up", 1], [3, 7], "workers[1].up[1]"),
        (["workers", 1, "up", 1], [2, 7], "workers[1].up[1]"),
        (["workers", 1, "up", 1], [4, 7.5], "workers[1].up[1]"),
        (["workers", 1, "up", 1], [4, 7, 9], "workers[1].up[1]"),
        (["workers", 1, "up", 1], 4, "workers[1].up[1]"),
        (["format"], "batches/9", "format"),
        (["format"], ..., None),
    ],
)
def test_errors_name_the_place(path: list, value: object, place: str | None) -> None:
    with pytest.raises(InputError) as caught:
        read_instance(changed(path, value))
    assert caught.value.place == place


def test_runs_read_back_equal() -> None:
    for seed in range(10):
        for simulated in runs(varied(seed)):
            again = read_schedule(json.loads(write_schedule(simulated.run)))
            assert again == simulated.run
            assert list(again.contacts.rows()) == list(simulated.run.contacts.rows())


def test_a_row_that_is_not_a_contact_is_left_to_the_checker() -> None:
    run = read_schedule({"format": "batches-run/1", "instance": "", "contacts": [[0, 0], [1, None]]})
    assert run.malformed is not None
    assert run.malformed.row == 1
    assert len(run.contacts) == 1
    with pytest.raises(InputError, match=r"contacts\[1\]"):
        write_schedule(run)


@pytest.mark.parametrize(
    "document",
    [
        {"format": "batches-run/1", "instance": ""},
        {"format": "batches-run/1", "instance": "", "contacts": [], "rung": "high"},
        {"format": "batches-run/1", "instance": "", "contacts": [], "periods": [[1]]},
        {"format": "batches-run/2", "instance": "", "contacts": []},
    ],
)
def test_a_file_that_is_not_a_run_is_refused(document: dict) -> None:
    with pytest.raises(InputError):
        read_schedule(document)


def test_numbers_beyond_32_bits_are_kept() -> None:
    late = 2**40
    instance = Instance(tasks=1, batches=[(late, late + 5)], c=[1], up=[[(late - 3, late + 9)]])
    assert read_instance(json.loads(write_instance(instance))) == instance
    run = Run(instance.fingerprint, Contacts.of([(late, 0, 0, 0, late + 1)]))
    assert read_schedule(json.loads(write_schedule(run))) == run
