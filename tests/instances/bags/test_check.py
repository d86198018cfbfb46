"""The checker: schedules worked out by hand, and a mutation for every rule."""

import json
from fractions import Fraction
from typing import Any

import pytest

from hindsched.instances import is_made_for
from hindsched.instances.bags import Instance, Run, Save, Schedule, check, read_schedule, write_schedule
from tests.cases.bags import letters

HALF = Fraction(1, 2)
# machine 0 needs 4 ticks for a segment, machine 1 needs 2; slots of 3 ticks
PAIR = letters("uuud", "uruu", ticks=[4, 2], slot=3, tasks=2, segments=2, on_demand=True)
GOOD = Schedule(
    PAIR.fingerprint,
    (
        Run(0, 0, 0, 5, 0),  # segment end at 4
        Run(1, 1, 0, 8, 0),  # UP in [0, 3) and from 6 on: segment ends at 2 and 7
        Run(1, 0, 8, 10, 1),
    ),
    (Save(0, 5),),
    10,
)


def verdict(instance: Instance, *runs: Run, saves: tuple[Save, ...] = (), turnaround: int | None = None) -> Any:
    return check(instance, Schedule(None, runs, saves, turnaround))


def rule(schedule: Schedule, instance: Instance = PAIR) -> tuple[str | None, object]:
    found = check(instance, schedule)
    return found.rule, found.time


def changed(**fields: Any) -> Schedule:
    old = {name: getattr(GOOD, name) for name in ("instance", "runs", "saves", "turnaround")}
    return Schedule(**{**old, **fields})


def test_a_good_schedule() -> None:
    found = check(PAIR, GOOD)
    assert found.is_valid
    assert (found.outcome.turnaround, found.outcome.completed) == (10, 2)
    assert is_made_for(PAIR, GOOD)
    assert not is_made_for(PAIR, changed(instance=None))
    assert check(PAIR, changed(instance="sha256:0")).is_valid
    assert check(PAIR, changed(runs=GOOD.runs[::-1])).is_valid


def test_a_schedule_reads_back_equal() -> None:
    odd = changed(runs=(*GOOD.runs, Run(0, 1, Fraction(11, 2), 6, Fraction(5, 4))))
    for schedule in (GOOD, odd, changed(turnaround=None)):
        assert read_schedule(json.loads(write_schedule(schedule))) == schedule


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # form
        ({"runs": (Run(2, 0, 0, 5, 0),)}, ("form", None)),
        ({"runs": (Run(0, 2, 0, 5, 0),)}, ("form", None)),
        ({"runs": (Run(0, 0, 5, 5, 0),)}, ("form", None)),
        ({"runs": (Run(1, 0, 0, 13, 0),)}, ("form", None)),
        ({"runs": (Run(0, 0, -1, 2, 0),)}, ("form", None)),
        ({"runs": (Run(0, 0, 0, 5, 2),)}, ("form", None)),
        ({"saves": (Save(2, 5),)}, ("form", None)),
        # presence
        ({"runs": (Run(0, 0, 0, 10, 0), *GOOD.runs[1:])}, ("presence", 9)),
        ({"runs": (*GOOD.runs, Run(0, 0, Fraction(19, 2), 10, 0))}, ("presence", Fraction(19, 2))),
        ({"runs": (GOOD.runs[0], Run(1, 1, 3, 8, 0), GOOD.runs[2])}, ("presence", 3)),  # RECLAIMED at the start
        # one
        ({"runs": (*GOOD.runs, Run(1, 0, 7, Fraction(15, 2), 0))}, ("one", 7)),
        ({"runs": (*GOOD.runs, Run(0, 1, Fraction(9, 2), 6, 0))}, ("one", Fraction(9, 2))),
        # on_demand
        ({"saves": (Save(0, 6),)}, ("on_demand", 6)),
        ({"saves": (Save(0, 0),)}, ("on_demand", 0)),
        # origin
        ({"runs": (*GOOD.runs[:2], Run(1, 0, 8, 10, Fraction(3, 2)))}, ("origin", 8)),
        ({"runs": (GOOD.runs[0], GOOD.runs[1], Run(1, 0, 8, 10, 1)), "saves": ()}, (None, None)),
        ({"runs": (Run(0, 0, 0, Fraction(7, 2), 0), *GOOD.runs[1:]), "saves": ()}, ("origin", 8)),
        # complete
        ({"runs": GOOD.runs[:2]}, ("complete", None)),
        ({"runs": (*GOOD.runs[:2], Run(1, 0, 8, Fraction(19, 2), 1))}, ("complete", None)),
        # turnaround
        ({"turnaround": 11}, ("turnaround", 10)),
        ({"turnaround": None}, ("turnaround", 10)),
    ],
)
def test_a_mutation_for_every_rule(change: dict[str, Any], expected: tuple[str | None, object]) -> None:
    assert rule(changed(**change)) == expected


def test_the_first_rule_is_reported_not_the_first_instant() -> None:
    late_presence = Run(0, 0, 7, 10, 0)  # breaks `presence` at 9; its run precedes that which breaks `one` at 8
    twice = Run(1, 1, 8, 9, 0)
    assert rule(changed(runs=(late_presence, *GOOD.runs[1:], twice), saves=())) == ("presence", 9)
    assert rule(changed(runs=(*GOOD.runs, twice), saves=(Save(0, 6),), turnaround=3)) == ("one", 8)


def test_saves_need_an_instance_that_allows_them() -> None:
    assert rule(GOOD, PAIR.replace(on_demand=False)) == ("on_demand", 5)
    assert rule(changed(saves=()), PAIR.replace(on_demand=False)) == (None, None)


def test_a_run_can_start_from_exactly_the_part_saved_on_demand() -> None:
    lone = letters("uuuuuu", ticks=[3], slot=1, segments=1, on_demand=True)
    first = Run(0, 0, 0, 1, 0)
    for part, expected in ((Fraction(1, 3), None), (Fraction(1, 3) + Fraction(1, 10**9), "origin")):
        assert verdict(lone, first, Run(0, 0, 1, 4, part), saves=(Save(0, 1),), turnaround=3).rule == expected


def test_a_completion_inside_a_tick_is_rounded_up() -> None:
    lone = letters("uuuuuu", ticks=[3], slot=1, segments=1, on_demand=True)
    runs = (Run(0, 0, 0, HALF, 0), Run(0, 0, 1, 6, Fraction(1, 6)))
    found = verdict(lone, *runs, saves=(Save(0, HALF),), turnaround=4)
    assert found.outcome.turnaround == 4  # 1 + 5/2


def test_private_stores() -> None:
    pair = letters("uuuuuu", "uuuuuu", ticks=[2, 2], segments=2, store="private")
    moved = (Run(0, 0, 0, 2, 0), Run(1, 0, 2, 4, 1))
    assert verdict(pair, *moved, turnaround=4).rule == "origin"
    assert verdict(pair.replace(store="shared"), *moved, turnaround=4).is_valid
    assert verdict(pair, Run(0, 0, 0, 2, 0), Run(0, 0, 2, 4, 1), turnaround=4).is_valid


def test_tasks_without_completion() -> None:
    lone = letters("uu", ticks=[3])
    assert verdict(lone, Run(0, 0, 0, 2, 0)).outcome.completed == 0
    assert verdict(lone, Run(0, 0, 0, 2, 0), turnaround=2).rule == "complete"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"runs": None}, "runs"),
        ({"runs": [[0, 0, 0, 5]]}, "runs[0]"),
        ({"runs": [[0, 0, 0, 5.0, 0]]}, "runs[0].end"),
        ({"runs": [[0, 0, 0, "5/0", 0]]}, "runs[0].end"),
        ({"runs": [[0, 0, 0, "5", 0]]}, "runs[0].end"),
        ({"runs": [[True, 0, 0, 5, 0]]}, "runs[0].machine"),
        ({"runs": [[0, 0, 0, 5, "1/2"]]}, "runs[0].from"),
        ({"runs": [[0, 0, 0, 5, [0, "3/2"]]]}, "runs[0].from[1]"),
        ({"runs": [[0, 0, 0, 5, [0]]]}, "runs[0].from"),
        ({"saves": [[0]]}, "saves[0]"),
        ({"turnaround": "10"}, "turnaround"),
        ({"turnaround": 10.0}, "turnaround"),
        ({"makespan": 10}, "unknown key"),
    ],
)
def test_a_file_without_the_right_form_breaks_the_rule_form(change: dict[str, Any], place: str) -> None:
    document = {**json.loads(write_schedule(GOOD)), **change}
    found = check(PAIR, read_schedule(document))
    assert found.rule == "form"
    assert found.reason.startswith(place)
