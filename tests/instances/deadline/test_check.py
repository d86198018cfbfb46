"""The checker: schedules by hand and their mutants, guards by hand, and Theorem G on drawn jobs."""

import json
import random
from dataclasses import replace

import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline import Guard, Instance, Kind, Run, Schedule, Zone, check, read_schedule
from hindsched.instances.deadline.model import HOUR_S
from hindsched.online.deadline import run_policy
from tests.cases.deadline import drawn, drawn_placements, job, schedule

PAIR = job("110110", "001111", work_s=30, overhead_s=4, move_delay_s=[[0, 7], [7, 0]], move_cost=[[0, 2], [1, 0]])


def broken(instance, plan, **how):
    found = check(instance, plan, **how)
    return found.time, found.rule


def test_a_schedule_by_hand():
    # launch in zone 0: 6 + 10 s of work; a move with delay: 11 s, so the first slot computes nothing; then 9 s, 5 left
    plan = schedule("ssSSS", 5, 5 * 10 + 2 * HOUR_S)
    outcome = check(PAIR, plan).outcome
    assert (outcome.finish, outcome.launches, outcome.moves, outcome.move_cost) == (5, 2, 1, 2 * HOUR_S)
    assert (outcome.spot_slots, outcome.on_demand_slots, outcome.idle_slots) == (5, 0, 0)
    assert (outcome.overhead_s, outcome.progress_s) == (4 + 11, 30)
    assert str(outcome) == "finish 5, cost 7250 (0.00 dollars)"


@pytest.mark.parametrize(
    ("letters", "finish", "cost", "overhead_s", "launches"),
    [
        ("oooo..", 4, 120, 4, 1),
        ("s.ooo.", 5, 100, 8, 2),  # another start after nothing is a launch
        ("ssoo..", 4, 80, 8, 2),  # so is another kind in the zone
        ("ss.ss.", 5, 40, 8, 2),
        ("s.s...", None, None, None, None),  # spot where there is none
        ("......", None, 0, 0, 0),
        ("ss....", None, 20, 4, 1),
    ],
)
def test_launches_of_one_zone(letters, finish, cost, overhead_s, launches):
    one = job("110110", work_s=30, overhead_s=4)
    if cost is None:
        assert broken(one, schedule(letters, finish, 0)) == (2, "presence")
        return
    outcome = check(one, schedule(letters, finish, cost)).outcome
    assert (outcome.overhead_s, outcome.launches) == (overhead_s, launches)


def test_overhead_lasts_over_slots_and_a_launch_replaces_it():
    one = job("1111111", work_s=15, overhead_s=25)
    outcome = check(one, schedule("ssss", 4, 40)).outcome
    assert (outcome.overhead_s, outcome.finish) == (25, 4)
    # relaunched after one slot: the 15 s left do not add up with the new 25 s
    outcome = check(one, schedule("s.ssss", 6, 50)).outcome
    assert (outcome.overhead_s, outcome.finish) == (10 + 25, 6)
    # what is left when the instance stops is lost, too
    assert check(one, schedule("ssos", None, 60)).outcome.progress_s == 0


def test_the_last_slot_is_billed_whole_and_prices_move():
    zone = Zone(job("1111", work_s=1).zones[0].spot, (1, 2, 5, 9), (3, 3, 3, 30))
    one = job("1111", work_s=11).replace(zones=[zone])
    assert check(one, schedule("s.s.", 3, 60)).is_valid
    assert check(one, schedule("..so", 4, 350)).is_valid
    assert broken(one, schedule("..so", 4, 51)) == (None, "cost")


def test_a_deadline_inside_a_slot_does_not_count_it():
    assert job("11", work_s=20, late_s=9).slots == 2
    assert broken(job("11", work_s=20, late_s=9), schedule("sss", 3, 30)) == (None, "form")


def test_a_checkpoint_moves_with_the_last_instance_that_ran():
    # a launch in zone 1 moves the checkpoint at once, also if it computes nothing there
    plan = schedule("sOs...", None, 10 + 30 + 10 + 3 * HOUR_S)
    assert broken(PAIR, plan) == (2, "presence")
    plan = schedule("sOo...", None, 10 + 30 + 30 + 3 * HOUR_S)
    outcome = check(PAIR, plan).outcome
    assert (outcome.moves, outcome.launches, outcome.progress_s) == (2, 3, 6)


FORMS = [
    {"runs": [[0, 2, 0]]},
    {"runs": [[0, 2, 0, "x"]]},
    {"runs": [[0, 2.0, 0, "s"]]},
    {"runs": [[0, True, 0, "s"]]},
    {"runs": [[2, 2, 0, "s"]]},
    {"runs": [[-1, 2, 0, "s"]]},
    {"runs": [[0, 7, 0, "s"]]},
    {"runs": [[0, 2, 2, "s"]]},
    {"runs": [[0, 2, -1, "s"]]},
    {"runs": [[3, 4, 0, "s"], [0, 2, 0, "s"]]},
    {"runs": [[0, 2, 0, "s"], [1, 3, 1, "o"]]},
    {"runs": "ss"},
    {"finish": "5"},
    {"finish": 0},
    {"cost": -1},
    {"cost": None},
    {"cost": 1.0},
    {"colour": 1},
    {"instance": 7},
]


@pytest.mark.parametrize("change", FORMS, ids=json.dumps)
def test_forms(change):
    good = {"format": "deadline-schedule/1", "instance": None, "runs": [[0, 1, 0, "s"]], "finish": None, "cost": 10}
    assert check(PAIR, read_schedule(good)).is_valid
    assert broken(PAIR, read_schedule(good | change)) == (None, "form")


@pytest.mark.parametrize("missing", ["runs", "finish", "cost"])
def test_missing_keys(missing):
    good = {"format": "deadline-schedule/1", "instance": None, "runs": [], "finish": None, "cost": 0}
    del good[missing]
    assert broken(PAIR, read_schedule(good)) == (None, "form")


def test_other_fingerprints_are_no_rule():
    assert check(PAIR, Schedule("sha256:0", (), None, 0)).is_valid


def test_touching_runs_of_one_placement_are_one():
    halves = Schedule(None, (Run(0, 1, 0, Kind.SPOT), Run(1, 2, 0, Kind.SPOT)), None, 20)
    assert check(PAIR, halves).outcome.launches == 1


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (schedule("ssSSSS", 5, 60 + 2 * HOUR_S), (5, "end")),
        (schedule("ssSSS", 4, 50 + 2 * HOUR_S), (5, "finish")),
        (schedule("ssSSS", None, 50 + 2 * HOUR_S), (5, "finish")),
        (schedule("ssSS", 5, 40 + 2 * HOUR_S), (None, "finish")),
        (schedule("ssSSS", 5, 50), (None, "cost")),
        (schedule("sss", None, 30), (2, "presence")),
        (schedule("S", None, 10), (0, "presence")),
    ],
)
def test_mutants(plan, expected):
    assert broken(PAIR, plan) == expected


def test_mutants_of_drawn_runs_are_refused_by_rule():
    found = dict.fromkeys(("finish", "cost", "end", "presence"), 0)
    for seed in range(80):
        instance = drawn(seed, zones=1)
        plan = run_policy(instance, "fallback", guard="none").schedule
        assert check(instance, plan).is_valid
        other = 1 if plan.finish is None else plan.finish + 1
        mutants = {"finish": replace(plan, finish=other), "cost": replace(plan, cost=plan.cost + 1)}
        if plan.finish is not None and plan.finish < instance.slots:
            mutants["end"] = replace(plan, runs=(*plan.runs, Run(plan.finish, plan.finish + 1, 0, Kind.ON_DEMAND)))
        if not instance.zones[0].spot[0]:
            mutants["presence"] = replace(plan, runs=(Run(0, 1, 0, Kind.SPOT),))
        for rule, mutant in mutants.items():
            assert check(instance, mutant).rule == rule
            found[rule] += 1
    assert all(number >= 20 for number in found.values()), found


# --- guards -----------------------------------------------------------------------------------------------------------

#: Six slots, 30 s of work and 5 s of overhead: slot t is critical if ceil((c + 5) / 10) >= 6 - t.
ONE = job("110100", work_s=30, overhead_s=5)


@pytest.mark.parametrize(
    ("letters", "step", "step_old", "latched"),
    [
        # c = 30 until slot 2, which is critical: 4 slots for 35 s
        ("..oooo", None, None, None),
        ("......", (2, "guard"), (2, "guard"), (2, "guard")),
        ("..s...", (2, "guard"), (2, "guard"), (2, "guard")),
        # 5 + 10 s of work; 15 are left in slot 2: 20 s need two slots, so slot 4 is critical
        ("ss..oo", None, None, None),
        ("ss....", (4, "guard"), (4, "guard"), (4, "guard")),
        # 5 s in slot 3, critical in slot 4: 15 s are left and 10 are done there, but 20 s need two slots
        ("s..soo", (3, "guard"), (3, "guard"), (3, "guard")),
    ],
)
def test_critical_slots_by_hand(letters, step, step_old, latched):
    for guard, expected in (("step", step), ("step_old", step_old), ("latched", latched)):
        placements = schedule(letters, None, 0)
        found = check(ONE, placements, rung="guarded", guard=guard)
        if expected is None:
            assert found.rule == "finish", (guard, str(found))
            plan = schedule(letters, found.time, check_cost(ONE, letters, found.time))
            assert check(ONE, plan, rung="guarded", guard=guard).is_valid
        else:
            assert (found.time, found.rule) == expected


def check_cost(instance, letters, finish):
    return sum(10 * {"s": 1, "o": 3, ".": 0}[letter] for letter in letters[:finish])


@pytest.mark.parametrize(
    ("spot", "letters", "allowed"),
    [
        # spot that computes in critical slots (from slot 1 on) stays while it can be had
        ("11111", "ssss.", {"step", "step_old"}),
        ("11101", "sssoo", {"step"}),  # lost in slot 3: on-demand at once
        ("11101", "sss.o", {"step_old"}),  # in older copies the slot stays empty
        ("11111", "soooo", {"latched"}),  # the running instance's zone, on-demand
        ("11111", "oooo.", {"step", "step_old", "latched"}),
        ("01111", ".oooo", {"step", "step_old", "latched"}),
        ("01111", ".ssss", set()),
    ],
)
def test_step_step_old_and_latched_by_hand(spot, letters, allowed):
    """Five slots, 36 s of work and 4 s of overhead: slot 1 is critical in any case."""
    one = job(spot, work_s=36, overhead_s=4)
    for guard in Guard:
        found = check(one, schedule(letters, None, 0), rung="guarded", guard=guard)
        assert (found.rule != "guard") == (str(guard) in allowed), (guard, str(found))


def test_overhead_that_is_left_does_not_keep_a_spot_instance():
    one = job("1111111", work_s=20, overhead_s=15)  # critical if ceil((c + 15) / 10) >= 7 - t: from slot 3 on
    assert broken(one, schedule("..sss..", None, 0), rung="guarded", guard="step") == (3, "guard")
    assert check(one, schedule("..soooo", None, 0), rung="guarded", guard="step").rule != "guard"


def test_latched_takes_the_zone_with_the_cheapest_rest():
    zones = [Zone(job("1111", work_s=1).zones[0].spot, 1, price) for price in (9, 5, 5)]
    three = Instance(10, 40, 40, 0, zones, move_cost=[[0, 1, 2], [2, 0, 3], [2, 3, 0]])
    # critical at once, without a home: 9c, 5c, 5c, ties by index
    assert broken(three, schedule("oooo", None, 0), rung="guarded") == (0, "guard")
    assert check(three, schedule("OOOO", 4, 4 * 10 * 5), rung="guarded").is_valid
    # with a home: spot in zone 0 is kept as on-demand in zone 0, not moved to a cheaper zone
    later = three.replace(work_s=30)  # slot 1 is critical after one slot of nothing, c = 30
    assert check(later, schedule(".OOO", None, 0), rung="guarded").rule != "guard"
    assert broken(later, schedule(".ooo", None, 0), rung="guarded") == (1, "guard")
    # 20 s are left at slot 2 after spot in zone 0 in slot 0; it does not run, so 9 * 20, 5 * 20 + 3600, 5 * 20 + 7200
    assert check(later, schedule("s.oo", None, 0), rung="guarded").rule != "guard"
    assert broken(later, schedule("s.OO", None, 0), rung="guarded") == (2, "guard")


def test_guards_and_rungs_are_named():
    with pytest.raises(InputError, match="guard: 'x', expected one of step, step_old, latched"):
        check(ONE, schedule("", None, 0), rung="guarded", guard="x")
    with pytest.raises(InputError, match="rung: 'x', expected one of free, guarded"):
        check(ONE, schedule("", None, 0), rung="x")
    with pytest.raises(InputError, match="step is for one zone, expected latched for 2 zones"):
        check(PAIR, schedule("", None, 0), rung="guarded", guard="step")


class Proposals:
    """A policy that proposes given placements."""

    name = "proposals"

    def __init__(self, placements):
        self.placements = placements

    def choose(self, visible):
        return self.placements[visible.slot]


def test_theorem_g():
    """Under ``step`` whatever is proposed in slots that are not critical completes, if W and d fit the slots."""
    rng = random.Random(3)
    completed = 0
    for seed in range(400):
        instance = drawn(seed, most_slots=(14, 1, 1), zones=1)
        if -(-(instance.work_s + instance.overhead_s) // instance.slot_s) > instance.slots:
            continue
        run = run_policy(instance, Proposals(drawn_placements(instance, rng)), guard="step")
        assert run.finish is not None
        assert check(instance, run.schedule, rung="guarded", guard="step").is_valid
        completed += 1
    assert completed > 150


def test_step_old_may_miss_the_deadline():
    """Spot is lost in a critical slot, which stays empty: one slot too few."""
    one = job("11101", work_s=36, overhead_s=4)
    assert run_policy(one, "fallback", guard="step").finish == 5
    assert run_policy(one, "fallback", guard="step_old").finish is None
