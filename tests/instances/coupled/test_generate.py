import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hindsched.instances import InputError, read, write
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.states import DOWN, RECLAIMED, UP

POINT = {"m": 5, "n_com": 10, "wmin": 2, "scenario": 3, "trial": 4, "slots": 200, "seed": 5}


def test_the_paper_setting():
    instance = paper(**POINT)
    assert (instance.num_workers, instance.tasks, instance.iterations, instance.n_com) == (20, 5, 10, 10)
    assert (instance.t_prog, instance.t_data, instance.slots) == (10, 2, 200)
    assert instance.mu == (None,) * 20
    assert all(2 <= w <= 20 for w in instance.w)
    assert (instance.states[:, 0] == UP).all()
    for chain in instance.chains:
        for x, row in enumerate(chain.rows):
            assert 0.90 <= row[x] <= 0.99
            assert [row[y] for y in range(3) if y != x] == [(1 - row[x]) / 2] * 2


def test_draws_have_the_distribution_of_the_paper():
    many = paper(**{**POINT, "wmin": 1, "slots": 1}, p=4000)
    w = np.bincount(many.w, minlength=11)[1:]
    assert abs(w - 400).max() < 5 * (4000 * 0.1 * 0.9) ** 0.5
    stays = np.array([[chain.rows[x][x] for x in range(3)] for chain in many.chains])
    for column in stays.T:
        shares, _ = np.histogram(column, bins=9, range=(0.90, 0.99))
        assert abs(shares - 4000 / 9).max() < 5 * (4000 / 9) ** 0.5
    assert abs(np.corrcoef(stays.T) - np.eye(3)).max() < 5 / 4000**0.5


@settings(max_examples=25)
@given(some.integers(1, 300), some.integers(1, 300), some.integers(1, 6), some.integers(1, 6), some.integers(0, 9))
def test_no_draw_depends_on_the_number_of_draws(slots, more, p, workers, seed):
    one = paper(**{**POINT, "slots": slots, "seed": seed}, p=p)
    two = paper(**{**POINT, "slots": more, "seed": seed}, p=workers)
    same_p, same_slots = min(p, workers), min(slots, more)
    assert (one.states[:same_p, :same_slots] == two.states[:same_p, :same_slots]).all()
    assert one.w[:same_p] == two.w[:same_p]
    assert one.chains[:same_p] == two.chains[:same_p]


def test_a_scenario_determines_the_workers_and_a_trial_their_states():
    one, two = paper(**POINT), paper(**{**POINT, "trial": 9})
    assert (one.w, one.chains) == (two.w, two.chains)
    assert (one.states != two.states).any(axis=1).all()
    for name, value in (("scenario", 9), ("seed", 9), ("m", 10), ("n_com", 5), ("wmin", 3)):
        other = paper(**{**POINT, name: value})
        assert other.chains[0] != one.chains[0]
        assert (other.states != one.states).any()


def test_draws_do_not_change_between_versions():
    # published tables are reproduced from their seeds
    assert paper(**POINT).fingerprint == "sha256:c82416f214216b167e2e0f4c3b19f9211116a61eefe93831c35bb94c05e82b92"
    assert small(1).fingerprint == "sha256:9b1938489032f647ed1097649a12e08e91b45fd386d42bd6d06c6979f40a4bb7"


@given(some.integers(0, 999), some.integers(1, 5), some.integers(1, 40), some.integers(1, 4))
def test_small_instances_are_in_their_ranges(seed, p, slots, tasks):
    instance = small(seed, p=p, slots=slots, tasks=tasks, iterations=2)
    assert (instance.num_workers, instance.slots, instance.tasks, instance.iterations) == (p, slots, tasks, 2)
    assert all(1 <= w <= 3 for w in instance.w)
    assert all(mu is None or 1 <= mu <= tasks for mu in instance.mu)
    assert instance.n_com is None or 1 <= instance.n_com <= p
    assert max(instance.t_prog, instance.t_data) <= 2
    longer = small(seed, p=p + 1, slots=slots + 7, tasks=tasks, iterations=2)
    assert (longer.states[:p, :slots] == instance.states).all()
    assert longer.w[:p] == instance.w


def test_small_instances_cover_all_kinds():
    drawn = [small(seed) for seed in range(200)]
    assert {i.t_prog for i in drawn} == {i.t_data for i in drawn} == {0, 1, 2}
    assert {i.n_com for i in drawn} == {None, 1, 2, 3}
    assert {w for i in drawn for w in i.w} == {1, 2, 3}
    assert {mu for i in drawn for mu in i.mu} == {None, 1, 2}
    assert len(set(drawn)) == 200
    states = np.stack([i.states for i in drawn])
    for code, share in ((UP, 0.7), (RECLAIMED, 0.2), (DOWN, 0.1)):
        assert abs((states == code).mean() - share) < 5 * (share * (1 - share) / states.size) ** 0.5


@pytest.mark.parametrize(
    ("up", "down", "codes"), [(1, 0, {UP}), (0, 1, {DOWN}), (0, 0, {RECLAIMED}), (0.9, 0.1, {UP, DOWN})]
)
def test_certain_states_of_small_instances(up, down, codes):
    instance = small(3, p=5, slots=200, up=up, down=down)
    assert set(instance.states.ravel().tolist()) == codes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"m": 0}, "tasks: 0, expected an integer >= 1"),
        ({"n_com": 0}, "n_com: 0, expected an integer >= 1"),
        ({"wmin": 0}, "wmin: 0, expected an integer >= 1"),
        ({"slots": 0}, "slots: 0, expected an integer >= 1"),
        ({"p": 0}, "p: 0, expected an integer >= 1"),
        ({"iterations": -1}, "iterations: -1, expected an integer >= 1"),
        ({"wmin": 10**20}, "wmin: 100000000000000000000, expected an integer <= 214748364"),
        ({"slots": 10**15}, "slots: 1000000000000000, expected an integer <= 2147483647"),
        ({"slots": 10**15, "drawn": True}, "slots: 1000000000000000, expected an integer <= 2147483647"),
    ],
)
def test_an_invalid_point_is_refused(changes, message):
    with pytest.raises(InputError) as caught:
        paper(**{**POINT, **changes})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "changes", [{"p": 0}, {"slots": 0}, {"slots": 10**15}, {"tasks": 0}, {"up": 0.9, "down": 0.2}, {"up": float("nan")}]
)
def test_invalid_options_of_small_instances_are_refused(changes):
    with pytest.raises(InputError):
        small(0, **changes)


def test_open_options_of_the_experiment_are_parameters():
    point = {"m": 3, "n_com": 5, "wmin": 1, "scenario": 1, "trial": 0, "slots": 60, "p": 6}
    usual = paper(**point)
    bounded = paper(**point, mu=1)
    assert bounded.mu == (1,) * 6
    assert (bounded.states == usual.states).all()
    elsewhere = [paper(**point | {"trial": trial}, start="stationary") for trial in range(20)]
    assert {int(state) for instance in elsewhere for state in instance.states[:, 0]} == {0, 1, 2}
    assert elsewhere[0].chains == usual.chains


def test_a_file_contains_the_start_of_its_workers(tmp_path):
    drawn = paper(m=3, n_com=5, wmin=1, scenario=1, trial=0, slots=60, p=6, start="stationary", drawn=True)
    write(drawn, tmp_path / "drawn.json")
    assert '"start":"stationary"' in (tmp_path / "drawn.json").read_text()
    again = read(tmp_path / "drawn.json")
    assert again == drawn
    assert (again.states == drawn.states).all()
    (tmp_path / "wrong.json").write_text((tmp_path / "drawn.json").read_text().replace("stationary", "idle"))
    with pytest.raises(InputError, match=r"wrong\.json: states\.start: .idle., expected one of up, stationary$"):
        read(tmp_path / "wrong.json")
