"""Policies of users: from a file, from an installed package, and the faults that `check_policy` finds."""

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

from hindsched.instances import InputError
from hindsched.instances.coupled import Instance
from hindsched.instances.states import UP
from hindsched.online.coupled import OURS, POLICIES, Policy, Visible, check_policy, make_policy, simulate

FIRST_UP = """
class FirstUp:
    name = "first-up"

    def choose(self, visible):
        if visible.is_complete:
            return None
        tasks, left = {}, visible.problem.tasks
        for q in visible.up:
            tasks[q] = min(left, visible.problem.capacities[q])
            left -= tasks[q]
        return {} if left else {q: x for q, x in tasks.items() if x}
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(text: str, name: str = "mine.py") -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write_file


def test_a_policy_from_a_file(write: Any) -> None:
    policy = make_policy(f"{write(FIRST_UP)}:FirstUp")
    check_policy(policy)
    run = simulate(Instance.from_letters(["uuu", "uuu"], w=[1, 1], tasks=2, mu=[1, 1]), policy)
    assert (run.policy, run.makespan) == ("first-up", 1)


def test_a_file_is_read_again_and_two_files_of_one_name_do_not_collide(write: Any, tmp_path: Path) -> None:
    path = write(FIRST_UP)
    (tmp_path / "other").mkdir()
    other = write(FIRST_UP.replace("first-up", "other"), "other/mine.py")
    one, two = make_policy(f"{path}:FirstUp"), make_policy(f"{other}:FirstUp")
    assert (one.name, two.name) == ("first-up", "other")
    write(FIRST_UP.replace("first-up", "changed"))
    assert make_policy(f"{path}:FirstUp").name == "changed"


@pytest.mark.parametrize(
    ("parameters", "passed"),
    [
        ("", []),
        ("estimator", ["estimator"]),
        ("*, seed=7", ["seed"]),
        ("seed, estimator='x', more=1", ["estimator", "seed"]),
    ],
)
def test_the_constructor_receives_its_named_arguments(write: Any, parameters: str, passed: list[str]) -> None:
    text = f"{FIRST_UP}\n    def __init__(self{', ' if parameters else ''}{parameters}):\n        self.got = locals()\n"
    policy: Any = make_policy(f"{write(text)}:FirstUp", estimator="conditional", seed=5)
    given = {"estimator": "conditional", "seed": 5}
    assert {key: policy.got[key] for key in passed} == {key: given[key] for key in passed}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "mine.py: no class 'FirstUp' in it$"),
        ("FirstUp = 3", "mine.py:FirstUp: int, expected a class$"),
        ("class FirstUp(:", "mine.py: cannot be imported: SyntaxError"),
        ("import no_such_module_anywhere", "mine.py: cannot be imported: ModuleNotFoundError: No module named"),
        ("raise ValueError('two\\nlines')", "mine.py: cannot be imported: ValueError: two lines$"),
        ("import sys\nsys.exit(3)", "mine.py: cannot be imported: SystemExit: 3$"),
        ("class FirstUp:\n    def __init__(self, size): ...", "cannot be made: TypeError: .*'size'$"),
        ("class FirstUp:\n    def __init__(self): 1 / 0", "cannot be made: ZeroDivisionError"),
        ("class FirstUp:\n    name = 'x'", "expected a text attribute name and a method choose"),
        (FIRST_UP.replace('name = "first-up"', ""), "expected a text attribute name and a method choose"),
        (FIRST_UP.replace('"first-up"', "''"), "name '', expected one line of text"),
        (FIRST_UP.replace('"first-up"', r"'a\nb'"), r"name 'a\\nb', expected one line of text"),
        (FIRST_UP.replace('"first-up"', "7"), "name 7, expected one line of text"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(write: Any, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make_policy(f"{write(text)}:FirstUp")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"^nowhere/mine.py: no such file$"):
        make_policy("nowhere/mine.py:Mine")


@pytest.mark.parametrize("text", ["", "XY", "Y-", "mine:Mine"])
def test_an_unknown_name_is_answered_with_the_known_ones(text: str) -> None:
    with pytest.raises(
        InputError, match=f"^policy: {text!r}, expected one of {', '.join((*POLICIES, *OURS, 'replay'))}, or path/to"
    ):
        make_policy(text)


@pytest.mark.parametrize(
    ("text", "close"),
    [("ie", "IE"), ("IP-IE", "P-IE"), ("Y-EI", "Y-IE"), ("RAMDOM", "RANDOM"), ("RANDOM ", "RANDOM"), ("Hot", "hot")],
)
def test_a_name_with_a_slip_is_answered_with_the_close_one(text: str, close: str) -> None:
    said = rf"^policy: {text!r}, expected a policy of coupled: did you mean {close}\?$"
    with pytest.raises(InputError, match=said):
        make_policy(text)


def test_a_policy_of_another_family_is_called_that() -> None:
    for text, family in (("FCFS", "bags"), ("A2-shift", "batches"), ("easy", "grid")):
        with pytest.raises(InputError, match=f"^policy: {text!r} is a policy of {family}, expected for coupled one of"):
            make_policy(text)


def test_a_file_without_a_class_is_answered_with_the_form() -> None:
    with pytest.raises(InputError, match=r"^policy: 'mine.py', expected the class as well: mine.py:ClassName$"):
        make_policy("mine.py")


def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(InputError, match=r"^estimator: 'exact', expected one of printed, conditional, undivided$"):
        make_policy("RANDOM", estimator="exact")


def test_a_policy_of_an_installed_package(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs-1.0.dist-info").mkdir()
    write("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", "theirs-1.0.dist-info/METADATA")
    write(
        "[hindsched.policies]\ntheirs = their_policies:FirstUp\nbroken = their_policies:Gone\n",
        "theirs-1.0.dist-info/entry_points.txt",
    )
    write(FIRST_UP, "their_policies.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert make_policy("theirs").name == "first-up"
        with pytest.raises(InputError, match="entry point broken = their_policies:Gone: cannot be imported: Attribute"):
            make_policy("broken")
    finally:
        sys.modules.pop("their_policies", None)


class Base:
    """A valid policy; each invalid one below differs from it in one point."""

    name: Any = "mine"

    def choose(self, visible: Visible) -> Any:
        if visible.is_complete:
            return None
        tasks = dict.fromkeys(self.order(visible), 0)
        for _ in range(visible.problem.tasks):
            free = [q for q in tasks if tasks[q] < visible.problem.capacities[q]]
            if not free:
                return {}
            tasks[free[0]] += 1
        return {q: x for q, x in tasks.items() if x}

    def order(self, visible: Visible) -> list[int]:
        return visible.up


class Nameless(Base):
    name = ""


class Numbered(Base):
    name = 3


class Idle(Base):
    def choose(self, visible: Visible) -> Any:
        return {}


class Careless(Base):
    def order(self, visible: Visible) -> list[int]:
        return list(range(visible.problem.num_workers))


class Forgetful(Base):
    """Keeps its memory from one run to the next."""

    def __init__(self) -> None:
        self.turn = itertools.count()

    def order(self, visible: Visible) -> list[int]:
        turn = next(self.turn)
        return sorted(visible.up, key=lambda q: (q + turn) % visible.problem.num_workers)


class Cheat(Base):
    """Looks up the future in the frame of its caller."""

    def order(self, visible: Visible) -> list[int]:
        frame = sys._getframe()
        while "instance" not in frame.f_locals:
            assert frame.f_back is not None
            frame = frame.f_back
        future = frame.f_locals["instance"].states[:, visible.slot :]
        return sorted(visible.up, key=lambda q: -int((future[q] == UP).sum()))


class Raising(Base):
    def choose(self, visible: Visible) -> Any:
        return {visible.up[0]: visible.problem.chain}  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", POLICIES)
def test_the_built_in_policies_pass(name: str) -> None:
    check_policy(make_policy(name))


def test_a_policy_that_is_only_a_class_passes() -> None:
    assert isinstance(Base(), Policy)
    check_policy(Base())


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Nameless(), "^policy: .*expected a text attribute name"),
        (Numbered(), "^policy: .*expected a text attribute name"),
        (object(), "^policy: .*a method choose"),
        (Idle(), "^policy mine: completes no iteration in 60 slots with every worker always UP"),
        (Careless(), r"^policy mine, slot \d+, rule R2: worker \d enrols in state [rd], expected u"),
        (Forgetful(), r"^policy mine: a second run differs from the first in slot \d+, .*reset all memory in slot 0"),
        (Cheat(), r"^policy mine: the choice in slot \d+ changes with the states from slot \d+ on"),
        (Raising(), "^policy mine, slot 0: choose raised AttributeError: .*no attribute 'chain'"),
    ],
)
def test_the_check_names_the_fault_of_a_policy(policy: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        check_policy(policy)
    assert "\n" not in str(caught.value)
