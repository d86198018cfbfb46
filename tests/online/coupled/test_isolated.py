"""Policies in a process of their own: the same runs, nothing of the future, and faults that cost one run."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsched.instances import InputError
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.online.coupled import OURS, POLICIES, RunOptions, make_policy, run_policy, simulate
from hindsched.online.coupled.isolated import IsolatedPolicy

#: The states of workers from slot 1 on, which no policy sees in slot 0.
SECRET = "drdurduurdrruudurd"
#: A path that names the instance, as the user may have written it anywhere.
PLACE = "held-out-instance-7"


def secret_instance() -> Instance:
    return Instance.from_letters(["u" + SECRET, "u" * (len(SECRET) + 1)], w=[9, 9], tasks=2, iterations=3)


def written(tmp_path: Path, body: str, name: str = "mine") -> str:
    """Write a policy whose ``choose`` has this body, and return how users name it."""
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    text = f"import os, sys, time\n\nclass Mine:\n    name = {name!r}\n\n    def choose(self, visible):\n{lines}"
    (tmp_path / "mine.py").write_text(text)
    return f"{tmp_path}/mine.py:Mine"


def isolated(instance: Instance, policy: str, **options: Any) -> Any:
    return run_policy(instance, policy, isolated=True, **options)


@pytest.mark.parametrize("policy", [*POLICIES, *OURS])
def test_the_run_is_the_same_as_in_this_process(policy: str) -> None:
    options = RunOptions(seed=3, estimator="conditional", ties="highest", comparison="frozen")  # type: ignore[arg-type]
    for instance in (
        small(3, p=4, slots=60, tasks=3, iterations=3),
        paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=120),
    ):
        with IsolatedPolicy(policy, options) as isolated_policy:
            run = simulate(instance, isolated_policy, service="longest")
        assert run == simulate(instance, make_policy(policy, options), service="longest")


SEES = """
    def __init__(self, seed):
        import random
        self.draws = random.Random(seed)

    def choose(self, visible):
        import hashlib
        from hindsched.online.coupled import Decision
        problem = visible.problem
        seen = (visible.slot, visible.iteration, visible.iteration_start, visible.now, sorted(visible.tasks.items()),
                visible.program, visible.data, visible.computed, visible.states.tolist(), visible.states.dtype.str,
                visible.up, visible.is_complete, repr(problem), repr(problem.chains), type(visible.tasks).__name__)
        number = int(hashlib.sha256(repr(seen).encode()).hexdigest(), 16) + self.draws.randrange(9)
        if number % 3 == 0 or not visible.up:
            return None
        tasks = {}
        for q in (*visible.tasks, *visible.up):
            number, x = divmod(number, 3)
            left = problem.tasks - sum(tasks.values())
            tasks[q] = min(x, left, problem.capacities[q])
        return Decision(tasks, visible.up[::-1]) if number % 2 else tasks
"""


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), p=st.integers(1, 6))
def test_a_policy_that_depends_on_all_it_sees_gives_the_same_run(
    seed: int, p: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("policy") / "mine.py"
    file.write_text(f"class Mine:\n    name = 'mine'\n{SEES}")
    instance = small(seed, p=p, slots=50, tasks=3, iterations=3)
    for service in ("index", "begun"):
        options = {"seed": seed, "service": service, "slots": 45}
        assert isolated(instance, f"{file}:Mine", **options) == run_policy(instance, f"{file}:Mine", **options)


LOOKS = f"""
import gc, inspect
if visible.slot: return None
found = []
def look(what, text):
    if {PLACE!r} in text or {SECRET!r} in text: found.append(what)
frame = sys._getframe()
while frame:
    for name, value in {{**frame.f_globals, **frame.f_locals}}.items():
        if name not in ("SECRETS",):
            look("frame " + name, repr(value) if frame.f_code.co_name != "choose" else "")
    frame = frame.f_back
names = [type(one).__name__ for one in gc.get_objects()]
found += [name for name in names if name in ("Instance", "Execution", "States", "Paper", "Given")]
look("environment", repr(dict(os.environ)))
look("arguments", repr(sys.argv) + repr(sys.orig_argv) + os.getcwd() + repr(os.listdir()) + repr(sys.path))
for number in os.listdir("/proc/self/fd"):
    look("descriptor " + number, os.path.realpath("/proc/self/fd/" + number))
for name in ("cmdline", "environ", "maps"):
    look("own " + name, open("/proc/self/" + name, "rb").read().decode("latin-1"))
with open({{out!r}}, "w") as file: file.write(repr(found))
return None
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks below /proc")
def test_a_policy_that_looks_around_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / PLACE).mkdir()
    monkeypatch.setenv("INSTANCE", PLACE)
    monkeypatch.chdir(tmp_path / PLACE)
    instance = secret_instance()
    kept = open(tmp_path / PLACE / "states", "w+")  # noqa: SIM115
    os.set_inheritable(kept.fileno(), True)
    policy = written(tmp_path, LOOKS.replace("{out!r}", repr(str(tmp_path / "found"))))
    isolated(instance, policy)
    kept.close()
    assert (tmp_path / "found").read_text() == "[]"


REACHES = """
if visible.slot: return None
import ctypes
done, parent = [], os.getppid()
for name in ("cmdline", "environ", "maps", "mem", "cwd/mine.py", "fd/0"):
    try:
        open(f"/proc/{parent}/{name}", "rb").read(1)
        done.append(name)
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
done += ["ptrace"] if libc.ptrace(16, parent, 0, 0) == 0 else []  # attach
done += ["pidfd_getfd"] if libc.syscall(438, libc.syscall(434, parent, 0), 0, 0) >= 0 else []
with open(OUT, "w") as file: file.write(repr(done))
try:
    os.kill(parent, 9)
except PermissionError:
    pass
return None
"""


def has_landlock() -> bool:
    import ctypes

    return sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) >= 6


@pytest.mark.skipif(not has_landlock(), reason="the kernel has no Landlock")
def test_a_policy_reaches_no_other_process_where_the_kernel_has_landlock(tmp_path: Path) -> None:
    policy = written(tmp_path, REACHES.replace("OUT", repr(str(tmp_path / "done"))))
    isolated(secret_instance(), policy)
    assert (tmp_path / "done").read_text() == "[]"


WRITES_ANSWERS = """
import gc
pipes = [one for one in gc.get_objects() if type(one).__name__ == "BufferedWriter" and one.fileno() > 2]
pipes[0].write({bytes})
pipes[0].flush()
time.sleep({pause})
return None
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(0)", "ended its process with exit code 0, expected a choice"),
        ("os.kill(os.getpid(), 9)", "its process was ended by signal SIGKILL, expected a choice"),
        ("sys.exit(0)", "choose raised SystemExit: 0"),
        ("raise BaseException('boo')", "choose raised BaseException: boo"),
        ("raise GeneratorExit", "choose raised GeneratorExit"),
        ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
        ("return self.choose(visible)", "choose raised RecursionError"),
        ("while True: pass", "has not finished after 2 s, the time limit of a run"),
        ("os.fork() or time.sleep(60); os._exit(0)", "has not finished after 2 s"),
        ("os.closerange(3, 100); time.sleep(60)", "closed the pipe of its answers"),
        ("return {0: 1.5}", "1.5, expected integers, worker: tasks"),
        ("return [0, 1]", "[0, 1], expected a mapping of worker to tasks, or None to keep the present one"),
        ("return {0: 10**30}", "1e+30, expected integers"),
        ("return {0: 10**400}", "raised OverflowError"),
        ("return {(0, 1): 1}", "its process sent something else than a choice"),
        ("return visible", "expected numbers, lists and mappings"),
        ("return '\\ud800'", "raised UnicodeEncodeError"),
        ("x = []; x.append(x); return x", "raised RecursionError"),
        ("return {'x' * (1 << 25): 1}", ", expected at most 16777216"),
        (WRITES_ANSWERS.format(bytes="b'\\xff' * 8", pause=60), "an answer of 4294967295 bytes"),
        (WRITES_ANSWERS.format(bytes="b'\\0\\0\\0\\3abc'", pause=0), "its process sent something else than an answer"),
        (WRITES_ANSWERS.format(bytes="b'\\0\\0\\0\\xff\\x91'", pause=60), "has not finished after 2 s"),
        (WRITES_ANSWERS.format(bytes="b'\\0\\0\\3\\xe8' + b'\\x91' * 1000", pause=0), "something else than"),
    ],
)
def test_a_fault_of_a_policy_is_one_line(tmp_path: Path, body: str, said: str) -> None:
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        isolated(secret_instance(), written(tmp_path, body), policy_time_limit_s=2.0)
    text = str(caught.value)
    assert text.startswith("policy mine, slot 0")
    assert said in text
    assert "\n" not in text
    assert time.monotonic() - started < 20


def test_faults_while_a_policy_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text, said in (
        ("import os; os._exit(3)", "policy mine.py:Mine: ended its process with exit code 3, expected a choice"),
        ("class Other: pass", "mine.py: no class 'Mine' in it"),
        ("1 / 0", "mine.py: cannot be imported: ZeroDivisionError: division by zero"),
        ("class Mine:\n name = 'a\\nb'\n def choose(self, v): pass", "policy mine.py:Mine: name 'a\\nb', expected one"),
        (
            "class Mine:\n name = 'a'",
            "policy mine.py:Mine: expected a text attribute name and a method choose(visible)",
        ),
        ("while True: pass", "policy mine.py:Mine: has not finished after 1 s, the time limit of a run"),
    ):
        Path("mine.py").write_text(text)
        with pytest.raises(InputError) as caught:
            isolated(secret_instance(), "mine.py:Mine", policy_time_limit_s=1.0)
        assert str(caught.value).startswith(said)
    with pytest.raises(InputError, match=r"^no.py: no such file$"):
        isolated(secret_instance(), "no.py:Mine")
    with pytest.raises(InputError, match="expected a name or path"):
        run_policy(secret_instance(), make_policy("IE"), isolated=True)


def test_prints_go_to_standard_error_and_nothing_is_left(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = """
if visible.slot == 0:
    import subprocess
    subprocess.Popen(["sleep", "600.125"])
    print("from python", flush=True)
    os.system("echo from a shell")
    open("scratch", "w").write(os.getcwd())
    open(OUT, "w").write(os.getcwd())
return None
"""
    isolated(secret_instance(), written(tmp_path, body.replace("OUT", repr(str(tmp_path / "out")))))
    out, err = capfd.readouterr()
    assert out == ""
    assert {"from python", "from a shell"} <= set(err.splitlines())
    assert not Path((tmp_path / "out").read_text()).exists()
    assert "600.125" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout


def test_a_policy_finds_modules_and_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def first(visible):\n    return {visible.up[0]: 2} if visible.up else None\n")
    (tmp_path / "weights.txt").write_text("7")
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nfrom tools import first\n\n\nclass Mine:\n    def __init__(self):\n"
        "        self.name = Path(__file__).with_name('weights.txt').read_text()\n\n"
        "    def choose(self, visible):\n        return None if visible.is_complete else first(visible)\n"
    )
    run = isolated(secret_instance(), f"{tmp_path}/mine.py:Mine")
    assert run.policy == "7"
    assert run == run_policy(secret_instance(), f"{tmp_path}/mine.py:Mine")


def test_an_order_of_service_crosses_the_pipe(tmp_path: Path) -> None:
    instance = Instance.from_letters(["u" * 9] * 2, w=[1, 1], tasks=2, n_com=1, t_data=2, t_prog=0)
    body = "from hindsched.online.coupled import Decision\nreturn Decision({0: 1, 1: 1}, (1,))"
    run = isolated(instance, written(tmp_path, body))
    assert run.schedule.letters[1].startswith("DD")
    assert run == run_policy(instance, f"{tmp_path}/mine.py:Mine")
