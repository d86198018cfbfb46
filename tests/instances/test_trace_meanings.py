"""What a trace file means: units of time, columns, separators, comments, counts; and what is refused as ambiguous."""

import json
import random
from fractions import Fraction

import pytest

from hindsched.instances import InputError
from hindsched.instances.states import to_letters
from hindsched.instances.traces import delimited, event_table, read, samples
from hindsched.instances.traces.samples import counted, from_samples

DATES = [f"2023-02-15 {22 + i // 6}:{i % 6}0:00" for i in range(8)]
START = 1676498400
VALUES = "11011101"


def letters(trace, slot_s=600):
    return to_letters(trace.states(slot_s=slot_s))


def table(times, header="date,availability"):
    return "\n".join([header, *(f"{time},{value}" for time, value in zip(times, VALUES, strict=False))]) + "\n"


def refusal(path, **options):
    with pytest.raises(InputError) as refused:
        read(path, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value).removeprefix(f"{path}: ")


# ------------------------------------------------------------------------------------------------------ units of time


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        ([START + 600 * i for i in range(8)], "seconds since 1970"),
        ([f"{START + 600 * i}.000" for i in range(8)], "seconds since 1970"),
        ([(START + 600 * i) * 1000 for i in range(8)], "milliseconds since 1970"),
        ([(START + 600 * i) * 10**6 for i in range(8)], "microseconds since 1970"),
        ([(START + 600 * i) * 10**9 for i in range(8)], "nanoseconds since 1970"),
        (["".join(filter(str.isdigit, date)) for date in DATES], "dates as yyyymmddHHMMSS"),
        (["".join(filter(str.isdigit, date))[:12] for date in DATES], "dates as yyyymmddHHMM"),
        (["".join(filter(str.isdigit, date)) + "000" for date in DATES], "dates as yyyymmddHHMMSSmmm"),
        ([f"{date}.000000000" for date in DATES], "dates, UTC"),
        ([f"{date}.{'0' * 60}" for date in DATES], "dates, UTC"),
        ([date.replace(" ", "T") + ".0000000Z" for date in DATES], "dates, UTC"),
        ([date.replace("-", "/") for date in DATES], "dates, UTC"),
        ([f"{date} +0000 UTC" for date in DATES], "dates, UTC"),
        ([date.replace("-", "").replace(":", "").replace(" ", "T") for date in DATES], "dates, UTC"),
    ],
)
def test_the_unit_of_times_is_the_plausible_one(write, times, unit):
    trace = read(write("z.csv", table(times)))
    assert letters(trace) == ["uuduuudu"]
    assert trace.spans == (((START, START + 8 * 600),),)
    assert unit in trace.summary


def test_days_as_digits_are_dates(write):
    trace = read(write("day.csv", "date,availability\n20230227,1\n20230228,1\n20230301,0\n20230302,1\n"))
    assert letters(trace, 86400) == ["uudu"]


def test_fractions_of_seconds_are_exact(write):
    trace = read(write("z.csv", "date,up\n1970-01-01 00:00:00.0000000001,1\n1970-01-01 00:00:01.0000000001,0\n"))
    assert trace.intervals[0][0].start == Fraction(1, 10**10)


@pytest.mark.parametrize(
    ("times", "options", "unit"),
    [
        ([600_000 * i for i in range(8)], {"time_unit": "ms"}, "milliseconds from the beginning"),
        ([10 * i for i in range(8)], {"time_unit": "min"}, "minutes from the beginning"),
        ([2023021500 + i for i in range(8)], {"time_unit": "date"}, "dates as digits"),
        ([START * 1000 + i for i in range(8)], {"time_unit": "s"}, "seconds since 1970"),
    ],
)
def test_an_option_names_the_unit(write, times, options, unit):
    assert unit in read(write("z.csv", table(times)), **options).summary


@pytest.mark.parametrize("name", ["time_ms", "Time (ms)", "timestampMs", "TIMESTAMP_MILLIS"])
def test_a_column_may_name_its_unit(write, name):
    path = write("z.csv", table([600_000 * i for i in range(8)], f"{name},availability"))
    assert letters(read(path)) == ["uuduuudu"]


@pytest.mark.parametrize(
    "times",
    [
        [600_000 * i for i in range(8)],  # milliseconds, or a sample every week
        [5_000_000_000 + i for i in range(8)],  # the year 2128, or 58 days of milliseconds
        [0, *(START + i for i in range(7))],
        [44972.5 + i / 144 for i in range(8)],  # days of a spreadsheet
        [2023021500 + i for i in range(8)],  # yyyymmddHH, or the year 2034
    ],
)
def test_times_that_may_have_several_units_are_refused(write, times):
    message = refusal(write("z.csv", table(times)))
    assert message.startswith("line 2: date ")
    assert message.endswith("the unit of time is not certain, expected it by --time-unit")


def test_digits_that_are_no_date_among_dates_are_refused(write):
    path = write("z.csv", "date,availability\n20230228,1\n20230229,1\n20230301,0\n")
    assert refusal(path) == "line 3: date '20230229', expected yyyymmdd as before"


def test_seconds_by_name_after_2099_are_refused(write):
    path = write("z.csv", table([START * 1000 + i for i in range(8)], "time_s,up"))
    assert "in seconds, as 'time_s' says, it is after 2099" in refusal(path)


@pytest.mark.parametrize(
    ("start", "begin"),
    [
        (START * 1000, START),
        (float(START), START),
        ("20230215220000", START),
        ("2023-02-15T22:00:00Z", START),
        (50, 50),
    ],
)
def test_the_start_of_json_samples_has_a_plausible_unit(write, start, begin):
    text = json.dumps({"metadata": {"gap_seconds": 600, "start_time": start}, "data": [1, 1, 0, 1]})
    assert read(write("z.json", text)).spans == (((begin, begin + 2400),),)


def test_keys_of_json_samples_may_name_units(write):
    path = write("z.json", json.dumps({"gap_ms": 600_000, "start_ms": 1000, "data": [1, 0]}))
    assert read(path).spans == (((1, 1201),),)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"gap": 600_000}, "gap: 600000: the unit of time is not certain, expected seconds by --gap"),
        ({"gap_s": 5, "start": 20230215}, "start: '20230215' has several meanings, expected a date and time"),
        ({"gap_s": 5, "gap_seconds": 6}, "gap_s 5 and gap_seconds 6, expected one of them"),
        ({"gap_s": 5, "metadata": {"gap_s": 6}}, "gap_s 5 and gap_s 6, expected one of them"),
        ({"gap_s": 5, "trace": [0, 1]}, "lists under 'data' and 'trace', expected one list of samples"),
        ({"data": [{"time": 5, "up": 1}] * 2}, 'sample 0: {"time":5,"up":1}, expected 0 or 1, or a count'),
        ({"format": "coupled/1"}, "a file of format 'coupled/1', expected a trace"),
    ],
)
def test_ambiguous_json_is_refused(write, facts, message):
    assert refusal(write("z.json", json.dumps({"data": [1, 0], **facts}))).startswith(message)


@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_no_sample(write, value):
    path = write("z.json", json.dumps({"gap_s": 5, "data": [1, value]}))
    assert refusal(path) == f"sample 1: {json.dumps(value)}, expected 0 or 1, or a count"


# ------------------------------------------------------------------------------------------- separators, lines, headers


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ", ", " ; ", " , "])
@pytest.mark.parametrize("before", ["", "\n\n", "# a comment\n\n", "// x,y\n", "% 1,2,3\n# b\n"])
def test_separators_comments_and_blank_lines(write, separator, before):
    text = before + table(DATES).replace(",", separator) + "\n# the end\n\n"
    assert letters(read(write("z.csv", text))) == ["uuduuudu"]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f'"{cell}", "{value}"' for cell, value in [("date", "availability"), *zip(DATES, VALUES)]),  # noqa: B905
        "\n" + table(DATES).upper(),
        "sep=;\n" + table(DATES).replace(",", ";"),
        "# " + table(DATES),
        "# " + table(DATES).replace("\n", "\n# a comment, with commas\n\n", 1),
        table([START + 600 * i for i in range(8)]).replace(",", "  "),
        table(DATES, "date,availability,").replace("0,1\n", "0,1,\n").replace("0,0\n", "0,0,\n"),
        "Date Time,Is Available\n" + table(DATES).partition("\n")[2],
    ],
)
def test_dialects_of_csv(write, text):
    assert letters(read(write("z.csv", text))) == ["uuduuudu"]


@pytest.mark.parametrize(
    "text",
    [
        "# made by a collector\n0,add,n1\n300000,add,n2\n600000,remove,n1\n",
        "time_ms,event,node\n0,add,n1\n300000,add,n2\n600000,remove,n1\n",
        "node;action;timestamp\nn1;add;0\nn2;add;300000\nn1;remove;600000\n",
        "0,ADD,n1\n300000,ADD,n2\n600000,REMOVE,n1\n",
        "0\tadd\tn1\n300000\tadd\tn2\n600000\tremove\tn1\n",
        "2023-02-15 22:00:00,add,n1\n2023-02-15 22:05:00,add,n2\n2023-02-15 22:10:00,remove,n1\n",
        f"{START}000,add,n1\n{START + 300}000,add,n2\n{START + 600}000,remove,n1\n",
        "time_s,event,node\n0,add,n1\n300,add,n2\n600,remove,n1\n",
        "# time_s,event,node\n# a comment\n\n0,add,n1\n300,add,n2\n600,remove,n1\n",
    ],
)
def test_dialects_of_logs(write, text):
    trace = read(write("z.log", text))
    assert trace.nodes == ("place 1", "place 2")
    assert letters(trace, 300) == ["uu", "du"]


def test_a_log_in_seconds_or_days_of_milliseconds_is_refused(write):
    assert "the unit of time is not certain" in refusal(write("z.log", f"{START},add,a\n{START + 600},remove,a\n"))


EVENTS = [[0, 0, 1, 1, "a", 1, 0, 1200, "NULL"], [1, 0, 1, 1, "a", 0, 1200, 1800, "NULL"]]
NINE = (
    "event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason"
)


@pytest.mark.parametrize("mark", ["", "#", "# ", None])
@pytest.mark.parametrize("separator", ["\t", " ", ",", ";"])
def test_headers_and_separators_of_event_tables(write, mark, separator):
    rows = [separator.join(map(str, row)) for row in EVENTS]
    head = [] if mark is None else [mark + separator.join(NINE.split())]
    assert letters(read(write("head.tab", "\n".join([*head, *rows])))) == ["uud"]


def test_columns_of_an_event_table_may_have_another_order(write):
    names = NINE.split()
    order = random.Random(1).sample(range(9), 9)
    lines = ["\t".join(names[i] for i in order), *("\t".join(str(row[i]) for i in order) for row in EVENTS)]
    assert letters(read(write("head.tab", "\n".join(lines)))) == ["uud"]


def test_an_event_table_in_milliseconds(write):
    rows = [[*row[:6], (START + row[6]) * 1000, (START + row[7]) * 1000, row[8]] for row in EVENTS]
    trace = read(write("z.tab", "\n".join(" ".join(map(str, row)) for row in rows)))
    assert trace.spans == (((START, START + 1800),),)
    assert "milliseconds" in trace.summary


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# only\n\n// comments\n", "only comments and blank lines, expected a trace"),
        ("a,b\n1,2\n", "line 1: 'a,b' is in no known form; not a log of added and removed nodes: no line has"),
        ("\n# c\nhello\n", "line 3: 'hello' is in no known form; not a log"),
        ('policies = ["IE"]\n', "line 1: a TOML file, expected a trace"),
        ("[point]\nm = 5\n", "line 1: a TOML file, expected a trace"),
        (f"1 {'0 ' * 16}0\n", "line 1: a log of jobs, expected a trace; it is read with --family grid"),
        ('date,up\n"0,1\n1,1\n', "line 2: '\"0,1': unexpected end of data, expected a line of cells"),
        ("time_ms,event,node,zone\n0,add,a,b\n", "line 1: 'time_ms,event,node,zone' is in no known form; not a log"),
        ("0 0 1 1 a 1 5 5 x\n0 0 1 1 a 0 5 5 x\n", "all events at the same time, expected at least one that lasts"),
        ("date,up\n0,1\n0,1\n", "line 3: date '0', expected a date after the previous one"),
        ("date,up\n", "0 samples, expected at least two"),
    ],
)
def test_what_is_no_trace_is_refused(write, text, message):
    assert refusal(write("z.csv", text)).startswith(message)


# ------------------------------------------------------------------------------------------------- columns that clash


def test_a_node_column_is_the_one_that_tells_nodes_apart(write):
    rows = "".join(f"{300 * i},{'ab'[i % 2]},p3,{(i + 1) % 2}\n" for i in range(6))
    path = write("z.csv", f"timestamp,zone,instance,available\n{rows}")
    trace = read(path)
    assert trace.nodes == ("a", "b")
    assert letters(trace, 300) == ["uuuuu", "ddddd"]
    assert "node 'zone'" in trace.summary
    assert "columns not used: 'instance'" in trace.summary


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "time,zone,host,up\n0,a,x,1\n0,b,y,1\n9,a,y,1\n9,b,x,1\n",
            "columns 'zone' and 'host' may both be the node, expected one of them by --columns node=zone",
        ),
        ("date,time,up\n0,0,1\n5,5,1\n", "columns 'date' and 'time' may both be the date"),
        ("date,up,preempted\n0,0,1\n5,0,1\n", "columns 'up' and 'preempted' may both be the availability"),
        ("date,up,count\n0,0,1\n5,0,1\n", "columns 'up' and 'count' may both be the availability"),
        ("date,Up,up\n0,0,1\n5,0,1\n", "column 'up' occurs twice, expected each name once"),
        ("date,up,x,x\n0,0,1,1\n5,0,1,1\n", "column 'x' occurs twice, expected each name once"),
    ],
)
def test_columns_that_may_be_the_same_are_refused(write, text, message):
    assert refusal(write("z.csv", text)).startswith(f"line 1: {message}")


def test_an_option_decides_between_columns(write):
    path = write("z.csv", "time,zone,host,up\n0,a,x,1\n0,b,y,1\n9,a,x,1\n9,b,y,1\n")
    assert read(path, columns={"node": "host"}).nodes == ("x", "y")


@pytest.mark.parametrize("turns", ["ababab", "abcabcabc"])
def test_a_column_whose_values_take_turns_is_not_passed_over(write, turns):
    rows = "".join(f"{300 * i},{pod},{i % 2}\n" for i, pod in enumerate(turns))
    path = write("z.csv", f"time,pod,up\n{rows}")
    assert refusal(path).startswith("line 1: column 'pod' may be the node: its values, such as 'a' and 'b', take turns")
    assert read(path, columns={"node": "pod"}).nodes == tuple(sorted(set(turns)))


@pytest.mark.parametrize("column", ["aaabbb", "aabbaa", "abcdef", "aaaaab", "123123"])
def test_other_columns_are_passed_over_and_said(write, column):
    rows = "".join(f"{300 * i},{cell},{i % 2}\n" for i, cell in enumerate(column))
    trace = read(write("z.csv", f"time,pod,up\n{rows}"))
    assert trace.nodes == ("z",)
    assert "columns not used: 'pod'" in trace.summary


# ------------------------------------------------------------------------------------------------ the meaning of values


@pytest.mark.parametrize("name", ["unavailable", "Preempted", "is_evicted", "isInterrupted", "down", "not_available"])
def test_names_of_absence_are_read_the_other_way_round(write, name):
    path = write("z.csv", table(DATES, f"date,{name}"))
    assert letters(read(path)) == ["dduddd" + "ud"]
    assert letters(read(path, columns={"availability": name})) == ["ddudddud"]


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("c.csv", "date,count\n0,2\n600,1\n", {"one_means": "preempted"}, "--one-means: does not apply to counts"),
        ("d.json", '{"gap_s": 5, "data": [0, 2]}', {"one_means": "preempted"}, "--one-means: does not apply to counts"),
        (
            "p.json",
            '{"gap_s": 5, "preempted": [0, 2]}',
            {},
            "count: 'preempted' counts machines that are",
        ),
        (
            "u.csv",
            "date,down\n0,2\n5,1\n",
            {"columns": {"count": "down"}},
            "count: 'down' counts machines that are",
        ),
        (
            "a.csv",
            "date,available\n0,2\n5,1\n",
            {},
            "line 2: availability '2', expected 0 or 1 (for counts of machines, --columns count=available)",
        ),
    ],
)
def test_counts_of_absent_machines_are_refused(write, name, text, options, message):
    assert message in refusal(write(name, text), **options)


def test_counts_of_several_zones_are_joined(write):
    zones = {"a": [2, 0, 1], "b": [1, 1, 0], "c": [0, 0, 0], "d": [0, 3, 1]}
    paths = [write(f"{name}.json", json.dumps({"gap_s": 10, "data": data})) for name, data in zones.items()]
    trace = read(*paths)
    assert trace.nodes == ("a 1", "a 2", "b 1", "d 1", "d 2", "d 3")
    assert letters(trace, 10) == ["udu", "udd", "uud", "duu", "dud", "dud"]
    tables = [
        write(f"{name}.csv", "time,count\n" + "".join(f"{10 * i},{k}\n" for i, k in enumerate(data)))
        for name, data in zones.items()
    ]
    assert read(*tables).intervals == trace.intervals


def test_counts_by_node_in_one_file(write):
    path = write("all.csv", "date,node,count\n2024-01-01,a,1\n2024-01-01,b,2\n2024-01-02,a,0\n2024-01-02,b,1\n")
    trace = read(path)
    assert trace.nodes == ("a 1", "b 1", "b 2")
    assert letters(trace, 86400) == ["ud", "uu", "ud"]


def test_counted_machines_are_those_of_one_sample_list_each():
    draw = random.Random(7)
    for _ in range(200):
        dates = [0]
        for _ in range(draw.randint(1, 12)):
            dates.append(dates[-1] + draw.choice([10, 10, 10, 14, 40]))
        counts = [draw.randint(0, 4) for _ in dates]
        expected = {f"z {i + 1}": from_samples(dates, [count > i for count in counts]) for i in range(max(counts))}
        assert counted("z", dates, counts) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 10**5, 1], "count: at most 100000 machines, expected 1 to 10000"),
        ([0, 10**4] * 600, "count: 10000 machines in 1200 samples have 12000000 intervals, expected at most 5000000"),
    ],
)
def test_counts_that_fill_the_memory_are_refused(write, data, message):
    text = json.dumps({"gap_s": 5, "data": data}).replace("100000", "1e5")
    assert refusal(write("z.json", text)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "date,up\n" + "".join(f"{i},1\n" for i in range(9)),
            "line 10: one of more than 8 lines",
        ),
        ("".join(f"{i},add,{i}\n" for i in range(9)), "line 9: one of more than 8 lines"),
        ("".join(f"0 0 1 1 a 1 {i} {i + 1} x\n" for i in range(9)), "line 9: one of more than 8 lines"),
        (
            "date,node,up\n" + "".join(f"1,{i},1\n" for i in range(6)),
            "line 7: more than 5 nodes",
        ),
    ],
)
def test_rows_and_nodes_have_a_largest_number(write, monkeypatch, text, message):
    monkeypatch.setattr(delimited, "MOST_ROWS", 8)
    monkeypatch.setattr(event_table, "MOST_ROWS", 8)
    monkeypatch.setattr(samples, "MOST_MACHINES", 5)
    assert refusal(write("z.csv", text)).startswith(message)


# ------------------------------------------------------------------------------------------------------------- windows


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"slot_s": 7200}, "node 'z': a slot of 7200 s, expected at most the 4800 s in which the node is observed"),
        (
            {"slot_s": 600, "start": "2023-02-16"},
            "start: 2023-02-16 00:00:00, expected an earlier time: the trace",
        ),
        (
            {"slot_s": 600, "start": "2023-02-16", "slots": 3, "unobserved": "down"},
            "window: 2023-02-16 00:00:00 to 2023-02-16 00:30:00, but the nodes are observed from 2023-02-15 22:00:00",
        ),
        ({"slot_s": "0.00001"}, "slots: 480000000 of 1 nodes, expected at most 250000000 states"),
        ({"slot_s": 600, "start": "20230215"}, "start: '20230215' has several meanings, expected a date and time"),
    ],
)
def test_windows_without_observation_and_without_end_are_refused(write, choice, message):
    trace = read(write("z.csv", table(DATES)))
    with pytest.raises(InputError) as refused:
        trace.states(**choice)
    assert str(refused.value).startswith(message)
