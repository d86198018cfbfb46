"""The free-prefetch bound against its definition, and the schedules that the relaxation leads to."""

from itertools import product

from hindsched.instances import check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.states import DOWN, UP
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds.free_prefetch import FreePrefetch
from hindsched.offline.coupled.bounds.prefetch_relaxation import PrefetchRelaxation
from hindsched.offline.coupled.models.greedy_plan import greedy_plan
from hindsched.offline.coupled.plans import emit, end_of
from hindsched.offline.limits import Limits, Stopwatch


def tiny(seed: int) -> Instance:
    return small(seed, p=2 + seed % 2, slots=10, tasks=1 + seed % 3, iterations=2, up=0.7, down=0.08)


def is_relaxed_iteration(instance: Instance, start: int, computing: tuple[int, ...], tasks: tuple[int, ...]) -> bool:
    """Return whether tasks can be computed in exactly these slots with free prefetching, by the definition."""
    first, last = computing[0], computing[-1]
    room = sum(min(instance.channels, int((instance.states[:, t] == UP).sum())) for t in range(start, first))
    if room < instance.tasks * instance.t_data:
        return False
    for states, count in zip(instance.states, tasks, strict=True):
        if count == 0:
            continue
        if any(states[t] != UP for t in computing) or any(states[t] == DOWN for t in range(first, last)):
            return False
        since_down = first
        while since_down > 0 and states[since_down - 1] != DOWN:
            since_down -= 1
        in_all = sum(states[t] == UP for t in range(since_down, first))
        in_time = sum(states[t] == UP for t in range(max(start, since_down), first))
        if in_time < count * instance.t_data or in_all < count * instance.t_data + instance.t_prog:
            return False
    return True


def earliest_end(instance: Instance, start: int) -> int | None:
    """Return F(start): try all configurations and, from each first slot on, the first W slots that suit all members."""
    ends = []
    for tasks in product(*(range(cap + 1) for cap in instance.capacities)):
        if sum(tasks) != instance.tasks:
            continue
        length = max(count * w for count, w in zip(tasks, instance.w, strict=True))
        members = [q for q, count in enumerate(tasks) if count]
        suits = [t for t in range(start, instance.slots) if (instance.states[members, t] == UP).all()]
        for i in range(len(suits) - length + 1):
            if is_relaxed_iteration(instance, start, tuple(suits[i : i + length]), tasks):
                ends.append(suits[i + length - 1])
    return min(ends, default=None)


def test_the_bound_follows_its_definition() -> None:
    ends = 0
    for seed in range(150):
        instance = tiny(seed)
        prefetch = FreePrefetch(PrefetchRelaxation(instance))
        for start in range(instance.slots):
            expected = earliest_end(instance, start)
            assert prefetch.earliest_end(start) == expected, (seed, start)
            ends += expected is not None
        assert prefetch.earliest_end(instance.slots) is None
    assert ends > 200


def test_the_bound_is_monotone_and_composed() -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=3, trial=0, slots=300)
    prefetch = FreePrefetch(PrefetchRelaxation(instance))
    ends = [prefetch.earliest_end(start) for start in range(200)]
    known = [end for end in ends if end is not None]
    assert known == sorted(known)
    composed = prefetch.earliest_ends(4)
    assert composed[1:] == [ends[end + 1] for end in composed[:3]]
    assert offline_coupled.free_prefetch_bound(instance.replace(iterations=4), "makespan") == composed[-1] + 1


def test_the_latest_ends_leave_room_for_the_rest() -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=3, trial=0, slots=300)
    prefetch = FreePrefetch(PrefetchRelaxation(instance))
    last = prefetch.earliest_ends(4)[-1] + 10
    latest = prefetch.latest_ends(last, 4)
    assert latest[-1] == last
    for i in range(3):
        in_time, too_late = prefetch.earliest_end(latest[i] + 1), prefetch.earliest_end(latest[i] + 2)
        assert in_time is not None
        assert in_time <= latest[i + 1]
        assert latest[i] + 1 == latest[i + 1] or (too_late is not None and too_late > latest[i + 1])
    assert prefetch.latest_ends(1, 3)[0] < 0


def test_a_spent_budget_makes_the_bound_weaker_but_not_wrong() -> None:
    exact = {seed: FreePrefetch(PrefetchRelaxation(tiny(seed))).earliest_ends() for seed in range(60)}
    weaker = 0
    for per_end, in_all in ((0, 0), (1, 10**6), (10**6, 3)):
        for seed, ends in exact.items():
            cheap = FreePrefetch(PrefetchRelaxation(tiny(seed)), per_end, in_all).earliest_ends()
            assert len(cheap) >= len(ends)
            assert all(a <= b for a, b in zip(cheap, ends, strict=False))
            weaker += cheap != ends
    assert weaker


def test_many_slots_and_large_numbers() -> None:
    instance = paper(m=5, n_com=10, wmin=1, scenario=0, trial=0, slots=20_000)
    assert offline_coupled.free_prefetch_bound(instance, "iterations") == len(
        FreePrefetch(PrefetchRelaxation(instance)).earliest_ends()
    )
    huge = 2**31 - 1
    for changes in ({"t_prog": huge}, {"t_data": huge}, {"w": (huge,) * 20}, {"tasks": huge}):
        assert offline_coupled.free_prefetch_bound(instance.replace(**changes), "makespan") is None
        assert offline_coupled.free_prefetch_bound(instance.replace(**changes), "iterations") == 0


def test_the_greedy_schedule_is_a_schedule() -> None:
    for seed in range(150):
        instance = tiny(seed)
        plan = greedy_plan(PrefetchRelaxation(instance), None, Stopwatch(Limits()))
        verdict = check(instance, emit(instance, plan, slots=instance.slots))
        assert verdict.is_valid, (seed, verdict)
        assert verdict.outcome.iterations == len(plan)


def test_the_greedy_schedule_of_many_iterations() -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=1, trial=0, slots=1500, iterations=40)
    plan = greedy_plan(PrefetchRelaxation(instance), 40, Stopwatch(Limits()))
    end = end_of(instance, plan[-1])
    assert end is not None
    verdict = check(instance, emit(instance, plan))
    assert verdict.is_valid
    assert verdict.outcome.makespan == end + 1
