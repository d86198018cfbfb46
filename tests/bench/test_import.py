"""What ``hindsched import`` says about the trace that it reads."""

import json

import pytest

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
