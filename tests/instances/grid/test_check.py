"""The checker: broken rules of schedules by hand, and random schedules compared with a table of slots and nodes."""

import itertools
import json
import random

import numpy as np
import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, Schedule, check, read_schedule, write_schedule
from hindsched.instances.grid.schedule import node_runs, node_text
from hindsched.instances.text_files import read_json
from tests.cases.grid import random_instance, random_schedule

THREE = Instance(nodes=4, slot_s=60, submit=[0, 1, 1], width=[2, 3, 4], length=[3, 2, 1])
#: Nodes 0 and 1 are busy in slots 0-2, nodes 1-3 in slots 3-4, and all nodes in slot 5.
GOOD = [[0, "0-1"], [3, "1-3"], [5, "0-3"]]


def verdict(entries, **others):
    document = {"format": "grid-schedule/1", "instance": THREE.fingerprint, "allocations": entries}
    return check(THREE, Schedule(document | others))


def test_the_outcome_of_a_valid_schedule():
    found = verdict(GOOD)
    assert found.is_valid
    assert (found.outcome.jobs, found.outcome.failed, found.outcome.total_wait) == (3, 0, 2 + 4)
    found = verdict([GOOD[0], None, GOOD[2]])
    assert (found.outcome.jobs, found.outcome.failed, found.outcome.total_wait) == (3, 1, 4)
    assert verdict([None, None, None]).outcome.total_wait == 0


@pytest.mark.parametrize(
    ("job", "entry", "rule", "slot"),
    [
        (0, [0], "S1", None),
        (0, 0, "S1", None),
        (0, [0.0, "0-1"], "S1", None),
        (0, [True, "0-1"], "S1", None),
        (0, [0, 1], "S1", None),
        (0, [0, "0-1", 1], "S1", None),
        (0, ["0", "0-1"], "S1", None),
        (0, {"start": 0}, "S1", None),
        (0, False, "S1", None),
        (1, [0, "1-3"], "S3", 0),
        (1, [-1, "1-3"], "S3", -1),
        (1, [0, "nonsense"], "S3", 0),
        (0, [0, ""], "S1", None),
        (0, [0, "0,"], "S1", None),
        (0, [0, "0 ,1"], "S1", None),
        (0, [0, "1-0"], "S1", None),
        (0, [0, "0-1-2"], "S1", None),
        (0, [0, "-1"], "S1", None),
        (0, [0, "0,+1"], "S1", None),
        (0, [0, "0-1\n"], "S1", None),
        (0, [0, "0,\u0661"], "S1", None),
        (0, [0, "3-1,9"], "S1", None),
        (0, [0, "1,0"], "S4", 0),
        (0, [0, "0,0"], "S4", 0),
        (0, [0, "0-1,1"], "S4", 0),
        (0, [0, "3-4"], "S4", 0),
        (0, [0, "0,99999999999999999999999999"], "S4", 0),
        (0, [0, "0-2"], "S5", 0),
        (0, [0, "1"], "S5", 0),
        (1, [2, "1-3"], "S6", 2),
        (2, [4, "0-3"], "S6", 4),
        (2, [1, "0-3"], "S6", 1),
    ],
)
def test_the_first_broken_rule_is_reported(job, entry, rule, slot):
    entries = list(GOOD)
    entries[job] = entry
    found = verdict(entries)
    assert (found.rule, found.outcome) == (rule, None)
    if slot is not None:
        assert verdict(entries) == found
        assert found.reason


def test_every_spelling_of_runs_is_read():
    assert verdict([[0, "0,1"], [3, "01-002,3-3"], [5, "0,1-2,3"]]).is_valid


def test_rules_of_the_whole_file_are_checked_first():
    assert verdict([[0, "x"], [0, "x"]]).rule == "S2"
    assert verdict([*GOOD, None]).rule == "S2"
    assert verdict({}).rule == "S1"
    assert verdict(GOOD, instance="sha256:0").rule == "S1"
    assert verdict(GOOD, by="me").rule == "S1"
    assert verdict(GOOD, format="grid-schedule/2").rule == "S1"
    assert check(THREE, Schedule({"format": "grid-schedule/1", "allocations": GOOD})).rule == "S1"


def test_rules_of_jobs_are_checked_job_by_job():
    late = [7, "0-1"]
    assert verdict([late, [0, "1-3"], [5.0, "0-3"]]).rule == "S3"  # job 1 before job 2
    assert verdict([[0, "0"], [0, "1-3"], GOOD[2]]).rule == "S5"
    assert verdict([[0, "1,0"], [3, "1-3"], [5]]).rule == "S4"


def test_the_earliest_overlap_at_the_lowest_node_is_reported():
    four = Instance(nodes=3, slot_s=1, submit=[0] * 4, width=[1, 2, 2, 1], length=[9, 4, 4, 1])
    schedule = Schedule.of(four, [5, 2, 3, 0], [[0], [1, 2], [1, 2], [0]])
    assert "node 1 runs jobs 1 and 2" in str(check(four, schedule).reason)
    schedule = Schedule.of(four, [3, 2, 9, 3], [[0], [1, 2], [0, 1], [0]])
    found = check(four, schedule)
    assert (found.time, found.reason) == (3, "node 0 runs jobs 0 and 3")


def test_starts_of_any_size_are_compared():
    far = 10**40
    pair = Instance(nodes=1, slot_s=1, submit=[0, 0], width=[1, 1], length=[2, 2])
    assert check(pair, Schedule.of(pair, [far, far + 2], [[0], [0]])).outcome.total_wait == 2 * far + 2
    assert check(pair, Schedule.of(pair, [far, far + 1], [[0], [0]])).rule == "S6"


def test_random_schedules_against_a_table_of_slots_and_nodes():
    rules = set()
    for seed in range(400):
        instance = random_instance(seed)
        schedule = _mutated(instance, random_schedule(instance, seed), seed)
        found = check(instance, schedule)
        rules.add(found.rule)
        assert found.rule == _rule_by_table(instance, schedule), seed
    assert rules == {None, "S3", "S4", "S5", "S6"}


def _mutated(instance, schedule, seed):
    draw = random.Random(seed)
    entries = [list(entry) for entry in schedule.document["allocations"]]
    for _ in range(draw.randint(0, 2)):
        j = draw.randrange(len(entries))
        nodes = node_text(draw.sample(range(instance.nodes + 1), draw.randint(1, instance.nodes)))
        entries[j] = [entries[j][0] + draw.randint(-3, 3), draw.choice([entries[j][1], nodes])]
    return Schedule(dict(schedule.document) | {"allocations": entries})


def _rule_by_table(instance, schedule):
    rows = list(instance.rows())
    for j, (start, (submit, width, _)) in enumerate(zip(schedule.starts(), rows, strict=True)):
        nodes = schedule.nodes(j)
        if start < submit:
            return "S3"
        if sorted(set(nodes)) != nodes or nodes[-1] >= instance.nodes:
            return "S4"
        if len(nodes) != width:
            return "S5"
    table = np.zeros((instance.nodes, 200), dtype=int)
    for j, start in enumerate(schedule.starts()):
        table[schedule.nodes(j), start : start + rows[j][2]] += 1
    return "S6" if table.max() > 1 else None


def test_files_of_schedules(tmp_path):
    schedule = random_schedule(THREE, 1)
    path = tmp_path / "schedule.json"
    path.write_text(write_schedule(schedule))
    assert read_schedule(read_json(path)) == schedule
    with pytest.raises(InputError):
        read_schedule({"format": "schedule/1"})


def test_node_texts_round_trip():
    draw = random.Random(1)
    for _ in range(50):
        nodes = sorted(draw.sample(range(30), draw.randint(1, 20)))
        runs = node_runs(node_text(nodes))
        assert [k for a, b in runs for k in range(a, b + 1)] == nodes
        assert all(b[0] > a[1] + 1 for a, b in itertools.pairwise(runs))


#: Node 0 is down in slots 2-3 and stops job 0, which runs again from slot 4 on; job 1 is cancelled in slot 3.
EVENTS = {
    "format": "grid-schedule/2",
    "allocations": [[4, "0-1"], None, [7, "0-3"]],
    "outages": [[0, 2, 4], [3, 0, 1], [3, 5, 6]],
    "cancelled": [[1, 3]],
    "stopped": [[0, 0, 2, "0-1"], [1, 2, 3, "1-3"]],
}


def with_events(**others):
    document = {"instance": THREE.fingerprint} | EVENTS | others
    return check(THREE, Schedule(document))


def test_the_outcome_with_events():
    found = with_events()
    assert found.is_valid, found
    assert (found.outcome.jobs, found.outcome.failed, found.outcome.total_wait) == (3, 1, 4 + 6)
    schedule = Schedule({"format": "grid-schedule/2", "instance": THREE.fingerprint} | EVENTS)
    assert check(THREE, read_schedule(json.loads(write_schedule(schedule)))).is_valid
    assert with_events(outages=[], cancelled=[], stopped=[]).is_valid


@pytest.mark.parametrize(
    ("key", "rows", "rule", "slot"),
    [
        ("outages", {}, "S1", None),
        ("outages", [[0, 2]], "S1", None),
        ("outages", [[0, 2, 4.0]], "S1", None),
        ("outages", [[4, 2, 4]], "S1", None),
        ("outages", [[0, 4, 4]], "S1", None),
        ("outages", [[0, 2, 4], [0, 3, 5]], "S1", None),
        ("outages", [[1, 8, 9], [0, 2, 4]], "S1", None),
        ("outages", [[0, 2, 4], [1, 1, 2]], "S7", 1),
        ("outages", [[0, 2, 4], [2, 2, 9]], "S7", 2),
        ("outages", [[0, 2, 5]], "S7", 4),
        ("outages", [], "S8", 0),
        ("cancelled", [[1, 3], [1, 4]], "S1", None),
        ("cancelled", [[3, 3]], "S1", None),
        ("cancelled", [[1, 0]], "S1", None),
        ("cancelled", [], "S8", 2),
        ("cancelled", [[1, 4]], "S8", 2),
        ("cancelled", [[1, 3], [2, 7]], "S9", 7),
        ("stopped", [[0, 0, 2]], "S1", None),
        ("stopped", [[0, 0, True, "0-1"]], "S1", None),
        ("stopped", [[3, 0, 2, "0-1"]], "S1", None),
        ("stopped", [[0, 0, 2, "1-0"]], "S1", None),
        ("stopped", [[0, -1, 2, "0-1"]], "S3", -1),
        ("stopped", [[0, 0, 2, "0,0"]], "S4", 0),
        ("stopped", [[0, 0, 2, "0-2"]], "S5", 0),
        ("stopped", [[0, 0, 3, "0-1"]], "S8", 0),
        ("stopped", [[0, 2, 2, "0-1"]], "S8", 2),
        ("stopped", [[0, 0, 2, "1-2"]], "S8", 0),
        ("stopped", [[0, 10**30, 2, "0-1"]], "S8", 10**30),
        ("stopped", [[0, 0, 2, "0-1"], [0, 1, 2, "0,3"]], "S8", 1),
        ("allocations", [[4, "0-1"], None, [5, "0-3"]], "S6", 5),
    ],
)
def test_broken_rules_of_events(key, rows, rule, slot):
    found = with_events(**{key: rows})
    assert (found.rule, found.time) == (rule, slot)


def test_events_belong_to_their_format():
    assert with_events(format="grid-schedule/1").rule == "S1"
    assert verdict(GOOD, format="grid-schedule/2").rule == "S1"
    document = {"format": "grid-schedule/2", "instance": THREE.fingerprint, "allocations": GOOD}
    with pytest.raises(InputError, match="outages"):
        read_schedule(document)
