import gzip
import lzma
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hindsched.instances import InputError
from hindsched.instances.intervals import Interval, Presence
from hindsched.instances.states import RECLAIMED, UP, to_letters
from hindsched.instances.traces import Trace, read, read_event_table, read_samples

A, X, C = Presence.AVAILABLE, Presence.UNAVAILABLE, Presence.CLAIMED

#: Path of LANL's table, which is too large to be packaged and has no licence.
TABLES = sorted(Path(os.environ.get("HINDSCHED_TRACES", "nowhere")).glob("fta_lanl/event_trace*"))
with_lanl = pytest.mark.skipif(not TABLES, reason="HINDSCHED_TRACES names no folder with fta_lanl/event_trace*")

TABLE = """\
# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason
0\t0\t7\t3\t  beta\t1\t  1000\t  1025\tNULL
1\t0\t7\t3\t  beta\t0\t  1025\t  1031\t17
0 0 4 3 alpha 1 990 1010.5 NULL
2\t0\t7\t3\t  beta\t1\t  1031\t  1060\tNULL

1 0 4 3 alpha 2 1010.5 1019 NULL
2 0 4 3 alpha 3 1019 1.02e3 NULL
3 0 4 3 alpha 1 1020 1060 NULL
"""

SAMPLES = """\
date,availability
1970-01-01 00:00:00,1
1970-01-01 00:00:10,1
1970-01-01 00:00:20,0
1970-01-01 00:00:31,1
"""


def event(start, stop, kind="1", node="7", name="n", platform="3"):
    return f"0 0 {node} {platform} {name} {kind} {start} {stop} NULL\n"


def letters(trace, **choice):
    return to_letters(trace.states(**choice))


# ---------------------------------------------------------------- the event table


def test_an_event_table(write):
    trace = read_event_table(write("event_trace.tab", TABLE))
    assert trace.nodes == ("beta", "alpha")  # in the order of the file
    assert trace.intervals[0] == ((1000, 1025, A), (1025, 1031, X), (1031, 1060, A))
    assert trace.intervals[1] == (
        (990, Fraction(2021, 2), A),
        (Fraction(2021, 2), 1019, C),
        (1019, 1020, C),
        (1020, 1060, A),
    )
    assert any("claimed" in sentence for sentence in trace.assumptions)
    assert letters(trace, slot_s=10) == ["uudduu", "uruuuu"]


@pytest.mark.parametrize(
    "encoded",
    [
        gzip.compress(TABLE.encode()),
        lzma.compress(TABLE.encode()),
        TABLE.replace("\n", "\r\n").encode(),
        TABLE.encode("utf-8-sig"),
        TABLE.rstrip("\n").encode(),
    ],
    ids=["gzip", "xz", "crlf", "byte-order mark", "no last line end"],
)
def test_the_same_table_in_other_encodings(write, encoded):
    assert read(write("table", encoded)) == read_event_table(write("plain", TABLE))


def test_columns_between_tabs_may_contain_spaces(write):
    assert read(write("t", "0\t0\t7\t3\ta node\t1\t0\t9\tpower cut\n")).nodes == ("a node",)


def test_names_of_several_nodes_are_made_unique(write):
    table = event(0, 9, node="1", name="10.1") + event(0, 9, node="2", name="10.1") + event(0, 9, node="3", name="x")
    assert read(write("t", table)).nodes == ("10.1#3.1", "10.1#3.2", "x")
    table = event(0, 9, platform="1") + event(0, 9, platform="2")
    assert read(write("t", table)).nodes == ("n#1.7", "n#2.7")


def test_instants_and_touching_events_do_not_overlap(write):
    trace = read(write("t", event(0, 15) + event(15, 15, "0") + event(15, 15, "1") + event(15, 40)))
    assert letters(trace, slot_s=10) == ["uduu"]
    assert letters(trace, slot_s=5) == ["uuuduuuu"]  # the failure is at the begin of slot 3


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            event(0, 9) + event(8, 12, "0"),
            "line 2: event of node 'n' overlaps the previous one: starts at 8, expected 9",
        ),
        (event(0, 9) + event(0, 9), "line 2: event of node 'n' overlaps the previous one: starts at 0"),
        (event(5, 9) + event(7, 7, "0"), "line 2: event of node 'n' overlaps the previous one"),
        (event(5, 9) + event(0, 5), "line 2: event of node 'n' is out of order: starts at 0, expected 9 or later"),
        (event(9, 5), "line 1: event_stop_time 5, expected at least event_start_time 9"),
        ("# c\n\n0 0 7 3 n 1 0 9\n", "line 3: '0 0 7 3 n 1 0 9' is in no known form; not a log"),
        (event(0, 9) + "0 0 7 3 n 1 9 20 a b\n", "line 2: 10 columns, expected 9"),
        (event(0, 9, "4"), "line 1: event type '4', expected 0 (unavailable), 1 (available), 2 or 3 (claimed)"),
        (event(0, 9, "1.0"), "line 1: event type '1.0', expected 0"),
        (event("soon", 9), "line 1: event_start_time 'soon', expected a finite number of seconds"),
        (event(0, "nan"), "line 1: event_stop_time 'nan', expected a finite number"),
        (event("-inf", 0), "line 1: event_start_time '-inf', expected a finite number"),
        (event(0, "1_000"), "line 1: event_stop_time '1_000'"),
        (event(0, "1e999999999"), "line 1: event_stop_time '1e999999999'"),
        (event(0, "1/2"), "line 1: event_stop_time '1/2'"),
        (event(0, "9" * 50), f"line 1: event_stop_time '{'9' * 40}...'"),
        (event(0, 9) + event(9, 12, name="m"), "line 2: node_id '7' is called 'm', expected 'n' as before"),
        ("# only comments\n", "only comments and blank lines, expected a trace"),
    ],
)
def test_an_invalid_table_is_refused_with_file_and_line(write, table, message):
    path = write("bad.tab", table)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- samples


def test_samples(write):
    trace = read_samples(write("zone-a.csv", SAMPLES), write("zone.b.csv.gz", gzip.compress(SAMPLES.encode())))
    assert trace.nodes == ("zone-a", "zone.b")
    assert trace.intervals[0] == trace.intervals[1] == ((0, 20, A), (20, 31, X), (31, 41, A))
    assert len(trace.assumptions) == 3
    assert letters(trace, slot_s=10)[0] == "uudd"
    assert letters(trace, slot_s=10, absent="reclaimed")[0] == "uurr"


def test_a_long_step_is_not_observed(write):
    late = SAMPLES + "1970-01-01 00:00:46,1\n1970-01-01 00:01:02,0\n1970-01-01 00:01:12,0\n"
    trace = read(write("z.csv", late))  # steps 10 10 11 15 16 10: median 10, and only 16 is above 15
    assert trace.intervals == (((0, 20, A), (20, 31, X), (31, 56, A), (62, 82, X)),)
    assert trace.spans == (((0, 56), (62, 82)),)
    with pytest.raises(InputError) as caught:
        trace.states(slot_s=10)
    assert str(caught.value).startswith(
        "node 'z': not observed during all of slot 5, which starts at 50 s (observed in [0, 56), [62, 82)); "
        "expected another window"
    )
    assert letters(trace, slot_s=10, unobserved="reclaimed") == ["uuddurdd"]
    assert letters(trace, slot_s=10, unobserved="down") == ["uudduddd"]


def test_dates_have_offsets_and_fractions(write):
    rows = ["1970-01-01T01:00:00+01:00,1", "1970-01-01T00:00:00.5Z,0", "1970-01-01 00:00:01,1"]
    trace = read(write("z.csv", "date,availability\n" + "\n".join(rows)))
    assert trace.intervals == (((0, Fraction(1, 2), A), (Fraction(1, 2), 1, X), (1, Fraction(3, 2), A)),)
    assert letters(trace, slot_s=0.5) == ["udu"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SAMPLES.partition("\n")[2], "line 1: '1970-01-01 00:00:00,1' is in no known form"),
        (SAMPLES.replace("date,", "tide,"), "line 1: 'tide,availability' is in no known form; not a log"),
        (SAMPLES + "1970-01-01 00:00:31,1\n", "line 6: date '1970-01-01 00:00:31', expected a date after the"),
        (SAMPLES + "1970-01-01 00:00:30,1\n", "line 6: date '1970-01-01 00:00:30', expected a date after the"),
        (SAMPLES + "1970-01-01 00:00:41,2\n", "line 6: availability '2', expected 0 or 1"),
        (SAMPLES + "1970-01-01 00:00:41,\n", "line 6: availability '', expected 0 or 1"),
        (SAMPLES + "1970-01-01 00:00:41,0.5\n", "line 6: availability '0.5', expected 0 or 1"),
        (SAMPLES + "1970-01-01 00:00:41,nan\n", "line 6: availability 'nan', expected 0 or 1"),
        (SAMPLES + "1970-01-01 00:00:41,1,1\n", "line 6: 3 columns, expected 2: date,availability"),
        (SAMPLES + "1970-01-01 00:00:4", "line 6: 1 columns, expected 2"),
        (
            SAMPLES + "1970-02-30 00:00:00,1\n",
            "line 6: date '1970-02-30 00:00:00', expected a date and time such as 2023",
        ),
        (SAMPLES + "41,1\n", "line 6: date '41', expected a date and time"),
        ("date,availability\n", "0 samples, expected at least two: the step is unknown"),
        ("date,availability\n1970-01-01,1\n", "1 samples, expected at least two"),
    ],
)
def test_invalid_samples_are_refused_with_file_and_line(write, text, message):
    path = write("bad.csv", text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_two_files_of_one_node_are_refused(write, tmp_path):
    (tmp_path / "other").mkdir()
    paths = write("z.csv", SAMPLES), write("other/z.csv.gz", gzip.compress(SAMPLES.encode()))
    with pytest.raises(InputError, match=r"other/z.csv.gz: a second file of node 'z'"):
        read(*paths)


# ---------------------------------------------------------------- any file


@pytest.mark.parametrize("reader", [read, read_event_table, read_samples])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty, expected a trace"),
        (b" \n\n", "empty, expected a trace"),
        (gzip.compress(b""), "empty, expected a trace"),
        (gzip.compress(TABLE.encode())[:-20], "truncated gzip data, expected a whole file"),
        (gzip.compress(TABLE.encode())[:5], "truncated gzip data"),
        (gzip.compress(TABLE.encode())[:60] + b"\xff" * 30 + gzip.compress(TABLE.encode())[90:], "damaged gzip data: "),
        (gzip.compress(TABLE.encode()) + b"rubbish", "damaged gzip data: "),
        (b"\x1f\x8b\x07" + b"rubbish" * 5, "damaged gzip data: "),
        (lzma.compress(b""), "empty, expected a trace"),
        (lzma.compress(TABLE.encode())[:-20], "truncated xz data, expected a whole file"),
        (lzma.compress(TABLE.encode()) + b"rubbish", "damaged xz data: "),
        (b"\xfd7zXZ\x00" + b"rubbish" * 5, "damaged xz data: "),
        (b"\n\x00\xff\xfe\x81", "line 2: not UTF-8, expected the text of a trace"),
        (bytes(range(128)), "line "),
    ],
    ids=[
        "nothing",
        "blank",
        "nothing in gzip",
        "cut",
        "cut in the head",
        "damaged",
        "more after it",
        "not gzip",
        "nothing in xz",
        "xz cut short",
        "xz and rubbish",
        "not xz",
        "bytes",
        "all of ASCII",
    ],
)
def test_every_reader_refuses_other_content(write, reader, content, message):
    path = write("rubbish", content)
    with pytest.raises(InputError) as caught:
        reader(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_missing_files_folders_and_mixed_formats_are_refused(write, tmp_path):
    with pytest.raises(InputError, match=r"none.csv: no such file$"):
        read(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r": a directory, expected a file$"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"t.tab: an event table among several files, expected it alone$"):
        read(write("z.csv", SAMPLES), write("t.tab", TABLE))
    with pytest.raises(InputError, match=r"no file, expected at least one"):
        read()


@pytest.mark.parametrize(
    ("nodes", "intervals", "message"),
    [
        (("a",), (), "trace: 1 nodes with 0 rows of intervals"),
        ((), (), "trace: 0 nodes"),
        (("a", "a"), (((0, 1, A),),) * 2, "trace: two nodes named"),
        (("a",), ((),), "node 'a': no interval"),
        (("a",), (((0, 2, A), (1, 3, A)),), "node 'a': intervals that overlap"),
        (("a",), (((2, 1, A),),), "node 'a': an interval that stops before it starts"),
    ],
)
def test_a_trace_by_hand_is_checked(nodes, intervals, message):
    with pytest.raises(InputError) as caught:
        Trace(nodes, tuple(tuple(Interval(*interval) for interval in row) for row in intervals))
    assert str(caught.value).startswith(message)


# ---------------------------------------------------------------- a real table


@pytest.fixture(scope="module")
def lanl():
    return read(TABLES[0])


@with_lanl
def test_numbers_of_lanl(lanl):
    assert len(lanl.nodes) == 3577
    assert sum(map(len, lanl.intervals)) == 43_325
    assert all(len(spans) == 1 for spans in lanl.spans)  # events of a node touch, so there is no gap
    seconds = {
        kind: sum(i.stop - i.start for row in lanl.intervals for i in row if i.presence is kind) for kind in (A, X)
    }
    assert round(seconds[A] / (seconds[A] + seconds[X]), 4) == 0.9961
    assert sum(i.start == i.stop for row in lanl.intervals for i in row) == 122


@with_lanl
def test_lanl_gives_500_workers_with_slots_of_600_s(lanl):
    states = lanl.states(slot_s=600, slots=100_000, nodes=500)
    assert states.shape == (500, 100_000)
    assert np.bincount(states.ravel(), minlength=3)[RECLAIMED] == 0
    assert 0.99 < (states == UP).mean() < 1
    window = lanl.window(slot_s=600, nodes=500)
    assert window.slots > 100_000
