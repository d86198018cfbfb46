import json
import os
import re
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances import Chain, InputError, read, read_schedule, text_files, write, write_schedule
from hindsched.instances.coupled import Configuration, Instance, Schedule, files
from hindsched.instances.coupled.generate import paper
from hindsched.instances.states import LETTERS, from_letters

COUNTS = some.integers(0, 2**31 - 1)
POSITIVE = some.integers(1, 2**31 - 1)

GOOD = {
    "format": "coupled/1",
    "tasks": 2,
    "iterations": 1,
    "n_com": None,
    "t_prog": 2,
    "t_data": 1,
    "workers": [
        {"w": 1, "mu": None, "states": "uurd"},
        {"w": 2, "mu": 1, "states": "uuuu", "markov": [[0.9, 0.1, 0], [0.5, 0.5, 0], [0, 0, 1]]},
    ],
}
GOOD_SCHEDULE = {
    "format": "schedule/1",
    "instance": "sha256:00",
    "letters": ["PC", ".."],
    "configurations": [{"slot": 0, "tasks": {"0": 2, "1": 0}}, {"slot": 1, "tasks": {}}],
}


@some.composite
def rows_of_probabilities(draw):
    weights = draw(some.tuples(*[some.floats(0, 1)] * 3).filter(lambda row: sum(row) > 0.01))
    return tuple(weight / sum(weights) for weight in weights)


CHAINS = some.none() | some.builds(Chain, some.tuples(*[rows_of_probabilities()] * 3))


@some.composite
def instances(draw):
    p, slots = draw(some.integers(1, 4)), draw(some.integers(1, 30))
    columns = {
        "w": draw(some.lists(POSITIVE, min_size=p, max_size=p)),
        "mu": draw(some.lists(some.none() | COUNTS, min_size=p, max_size=p)),
        "chains": draw(some.just([]) | some.lists(CHAINS, min_size=p, max_size=p)),
    }
    if None not in columns["mu"] and sum(columns["mu"]) == 0:
        columns["mu"][0] = 1
    room = 2**31 - 1 if None in columns["mu"] else min(sum(columns["mu"]), 2**31 - 1)
    return Instance(
        tasks=draw(some.integers(1, room)),
        iterations=draw(POSITIVE),
        n_com=draw(some.none() | POSITIVE),
        t_prog=draw(COUNTS),
        t_data=draw(COUNTS),
        states=from_letters([draw(some.text(LETTERS, min_size=slots, max_size=slots)) for _ in range(p)]),
        **columns,
    )


@some.composite
def schedules(draw):
    p, slots = draw(some.integers(1, 4)), draw(some.integers(0, 20))
    letters = [draw(some.text("PDCI.", min_size=slots, max_size=slots)) for _ in range(p)]
    moments = sorted(draw(some.sets(some.integers(0, 30), max_size=4)))
    tasks = some.dictionaries(some.integers(0, p - 1), some.integers(0, 5))
    entries = tuple(Configuration(moment, draw(tasks)) for moment in moments)
    return Schedule(draw(some.text(some.characters(codec="utf-8"))), tuple(letters), entries)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def changed(document, **changes):
    return json.dumps({**document, **changes})


def worker(**changes):
    return changed(GOOD, workers=[GOOD["workers"][0], {**GOOD["workers"][1], **changes}])


def without(document, key):
    return {name: value for name, value in document.items() if name != key}


# ---------------------------------------------------------------- round trips


@given(instance=instances())
def test_an_instance_reads_back_equal(folder, instance):
    path = folder / "instance.json"
    write(instance, path)
    back = read(path)
    assert back == instance
    assert [getattr(back, name) for name in ("w", "mu", "chains", "tasks", "n_com")] == [
        getattr(instance, name) for name in ("w", "mu", "chains", "tasks", "n_com")
    ]
    assert (back.states == instance.states).all()
    assert files.write_instance(back) == path.read_text()


@given(schedule=schedules())
def test_a_schedule_reads_back_equal(folder, schedule):
    path = folder / "schedule.json"
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule
    assert files.write_schedule(read_schedule(path)) == path.read_text()


def test_the_file_format_is_the_documented_one(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(GOOD, indent=3))
    text = files.write_instance(read(path))
    assert json.loads(text) == GOOD
    assert [line[:12] for line in text.splitlines()] == ['{"format":"c', '{"w":1,"mu":', '{"w":2,"mu":', "]}"]
    path.write_text(json.dumps(GOOD_SCHEDULE))
    assert json.loads(files.write_schedule(read_schedule(path))) == GOOD_SCHEDULE


def test_keys_may_be_in_any_order_and_texts_in_any_language(tmp_path):
    path = tmp_path / "größe ü.json"
    path.write_text(json.dumps(dict(reversed(GOOD.items()))))
    assert read(path).tasks == 2


# ---------------------------------------------------------------- bad instances

BAD_TEXTS = {
    "empty": (b"", "empty, expected a JSON object"),
    "blank": (b" \n\t\n", "empty, expected a JSON object"),
    "truncated": (json.dumps(GOOD)[:-5].encode(), "line 1, column 232: not JSON: ends too early: expecting ',' deli"),
    "truncated lines": (json.dumps(GOOD, indent=1)[:40].encode(), "line 4, column 2: not JSON: ends too early: "),
    "cut in a text": (b'{"format": "coup', "line 1, column 12: not JSON: ends too early: unterminated string"),
    "two values": (b"{}\n{}", "line 2, column 1: not JSON: extra data"),
    "not JSON": (b"tasks = 5", "line 1, column 1: not JSON: expecting value"),
    "trailing comma": (b'{"tasks": 5,}', "line 1, column 1"),
    "not UTF-8": (b'{"format":\n "\xff"}', "line 2: not UTF-8, expected the text of a JSON object"),
    "UTF-16": (json.dumps(GOOD).encode("utf-16"), "UTF-16 text, expected UTF-8"),
    "a list": (b"[1, 2]", "a list, expected a JSON object"),
    "a number": (b"7", "a number, expected a JSON object"),
    "true": (b"true", "a truth value, expected a JSON object"),
    "nan": (b'{"tasks": NaN}', "tasks: not JSON: NaN, expected a finite number"),
    "infinity": (b'{"tasks": -Infinity}', "tasks: not JSON: -Infinity, expected a finite number"),
    "deep": (b"[" * 100_000, "not JSON: nested too deeply"),
    "digits": (
        b'{"tasks": ' + b"9" * 5000 + b"}",
        "tasks: 9999999999999999999999999999999999999999..., expected an integer of at most 64 bits",
    ),
    "a key twice": (b'{"format": "coupled/1", "tasks": 1, "tasks": 2}', "key 'tasks' occurs twice in an object"),
}


@pytest.mark.parametrize("reader", [read, read_schedule])
@pytest.mark.parametrize("kind", BAD_TEXTS)
def test_a_file_that_is_not_a_json_object_is_refused_with_file_and_line(tmp_path, reader, kind):
    content, message = BAD_TEXTS[kind]
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        reader(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(GOOD, format="coupled/3"), 'format: "coupled/3", expected "coupled/1" or "coupled/2"'),
        (changed(GOOD, format=1), "format: 1, expected a format of one of coupled"),
        (json.dumps(GOOD_SCHEDULE), 'format: "schedule/1", expected "coupled/1"'),
        (json.dumps(without(GOOD, "format")), 'missing key format, expected "NAME/1"'),
        ("{}", 'missing key format, expected "NAME/1"'),
        (changed(GOOD, deadline=5), "unknown key deadline"),
        (json.dumps(without(GOOD, "n_com")), "missing key n_com"),
        (changed(GOOD, tasks=-3), "tasks: -3, expected an integer >= 1"),
        (changed(GOOD, tasks=0), "tasks: 0, expected an integer >= 1"),
        (changed(GOOD, tasks=1.5), "tasks: 1.5, expected an integer"),
        (changed(GOOD, tasks=2.0), "tasks: 2.0, expected an integer"),
        (changed(GOOD, tasks="2"), 'tasks: "2", expected an integer'),
        (changed(GOOD, tasks=True), "tasks: true, expected an integer"),
        (changed(GOOD, tasks=None), "tasks: null, expected an integer"),
        (changed(GOOD, tasks=10**30), f"tasks: {10**30}, expected an integer of at most 64 bits"),
        (changed(GOOD, tasks=[1]), "tasks: a list of 1, expected an integer"),
        (changed(GOOD, iterations=0), "iterations: 0, expected an integer >= 1"),
        (changed(GOOD, n_com=0), "n_com: 0, expected an integer >= 1"),
        (changed(GOOD, n_com=False), "n_com: false, expected an integer or null"),
        (changed(GOOD, t_prog=-1), "t_prog: -1, expected an integer >= 0"),
        (changed(GOOD, t_data=0.5), "t_data: 0.5, expected an integer"),
        (changed(GOOD, workers=[]), "workers: no worker, expected at least one"),
        (changed(GOOD, workers={}), "workers: an object, expected a list"),
        (changed(GOOD, workers=[7]), "workers[0]: 7, expected an object"),
        (changed(GOOD, mu=3), "unknown key mu"),
        (worker(speed=3), "workers[1]: unknown key speed"),
        (worker(w=0), "workers[1].w: 0, expected an integer >= 1"),
        (worker(w=1.5), "workers[1].w: 1.5, expected an integer"),
        (worker(w=True), "workers[1].w: true, expected an integer"),
        (worker(mu=-1), "workers[1].mu: -1, expected an integer >= 0"),
        (worker(mu="inf"), 'workers[1].mu: "inf", expected an integer or null'),
        (worker(states="uxud"), "workers[1].states: letter 'x' in slot 1, expected one of u (UP), r (RECLAIMED), d (D"),
        (worker(states="UUUU"), "workers[1].states: letter 'U' in slot 0"),
        (worker(states="uuu"), "workers[1].states: 3 slots, expected 4 as in workers[0]"),
        (worker(states=["u"]), "workers[1].states: a list of 1, expected a text"),
        (worker(states="u" * 60 + "x"), "workers[1].states: 61 slots, expected 4"),
        (worker(markov=[[1, 0, 0]]), "workers[1].markov: a list of 1, expected a list of length 3"),
        (worker(markov=[[1, 0], [1, 0], [1, 0]]), "workers[1].markov[0]: a list of 2, expected a list of length 3"),
        (worker(markov=[[1, 0, 0], [0, "1", 0], [0, 0, 1]]), 'workers[1].markov[1][1]: "1", expected a number'),
        (worker(markov=[[1, 0, 0], [0, 1, 0], [0, 0.5, 0.4]]), "workers[1].markov[2]: probabilities sum to 0.9, expec"),
        (worker(markov=[[1, 0, 0], [1.5, -0.5, 0], [0, 0, 1]]), "workers[1].markov[1]: 1.5, expected a probability in"),
        (
            worker(markov=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]).replace("1]]", "1e999]]"),
            "workers[1].markov[2][2]: 1e999, expected a finite number",
        ),
        (changed(GOOD, workers=[{**GOOD["workers"][1], "mu": 1}]), "tasks: 2 tasks, expected at most 1, the sum of"),
        (changed(GOOD, workers=[{"w": 1, "mu": None, "states": ""}]), "workers[0].states: no slot, expected at least"),
        (changed(GOOD, workers=[{"w": 1, "states": "u"}]), "workers[0]: missing key mu"),
        (
            json.dumps(GOOD).replace('"w": 2', '"w": 2, "w": 3'),
            "workers[1]: key 'w' occurs twice in an object, expected once",
        ),
    ],
)
def test_an_invalid_instance_is_refused_with_file_worker_and_field(tmp_path, text, message):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "coupled/1"}, 'format: "coupled/1", expected "schedule/1"'),
        ({"makespan": 4}, "unknown key makespan"),
        ({"instance": 3}, "instance: 3, expected a text"),
        ({"letters": "PPDD"}, 'letters: "PPDD", expected a list'),
        ({"letters": ["PC", "P"]}, "letters[1]: 1 slots, expected 2 as for letters[0]"),
        ({"letters": ["PC", "Px"]}, "letters[1]: letter 'x' in slot 1, expected one of P, D, C, I and ."),
        ({"configurations": [{"slot": -1, "tasks": {}}]}, "configurations[0].slot: -1, expected an integer >= 0"),
        ({"configurations": [{"slot": 0}]}, "configurations[0]: missing key tasks"),
        (
            {"configurations": [{"slot": 0, "tasks": {"0": -1}}]},
            "configurations[0].tasks[0]: -1, expected an int",
        ),
        (
            {"configurations": [{"slot": 0, "tasks": {"0": 1.0}}]},
            "configurations[0].tasks[0]: 1.0, expected an int",
        ),
        ({"configurations": [{"slot": 0, "tasks": {"9" * 5000: 1}}]}, "configurations[0].tasks: worker '9999999999"),
        ({"configurations": [{"slot": 0, "tasks": {"x": 1}}]}, "configurations[0].tasks: worker 'x', expected a 0-ba"),
        ({"configurations": [{"slot": 0, "tasks": {"01": 1}}]}, "configurations[0].tasks: worker '01', expected a"),
        ({"configurations": [{"slot": 0, "tasks": {"2": 1}}]}, "configurations[0].tasks: worker 2, expected 0 to 1"),
        ({"configurations": [{"slot": 3, "tasks": {}}] * 2}, "configurations[1].slot: slot 3, expected above 3"),
    ],
)
def test_an_invalid_schedule_is_refused_with_file_and_field(tmp_path, changes, message):
    path = tmp_path / "bad.json"
    path.write_text(changed(GOOD_SCHEDULE, **changes))
    with pytest.raises(InputError) as caught:
        read_schedule(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@given(text=some.binary(max_size=40) | some.text(max_size=40).map(str.encode))
def test_random_text_raises_no_other_error(folder, text):
    path = folder / "rubbish.json"
    path.write_bytes(text)
    for reader in (read, read_schedule):
        with pytest.raises(InputError, match=re.escape(str(path))):
            reader(path)


@given(cut=some.integers(0, 235))
def test_a_file_cut_anywhere_is_refused(folder, cut):
    path = folder / "cut.json"
    path.write_text(json.dumps(GOOD)[:cut])
    with pytest.raises(InputError, match=re.escape(str(path))):
        read(path)


@pytest.mark.parametrize("reader", [read, read_schedule])
def test_files_that_cannot_be_read(tmp_path, reader):
    for path, message in (
        (tmp_path / "none.json", "no such file"),
        (tmp_path, "a directory, expected a file"),
        (tmp_path / ("x" * 300), "cannot be read: File name too long"),
    ):
        with pytest.raises(InputError) as caught:
            reader(path)
        assert str(caught.value) == f"{path}: {message}"


# ---------------------------------------------------------------- writing


@pytest.fixture
def instance():
    return Instance.from_letters(["uu"], w=[1], tasks=1)


def test_a_failed_write_leaves_only_the_original(tmp_path, monkeypatch, instance):
    path = tmp_path / "kept.json"
    path.write_text("original")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(text_files.os, "fsync", full)
    with pytest.raises(InputError, match=r"kept.json: cannot be written: No space left on device$"):
        write(instance, path)
    assert path.read_text() == "original"
    assert os.listdir(tmp_path) == ["kept.json"]


def test_an_interrupted_write_leaves_only_the_original(tmp_path, monkeypatch, instance):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(text_files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(instance, tmp_path / "new.json")
    assert os.listdir(tmp_path) == []


def test_paths_that_cannot_be_written(tmp_path, instance):
    for path, message in (
        (tmp_path / "none" / "a.json", "cannot be written: no such directory"),
        (tmp_path, "a directory, expected a file to write to"),
        (tmp_path / "file" / "a.json", "cannot be written: Not a directory"),
    ):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError) as caught:
            write(instance, path)
        assert str(caught.value) == f"{path}: {message}"
    assert os.listdir(tmp_path) == ["file"]


def test_a_write_replaces_the_whole_file_and_keeps_links(tmp_path, instance):
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    path.write_text("x" * 10_000)
    link.symlink_to(path)
    write(instance, link)
    assert link.is_symlink()
    assert path.read_text() == files.write_instance(instance)
    assert sorted(os.listdir(tmp_path)) == ["a.json", "link.json"]


def test_a_new_file_has_the_default_permissions(tmp_path, instance):
    write(instance, tmp_path / "own.json")
    (tmp_path / "any.json").write_text("")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full for failing writes")
def test_a_device_is_written_to_directly(instance):
    with pytest.raises(InputError, match=r"^/dev/full: cannot be written: No space left on device$"):
        write(instance, "/dev/full")
    write(instance, "/dev/null")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system gives open pipes no name")
def test_a_pipe_is_written_to_directly(instance):
    reading, writing = os.pipe()
    with os.fdopen(reading) as end:
        write(instance, f"/dev/fd/{writing}")
        os.close(writing)
        assert end.read() == files.write_instance(instance)


def test_an_error_is_one_line_for_all_keys_and_names(tmp_path):
    path = tmp_path / "two\nlines.json"
    path.write_text(json.dumps({**GOOD, "un\nknown": 1}))
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).endswith("two\\nlines.json: unknown key un\\nknown")


def test_an_error_names_a_path_without_a_file_name():
    with pytest.raises(InputError, match=r"^'': a directory, expected a file$"):
        read("")


def test_long_states_are_read_and_written(tmp_path):
    states = np.zeros((20, 100_000), dtype=np.uint8)
    wide = Instance(tasks=1, iterations=1, n_com=None, t_prog=0, t_data=0, w=(1,) * 20, mu=(None,) * 20, states=states)
    write(wide, tmp_path / "wide.json")
    assert read(tmp_path / "wide.json") == wide


def test_a_million_drawn_slots_have_a_short_file(tmp_path):
    path = tmp_path / "long.json"
    long = paper(m=5, n_com=10, wmin=1, scenario=0, trial=0, slots=1_000_000, drawn=True)
    write(long, path)
    assert path.stat().st_size < 10_000
    again = read(path)
    assert again == long
    assert again.slots == 1_000_000
    spelled_out = paper(m=5, n_com=10, wmin=1, scenario=0, trial=0, slots=300)
    assert (again.prefix(300) == spelled_out.states).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": {"key": ["a"], "slots": 0}}, "states.slots"),
        (
            {"states": {"key": ["a"], "slots": 10**15}},
            "states.slots: 1000000000000000, expected an integer <= 2147483647",
        ),
        ({"states": {"key": [1.5], "slots": 5}}, "states.key[0]"),
        ({"states": {"slots": 5}}, "states"),
        ({"states": "uuu"}, "states"),
        ({"workers": [{"w": 1, "mu": None}]}, "workers[0]: missing key markov"),
        ({"workers": [{"w": 1, "mu": None, "markov": [[1, 0, 0], [0, 1, 0], [0, 0, 0.5]]}]}, "workers[0].markov[2]"),
        ({"workers": []}, "workers"),
    ],
)
def test_invalid_drawn_instances_are_refused(tmp_path, change, message):
    path = tmp_path / "long.json"
    write(paper(m=1, n_com=1, wmin=1, scenario=0, trial=0, slots=9, p=1, drawn=True), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError) as refusal:
        read(path)
    assert f"long.json: {message}" in str(refusal.value)


def test_names_of_drawn_workers_are_kept(tmp_path):
    drawn = paper(m=2, n_com=1, wmin=1, scenario=0, trial=0, slots=50, p=2, drawn=True)
    named = drawn.replace(names=("here", "there"))
    write(named, tmp_path / "named.json")
    assert read(tmp_path / "named.json").names == ("here", "there")
    assert read(tmp_path / "named.json") == named
