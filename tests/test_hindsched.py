"""The public functions of `import hindsched` agree with the packages and the command line."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import hindsched as hs
from hindsched import instances, offline
from hindsched.bench.commands.group import hindsched as front_door
from hindsched.bench.results.read import read_results
from hindsched.bench.results.summary import summary


class First:
    """Stay with the first worker that is UP; this memory must end with the run."""

    name = "first"

    def __init__(self) -> None:
        self.calls = 0

    def choose(self, visible):
        self.calls += 1
        assert self.calls == visible.slot + 1
        if visible.is_complete or not visible.up:
            return None
        return {visible.up[0]: visible.problem.tasks}


class Broken:
    name = "broken"

    def choose(self, visible):
        raise ValueError("no idea")


@pytest.fixture
def drawn():
    return hs.generate(m=2, n_com=5, slots=400, p=4, iterations=2)


def test_generate_takes_the_options_of_the_command(drawn, tmp_path):
    file = str(tmp_path / "same.json")
    asked = ["--m", "2", "--n-com", "5", "--slots", "400", "--p", "4", "--iterations", "2", "-o", file]
    assert CliRunner().invoke(front_door, ["generate", *asked]).exit_code == 0
    assert hs.read(file) == drawn
    assert hs.generate(small=True, seed=4) == hs.generate(small=True, seed=4, drawn=False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nope": 1}, "nope: no such option, expected one of m, n_com, wmin"),
        ({"m": "five"}, "generate: Invalid value for '--m': 'five' is not a valid integer"),
        ({"family": "nope"}, "family: 'nope', expected one of coupled, bags"),
        ({"tasks": 25}, "tasks: no such option, expected one of m, "),
    ],
)
def test_generate_refuses_in_one_line(options, said):
    with pytest.raises(hs.InputError) as refused:
        hs.generate(**options)
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("bags", {"tasks": 2, "checkpoints": 1, "small": True}),
        ("batches", {"small": True}),
        ("grid", {"nodes": 4, "jobs": 5}),
        ("deadline", {"zones": 2, "slots": 12}),
    ],
)
def test_every_family_is_generated_solved_and_bounded(family, options, tmp_path):
    instance = hs.generate(family, **options)
    hs.write(instance, tmp_path / "it.json")
    found = hs.solve(tmp_path / "it.json", time_limit_s=20)
    assert found.status in hs.Status
    assert hs.bound(instance, time_limit_s=20) == found.bound


def test_a_real_trace_by_name():
    zones = hs.from_trace("spot_aws_v100", slot=195, slots=50, train=300, m=4, n_com=2)
    assert (zones.num_workers, zones.slots, zones.n_com) == (9, 50, 2)
    assert all(chain is not None for chain in zones.chains)


def test_states_of_every_kind_mean_the_same():
    letters = hs.from_states(["uud", "udu"])
    assert letters == hs.from_states(np.array([[True, True, False], [True, False, True]]))
    assert letters == hs.from_states([[0, 0, 2], [0, 2, 0]])
    assert letters == hs.from_states(np.array([[0, 0, 2], [0, 2, 0]], dtype=np.uint8))
    reclaimed = hs.from_states([[True, False]], absent="reclaimed")
    assert instances.states.to_letters(reclaimed.states) == ["ur"]


def test_a_list_of_wrong_length_is_named():
    for name in ("w", "mu"):
        with pytest.raises(hs.InputError, match=rf"^{name}: 2 values, expected one per worker, 1$"):
            hs.from_states(["uuu"], **{name: [1, 2]})


def test_completion_offers_the_public_names_alone():
    assert dir(hs) == sorted(hs.__all__)


def test_chains_are_fitted_on_the_past_where_there_is_one():
    past = ["uuuuuudd", "uuuudddd"]
    assert set(hs.from_states(["uud", "udu"]).chains) == {None}  # never on the states that are scored
    known = hs.from_states(["uud", "udu"], past=past)
    assert known.chains == tuple(instances.fit(row) for row in instances.states.from_letters(past))


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([[0, 1], [1, 0]], "states: 0 and 1 alone may mean either: expected booleans"),
        ([1, 0], "states: shape (2,), expected workers by slots"),
        ([[0, 3]], "states: 3, expected 0 (UP), 1 (RECLAIMED) or 2 (DOWN)"),
        ([[0.5, 1.0]], "states: float64 values, expected booleans"),
        ([[True], [True, False]], "states: rows of unequal length"),
        ("uud", "states: one string, expected a list of them"),
        ([], "states: shape (0,), expected workers by slots"),
        (["uxu"], "workers[0].states: letter 'x' in slot 1"),
    ],
)
def test_ambiguous_states_are_refused(states, said):
    with pytest.raises(hs.InputError) as refused:
        hs.from_states(states)
    assert str(refused.value).startswith(said)


def test_a_policy_as_an_object_starts_afresh_in_every_run(drawn):
    mine = First()
    one, two = hs.run(drawn, mine), hs.run(drawn, mine)
    assert one == two
    assert one.policy == "first"
    assert mine.calls == 0
    assert hs.check(drawn, one.schedule).is_valid


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (First, "policy: the class First, expected an object of it"),
        (object(), "policy object: expected a text attribute name and a method choose(visible)"),
        (3, "policy int: expected a text attribute name and a method choose(visible)"),
    ],
)
def test_invalid_policies_are_refused(drawn, policy, said):
    with pytest.raises(hs.InputError) as refused:
        hs.run(drawn, policy)
    assert str(refused.value) == said


@pytest.mark.parametrize("call", [hs.solve, hs.bound, lambda it: hs.run(it, "IE"), lambda it: hs.score([it])])
def test_invalid_instances_are_refused(call):
    with pytest.raises(hs.InputError, match=r"^instance: int, expected an instance or its file$"):
        call(7)


def test_the_table_is_that_of_the_rows(drawn, tmp_path):
    other = hs.generate(m=2, n_com=5, slots=400, p=4, iterations=2, trial=1)
    table = hs.score([drawn, other], ["IE", First()], results=tmp_path / "kept")
    assert table["policy"].tolist() == ["IE", "first"]
    again = summary(read_results(tmp_path / "kept").runs)
    assert table.to_csv() == again.to_csv()
    best = [offline.solve(one).value for one in (drawn, other)]
    ratios = [hs.run(one, "IE").makespan / value for one, value in zip((drawn, other), best, strict=True)]
    assert table.loc[0, "mean"] == pytest.approx(np.mean(ratios))
    page = hs.report(tmp_path / "kept")
    assert "first" in page.read_text()


def test_one_policy_that_fails_does_not_hide_the_others(drawn):
    with pytest.warns(UserWarning, match="policy broken, slot 0: choose raised ValueError: no idea"):
        table = hs.score(drawn, ["IE", Broken()])
    assert table[["policy", "unfinished"]].to_numpy().tolist() == [["IE", 0], ["broken", 1]]
    with pytest.raises(hs.InputError, match="no idea"):
        hs.score(drawn, Broken())


def test_two_policies_of_one_name_are_refused(drawn):
    with pytest.raises(hs.InputError, match="policy first: two policies with this name"):
        hs.score(drawn, [First(), First()])


def test_pictures_and_tables_show_themselves(drawn, tmp_path):
    run = hs.run(drawn, "IE")
    picture = hs.gantt(drawn, run)
    assert picture._repr_svg_().lstrip().startswith("<?xml")
    picture.save(tmp_path / "it.svg")
    assert (tmp_path / "it.svg").read_text() == picture._repr_svg_()
    assert f"<th>makespan</th><td>{run.makespan}</td>" in run._repr_html_()
    assert "<th>status</th><td>optimal</td>" in hs.solve(drawn)._repr_html_()
    assert "<th>rule</th><td></td>" in hs.check(drawn, run.schedule)._repr_html_()
    with pytest.raises(hs.InputError, match="not drawn: "):
        hs.gantt(drawn.replace(t_prog=drawn.t_prog + 1), run)
    with pytest.raises(hs.InputError, match=r"^schedule: int, expected a schedule$"):
        hs.gantt(drawn, 3)


def test_a_script_of_ten_lines(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        """
import json
import hindsched as hs
spot = hs.from_trace("spot_aws_v100", slot=195, slots=300, train=1000, m=4, n_com=2, t_prog=1, iterations=2)
best = hs.solve(spot)
table = hs.score(spot, ["IE", "Y-IE"])
print(json.dumps([best.value, hs.run(spot, "IE").makespan, table["median"].tolist()]))
"""
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    best, makespan, medians = json.loads(done.stdout)
    assert medians[0] == pytest.approx(makespan / best)


def test_the_module_runs_the_command_line():
    done = subprocess.run([sys.executable, "-m", "hindsched", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("hindsched, version ")
