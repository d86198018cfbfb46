"""The substitute trace, the paper's machines, instances from traces, and the ideal time."""

import hashlib

import numpy as np
import pytest

from hindsched.instances.bags import ideal_time
from hindsched.instances.bags.clock import TimeOfWeek, time_of_week
from hindsched.instances.bags.from_trace import from_trace
from hindsched.instances.bags.generate import classroom, paper, segment_ticks, small, timetabled
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, UP, States, to_letters
from hindsched.instances.traces import Trace
from tests.cases.bags import randoms


def test_the_trace_does_not_change() -> None:
    digest = hashlib.sha256("\n".join(to_letters(classroom(7))).encode()).hexdigest()
    assert digest == "231912fd9442553704d2dd77b3decfb8d0b112675299cf0fca0a2ba1de1feb35"


def test_the_trace_follows_its_definition() -> None:
    trace = classroom(3, machines=3, slots=2500)
    for q in range(3):
        draws = stream("bags", 3, q).random(2501)
        is_on = draws[0] < 0.2 / (0.2 + 0.1644)
        for t in range(2500):
            if t:
                rate = 0.1644 if is_on else 0.2
                quiet = time_of_week(t * 120_000) is not TimeOfWeek.DAY
                if draws[t + 1] < rate * 120 / 3600 * (1 / 50 if quiet else 1):
                    is_on = not is_on
            assert trace[q, t] == (UP if is_on else DOWN)


def test_first_slots_do_not_depend_on_the_size_of_the_trace() -> None:
    assert np.array_equal(classroom(5, machines=2, slots=100), classroom(5, machines=4, slots=900)[:2, :100])
    late = paper(start=240, slots=50, seed=5)
    assert np.array_equal(late.states, paper(start=0, slots=290, seed=5).states[:, 240:])
    assert late.clock_s == 8 * 3600
    assert paper(start=7 * 720 + 1, slots=1).clock_s == 120


def test_machines_of_the_paper() -> None:
    assert [segment_ticks(kind, reference_s=1800, segments=1) for kind in "ABCD"] == [
        3475479,
        2090484,
        1191141,
        1063667,
    ]
    blocks, turns = (paper("M04", slots=1, mix=mix).ticks for mix in ("blocks", "interleaved"))
    assert sorted(blocks, reverse=True) == list(blocks)
    assert turns[:8] == (blocks[0], blocks[8], blocks[16], blocks[24]) * 2


@pytest.mark.parametrize(
    ("machines", "tasks", "reference_s", "minutes"),
    [
        ("M01", 25, 1800, 17.73),
        ("M01", 25, 7200, 70.91),
        ("M01", 75, 1800, 53.19),
        ("M01", 75, 7200, 212.74),
        ("M04", 25, 1800, 35.46),
        ("M04", 25, 7200, 141.83),
        ("M04", 75, 1800, 70.91),
        ("M04", 75, 7200, 283.66),
    ],
)
def test_ideal_times_of_the_paper(machines: str, tasks: int, reference_s: int, minutes: float) -> None:
    instance = paper(machines, tasks=tasks, reference_s=reference_s, slots=1)
    assert ideal_time(instance) / 60_000 == pytest.approx(minutes, abs=0.0165)


def test_the_ideal_time_is_the_nth_smallest_multiple() -> None:
    for instance in randoms(50):
        multiples = sorted(j * instance.segments * g for g in instance.ticks for j in range(1, instance.tasks + 1))
        assert ideal_time(instance) == multiples[instance.tasks - 1]


def test_nodes_of_a_trace() -> None:
    rows = (
        (Interval(0, 25, Presence.AVAILABLE), Interval(25, 40, Presence.UNAVAILABLE)),
        (Interval(0, 40, Presence.AVAILABLE),),
    )
    instance = from_trace(Trace(("a", "b"), rows), tasks=3, slot_s=10, checkpoints=1, kinds="AD")
    assert to_letters(instance.states) == ["uudd", "uuuu"]
    assert instance.slot == 10_000
    assert instance.clock_s == 3 * 86_400  # UNIX time begins on a Thursday
    assert instance.ticks == (1737739, 531834)
    with pytest.raises(InputError, match="kinds: 3 types, expected one for all or one per machine, 2"):
        from_trace(Trace(("a", "b"), rows), tasks=3, slot_s=10, kinds="ABC")
    with pytest.raises(InputError, match="whole number of milliseconds"):
        from_trace(Trace(("a", "b"), rows), tasks=3, slot_s="0.0001")


@pytest.mark.parametrize(
    "bad",
    [{"machines": "M02"}, {"mix": "random"}, {"checkpoints": -1}, {"start": -1}, {"start": 28_080}, {"slots": 0}],
)
def test_bad_options(bad: dict[str, object]) -> None:
    with pytest.raises(InputError):
        paper(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"start": 28_080, "slots": 1}, "start: 28080, expected a slot of the trace, 0 to 28079"),
        ({"start": 28_000, "slots": 81}, "slots: 81, expected 1 to 80: the trace has 28080, start is 28000"),
        ({"slots": 28_081}, "slots: 28081, expected 1 to 28080"),
    ],
)
def test_instances_lie_within_the_trace(bad: dict[str, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        paper(**bad)  # type: ignore[arg-type]
    assert paper(start=28_000, slots=80).slots == paper(start=28_000).slots == 80


def test_small_instances_depend_on_the_seed_only() -> None:
    assert small(4) == small(4)
    assert small(4) != small(5)


def test_rooms_do_not_change_and_are_as_often_on_as_the_paper_s_machines() -> None:
    traces = [timetabled(seed) for seed in range(6)]
    digest = hashlib.sha256("\n".join(to_letters(traces[0])).encode()).hexdigest()
    assert digest == "fb6b9171032f949bfe3ce4b39306b4680bb7e30e80349ee2e86601a3f813096c"
    assert np.mean([(trace == UP).mean() for trace in traces]) == pytest.approx(0.5444, abs=0.01)
    assert np.array_equal(timetabled(0, machines=2, slots=100), traces[0][:2, :100])
    closed = [t for t in range(1, 5040) if time_of_week(t * 120_000) is not TimeOfWeek.DAY]
    for trace in traces[:2]:
        assert (trace[:, closed] == trace[:, [t - 1 for t in closed]]).all()  # nothing changes at night


def test_machines_of_a_room_are_switched_off_together_at_the_end_of_a_class() -> None:
    def together(trace: States) -> float:
        """Return the share of failures in slots in which at least three machines fail."""
        fails = ((trace[:, :-1] == UP) & (trace[:, 1:] != UP)).sum(axis=0)
        return float(fails[fails > 2].sum() / fails.sum())

    assert together(timetabled(1)) > 3 * together(classroom(1))
    rooms = paper("M01", start=240, slots=50, seed=5, trace="rooms")
    assert np.array_equal(rooms.states, timetabled(5)[:, 240:290])
    with pytest.raises(InputError, match="expected one of independent, rooms"):
        paper(trace="lisbon")
