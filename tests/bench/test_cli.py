"""The command line, as people and scripts use it."""

import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

from docs.studies.cli import studies
from hindsched import instances
from hindsched.bench.commands.group import hindsched as front_door
from hindsched.instances.coupled import Instance, generate
from hindsched.instances.coupled.generate import paper, small

KEYS_SOLVE = [
    *("file", "status", "objective", "value", "lower", "upper", "by", "runtime_s", "termination", "bound", "solver"),
]
KEYS_SIMULATE = ["file", "policy", "estimator", "makespan", "iterations"]


@pytest.fixture
def tiny(tmp_path) -> Path:
    path = tmp_path / "tiny.json"
    instances.write(small(5, p=3, slots=30, tasks=2, iterations=2, up=0.8, down=0.05), path)
    return path


def objects(out: str) -> list[dict]:
    return [json.loads(line) for line in out.splitlines()]


def refused(outcome, *said: str) -> None:
    code, out, err = outcome
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1, err
    for text in said:
        assert text in err


def helps(command, name):
    """Yield each command below ``command`` by its full name, with its help at 80 columns."""
    context = click.Context(command, info_name=name, terminal_width=80)
    yield name, command.get_help(context)
    for verb in command.list_commands(context) if isinstance(command, click.Group) else ():
        yield from helps(command.get_command(context, verb), f"{name} {verb}")


def own_options(page):
    """Return a help text without its commands and without the options of families."""
    return page.partition("\n\nCommands:")[0].partition("\n\nOptions of ")[0]


def test_every_help_reads_well_at_80_columns():
    pages = {**dict(helps(front_door, "hindsched")), **dict(helps(studies, "python -m docs.studies"))}
    assert {"hindsched score", "python -m docs.studies optima"} <= set(pages)
    for name, page in pages.items():
        assert "\\b" not in page, name
        assert "\b" not in page, name
        assert "INTEGER RANGE" not in page, name
        assert not re.search(r"\.\.\.\n", page.partition("Commands:")[2] + "\n"), name  # a summary cut short
        assert all(len(line) <= 80 for line in page.splitlines()), name
        assert re.search(r"^  (-h, )?--help +Show this message and exit\.$", own_options(page).splitlines()[-1]), name
    example = pages["hindsched campaign"]
    assert '    policies = ["all", "mine.py:Fastest"]\n    options.estimator = ["printed"]' in example  # lines are kept


def test_help_and_version(hindsched):
    code, out, _ = hindsched("--help")
    assert code == 0
    assert all(f"  {verb} " in out for verb in ["generate", "import", "solve", "simulate", "check", "gantt", "score"])
    assert hindsched("--version")[1].startswith("hindsched, version 0.")
    code, out, err = hindsched()  # no verb: the help, as a usage error
    assert (code, out) == (2, "")
    assert "\nCommands:\n" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(hindsched, monkeypatch, shell):
    """The line of the tutorial defines a completion, which then calls the command for its answers."""
    monkeypatch.setenv("_HINDSCHED_COMPLETE", f"{shell}_source")
    code, out, err = hindsched()
    assert (code, err) == (0, "")
    assert "_HINDSCHED_COMPLETE" in out
    monkeypatch.setenv("_HINDSCHED_COMPLETE", f"{shell}_complete")
    for words, expected in (("hindsched sol", "solve"), ("hindsched solve --thr", "--threads")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", words.split()[-1] if shell == "fish" else str(words.count(" ")))
        assert expected in hindsched()[1]


def test_the_help_names_the_families_whose_options_it_leaves_out(hindsched):
    for verb in ("generate", "import", "score", "reproduce"):
        _, out, _ = hindsched(verb, "--help")
        assert "For the options of bags, batches, grid, deadline: --family NAME --help." in " ".join(out.split()), verb
    _, out, _ = hindsched("generate", "--family", "grid", "--help")
    assert "For the options of coupled, bags, batches, deadline: " in out
    assert "For the options of" not in hindsched("simulate", "--help")[1]


def test_a_termination_signal_is_an_interruption(hindsched, tiny, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("hindsched.bench.coupled.commands.solve", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    code, out, err = hindsched("solve", tiny)
    assert (code, out, err.strip()) == (130, "", "hindsched: interrupted")
    assert signal.getsignal(signal.SIGTERM) is before


def run_in_shell(line):
    script = f"{sys.executable} -c 'from hindsched.bench.cli import main; main()' {line}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.skipif(shutil.which("bash") is None, reason="shell redirections need a shell")
def test_output_to_a_closed_pipe(tiny):
    for verb in ("simulate", "solve"):
        run_in_shell(f"{verb} {tiny}")  # which may have to compile, and says so
    cut = run_in_shell(f"simulate {tiny} --json | head -1; exit ${{PIPESTATUS[0]}}")
    assert (cut.returncode, cut.stderr) == (0, "")
    assert list(objects(cut.stdout)[0]) == KEYS_SIMULATE
    closed = run_in_shell(f"check {tiny} {tiny} >&- 2>&-")
    assert (closed.returncode, closed.stdout, closed.stderr) == (2, "", "")
    if Path("/dev/full").exists():
        full = run_in_shell(f"solve {tiny} --json > /dev/full")
        assert (full.returncode, full.stderr) == (2, "hindsched: standard output: No space left on device\n")


def test_too_large_for_the_machine_is_bad_input(hindsched, monkeypatch):
    def exhaust(*_, **__):
        raise MemoryError

    monkeypatch.setattr(generate, "paper", exhaust)
    refused(hindsched("generate"), "hindsched: not enough memory for an instance of this size")


def test_generate_writes_what_the_library_generates(hindsched, tmp_path):
    path = tmp_path / "paper.json"
    code, out, err = hindsched(
        "generate", "--m", 5, "--n-com", 5, "--wmin", 2, "--scenario", 1, "--trial", 3, "--slots", 40, "-o", path
    )
    assert (code, out, err) == (0, "", f"hindsched: instance of coupled written to {path}\n")
    assert instances.read(path) == paper(m=5, n_com=5, wmin=2, scenario=1, trial=3, slots=40)
    refused(hindsched("generate", "--small", "--m", 4, "--n-com", "none"), "--n-com: not used with --small\n")
    code, out, err = hindsched("generate", "--small", "--seed", 3, "--m", 4)
    (tmp_path / "small.json").write_text(out)
    assert instances.read(tmp_path / "small.json") == small(3, tasks=4)
    assert instances.read(tmp_path / "small.json").num_workers == 3  # p = 20 is the paper's default, not this one's


def test_solve_prints_the_promised_keys_in_the_order_of_the_files(hindsched, tmp_path, tiny):
    other = tmp_path / "other.json"
    instances.write(small(6, slots=20), other)
    code, out, _ = hindsched("solve", other, tiny, "--json", "--schedule", tmp_path / "best")
    assert code == 0
    rows = objects(out)
    assert [list(row) for row in rows] == [KEYS_SOLVE, KEYS_SOLVE]
    assert [row["file"] for row in rows] == [str(other), str(tiny)]
    for row in rows:
        assert row["status"] == "optimal"
        verdict = instances.check(
            instances.read(row["file"]),
            instances.read_schedule(tmp_path / "best" / f"{Path(row['file']).stem}.schedule.json"),
        )
        assert verdict.is_valid
        assert verdict.outcome.makespan == row["value"] == row["bound"]


def test_solve_reports_the_limit_that_stopped_it(hindsched, tiny):
    _, out, _ = hindsched("solve", tiny, "--json")
    assert objects(out)[0]["termination"] == {"reason": "optimal", "limit": None}
    _, out, _ = hindsched("solve", tiny, "--json", "--solver", "cpsat", "--time-limit", "1e-9")
    assert objects(out)[0]["termination"]["limit"] == "time"
    _, out, _ = hindsched("solve", tiny, "--solver", "cpsat", "--time-limit", "1e-9")
    words = [line.split() for line in out.splitlines() if line.split()]
    heading = next(i for i, line in enumerate(words) if "status" in line)
    assert (words[heading][-1], words[heading + 2][-1]) == ("limit", "time")


def test_the_table_of_optima_repeats_nothing(hindsched, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text(tiny.read_text())
    _, out, _ = hindsched("solve", "a.json")
    headings, cells = (line.split() for line in out.splitlines() if "a.json" in line or "status" in line)
    assert headings == ["file", "status", "value", "by", "seconds"]
    assert cells[:2] == ["a.json", "optimal"]
    _, out, _ = hindsched("solve", "a.json", "--objective", "iterations", "--solver", "cpsat", "--time-limit", "1e-9")
    (headings,) = (line.split() for line in out.splitlines() if "status" in line)
    assert headings == ["file", "status", "objective", "value", "bound", "by", "seconds", "limit"]
    assert max(map(len, out.splitlines())) <= 80


def test_commands_say_what_they_write(hindsched, tiny, tmp_path):
    schedule, picture, model = tmp_path / "schedule.json", tmp_path / "picture.svg", tmp_path / "model.lp"
    _, _, err = hindsched("solve", tiny, "--write-model", model, "--schedule", schedule)
    assert err == f"hindsched: model of the makespan written to {model}\n"
    assert hindsched("gantt", tiny, schedule, "-o", picture)[2] == f"hindsched: picture written to {picture}\n"
    graph, reduced = tmp_path / "graph.txt", tmp_path / "reduced.json"
    graph.write_text("11\n11\n")
    _, _, err = hindsched("reduce", graph, "-a", 1, "-b", 1, "--to", "mu1", "-o", reduced)
    assert err == f"hindsched: instance of coupled written to {reduced}\n"
    assert hindsched("reduce", graph, "-a", 1, "-b", 1, "--to", "mu1")[2] == ""


def test_solvers_agree_through_the_command_line(hindsched, tiny):
    values = {}
    for solver in ("cpsat", "brute"):
        for objective in ("makespan", "iterations"):
            for stand_by in ("--stand-by", "--no-stand-by"):
                code, out, _ = hindsched(
                    "solve", tiny, "--json", "--solver", solver, "--objective", objective, stand_by
                )
                assert code == 0
                values.setdefault((objective, stand_by), set()).add(objects(out)[0]["value"])
    assert all(len(found) == 1 for found in values.values()), values


def test_an_infeasible_instance_is_a_result(hindsched, tmp_path):
    path = tmp_path / "never.json"
    instances.write(Instance.from_letters(["rrr"], w=[1], tasks=1), path)
    code, out, err = hindsched("solve", path, "--json", "--schedule", tmp_path / "none.json")
    assert (code, err) == (0, "")
    (row,) = objects(out)
    assert (row["status"], row["value"], row["bound"]) == ("infeasible", None, None)
    assert not (tmp_path / "none.json").exists()


def test_simulate_all_policies_and_check_their_schedules(hindsched, tmp_path, tiny):
    code, out, _ = hindsched("simulate", tiny, "--policy", "all", "--json", "--schedule", tmp_path / "runs")
    assert code == 0
    rows = objects(out)
    assert [row["policy"] for row in rows][:6] == ["IP", "IE", "IY", "IAY", "P-IP", "P-IE"]
    assert len(rows) == 17
    instance = instances.read(tiny)
    for row in rows:
        assert list(row) == KEYS_SIMULATE
        schedule = tmp_path / "runs" / f"tiny.{row['policy']}.schedule.json"
        verdict = instances.check(instance, instances.read_schedule(schedule))
        assert (verdict.is_valid, verdict.outcome.makespan, verdict.outcome.iterations) == (
            True,
            row["makespan"],
            row["iterations"],
        )
        assert hindsched("check", tiny, schedule)[0] == 0


def test_an_unfinished_run_has_no_makespan(hindsched, tmp_path):
    path = tmp_path / "short.json"
    instances.write(paper(m=5, n_com=5, wmin=3, scenario=0, trial=0, slots=20), path)
    _, out, _ = hindsched("simulate", path, "--policy", "IE", "--json")
    assert objects(out) == [
        {"file": str(path), "policy": "IE", "estimator": "printed", "makespan": None, "iterations": 0}
    ]


def test_check_names_slot_and_rule_and_exits_with_one(hindsched, tmp_path, tiny):
    good = tmp_path / "good.json"
    hindsched("simulate", tiny, "--policy", "IE", "--schedule", good)
    text = json.loads(good.read_text())
    first = next(q for q, row in enumerate(text["letters"]) if "C" in row)
    row = text["letters"][first]
    text["letters"][first] = row.replace("C", "I", 1)
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(text))
    code, out, _ = hindsched("check", tiny, bad)
    assert code == 1
    assert f"slot {row.index('C')}: R4 broken" in out
    code, out, _ = hindsched("check", tiny, bad, "--json")
    (said,) = objects(out)
    assert (code, said["valid"], said["slot"], said["rule"]) == (1, False, row.index("C"), "R4")


def test_check_warns_of_a_schedule_made_for_another_instance(hindsched, tmp_path, tiny):
    schedule = tmp_path / "schedule.json"
    hindsched("simulate", tiny, "--policy", "IE", "--schedule", schedule)
    text = json.loads(schedule.read_text())
    text["instance"] = "another"
    schedule.write_text(json.dumps(text))
    code, _, err = hindsched("check", tiny, schedule)
    assert code == 0
    assert "made for another instance" in err


def test_gantt_draws_svg_and_refuses_broken_schedules(hindsched, tmp_path, tiny):
    schedule, picture = tmp_path / "schedule.json", tmp_path / "picture.svg"
    hindsched("solve", tiny, "--schedule", schedule)
    assert hindsched("gantt", tiny, schedule, "-o", picture)[0] == 0
    first = picture.read_text()
    assert first.startswith("<?xml")
    assert ">worker 2, w=" in first  # text stays text
    hindsched("gantt", tiny, schedule, "-o", picture)
    assert picture.read_text() == first
    refused(hindsched("gantt", tiny, schedule, "-o", tmp_path / "picture.doc"), "picture.doc", "expected .svg")
    text = json.loads(schedule.read_text())
    text["letters"][0] = "C" * len(text["letters"][0])
    schedule.write_text(json.dumps(text))
    refused(hindsched("gantt", tiny, schedule, "-o", tmp_path / "other.svg"), "not drawn: slot 0")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".json", ".svg"]


def test_a_schedule_of_other_workers_is_refused_by_its_file(hindsched, tmp_path, tiny):
    schedule = tmp_path / "narrow.json"
    schedule.write_text('{"format":"schedule/1","instance":"","letters":["."],"configurations":[]}')
    for verb, *rest in (("check",), ("gantt", "-o", tmp_path / "picture.svg")):
        said = "narrow.json: made for another instance: letters: 1 rows, expected one per worker, 3"
        refused(hindsched(verb, tiny, schedule, *rest), said)


def test_a_broken_schedule_of_another_instance_is_called_that(hindsched, tmp_path, tiny):
    other, schedule = tmp_path / "other.json", tmp_path / "schedule.json"
    given = instances.read(tiny)
    rows = ["d" * given.states.shape[1]] * given.num_workers
    instances.write(Instance.from_letters(rows, w=[1] * given.num_workers, tasks=given.tasks), other)
    hindsched("solve", tiny, "--schedule", schedule)
    said = "schedule.json: not drawn: made for another instance: slot 0: R"
    refused(hindsched("gantt", other, schedule, "-o", tmp_path / "picture.svg"), said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--m", "9999999999"], "--m: 9999999999, expected an integer <="),
        (["--family", "grid", "--nodes", "9999999999"], "--nodes: '9999999999', expected an integer from 1 to"),
        (["--slots", "9999999999"], "--slots: 9999999999, expected an integer <="),
    ],
)
def test_errors_in_options_name_the_flags(hindsched, arguments, said):
    refused(hindsched("generate", *arguments), f"hindsched: {said}")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("Y-EI", "'Y-EI', expected a policy of coupled: did you mean Y-IE?\n"),
        ("FCFS", "'FCFS' is a policy of bags, expected for coupled one of IP, IE, "),
        ("mine.py", "'mine.py', expected the class as well: mine.py:ClassName\n"),
    ],
)
def test_a_policy_that_does_not_exist_is_explained(hindsched, tiny, tmp_path, policy, said):
    for verb in (["simulate"], ["score", "--results", tmp_path / "out"]):
        refused(hindsched(verb[0], tiny, *verb[1:], "--policy", policy), f"hindsched: --policy: {said}")


def test_random_policies_have_the_same_seed_in_simulate_and_score(hindsched, tmp_path):
    path = tmp_path / "spot.json"
    hindsched("generate", "--slots", 2000, "--m", 3, "-o", path)
    for seed in (0, 7):
        _, out, _ = hindsched("simulate", path, "--policy", "RANDOM", "--seed", seed, "--json")
        folder = tmp_path / str(seed)
        arguments = ("--policy", "RANDOM", "--seed", seed, "--results", folder, "--jobs", 1, "--time-limit", 1)
        assert hindsched("score", path, *arguments)[0] == 0
        (row,) = [row for row in objects((folder / "runs.jsonl").read_text()) if row["kind"] == "run"]
        assert objects(out)[0]["makespan"] == row["makespan"]


def test_output_of_a_policy_is_not_a_result_and_its_name_is_not_a_path(hindsched, tmp_path, tiny):
    mine = tmp_path / "mine.py"
    mine.write_text("class Loud:\n    name = '../loud'\n\n    def choose(self, visible):\n        print('look')\n")
    arguments = ("--policy", "RANDOM", "--policy", f"{mine}:Loud", "--schedule", tmp_path / "runs", "--json")
    code, out, err = hindsched("simulate", tiny, *arguments)
    assert code == 0
    assert [row["policy"] for row in objects(out)] == ["RANDOM", f"{mine}:Loud"]
    assert "look" in err
    names = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert names == ["tiny..._loud.schedule.json", "tiny.RANDOM.schedule.json"]


def test_tables_for_people(hindsched, tiny):
    _, out, _ = hindsched("solve", tiny)
    assert "Hindsight optima" in out
    assert "optimal" in out
    _, out, _ = hindsched("simulate", tiny, "--policy", "IE", "--policy", "IE")
    assert out.count(" IE ") == 1


GOOD = '{"format":"coupled/1","tasks":1,"iterations":1,"n_com":1,"t_prog":0,"t_data":0,"workers":[%s]}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ('{"format":"coupled/1",', "not JSON"),
        (GOOD % '{"w":1,"mu":null,"states":"uux"}', "workers[0].states"),
        (GOOD % '{"w":1,"mu":null,"states":"uu"},{"w":1,"mu":null,"states":"u"}', "workers[1].states"),
        (GOOD % '{"w":-1,"mu":null,"states":"uu"}', "workers[0].w"),
        (GOOD % '{"w":1.5,"mu":null,"states":"uu"}', "workers[0].w"),
        (GOOD % '{"w":1,"mu":0,"states":"uu"}', "tasks"),
        (GOOD % '{"w":1,"mu":null,"states":"uu","speed":2}', "speed"),
        (GOOD % '{"w":1,"mu":null,"states":"uu","markov":[[1,0,0],[0,1,0],[0,0.5,0.4]]}', "workers[0].markov[2]"),
    ],
)
@pytest.mark.parametrize("verb", ["solve", "simulate", "score", "check", "gantt"])
def test_bad_instances_give_one_line_and_exit_two(hindsched, tmp_path, monkeypatch, verb, text, said):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.json"
    path.write_text(text)
    rest = {"check": [path], "gantt": [path, "-o", "out.svg"]}.get(verb, [])
    refused(hindsched(verb, path, *rest), "bad.json", said)
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.json"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solve", "missing.json"], "missing.json"),
        (["solve"], "FILE"),
        (["solve", "TINY", "--solver", "magic"], "magic"),
        (["solve", "TINY", "--time-limit", "0"], "--time-limit"),
        (["solve", "TINY", "--objective", "fun"], "fun"),
        (["solve", "TINY", "--schedule", "no/such/folder/x.json"], "no/such/folder"),
        (["simulate", "TINY", "--policy", "XX"], "XX"),
        (["simulate", "TINY", "--policy", "missing.py:Mine"], "missing.py"),
        (["generate", "--wmin", "0"], "--wmin"),
        (["generate", "--n-com", "0"], "--n-com"),
        (["generate", "-o", "no/such/folder/x.json"], "no/such/folder"),
        (["import", "missing.csv", "--slot", "10", "--m", "1"], "missing.csv"),
        (["check", "TINY", "missing.json"], "missing.json"),
        (["solve", "TINY", "--schedule", "."], ".: a directory, expected a file"),
        (["simulate", "TINY", "--policy", "IE", "--schedule", "no/such/folder/x.json"], "no such directory"),
        (["solve", "TINY", "TINY", "--schedule", "out"], "out/tiny.schedule.json: two schedules of this name"),
        (["frobnicate"], "frobnicate"),
        (["import", "x.csv", "--slot", "9"], "Missing option '--m'. Tasks per iteration. See hindsched import --help."),
        (["solve"], "Missing argument 'FILE...'. See hindsched solve --help."),
    ],
)
def test_bad_usage_gives_one_line_and_exit_two(hindsched, tiny, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    refused(hindsched(*[str(tiny) if argument == "TINY" else argument for argument in arguments]), said)


def test_a_bad_file_among_several_does_not_stop_the_others(hindsched, tmp_path, tiny):
    code, out, err = hindsched("solve", tmp_path / "missing.json", tiny, "--json")
    assert code == 2
    assert [row["file"] for row in objects(out)] == [str(tiny)]
    assert len(err.splitlines()) == 1


def test_heuristics_refuse_an_instance_without_chains(hindsched, tmp_path):
    path = tmp_path / "bare.json"
    instances.write(Instance.from_letters(["uuu"], w=[1], tasks=1), path)
    refused(hindsched("simulate", path, "--policy", "IE"), "bare.json", "markov")
    assert hindsched("simulate", path, "--policy", "RANDOM")[0] == 0


EVENTS = "# comment\n0 0 1 1 one 1 0 100 NULL\n1 0 1 1 one 0 100 150 NULL\n2 0 1 1 one 1 150 400 NULL\n"


def test_import_makes_an_instance_of_a_trace(hindsched, tmp_path):
    trace, out = tmp_path / "events.tab", tmp_path / "events.json"
    trace.write_text(EVENTS)
    code, _, err = hindsched("import", trace, "--slot", "50", "--train", "4", "--m", "2", "--w", "3", "-o", out)
    assert code == 0
    assert "assumed" in err
    instance = instances.read(out)
    assert (instance.tasks, instance.w, instance.slots) == (2, (3,), 4)
    assert instance.chains[0] is not None


def test_import_knows_packaged_traces_by_name(hindsched, tmp_path):
    out = tmp_path / "spot.json"
    code, _, err = hindsched("import", "spot_aws_v100", "--slot", "195", "--slots", "50", "--m", "2", "-o", out)
    assert code == 0
    assert "assumed: 1 means available" in err
    instance = instances.read(out)
    assert (instance.num_workers, instance.slots) == (9, 50)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--slot", "0"], "hindsched: --slot: '0', expected a number of seconds above 0"),
        (["--slot", "50", "--nodes", "²"], "nodes: '²' is not in the trace"),
        (["--slot", "50", "--slots", "1000000000000"], "slots: 1000000000000 of 50 s, expected at most"),
        (["--slot", "50", "-o", "no/such/folder/x.json"], "no such directory"),
    ],
)
def test_a_refused_import_says_one_line_and_assumes_nothing(hindsched, tmp_path, arguments, said):
    trace = tmp_path / "events.tab"
    trace.write_text(EVENTS)
    refused(hindsched("import", trace, "--m", "2", *arguments), said)


def test_a_trace_with_overlapping_intervals_is_refused(hindsched, tmp_path):
    trace = tmp_path / "events.tab"
    trace.write_text(EVENTS.replace("100 150", "90 150"))
    code, out, err = hindsched("import", trace, "--slot", "50", "--m", "2", "-o", tmp_path / "events.json")
    assert (code, out) == (2, "")
    assert "events.tab" in err
    assert "overlap" in err
    assert not (tmp_path / "events.json").exists()


POLICY = """
class Greedy:
    name = "greedy"
    def choose(self, visible):
        if visible.is_complete or not visible.up:
            return None
        return {visible.up[0]: visible.problem.tasks}
"""


@pytest.fixture
def score(hindsched, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = []
    for trial in range(3):
        paths.append(tmp_path / f"paper{trial}.json")
        instances.write(paper(m=3, n_com=5, wmin=1, scenario=0, trial=trial, slots=400, p=6, iterations=2), paths[-1])

    def call(*extra):
        return hindsched("score", *paths, "--results", "out", "--jobs", 1, *extra)

    return call


def test_score_writes_rows_table_and_pictures(score, tmp_path):
    (tmp_path / "mine.py").write_text(POLICY)
    code, out, _ = score("--policy", "all", "--policy", "mine.py:Greedy", "--json")
    assert code == 0
    rows = objects(out)
    assert len(rows) == 18
    for row in rows:
        assert row["runs"] == 3
        assert row["unfinished"] == 3 or row["mean_low"] >= 1.0
    folder = tmp_path / "out"
    written = {path.name for path in folder.iterdir()} - {".lock"}
    assert written == {"runs.jsonl", "table.csv", "ratios.csv", "ratios.svg", "example.svg", "schedules"}
    made = objects((folder / "runs.jsonl").read_text())
    assert len(made) == 3 + 3 * 18
    assert all(row["check"] == "valid" for row in made if row["kind"] == "run")
    header, *lines = (folder / "table.csv").read_text().splitlines()
    assert header.startswith("family,population,options,policy,runs,unfinished,quartile_1,")
    assert len(lines) == 18


def test_score_repeats_no_run_and_prints_the_same(score, tmp_path):
    _, first, _ = score("--policy", "IE", "--json")
    rows = (tmp_path / "out" / "runs.jsonl").read_bytes()
    table = (tmp_path / "out" / "table.csv").read_bytes()
    _, second, _ = score("--policy", "IE", "--json")
    assert second == first
    assert (tmp_path / "out" / "runs.jsonl").read_bytes() == rows
    assert (tmp_path / "out" / "table.csv").read_bytes() == table


def test_score_refuses_a_ratio_below_one(score, tmp_path):
    score("--policy", "IE")
    path = tmp_path / "out" / "runs.jsonl"
    rows = objects(path.read_text())
    for row in rows:
        if row["kind"] == "optimum":
            row["value"] = row["bound"] = row["lower"] = row["upper"] = row["value"] * 100
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, err = score("--policy", "IE")
    assert (code, out) == (3, "")
    assert "IE on " in err
    assert "proved that the optimum is >=" in err
    assert len(err.splitlines()) == 1


def test_score_refuses_one_instance_twice(hindsched, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(hindsched("score", tiny, tiny), "given twice")


def test_score_for_people(score):
    code, out, err = score("--policy", "IE", "--policy", "RANDOM")
    assert code == 0
    assert "middle half" in out
    assert "bootstrap" not in out  # three instances give no interval
    assert "; hindsight optima: 3 optimal; runs of each policy: 3 " in " ".join(out.split())
    assert "IP, IE, IY, IAY: choose workers by probability of success" in " ".join(out.split())
    headings = next(line.split() for line in out.splitlines() if "median" in line)
    assert headings == ["policy", "median", "middle", "half", "mean", "optimal"]
    assert max(map(len, out.partition("Instance by instance")[0].splitlines())) <= 80
    assert "score: 9/9" in err


def test_score_reports_instances_without_an_optimum(hindsched, tmp_path):
    path = tmp_path / "never.json"
    instances.write(Instance.from_letters(["dd"], w=[1], tasks=1), path)
    arguments = ("score", path, "--policy", "RANDOM", "--results", tmp_path / "out", "--jobs", 1)
    refused(hindsched(*arguments, "--m", 7), "--m: not used with FILE\n")
    refused(hindsched(*arguments, "--family", "grid"), f"{path} is of the family coupled, not of --family grid\n")
    assert not (tmp_path / "out").exists()
    code, out, _ = hindsched(*arguments)
    assert code == 0
    assert "T_data=0; hindsight optima: 1 infeasible: no schedule finishes" in out


def test_score_knows_its_solvers_before_it_makes_a_folder(hindsched, tmp_path, tiny):
    refused(hindsched("score", tiny, "--solver", "magic", "--results", tmp_path / "out"), "solver: 'magic', expected")
    assert not (tmp_path / "out").exists()


def test_no_bound_is_none_in_any_letters(hindsched):
    for text in ("none", "None", "NONE"):
        code, out, _ = hindsched("generate", "--m", 1, "--slots", 5, "--n-com", text)
        assert (code, json.loads(out)["n_com"]) == (0, None)
    assert "--n-com INTEGER|none" in hindsched("generate", "--help")[1]


# ---------------------------------------------------------------------------------------------- the last handler


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RecursionError(), 2, "nested too deeply"),
        (ImportError("of many\nlines"), 2, "broken installation): of many lines"),
        (OSError("libx.so: cannot map"), 2, "broken installation): libx.so: cannot map"),
        (OSError(30, "Read-only file system"), 2, "the operating system refuses: Read-only file system"),
        (OSError(28, "No space left", "there.txt"), 2, "there.txt: No space left"),
    ],
)
def test_errors_of_the_machine_are_one_line(hindsched, monkeypatch, error, code, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(generate, "paper", fail)
    found, out, err = hindsched("generate")
    assert (found, out, len(err.splitlines())) == (code, "", 1)
    assert said in err


def test_worker_processes_without_shared_memory_are_no_matter_of_the_output(hindsched, monkeypatch):
    space: dict = {}
    source = "def fail(**_): raise OSError(30, 'Read-only file system')"
    exec(compile(source, "multiprocessing/synchronize.py", "exec"), space)
    monkeypatch.setattr(generate, "paper", space["fail"])
    code, out, err = hindsched("generate")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("hindsched: /dev/shm, the memory that worker processes share")
    assert err.endswith(": Read-only file system\n")


@pytest.mark.parametrize("error", [ZeroDivisionError("of a bug"), GeneratorExit("of a bug"), KeyError("of a bug")])
def test_an_unexpected_error_names_a_file_with_its_traceback(hindsched, monkeypatch, tmp_path, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(generate, "paper", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, out, err = hindsched("generate")
    assert (code, out, len(err.splitlines())) == (3, "", 1)
    (path,) = tmp_path.iterdir()
    assert err.startswith(f"hindsched: an error of the toolkit, please report it with the file {path}: ")
    assert "of a bug" in err
    text = path.read_text()
    assert "Traceback" in text
    assert "in fail" in text

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refuse)
    code, out, err = hindsched("generate")
    assert (code, out, len(err.splitlines())) == (3, "", 1)
    assert "please report it" in err
    assert "test_cli.py:" in err


def test_links_in_a_circle_are_no_file_to_write(hindsched, tmp_path, tiny):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refused(hindsched("generate", "-o", tmp_path / "a"), "a: cannot be written: Too many levels of symbolic links")
    refused(hindsched("solve", tiny, "--schedule", tmp_path / "a"), "a: cannot be written: Too many levels")
    assert (tmp_path / "a").is_symlink()


# ------------------------------------------------------------------------------------------------------- pipes


@pytest.mark.skipif(shutil.which("bash") is None, reason="pipes in the place of files need a shell")
@pytest.mark.parametrize(
    "line",
    [
        "import <(cat {samples}) --slot 600 --m 1 --train 0",
        "import /dev/stdin --slot 600 --m 1 --train 0 < <(cat {samples})",
        "solve <(cat {tiny})",
        "check {tiny} <(cat {schedule})",
        "simulate <(cat {tiny}) --policy IE",
        "import --family grid --slot 1 --nodes 8 <(cat {log})",
        "import --family grid --slot 1 --kind batsim <(cat {batsim})",
        "report <(cat {table}) -o {out}",
        "campaign <(cat {campaign}) --results {out}",
        "score <(cat {bag}) --results {out} --policy FCFS",
    ],
)
def test_every_command_reads_pipes(tiny, tmp_path, hindsched, line):
    files = {name: tmp_path / name for name in ("samples", "schedule", "log", "batsim", "table", "campaign", "bag")}
    files["samples"].write_text("date,availability\n0,1\n600,1\n1200,0\n")
    assert hindsched("solve", tiny, "--schedule", files["schedule"])[0] == 0
    files["log"].write_text("1 0 -1 30 4 -1 -1 4\n")
    files["batsim"].write_text(
        '{"nb_res": 4, "profiles": {"p": {"type": "delay", "delay": 9}},'
        ' "jobs": [{"id": "a", "subtime": 1, "res": 2, "profile": "p"}]}'
    )
    files["table"].write_text("instance,policy,makespan\na,IE,7\n")
    files["campaign"].write_text(f'policies = ["IE"]\n[[instances]]\nfiles = ["{tiny}"]\n')
    files["bag"].write_text(
        '{"format": "bags/1", "slot": 2, "tasks": 1, "segments": 1, "store": "shared",'
        ' "machines": [{"segment": 1, "states": "uuuuuuuuuu"}]}'
    )
    found = run_in_shell(line.format(**files, tiny=tiny, out=tmp_path / "out"))
    assert found.returncode == 0, found.stderr
