"""Batsim's formats: workloads, read and written, and the table of jobs."""

import copy
import csv
import io
import json
from math import inf

import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, Schedule
from hindsched.instances.grid.batsim import COLUMNS, from_batsim, jobs_csv, to_batsim
from tests.cases.grid import random_instance

WORKLOAD = {
    "nb_res": 4,
    "jobs": [
        {"id": "late", "subtime": 60.1, "res": 1, "profile": "long", "walltime": 1000},
        {"id": 7, "subtime": 0, "res": 4, "profile": "short"},
    ],
    "profiles": {"long": {"type": "delay", "delay": 120}, "short": {"type": "DelayProfile", "delay": 0.1}},
    "description": "two jobs",
}


def test_a_workload_is_read():
    read = from_batsim(WORKLOAD, slot_s=60)
    assert list(read.instance.rows()) == [(0, 4, 1), (2, 1, 2)]
    assert read.ids == ("7", "late")
    assert from_batsim(WORKLOAD, slot_s=60, nodes=9).instance.nodes == 9


def test_a_job_ends_at_its_walltime():
    """As job 3 of Batsim's first case study: a delay of 10 s and a walltime of 6 s."""
    for walltime, length in ((6, 6), (6.5, 7), (10, 10), (11, 10), (-1, 10), (-1.0, 10), (None, 10)):
        job = {"id": "3", "subtime": 1, "res": 2, "profile": "delay10", "walltime": walltime}
        document = {"nb_res": 4, "jobs": [job], "profiles": {"delay10": {"type": "DelayProfile", "delay": 10}}}
        read = from_batsim(document, slot_s=1)
        assert (list(read.instance.rows()), read.stopped) == ([(1, 2, length)], length < 10)


def test_missing_fields_are_called_missing():
    document = copy.deepcopy(WORKLOAD)
    del document["nb_res"]
    with pytest.raises(InputError, match="nb_res: missing, expected it or --nodes"):
        from_batsim(document, slot_s=60)
    del document["jobs"][0]["subtime"]
    with pytest.raises(InputError, match=r"jobs\[0\].subtime: missing, expected seconds"):
        from_batsim(document, slot_s=60, nodes=4)


def test_decimal_times_are_exact():
    document = copy.deepcopy(WORKLOAD)
    document["jobs"][0]["subtime"] = 0.3  # the nearest binary fraction is below 3/10, and that of 1.1 is above 11/10
    document["profiles"]["long"]["delay"] = 1.1
    read = from_batsim(document, slot_s=1)
    assert list(read.instance.rows()) == [(0, 4, 1), (1, 1, 2)]


def test_a_written_workload_reads_back_equal():
    for seed in range(10):
        instance = random_instance(seed)
        assert from_batsim(json.loads(to_batsim(instance)), slot_s=60).instance == instance


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("jobs",), None, "jobs"),
        (("profiles",), [], "profiles"),
        (("nb_res",), 0, "nb_res"),
        (("jobs", 0), 5, "jobs[0]"),
        (("jobs",), [], "jobs"),
        (("nb_res",), None, "nb_res"),
        (("jobs", 0, "walltime"), 0, "jobs[0].walltime"),
        (("jobs", 0, "walltime"), -2, "jobs[0].walltime"),
        (("jobs", 0, "walltime"), inf, "jobs[0].walltime"),
        (("jobs", 0, "walltime"), "60", "jobs[0].walltime"),
        (("jobs", 0, "id"), True, "jobs[0].id"),
        (("jobs", 0, "id"), None, "jobs[0].id"),
        (("jobs", 1, "subtime"), inf, "jobs[1].subtime"),
        (("profiles", "short", "delay"), inf, "profiles.short.delay"),
        (("jobs", 0, "id"), "7", "jobs[1].id"),
        (("jobs", 1, "res"), 1.0, "jobs[1].res"),
        (("jobs", 1, "res"), 5, "jobs[1].res"),
        (("jobs", 1, "subtime"), -1, "jobs[1].subtime"),
        (("jobs", 1, "subtime"), True, "jobs[1].subtime"),
        (("jobs", 1, "profile"), "none", "jobs[1].profile"),
        (("profiles", "short", "type"), "smpi", "profiles.short.type"),
        (("profiles", "short", "delay"), "1", "profiles.short.delay"),
    ],
)
def test_errors_name_the_place(path, value, place):
    document = copy.deepcopy(WORKLOAD)
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(InputError) as caught:
        from_batsim(document, slot_s=60)
    assert caught.value.place == place


def test_the_table_of_jobs():
    instance = Instance(8, 60, [0, 1, 1], [3, 2, 1], [2, 4, 1])
    schedule = Schedule.of(instance, [1, 3, None], [[0, 1, 4], [1, 2], []])
    table = list(csv.DictReader(io.StringIO(jobs_csv(instance, schedule, ids=("a", "b", "c")))))
    assert tuple(table[0]) == COLUMNS
    first, second, failed = table
    assert first["allocated_resources"] == "0-1 4"
    times = ("submission_time", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time")
    assert [int(first[name]) for name in times] == [0, 60, 120, 180, 60, 180]
    assert (float(first["stretch"]), second["waiting_time"]) == (1.5, "120")
    assert (failed["job_id"], failed["final_state"], failed["starting_time"]) == ("c", "REJECTED", "")
