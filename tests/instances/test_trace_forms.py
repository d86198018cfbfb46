"""Further formats of traces: JSON lists, counts, logs of added and removed nodes, columns by name."""

import gzip
import json

import pytest

from hindsched.instances import InputError, compression
from hindsched.instances.coupled.from_trace import from_trace, usual_training
from hindsched.instances.states import to_letters
from hindsched.instances.traces import read


def letters(trace, **choice):
    return to_letters(trace.states(**choice))


# ------------------------------------------------------------------------------------------------------------ JSON


@pytest.mark.parametrize(
    "document",
    [
        {"metadata": {"gap_seconds": 60, "region": "x"}, "data": [1, 1, 0, 1]},
        {"gap_s": 60, "availability": [1, 1, 0, 1]},
        {"gap_seconds": 60.0, "preempted": [0, 0, 1, 0]},
        {"gap_seconds": "60", "trace": [1, 1, 0, 1]},
        {"gap_seconds": 60, "samples": [1.0, 1.0, 0.0, 1.0]},
    ],
)
def test_json_samples_with_a_gap(write, document):
    trace = read(write("us-east-1a.json", json.dumps(document)))
    assert trace.nodes == ("us-east-1a",)
    assert letters(trace, slot_s=60) == ["uudu"]
    assert trace.spans == (((0, 240),),)


def test_a_list_needs_a_gap_and_may_be_inverted(write):
    path = write("a.json", "[0, 0, 1, 0]")
    with pytest.raises(InputError, match=r"a\.json: gap: missing, expected the seconds between two samples"):
        read(path)
    assert letters(read(path, gap_s="60"), slot_s=60) == ["ddud"]
    preempted = read(path, gap_s=60, one_means="preempted")
    assert letters(preempted, slot_s=60) == ["uudu"]
    assert preempted.assumptions[0] == "1 means preempted, 0 available"


def test_a_start_is_kept_and_files_are_nodes(write):
    one = write("one.json", json.dumps({"gap_s": 10, "data": [1, 1, 1], "start_time": "1970-01-01 00:01:00"}))
    two = write("two.json.gz", gzip.compress(json.dumps({"gap_s": 20, "data": [1, 0, 1], "start": 50}).encode()))
    trace = read(one, two)
    assert trace.nodes == ("one", "two")
    assert trace.spans == (((60, 90),), ((50, 110),))
    assert letters(trace, slot_s=10) == ["uuu", "udd"]


def test_larger_numbers_count_machines(write):
    trace = read(write("zone.json", json.dumps({"gap_s": 10, "data": [2, 0, 1, 3]})))
    assert trace.nodes == ("zone 1", "zone 2", "zone 3")
    assert letters(trace, slot_s=10) == ["uduu", "uddu", "dddu"]
    assert "the last machine added is the first removed" in trace.assumptions[0]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[1, 0", "line 1, column 6: not JSON: ends too early"),
        ("[1]", "expected a list of at least two samples"),
        ('{"gap_s": 5}', "no list of samples, expected one under availability"),
        ('{"gap_s": 5, "data": [1, 0, -1]}', "sample 2: -1, expected 0 or 1, or a count"),
        ('{"gap_s": 5, "data": [1, 0.5]}', "sample 1: 0.5, expected 0 or 1, or a count"),
        ('{"gap_s": 5, "data": [1, null]}', "sample 1: null, expected 0 or 1, or a count"),
        ('{"gap_s": 5, "data": [1, NaN]}', "data[1]: not JSON: NaN, expected a finite number"),
        ('{"gap_s": 0, "data": [1, 0]}', "gap_s: 0, expected a number of seconds above 0"),
        ('{"gap_s": 5, "data": [0, 0], "start": "soon"}', "start: 'soon', expected UNIX seconds or a date"),
        ('{"gap_s": 5, "data": [1000000, 0]}', "count: at most 1000000 machines, expected 1 to 10000"),
    ],
)
def test_an_invalid_json_trace_is_refused(write, document, message):
    path = write("bad.json", document)
    with pytest.raises(InputError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}: {message}")


# ------------------------------------------------------------------------------------------------- columns by name


def test_columns_are_found_by_their_names_or_by_option(write):
    rows = "0,x,1\n60,x,0\n120,x,1\n"
    known = read(write("a.csv", f"timestamp,region,is_available\n{rows}"))
    named = read(write("b.csv", f"t,region,ok\n{rows}"), columns={"date": "t", "availability": "ok"})
    turned = read(write("c.csv", f"Time,region,Preempted\n{rows}"))
    assert letters(known, slot_s=60) == letters(named, slot_s=60) == ["udu"]
    assert letters(turned, slot_s=60) == ["dud"]


def test_a_file_may_have_several_nodes(write):
    text = "time,host,up\n0,b,1\n0,a,0\n10,a,1\n10,b,1\n20,b,0\n20,a,1\n"
    trace = read(write("all.csv", text))
    assert trace.nodes == ("b", "a")
    assert letters(trace, slot_s=10) == ["uud", "duu"]


def test_counts_over_time(write):
    trace = read(write("pool.csv", "date,count\n2024-01-01,2\n2024-01-02,1\n2024-01-03,2\n"))
    assert trace.nodes == ("pool 1", "pool 2")
    assert letters(trace, slot_s=86400) == ["uuu", "udu"]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("date,availability\n0,1\n5,1\n", {"date": "when"}, "line 1: no column 'when', expected one of date, availab"),
        ("date,availability\n0,1\n5,1\n", {"time": "date"}, "columns: 'time', expected one of date, availability"),
        ("date,spin\n0,1\n5,1\n", {}, "line 1: 'date,spin' is in no known form; not a log"),
        ("date,up\n0,1\n2024-01-01,1\n", {}, "line 3: date '2024-01-01', expected UNIX seconds"),
        ("date,count\n0,1\n5,-1\n", {}, "line 3: count '-1', expected a whole number of machines"),
        ("date,count\n0,0\n5,0\n", {}, "no machine in any sample, expected a count above 0"),
    ],
)
def test_missing_columns_are_refused(write, text, columns, message):
    path = write("bad.csv", text)
    with pytest.raises(InputError) as refused:
        read(path, columns=columns)
    assert str(refused.value).startswith(f"{path}: {message}")


def test_mixed_formats_and_unused_options_are_refused(write):
    table = write("t.tab", "0 0 7 3 a 1 0 10 NULL\n")
    samples = write("s.csv", "date,up\n0,1\n5,1\n")
    listed = write("l.json", '{"gap_s": 5, "data": [1, 0]}')
    log = write("g.csv", "0,add,a\n1000,remove,a\n")
    for paths, message in [
        ((samples, log), f"{log}: a log of added and removed nodes among several files, expected it alone"),
        ((samples, table), f"{table}: an event table among several files, expected it alone"),
        ((samples, listed), f"{listed}: JSON samples and others, expected files of one form"),
    ]:
        with pytest.raises(InputError) as refused:
            read(*paths)
        assert str(refused.value) == message
    for path, options in [(table, {"one_means": "preempted"}), (samples, {"gap_s": 5}), (log, {"columns": {"a": "b"}})]:
        with pytest.raises(InputError, match="does not apply to"):
            read(path, **options)


# ------------------------------------------------------------------------------------------ added and removed nodes


def test_new_names_take_free_places(write):
    log = "0,add,n1\n0,add,n2\n10000,remove,n1\n20000,add,n3\n30000,remove,n2\n40000,add,n4\n50000,remove,n4\n"
    trace = read(write("spot.csv", log))
    assert trace.nodes == ("place 1", "place 2")
    assert letters(trace, slot_s=10) == ["uduuu", "uuudu"]
    assert "the place that was left first" in trace.assumptions[-1]


def test_names_that_return_are_nodes(write):
    log = "5000,add,a\n10000,remove,a\n15000,add,b\n20000,add,a\n25000,remove,b\n"
    trace = read(write("spot.csv", log))
    assert trace.nodes == ("a", "b")
    assert letters(trace, slot_s=5) == ["uddu", "dduu"]


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("0,add,a\n5,remove,b\n", "line 2: node 'b': remove, but the node is not present"),
        ("0,add,a\n5,add,a\n", "line 2: node 'a': add, but the node is already present"),
        ("5,add,a\n0,remove,a\n", "line 2: time '0', expected at least that of the previous event"),
        ("0,add,a\n5,leave,a\n", "line 2: event 'leave', expected add or remove"),
        ("0,add,a\n5,remove\n", "line 2: 2 columns, expected 3: time,add or remove,node"),
        ("0,add,a\nx,remove,a\n", "line 2: time 'x', expected milliseconds"),
        ("0,add,a\n0,add,b\n", "all events at the same time, expected at least two different times"),
    ],
)
def test_an_invalid_log_is_refused(write, log, message):
    path = write("bad.csv", log)
    with pytest.raises(InputError) as refused:
        read(path)
    assert str(refused.value) == f"{path}: {message}"


# ---------------------------------------------------------------------------------------------------- limits, chains


def test_a_file_that_unpacks_to_too_many_bytes_is_refused(write, monkeypatch):
    monkeypatch.setattr(compression, "MOST_BYTES", 1 << 20)
    path = write("bomb.csv.gz", gzip.compress(b"0" * ((1 << 20) + 1)))
    with pytest.raises(InputError, match="more than 1 MiB when unpacked, expected at most this"):
        read(path)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [({}, 5), ({"slots": 3}, 5), ({"slots": 8}, 2), ({"slots": 9}, 0), ({"start": 40}, 4), ({"start": 10}, 0)],
)
def test_chains_are_fitted_on_half_of_the_trace_or_on_the_rest(write, choice, expected):
    samples = "date,up\n" + "".join(f"{10 * i},{i % 3 > 0:d}\n" for i in range(10))
    trace = read(write("a.csv", samples))
    assert usual_training(trace, slot_s=10, **choice) == expected
    instance = from_trace(trace, tasks=1, slot_s=10, train_slots=expected, **choice)
    assert instance.names == ("a",)
    assert (instance.chains[0] is not None) == (expected > 0)
