"""What ``hindsched import`` says about the trace that it reads."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from hindsched.bench.commands.trace_picture import explain, svg
from hindsched.instances.intervals import Interval, Presence
from hindsched.instances.traces import Trace

COUNTS = '{"gap_seconds": 600, "data": [2, 1, 2, 2]}'


def say(hindsched, folder, name, content, *arguments):
    path = folder / name
    path.write_text(content)
    code, out, err = hindsched("import", path, "--slot", "600", "--m", "1", "--train", "0", *arguments)
    assert code == 0, err
    return json.loads(out), err.splitlines()


def test_one_line_says_what_was_read(hindsched, tmp_path):
    text = "time_ms;zone;instance;up\n" + "".join(f"{600_000 * i};{z};p3;{i % 2}\n" for i in range(4) for z in "ab")
    _, lines = say(hindsched, tmp_path, "z.csv", text)
    assert lines[0] == (
        "hindsched: read: samples, separator semicolon; time 'time_ms': milliseconds from the beginning of the trace; "
        "node 'zone'; availability 'up': 1 means available; a sample every 600 s; columns not used: 'instance'; "
        "2 nodes from 0 s to 2400 s, available 50.0% of the observed time"
    )


@pytest.mark.parametrize(
    ("content", "arguments", "hint"),
    [
        ('{"gap_s": 600, "data": [0, 1, 0, 0]}', [], "if 1 means preempted, say --one-means preempted"),
        ('{"gap_s": 600, "data": [0, 1, 0, 0]}', ["--one-means", "available"], None),
        ('{"gap_s": 600, "data": [0, 2, 0, 0]}', [], None),
        ('{"gap_s": 60, "data": [1, 0, 1, 0, 1, 1, 0, 1, 1, 1]}', [], "longer than most availability periods"),
        ('{"gap_s": 600, "data": [1, 1, 1, 0]}', [], None),
    ],
)
def test_hints_come_where_they_apply(hindsched, tmp_path, content, arguments, hint):
    _, lines = say(hindsched, tmp_path, "z.json", content, *arguments)
    hints = [line for line in lines if "--one-means" in line or "longer than" in line]
    assert len(hints) == (hint is not None)
    assert hint is None or hint in hints[0]


def test_a_name_with_a_comma_is_a_node(hindsched, tmp_path):
    text = 'time,host,up\n0,"a,b",1\n0,c,1\n600,"a,b",0\n600,c,1\n1200,"a,b",1\n1200,c,1\n'
    for nodes, names in [("a,b", ["a,b"]), ('"a,b",c', ["a,b", "c"]), ("c", ["c"]), ("2", ["a,b", "c"])]:
        instance, _ = say(hindsched, tmp_path, "z.csv", text, "--nodes", nodes)
        assert [worker["name"] for worker in instance["workers"]] == names


def test_counts_of_three_zones_are_joined(hindsched, tmp_path):
    for zone in "bc":
        (tmp_path / f"{zone}.json").write_text(COUNTS)
    instance, _ = say(hindsched, tmp_path, "a.json", COUNTS, tmp_path / "b.json", tmp_path / "c.json")
    assert [worker["states"] for worker in instance["workers"]] == ["uuuu", "uduu"] * 3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("spot_aws", None, "spot_aws: no such file, expected one or a packaged trace: spot_aws_v100"),
        ("c.toml", 'policies = ["IE"]\n', "a TOML file, expected a trace; a campaign is run by hindsched campaign"),
        (
            "long.csv",
            "date,up\n0,1\n60,1\n",
            "a slot of 600 s, expected at most the 120 s in which the node is",
        ),
        (
            "jobs.swf",
            "; Version: 2.2\n1" + " 0" * 17 + "\n",
            "a log of jobs, expected a trace; it is read with --family",
        ),
        ("empty.csv", "# nothing\n", "only comments and blank lines, expected a trace"),
    ],
)
def test_what_cannot_be_imported_is_said_in_one_line(hindsched, tmp_path, monkeypatch, name, content, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_text(content)
    code, out, err = hindsched("import", name, "--slot", "600", "--m", "1", "--train", "0", "-o", "out.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "out.json").exists()


TABLE = "date,zone,up\n" + "".join(
    f"2023-02-15 {22 + i // 6}:{i % 6}0:00,{zone},{up}\n"
    for i in range(8)
    for zone, up in [("a", int(i % 4 != 2)), ("b<c", 1)]
)


def test_check_shows_what_would_be_read_and_writes_nothing(hindsched, tmp_path):
    path, picture = tmp_path / "z.csv", tmp_path / "z.svg"
    path.write_text(TABLE)
    code, out, err = hindsched("import", "--check", path, "--picture", picture, "-o", tmp_path / "out.json")
    assert code == 0
    assert out.startswith("read: samples, separator comma; time 'date': dates, UTC")
    lines = out.splitlines()
    assert f"a   |{'#' * 16}{'.' * 8}{'#' * 24}{'.' * 8}{'#' * 8}|" in lines
    assert f"b<c |{'#' * 64}|" in lines
    first = lines.index("a: 5 intervals")
    assert lines[first + 1] == "  2023-02-15 22:00:00 to 2023-02-15 22:20:00  available for 1200 s"
    assert lines[first + 2] == "  2023-02-15 22:20:00 to 2023-02-15 22:30:00  unavailable for 600 s"
    assert err.splitlines()[-1] == f"hindsched: wrote {picture}"
    root = ET.fromstring(picture.read_text())
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a", "b<c", "2023-02-15 22:00:00", "2023-02-15 23:20:00"} <= set(texts)
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["available", "unavailable", "available", "unavailable", "available", "available"]
    assert not (tmp_path / "out.json").exists()


def test_check_takes_the_options_of_reading(hindsched, tmp_path):
    path = tmp_path / "z.csv"
    path.write_text("t,host,ok\n0,a,1\n0,b,0\n5,a,1\n5,b,1\n")
    options = ["--columns", "date=t,availability=ok", "--one-means", "preempted", "--time-unit", "min", "--nodes", "b"]
    for family in ("coupled", "bags", "batches"):
        used = options[:-2] if family == "batches" else options
        code, out, _ = hindsched("import", "--check", path, "--family", family, *used)
        assert code == 0
        assert "1 means preempted; a sample every 300 s" in out
        assert ("\na: " in out) == (family == "batches")


def test_check_and_picture_are_refused_where_they_do_not_apply(hindsched, tmp_path):
    path = tmp_path / "z.csv"
    path.write_text(TABLE)
    for arguments in (["--check", "--family", "grid"], ["--slot", "600", "--m", "1", "--picture", tmp_path / "z.svg"]):
        code, out, err = hindsched("import", path, *arguments)
        assert (code, out) == (2, "")
        assert "--check" in err
    assert not (tmp_path / "z.svg").exists()


def test_the_picture_has_all_signs():
    kinds = [Presence.AVAILABLE, Presence.UNAVAILABLE, Presence.CLAIMED]
    row = [Interval(640 * i, 640 * (i + 1), kind) for i, kind in enumerate(kinds)]
    row += [Interval(2560 + 5 * i, 2565 + 5 * i, kinds[i % 4 == 3]) for i in range(128)]
    row += [Interval(3200 + 5 * i, 3205 + 5 * i, kinds[i % 4 != 3]) for i in range(128)]
    text = "\n".join(explain(Trace(("n",), (tuple(row),)), ["n"]))
    drawn = re.search(r"^n +\|(.*)\|$", text, re.MULTILINE)[1]
    assert re.fullmatch(r"#+\+?\.+c+ +\++-+", drawn), drawn
    assert "n: 259 intervals, the first 10:" in text


def test_many_nodes_are_cut():
    trace = Trace(tuple(map(str, range(150))), ((Interval(0, 5, Presence.AVAILABLE),),) * 150)
    lines = list(explain(trace, trace.nodes))
    assert lines[-1] == "\n50 more nodes; --nodes chooses others"
    assert svg(trace, trace.nodes).count("<title>") == 100


def test_a_window_after_the_trace_is_refused_also_with_training(hindsched, tmp_path):
    path = tmp_path / "z.csv"
    path.write_text(TABLE)
    choice = ["--slots", "5", "--unobserved", "down"]
    for arguments in (["--start", "2025-01-01"], ["--start", "2023-02-15T23:20", "--train", "4"]):
        code, out, err = hindsched("import", path, "--slot", "600", "--m", "1", *choice, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "but the nodes are observed from 2023-02-15 22:00:00 to 2023-02-15 23:20:00" in err
    code, _, err = hindsched("import", path, "--slot", "600", "--m", "1", "--start", "2025-01-01")
    assert (code, err.count("\n")) == (2, 1)
    assert "but the nodes are observed from" in err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("node=zone,node=up", "--columns: 'node=up', expected node once"),
        ("zone", "--columns: 'zone', expected kind=name"),
        ("node=", "--columns: 'node=', expected kind=name"),
        ("place=zone", "columns: 'place', expected one of date, availability, count, node"),
    ],
)
def test_columns_are_named_once(hindsched, tmp_path, columns, message):
    path = tmp_path / "z.csv"
    path.write_text(TABLE)
    code, _, err = hindsched("import", "--check", path, "--columns", columns)
    assert code == 2
    assert message in err


def test_a_column_with_a_comma_in_its_name(hindsched, tmp_path):
    path = tmp_path / "z.csv"
    path.write_text(TABLE.replace("zone", '"zone,id"'))
    code, out, _ = hindsched("import", "--check", path, "--columns", '"node=zone,id",date=date')
    assert code == 0
    assert "node 'zone,id'" in out


def test_keys_without_effect_are_said(hindsched, tmp_path):
    path = tmp_path / "z.json"
    path.write_text('{"metadata": {"gap_s": 5, "region": "x"}, "timestamps": [0, 9], "data": [0, 1]}')
    assert "keys not used: 'timestamps', 'region'" in hindsched("import", "--check", path)[1]


def test_names_with_control_characters_are_shown_escaped():
    trace = Trace(("a\x1b[31m\x01", "caf\udce9"), ((Interval(0, 5, Presence.AVAILABLE),),) * 2)
    text = "\n".join(explain(trace, trace.nodes))
    assert text.isascii()
    assert r"a\x1b[31m\x01: 1 interval" in text
    assert "caf" in ET.fromstring(svg(trace, trace.nodes).encode()).findall(".//{*}text")[1].text
