"""Input that commands refuse before work begins, and work that continues after a refusal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hindsched import instances
from hindsched.bench.commands.group import hindsched as front_door
from hindsched.bench.commands.options import Number
from hindsched.instances.bags.generate import small as small_bag
from hindsched.instances.coupled.generate import paper, small

POLICIES = """
print("loaded")


class Loud:
    name = "loud"

    def __init__(self):
        print("made")

    def choose(self, visible):
        print("asked")


class Twin(Loud):
    name = "loud"


class Hot(Loud):
    name = "hot"


class Broken:
    name = "broken"

    def choose(self, visible):
        raise RuntimeError("no")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return a folder with instances and policies, the current folder of the test."""
    monkeypatch.chdir(tmp_path)
    for seed in (5, 6):
        instances.write(small(seed, p=3, slots=30, tasks=2, iterations=2, up=0.8, down=0.05), f"{seed}.json")
    instances.write(small_bag(1, tasks=2), "bag.json")
    Path("mine.py").write_text(POLICIES)
    return tmp_path


@pytest.fixture
def chance() -> str:
    """Write an instance whose on-line optimum is found at once; return its file."""
    drawn = paper(m=2, n_com=1, wmin=1, scenario=7, trial=0, slots=2, p=3, iterations=1)
    instances.write(drawn.replace(t_prog=2), "chance.json")
    return "chance.json"


def rows(out):
    return [json.loads(line) for line in out.splitlines()]


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def all_options(command, context=None):
    context = click.Context(command, parent=context)
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            yield from all_options(command.get_command(context, verb), context)
    yield from command.get_params(context)


def test_every_number_is_finite(hindsched, folder):
    types = [param.type for param in all_options(front_door)]
    assert any(isinstance(kind, Number) for kind in types)
    assert all(
        isinstance(kind, Number) for kind in types if isinstance(kind, click.FloatRange | click.types.FloatParamType)
    )
    for arguments in (
        ("solve", "5.json", "--time-limit", "nan"),
        ("solve", "5.json", "--time-limit", "inf"),
        ("online-optimum", "5.json", "--tolerance", "nan"),
        ("generate", "--family", "grid", "--load", "nan"),
        ("reproduce", "--family", "bags", "--time-limit", "inf"),
    ):
        code, out, err = hindsched(*arguments)
        assert (code, out) == (2, "")
        assert err == f"hindsched: Invalid value for '{arguments[-2]}': '{arguments[-1]}', expected a finite number\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solve", "5.json", "--schedule", "no/x.json"], "no/x.json: cannot be written: no such directory"),
        (["solve", "5.json", "--schedule", "6.json/x.json"], "6.json/x.json: cannot be written: no such directory"),
        (["solve", "5.json", "--bound", "no/x.json"], "no/x.json: cannot be written: no such directory"),
        (["solve", "5.json", "6.json", "--schedule", "held"], "held/6.schedule.json: a directory, expected a file"),
        (["solve", "5.json", "6.json", "--schedule", "5.json"], "5.json: several schedules are written, expected a"),
        (["verify-bags", "-o", "no/x.csv"], "no/x.csv: cannot be written: no such directory"),
        (["verify-bags", "--failures", "5.json/x"], "5.json: not a folder, expected one to write to"),
        (["verify-reductions", "--failures", "5.json"], "5.json: not a folder, expected one to write to"),
        (["verify-simulator", "--failures", "5.json"], "5.json: not a folder, expected one to write to"),
        (["verify-solvers", "--failures", "5.json"], "5.json: not a folder, expected one to write to"),
    ],
)
def test_unwritable_outputs_are_refused_before_the_work(hindsched, folder, monkeypatch, arguments, said):
    (folder / "held" / "6.schedule.json").mkdir(parents=True)
    verify = "hindsched.bench.coupled.verify"
    works = (f"{verify}.theorem.verify", f"{verify}.twins.agree", f"{verify}.agreement.agree")
    for work in ("hindsched.bench.coupled.family.solve", "hindsched.bench.bags.verify.verify", *works):
        monkeypatch.setattr(work, lambda *_, **__: pytest.fail("at work"))
    code, out, err = hindsched(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"hindsched: {said}")
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="who may do anything is refused nothing")
def test_a_folder_in_which_nothing_may_be_written(hindsched, folder):
    (folder / "held").mkdir(mode=0o500)
    code, out, err = hindsched("solve", "5.json", "--schedule", "held/x.json")
    assert (code, out, err) == (2, "", "hindsched: held/x.json: cannot be written: Permission denied\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_failed_write_loses_no_answer(hindsched, folder):
    code, out, err = hindsched("solve", "5.json", "--schedule", "/dev/full", "--json")
    assert (code, [row["status"] for row in rows(out)]) == (2, ["optimal"])
    assert err == "hindsched: /dev/full: cannot be written: No space left on device\n"
    code, out, err = hindsched("simulate", "5.json", "--policy", "IE", "--schedule", "/dev/full", "--json")
    assert (code, [row["policy"] for row in rows(out)]) == (2, ["IE"])
    assert err == "hindsched: /dev/full: cannot be written: No space left on device\n"
    code, out, err = hindsched("verify-bags", "--instances", 1, "-o", "/dev/full", "--json")
    assert (code, len(rows(out))) == (2, 9)
    assert err.splitlines()[-1] == "hindsched: /dev/full: cannot be written: No space left on device"


def test_the_other_files_go_on_where_one_schedule_cannot_be_written(hindsched, folder, monkeypatch):
    write = instances.write_schedule

    def fail_once(schedule, path):
        monkeypatch.setattr(instances, "write_schedule", write)
        write(schedule, "no/x.json")

    monkeypatch.setattr(instances, "write_schedule", fail_once)
    code, out, err = hindsched("solve", "5.json", "6.json", "--schedule", "best", "--json")
    assert (code, [row["file"] for row in rows(out)]) == (2, ["5.json", "6.json"])
    assert err == "hindsched: no/x.json: cannot be written: no such directory\n"
    assert files(folder / "best") == ["6.schedule.json"]


def test_two_policies_of_one_name_are_refused_before_the_work(hindsched, folder, chance, monkeypatch):
    for work in ("hindsched.bench.coupled.family.run_policy", "hindsched.bench.coupled.leaderboard.run_policy"):
        monkeypatch.setattr(work, lambda *_, **__: pytest.fail("at work"))
    pair = ("--policy", "mine.py:Loud", "--policy", "mine.py:Twin")
    for arguments, said in (
        (("simulate", "5.json", *pair, "--schedule", "runs"), "runs/5.loud.schedule.json: two schedules of this name"),
        (("leaderboard", "mine.py:Loud", "mine.py:Twin"), "policy loud: two policies of this name"),
        (("leaderboard", "mine.py:Hot"), "policy hot: another row has this name"),
        (("online-optimum", chance, *pair), "chance.json: policy loud: two policies of this name"),
    ):
        code, out, err = hindsched(*arguments)
        assert (code, out) == (2, "")
        assert err.splitlines()[-1].startswith(f"hindsched: {said}, expected ")
    assert not (folder / "runs").exists()


def test_output_of_user_code_is_not_a_result(hindsched, folder, chance, monkeypatch):
    from hindsched.bench.coupled import leaderboard

    known = leaderboard.known_runs().head(1)
    first = leaderboard.sources()[:1]
    monkeypatch.setattr(leaderboard, "known_runs", lambda: known)
    monkeypatch.setattr(leaderboard, "sources", lambda: first)
    for arguments in (
        ("simulate", "5.json", "--policy", "mine.py:Loud"),
        ("leaderboard", "mine.py:Loud"),
        ("online-optimum", chance, "--policy", "mine.py:Loud", "--paths", 2),
    ):
        _, out, err = hindsched(*arguments, "--json")
        assert any("loud" in str(row).lower() for row in rows(out))
        assert {"loaded", "made", "asked"} <= set(err.splitlines())


def test_a_policy_that_fails_does_not_stop_the_others(hindsched, folder, chance, monkeypatch):
    from hindsched.bench.coupled import leaderboard

    first = leaderboard.sources()[:1]
    known = leaderboard.known_runs().head(1)
    monkeypatch.setattr(leaderboard, "known_runs", lambda: known)
    monkeypatch.setattr(leaderboard, "sources", lambda: first)
    for arguments, name in (
        (("simulate", "5.json", "--policy", "mine.py:Broken", "--policy", "IE"), "policy"),
        (("leaderboard", "mine.py:Broken", "IE"), "policy"),
        (("online-optimum", chance, "--policy", "mine.py:Broken", "--policy", "IE", "--paths", 2), "player"),
    ):
        code, out, err = hindsched(*arguments, "--json")
        assert code == 2
        assert "IE" in {row[name] for row in rows(out)}
        (said,) = [line for line in err.splitlines() if line.startswith("hindsched: ")]
        assert "policy broken, slot 0: choose raised RuntimeError: no (mine.py, line 27)" in said


def test_one_line_for_all_policies_where_the_file_is_to_blame(hindsched, folder):
    bare = instances.read("5.json").replace(chains=())
    instances.write(bare, "bare.json")
    code, out, err = hindsched("simulate", "bare.json", "--json")
    assert (code, [row["policy"] for row in rows(out)]) == (2, ["RANDOM"])
    assert len(err.splitlines()) == 1
    assert err.startswith("hindsched: bare.json: ")


@pytest.mark.parametrize(("asked", "written"), [(["5.json", "no.json"], "runs"), (["5.json"], ".")])
def test_schedules_of_several_files_go_to_a_folder(hindsched, folder, asked, written):
    code, out, _ = hindsched("simulate", *asked, "--policy", "IE", "--schedule", "runs", "--json")
    assert (code, len(rows(out))) == (2 if len(asked) > 1 else 0, 1)
    assert ("5.IE.schedule.json" if written == "runs" else "runs") in files(folder / written)


def test_a_file_without_a_suitable_policy_is_reported(hindsched, folder):
    code, out, err = hindsched("simulate", "5.json", "bag.json", "--policy", "IE", "--json")
    assert (code, [row["file"] for row in rows(out)]) == (2, ["5.json"])
    assert err == "hindsched: bag.json: --policy: no policy of bags, expected one\n"


def test_names_of_files_may_hold_any_bytes(hindsched, folder):
    name = os.fsdecode(b"caf\xe9.json")
    (folder / "5.json").rename(name)
    for verb in ("solve", "simulate"):
        code, out, _ = hindsched(verb, name, "--json")
        assert code == 0
        assert {row["file"] for row in rows(out)} == {"caf\\udce9.json"}
        assert "caf\\udce9.json" in hindsched(verb, name)[1]
    policy = os.fsdecode(b"caf\xe9.py")
    (folder / "mine.py").rename(policy)
    for verb in ("simulate", "score"):
        code, out, _ = hindsched(verb, name, "--policy", f"{policy}:Loud", "--json")
        assert (code, [row["policy"] for row in rows(out)]) == (0, ["caf\\udce9.py:Loud"])
    hindsched("solve", name, "--schedule", "best.json")
    schedule = os.fsdecode(b"\xe9.json")
    (folder / "best.json").rename(schedule)
    ran = subprocess.run(
        [sys.executable, "-m", "hindsched", "check", name, schedule],
        env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"}, capture_output=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.startswith(b"\\udce9.json: valid")


INTERRUPTED = """
import runpy, signal, sys


class Interrupting:
    def find_spec(self, name, *rest):
        if name == "click":
            signal.raise_signal(signal.SIGINT)


signal.signal(signal.SIGINT, signal.default_int_handler)  # also if the tests run in the background, where it is ignored
sys.meta_path.insert(0, Interrupting())
sys.argv = ["hindsched", "--help"]
"""


@pytest.mark.parametrize(
    "start", ["from hindsched.bench.cli import main; main()", "runpy.run_module('hindsched', None, '__main__')"]
)
def test_an_interruption_during_loading_is_reported_like_others(start):
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED + start], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "hindsched: interrupted\n")


def test_a_time_out_is_a_result(hindsched, folder, chance):
    code, out, err = hindsched("online-optimum", chance, "--paths", 3, "--bound", "--time-limit", 1e-9, "--json")
    assert (code, err) == (0, "")
    found = {row["player"]: row for row in rows(out)}
    for player in ("hindsight", "charged hindsight"):
        missing = dict.fromkeys(found[player]) | {"file": chance, "player": player}
        assert found[player] == missing | {"how": "not proven in time"}
    assert found["E-IE"]["slots"] > 0
    assert found["E-IE"]["fault"] is not None
    assert found["E-IE"]["ratio"] is None


def test_a_seed_that_no_row_can_keep_is_refused_at_once(hindsched, folder, monkeypatch):
    monkeypatch.setattr("hindsched.bench.campaign.plan.run_jobs", lambda *_, **__: pytest.fail("at work"))
    monkeypatch.setattr("hindsched.bench.coupled.family.run_policy", lambda *_, **__: pytest.fail("at work"))
    for arguments in (("score",), ("simulate", "5.json"), ("generate",)):
        code, out, err = hindsched(*arguments, "--seed", 2**63)
        assert (code, out) == (2, "")
        assert err == f"hindsched: Invalid value for '--seed': {2**63}, expected an integer from 0 to {2**62}\n"
    Path("seed.toml").write_text(f"[[instances]]\nm = [2]\nn_com = [2]\nwmin = [1]\nseed = {2**62 + 1}\n")
    code, out, err = hindsched("campaign", "seed.toml")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"hindsched: seed.toml: instances[0].seed: {2**62 + 1}, expected an integer <= ")


def test_a_long_text_is_shortened_in_messages(hindsched, folder):
    for option in ("--policy", "--solver"):
        code, out, err = hindsched("score", "5.json", option, "x" * 300)
        assert (code, out) == (2, "")
        assert err.startswith(f"hindsched: {option}: '{'x' * 40}...', expected ")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open files have no names here")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_standard_output_may_be_any_file(folder, name):
    Path("link").symlink_to("/dev/stdout")
    with Path("out.txt").open("w") as out:
        words = ("solve", "5.json", "--json", "--schedule", name)
        ran = subprocess.run([sys.executable, "-m", "hindsched", *words], stdout=out, check=False)
    answer, _, schedule = Path("out.txt").read_text().partition("\n")
    assert (ran.returncode, json.loads(answer)["status"]) == (0, "optimal")
    assert json.loads(schedule)["format"] == "schedule/1"
    assert Path("link").is_symlink()
