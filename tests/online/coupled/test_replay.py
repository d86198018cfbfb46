"""The policy ``replay``: the choice by the past, its twins, and the past of an instance."""

import json

import numpy as np
import pytest

import hindsched as hs
from hindsched.instances import Chain, InputError, fit
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.files import read_instance, write_instance
from hindsched.instances.coupled.from_arrays import from_states
from hindsched.instances.coupled.generate import paper
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled import RunOptions, make_policy, run_policy
from hindsched.online.coupled.lookahead.attempts import with_hazard
from hindsched.online.coupled.lookahead.parameters import Settings
from hindsched.online.coupled.lookahead.planner import Planner
from hindsched.online.coupled.lookahead.replays import REPLAYS, mean_replay_length, settings_from_past
from hindsched.online.coupled.proactive import Proactive
from hindsched.online.coupled.visible import Problem


def one_zone(slots: int, past: int, *, p: int = 12) -> Instance:
    """Return workers that are UP in the same slots; most periods take one slot, the others 40 in the mean."""
    draw = stream("test", "one zone", 3)
    row: list[int] = []
    while len(row) < past + slots:
        length = 1 if draw.random() < 0.8 else int(draw.geometric(0.03)) + 8
        row += [UP] * length + [DOWN] * int(draw.integers(1, 6))
    states = np.array([row[: past + slots]] * p, dtype=np.uint8)
    return Instance(
        tasks=min(p, 10), iterations=6, n_com=4, t_prog=3, t_data=1, w=(6,) * p, mu=(None,) * p,
        states=states[:, past:], chains=[fit(worker[:past]) for worker in states], past=states[:, :past],
    )  # fmt: skip


def test_where_workers_fail_together_replay_keeps_up_with_e_ie_and_hot_does_not() -> None:
    instance = one_zone(3_000, 1_500)
    spans = {name: run_policy(instance, name, engine="kernel").makespan for name in ("E-IE", "hot", "replay")}
    assert None not in spans.values()
    assert spans["replay"] <= spans["E-IE"]
    assert spans["hot"] > 2 * spans["E-IE"]


@pytest.mark.parametrize("slots", [60, 1_500])
def test_plain_and_kernel_agree(slots: int) -> None:
    instance = one_zone(300, slots, p=4)
    plain, kernel = (run_policy(instance, "replay", engine=engine, slots=60) for engine in ("plain", "kernel"))
    assert plain.schedule == kernel.schedule
    assert plain.policy == kernel.policy == "replay"


def test_settings_are_the_best_of_the_candidates() -> None:
    problem, options = Problem.of(one_zone(50, 1_500)), RunOptions()
    settings = settings_from_past(problem, options)
    assert settings is not None
    assert settings.value == mean_replay_length(problem, options)
    assert settings.hazard in REPLAYS.hazards
    policy = make_policy("replay").policy_for(problem)
    assert isinstance(policy, Planner)
    assert policy.settings_for(problem) == settings


def test_e_ie_is_kept_where_no_candidate_is_better() -> None:
    """With one worker and one task all policies are the same; ties go to E-IE."""
    instance = from_states(["u" * 20], past=["uuduuuuuuduuuuuuuuuu"], keep_past=True)
    assert settings_from_past(Problem.of(instance), RunOptions()) is None
    assert isinstance(make_policy("replay").policy_for(Problem.of(instance)), Proactive)
    assert run_policy(instance, "replay", engine="kernel").makespan == 1


def test_without_past_replay_equals_auto() -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=600, seed=77, drawn=True)
    runs = [run_policy(instance, name, engine="kernel") for name in ("auto", "replay")]
    assert runs[0].schedule == runs[1].schedule


@pytest.mark.parametrize("hazard", [1.0, 0.5, 1 / 64])
def test_hazard_ratio_scales_only_the_probability_of_down(hazard: float) -> None:
    chain = Chain(((0.9, 0.07, 0.03), (0.2, 0.5, 0.3), (0.1, 0.1, 0.8)))
    gone = Chain(((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.5, 0.0, 0.5)))
    problem = with_hazard(Problem(2, 1, None, 1, 1, (1, 1), (2, 2), (chain, gone)), hazard)
    for before, after in zip((chain, gone), problem.chains, strict=True):
        assert after is not None
        for x in (0, 1):
            assert after.rows[x][2] == pytest.approx(before.rows[x][2] * hazard)
            assert sum(after.rows[x]) == pytest.approx(1.0)
            assert after.rows[x][0] * before.rows[x][1] == pytest.approx(after.rows[x][1] * before.rows[x][0])
        assert after.rows[2] == before.rows[2]


def test_hazard_of_settings_reaches_both_planners() -> None:
    instance = one_zone(200, 400, p=4)
    for hazard in (1.0, 1 / 64):
        settings = Settings(30.0, hazard=hazard)
        policy = make_policy("hot")
        plain = hs.online.coupled.simulate(instance, Planner("hot", policy.options, settings), slots=60)
        from hindsched.online.coupled.lookahead.kernels.compiled_planner import run_kernel

        assert run_kernel(instance, policy.options, settings, limit=60, schedule_slots=60)[2] == plain.schedule


# ---- the past of an instance


def test_files_keep_the_past() -> None:
    for instance in (
        one_zone(40, 60),
        paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=50, seed=1, drawn=True).replace(
            past=np.zeros((20, 7), dtype=np.uint8)
        ),
    ):
        again = read_instance(json.loads(write_instance(instance)))
        assert again == instance
        assert again.past is not None
        assert again.past.prefix(1_000).tolist() == instance.past.prefix(1_000).tolist()
        without = instance.replace(past=None)
        assert without != instance
        assert "past" not in write_instance(without)


def test_past_is_validated() -> None:
    instance = one_zone(40, 60)
    with pytest.raises(InputError, match=r"past: 2 rows, expected one per worker, 12"):
        instance.replace(past=np.zeros((2, 5), dtype=np.uint8))
    document = json.loads(write_instance(instance))
    document["workers"][1]["past"] = "uux"
    with pytest.raises(InputError, match=r"workers\[1\]\.past"):
        read_instance(document)
    del document["workers"][1]["past"]
    with pytest.raises(InputError, match=r"workers\[1\]\.past"):
        read_instance(document)


def test_import_keeps_the_training_slots_on_request() -> None:
    given = {"slot": 600, "m": 2, "slots": 50, "train": 40, "w": 3}
    kept = hs.from_trace("spot_aws_v100", keep_past=True, **given)
    without = hs.from_trace("spot_aws_v100", **given)
    assert without.past is None
    assert kept.replace(past=None) == without
    assert kept.past.shape == (9, 40)
    assert [fit(row).rows for row in kept.past.prefix(40)] == [chain.rows for chain in without.chains]
