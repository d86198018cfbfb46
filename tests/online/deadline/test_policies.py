"""Published policies by hand, and their compiled twins run for run."""

import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline import Instance, Zone, check
from hindsched.instances.deadline.generate import generate
from hindsched.instances.deadline.model import spot_from_text
from hindsched.offline.deadline import solve
from hindsched.online.deadline import POLICIES, RunOptions, make_policy, run_policy
from hindsched.online.deadline.policies import is_for_one_zone
from tests.cases.deadline import drawn, guards, job, letters

ONE_ZONE = tuple(name for name in POLICIES if is_for_one_zone(name))


def run_of(instance, policy, **options):
    """Return a run by the plain simulator as a letter a slot; the kernel makes the same."""
    run = run_policy(instance, policy, engine="plain", **options)
    assert run_policy(instance, policy, engine="kernel", **options) == run
    return letters(run.schedule.runs, instance.slots)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("on_demand", "ooo......."),
        ("spot_only", "s...ss...."),
        ("fallback", "soo......."),
        # greedy: 20 s are left after slot 0; it waits for spot
        ("greedy", "s...ss...."),
        # behind 3 s of work a slot: on-demand in slot 4 only if P D < e W, 10 * 100 < 40 * 30
        ("uniform_plain", "s...ss...."),
    ],
)
def test_ten_slots_without_overhead(policy, expected):
    """30 s of work in ten slots of ten seconds; spot in slots 0, 4 and 5."""
    assert run_of(job("1000110000", work_s=30), policy) == expected


def test_greedy_goes_on_demand_when_two_launches_and_the_work_need_all_slots():
    """Eight slots, 30 s, d = 5 s: need(2) = ceil(40 / 10) = 4 = left in slot 4; need(1) = 4 = left there as well."""
    assert run_of(job("00000000", work_s=30, overhead_s=5), "greedy", guard="none") == "....oooo"
    # d = 3: ceil(36 / 10) = 4 in slot 4
    assert run_of(job("00000000", work_s=30, overhead_s=3), "greedy", guard="none") == "....oooo"
    # rule (2) spares a spot instance that runs, rule (3) keeps it while it computes
    assert run_of(job("00011111", work_s=30, overhead_s=5), "greedy", guard="none") == "...ssss."
    # without overhead it changes to spot even then
    assert run_of(job("00000110", work_s=30), "greedy", guard="none") == ".....sso"


def test_uniform_keeps_on_demand_until_it_is_two_launches_ahead():
    """20 slots, W = 100, D = 200, d = 5: on-demand from slot 1 on, where P D = 0 < e W."""
    spot = "0" * 4 + "1" * 16
    found = run_of(job(spot, work_s=100, overhead_s=5), "uniform", guard="none")
    # after slots 1 to 3 P = 25; slot 4: 25 * 200 > (40 + 10) * 100 is false (5000 = 5000), so on-demand stays
    assert found.startswith(".oooos")
    # without hysteresis it stops in slot 3, where it is not behind: 15 * 200 = 30 * 100
    assert run_of(job(spot, work_s=100, overhead_s=5), "uniform_plain", guard="none").startswith(".oo.s")
    # in the text the progress must be behind, not equal, for on-demand to stay
    assert run_of(job(spot, work_s=100, overhead_s=5), "uniform_text", guard="none").startswith(".ooos")


def test_uniform_waits_while_the_progress_is_ahead():
    found = run_of(job("1110000000", work_s=50), "uniform_plain", guard="none")
    # 30 s after three slots are enough up to slot 6: 30 * 100 < e * 50 only if e > 60; then 40 s up to slot 8
    assert found == "sss....o.o"


def test_sliced_works_off_a_share_in_each_slice():
    """Two slices of five slots with 15 s of work each, without spot: greedy by the end of each slice."""
    none = job("0" * 10, work_s=30)
    assert run_of(none, "sliced:2", guard="none") == "...oo....o"
    banked = job("1" * 10, work_s=30)
    # slot 2: the target of 15 s is reached after two slots, 20 s
    assert run_of(banked, "sliced:2", guard="none") == "ss...s...."
    assert run_of(banked, "sliced:2", guard="none", bank="yes") == "sss......."


def test_sliced_has_borders_at_whole_slots():
    policy = make_policy("sliced:3", bank="yes")
    assert (policy.name, policy.slices, str(policy.bank)) == ("sliced:3", 3, "yes")
    for slots in (1, 2, 7):  # more slices than slots
        instance = job("0" * slots, work_s=10 * slots)
        assert run_of(instance, "sliced:9", guard="none") == "o" * slots


def regional(*spots, prices, regions, **more):
    zones = [
        Zone(spot_from_text(spot), price, 30, f"z{i}", region)
        for i, (spot, price, region) in enumerate(zip(spots, prices, regions, strict=True))
    ]
    return Instance(10, 10 * len(spots[0]), more.pop("work_s"), more.pop("overhead_s", 0), zones, **more)


def zones_of(instance, **options):
    run = run_policy(instance, "up_s", engine="plain", **options)
    assert run_policy(instance, "up_s", engine="kernel", **options) == run
    return [(r.first, r.end, r.zone, str(r.kind)) for r in run.schedule.runs]


def test_up_s_takes_the_cheapest_spot_and_stays():
    three = regional("1111111111", "1111111111", "1111111111", prices=(3, 1, 2), regions="abc", work_s=40)
    assert zones_of(three, guard="none") == [(0, 4, 1, "s")]
    tie = regional("1111111111", "1111111111", prices=(2, 2), regions="ab", work_s=40)
    assert zones_of(tie, guard="none") == [(0, 4, 0, "s")]


def test_up_s_leaves_the_region_in_which_it_lost_spot():
    # zone 0 is lost in slot 2; zone 1 of the same region is cheaper than zone 2 of another, but comes last
    three = regional("1100000000", "0011111111", "0011111111", prices=(1, 1, 5), regions="aab", work_s=40)
    assert zones_of(three, guard="none") == [(0, 2, 0, "s"), (2, 4, 2, "s")]


def test_up_s_goes_on_demand_at_home_when_it_is_behind():
    two = regional("1000000000", "0000000000", prices=(1, 1), regions="ab", work_s=50)
    # 10 s after slot 0; slot 3 is behind: 10 * 100 < 30 * 50; without overhead need(1) < left
    found = zones_of(two, guard="none")
    assert found[0] == (0, 1, 0, "s")
    assert found[1][:1] == (3,)
    assert all(zone == 0 for _, _, zone, _ in found)


def test_policies_are_for_one_zone_or_several():
    two = job("11", "11", work_s=10)
    for name in ONE_ZONE:
        with pytest.raises(InputError, match="is for one zone, expected up_s or a policy of your own"):
            run_policy(two, name)
    assert run_policy(two, "up_s").finish == 1
    assert is_for_one_zone("sliced:17")
    assert not is_for_one_zone("sliced:0")


def test_twins_agree_run_for_run_and_the_checker_accepts_both():
    runs = finished = 0
    for seed in range(70):
        instance = drawn(seed, most_slots=(16, 10, 8))
        names = [*ONE_ZONE, "sliced:3", "up_s"] if instance.num_zones == 1 else ["up_s"]
        free = solve(instance).value
        for guard in ("none", "auto", *map(str, guards(instance))):
            for name in names:
                run = run_policy(instance, name, guard=guard, engine="plain")
                assert run_policy(instance, name, guard=guard, engine="kernel") == run, (seed, name, guard)
                rung = "free" if guard == "none" else "guarded"
                verdict = check(instance, run.schedule, rung=rung, guard=None if guard in ("none", "auto") else guard)
                assert verdict.is_valid, (seed, name, guard, str(verdict))
                outcome = verdict.outcome
                assert (run.cost, run.finish, run.done_s) == (outcome.cost, outcome.finish, outcome.progress_s)
                assert (run.launches, run.moves, run.overhead_s) == (
                    *(outcome.launches, outcome.moves, outcome.overhead_s),
                )
                assert (run.spot_slots, run.on_demand_slots) == (outcome.spot_slots, outcome.on_demand_slots)
                assert run.finish is None or free <= run.cost
                runs += 1
                finished += run.finish is not None
    assert runs > 1000
    assert 300 < finished < runs - 300


def test_guarded_runs_are_never_below_the_guarded_optimum():
    for seed in range(12):
        instance = generate(seed, slots=30, overhead_s=(0, 300, 900)[seed % 3])
        for guard in ("step", "step_old", "latched"):
            best = solve(instance, rung="guarded", guard=guard).value
            for name in ONE_ZONE:
                run = run_policy(instance, name, guard=guard)
                assert run.finish is None or run.cost >= best, (seed, name, guard)


def test_long_runs_agree():
    for seed in (1, 2):
        instance = generate(seed, slots=700, slot_s=195, overhead_s=720, up=0.5, stay=0.97)
        for name in POLICIES:
            run_of(instance, name)


def test_a_run_without_a_schedule_has_the_same_numbers():
    instance = generate(4, slots=40)
    for engine in ("plain", "kernel"):
        run = run_policy(instance, "greedy", engine=engine, schedule=False)
        assert run.schedule is None
        assert run.cost == run_policy(instance, "greedy").cost


def test_the_kernel_leaves_huge_numbers_to_the_plain_simulator():
    instance = generate(1, slots=4, slot_s=500_000_000, work_s=2**31 - 1, overhead_s=2**31 - 1)
    assert run_policy(instance, "greedy").finish is None
    with pytest.raises(InputError, match="engine: the kernel runs the built-in policies on numbers of 62 bits"):
        run_policy(instance, "greedy", engine="kernel")


def test_options_are_checked():
    instance = generate(1, slots=4)
    for options, message in (
        ({"guard": "x"}, "guard"),
        ({"bank": "x"}, "bank"),
        ({"engine": "x"}, "engine"),
        ({"colour": "x"}, "colour"),
    ):
        with pytest.raises(InputError, match=message):
            run_policy(instance, "greedy", **options)
    with pytest.raises(InputError, match="step is for one zone"):
        run_policy(job("11", "11", work_s=5), "up_s", guard="step")
    with pytest.raises(InputError, match="did you mean greedy"):
        make_policy("gredy")
    assert RunOptions(guard="latched").guard == "latched"
