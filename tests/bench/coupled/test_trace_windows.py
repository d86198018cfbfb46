"""Windows spread over a trace, lengths in seconds, and lengths that follow from the trace."""

import json
from fractions import Fraction

import pytest

import hindsched as hs
from hindsched.bench.commands.trace_windows import spread
from hindsched.bench.coupled.task_lengths import LengthOption
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence
from hindsched.instances.traces import Trace


def always(stop, start=0):
    return Trace(("a",), ((Interval(start, stop, Presence.AVAILABLE),),))


@pytest.fixture
def trace_file(tmp_path):
    """Return a file of two nodes that are up for 60 and for 100 minutes and away for 10, for 60 hours."""
    path = tmp_path / "trace.csv"
    lines = ["date,node,availability"]
    for minute in range(0, 60 * 60, 10):
        date = f"2023-02-{15 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00"
        lines += [f"{date},a,{int(minute % 70 < 60)}", f"{date},b,{int(minute % 110 < 100)}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_windows_are_equal_parts_after_a_part_for_training():
    found = spread(always(1000), 3, slot_s=10)
    assert (found.train_slots, found.slots, found.starts) == (25, 25, [250, 500, 750])


def test_given_slots_and_training_are_kept_and_windows_do_not_overlap():
    found = spread(always(1000), 4, slot_s=10, slots=10, train_slots=20)
    assert (found.train_slots, found.starts) == (20, [200, 430, 660, 900])
    assert spread(always(1000), 1, slot_s=10, slots=10, train_slots=20).starts == [200]
    assert spread(always(1000), 4, slot_s=10, train_slots=20).slots == 20
    assert spread(always(1000), 4, slot_s=10, slots=10).train_slots == 10
    with pytest.raises(InputError, match="9, expected at most 8: so many windows of 10 slots follow"):
        spread(always(1000), 9, slot_s=10, slots=10, train_slots=20)


def test_the_first_window_starts_where_the_user_says():
    found = spread(always(1000), 2, slot_s=10, start=505)
    assert (found.train_slots, found.slots, found.starts) == (24, 24, [505, 755])
    with pytest.raises(InputError, match="expected a time from 100 on"):
        spread(always(1000, start=100), 2, slot_s=10, start=50)
    with pytest.raises(InputError, match="expected at most 0"):
        spread(always(1000), 2, slot_s=10, start=2000)


@pytest.mark.parametrize(
    ("text", "length"),
    [("300", 300), ("90s", 90), ("10min", 600), ("2h", 7200), ("1.5 h", 5400), ("1d", 86400), ("0.1", Fraction(1, 10))],
)
def test_lengths_in_seconds_minutes_hours_and_days(text, length):
    assert LengthOption().convert(text, None, None) == length


@pytest.mark.parametrize("text", ["2m", "2 weeks", "-1", "1.2.3h", "", "h", "nan"])
def test_other_lengths_are_refused(hindsched, trace_file, text):
    code, out, err = hindsched("import", trace_file, "--slot", 600, "--m", 1, f"--task-s={text}")
    assert (code, out) == (2, "")
    assert "--task-s" in err


def test_lengths_follow_from_the_trace(hindsched, trace_file, tmp_path):
    code, _, err = hindsched("import", trace_file, "--slot", 60, "--m", 1, "-o", tmp_path / "one.json")
    assert code == 0
    assert (
        "assumed: a task takes 16 slots (a fifth of the mean availability period, 1.36 h), the program 8 slots (half "
        "a task), the data of a task 2 slots (a fifth of the program); --task-s, --program-s and --data-s change this"
    ) in err
    one = hs.read(tmp_path / "one.json")
    assert (one.w, one.t_prog, one.t_data) == ((16, 16), 8, 2)
    given = hs.from_trace(trace_file, slot=60, m=1, task_s="30min", program_s=61, data_s=0)
    assert (given.w, given.t_prog, given.t_data) == ((30, 30), 2, 0)
    in_slots = hs.from_trace(trace_file, slot=60, m=1, w=(3, 5), t_data=2)
    assert (in_slots.w, in_slots.t_prog, in_slots.t_data) == ((3, 5), 2, 2)
    code, _, err = hindsched("import", trace_file, "--slot", 60, "--m", 1, "--w", 3, "--task-s", "2h")
    assert code == 2
    assert "--task-s goes without --w" in err


def test_iterations_fit_into_a_short_window(hindsched, trace_file, tmp_path):
    command = ("import", trace_file, "--slot", 60, "--m", 1, "--slots", 200, "-o", tmp_path / "one.json")
    code, _, err = hindsched(*command)
    assert code == 0
    assert (
        "a task takes 5 slots (a quarter of an iteration's share of the window: a fifth of the mean availability "
        "period, 1.36 h, is too long for it)"
    ) in err
    assert hs.read(tmp_path / "one.json").w == (5, 5)
    assert hindsched(*command, "--iterations", 2)[0] == 0
    assert hs.read(tmp_path / "one.json").w == (16, 16)


def test_nodes_that_never_leave_get_tasks_of_one_slot(hindsched, tmp_path):
    path = tmp_path / "steady.csv"
    path.write_text("date,availability\n" + "".join(f"{600 * i},1\n" for i in range(20)))
    code, _, err = hindsched("import", path, "--slot", 600, "--m", 1, "-o", tmp_path / "one.json")
    assert code == 0
    assert "a task takes 1 slot (no node becomes unavailable)" in err


def test_windows_are_files_of_a_folder_that_score_reads(hindsched, trace_file, tmp_path):
    folder = tmp_path / "windows"
    command = ("import", trace_file, "--slot", 600, "--m", 1, "--iterations", 2, "--windows", 3, "-o", folder)
    code, out, err = hindsched(*command)
    assert (code, out) == (0, "")
    assert "windows of 90 slots, each after the 90 slots to which its chains are fitted" in err
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "window-1-of-3-2023-02-15T1500Z.json",
        "window-2-of-3-2023-02-16T0600Z.json",
        "window-3-of-3-2023-02-16T2100Z.json",
    ]
    before = [(folder / name).read_bytes() for name in names]
    whole = hs.from_trace(trace_file, slot=600, m=1, train=0).states
    for number, name in enumerate(names, start=1):
        one = hs.read(folder / name)
        assert (one.states == whole[:, 90 * number : 90 * (number + 1)]).all()
        assert (
            one.chains[0]
            == hs.from_trace(trace_file, slot=600, m=1, start=1676419200 + 54000 * number, train=90).chains[0]
        )
    assert hindsched(*command)[0] == 0
    assert [(folder / name).read_bytes() for name in names] == before
    assert [one.fingerprint for one in hs.from_trace(trace_file, slot=600, m=1, iterations=2, windows=3)] == [
        hs.read(folder / name).fingerprint for name in names
    ]
    code, out, _ = hindsched("score", folder, "--policy", "IE", "--results", tmp_path / "out", "--json")
    assert code == 0
    assert json.loads(out)["runs"] == 3
    code, _, err = hindsched(*command[:-4], "--windows", 2, "-o", folder)
    assert code == 2
    assert "holds 'window-1-of-3-2023-02-15T1500Z.json', expected a new or empty folder" in err
    code, _, err = hindsched(*command[:-2])
    assert code == 2
    assert "expected a folder for several instances" in err


def test_a_folder_without_instances_is_refused(hindsched, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, err = hindsched("score", tmp_path / "empty", "--results", tmp_path / "out")
    assert code == 2
    assert "empty: no file .json" in err
    (tmp_path / "empty" / "notes.txt").write_text("")
    assert hindsched("score", tmp_path / "empty", "--results", tmp_path / "out")[0] == 2
