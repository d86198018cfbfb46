"""dgs: cases computed by hand, equal allocations and counters of both engines, and invariants."""

import dataclasses

import pytest

from hindsched.instances.grid import Instance, check
from hindsched.online.grid.dgs import simulate_dgs
from hindsched.online.grid.kernels.compiled_run import run_kernel
from hindsched.online.grid.options import Dgs
from hindsched.online.grid.overlays import Cyclon, static_lists
from tests.cases.grid import random_dgs, random_instance, raw_words


def both(instance, options):
    plain, kernel = simulate_dgs(instance, options), run_kernel(instance, options)
    assert plain.starts.tolist() == kernel.starts.tolist()
    assert plain.offsets.tolist() == kernel.offsets.tolist()
    assert plain.held.tolist() == kernel.held.tolist()
    assert plain.counters == kernel.counters
    return kernel


def entries(nodes, jobs, seed=0):
    """Return the entry node of each job."""
    return [word * nodes // 2**64 for word in raw_words(64 * jobs, "grid", "job", seed)[::64]]


def seed_with_entries(nodes, wanted):
    return next(seed for seed in range(10_000) if entries(nodes, len(wanted), seed) == wanted)


@pytest.mark.parametrize("group", range(6))
def test_kernel_and_plain_agree(group):
    """Random instances and options: every allocation and counter, and the checker agrees."""
    seen = dict.fromkeys(dataclasses.asdict(run_kernel(random_instance(0), Dgs()).counters), 0)
    for seed in range(30 * group, 30 * group + 30):
        instance = random_instance(seed, jobs=40, nodes=12, span=30, longest=9)
        run = both(instance, random_dgs(seed))
        verdict = check(instance, run.schedule())
        metrics = run.metrics()
        assert verdict.is_valid
        assert (verdict.outcome.failed, verdict.outcome.total_wait) == (metrics.failed, metrics.total_wait)
        for name, count in dataclasses.asdict(run.counters).items():
            seen[name] += count
    assert all(seen.values()), seen


def test_kernel_and_plain_agree_on_a_larger_grid():
    instance = random_instance(6, jobs=80, nodes=60, span=90, longest=20, widest=20)
    for overlay in ("static", "cyclon"):
        for messaging in ("push", "poll"):
            for explore in ("fail", "further"):
                run = both(instance, Dgs(degree=7, overlay=overlay, messaging=messaging, explore=explore))
                assert run.counters.answers > 100
    assert instance.nodes > 30


def test_push_and_pull_allocate_equally_and_are_never_out_of_date():
    for seed in range(25):
        instance = random_instance(seed, jobs=30, nodes=9)
        options = dataclasses.replace(random_dgs(seed), messaging="push")
        push = both(instance, options)
        pull = both(instance, dataclasses.replace(options, messaging="pull"))
        assert (push.starts == pull.starts).all()
        assert push.counters == pull.counters
        assert (push.counters.refusals, push.counters.failed_stale) == (0, 0)


def test_a_single_node_has_no_searchers():
    lone = Instance(1, 60, [0, 3], [1, 1], [2, 2])
    run = both(lone, Dgs())
    assert run.starts.tolist() == [-1, -1]
    counters = run.counters
    assert (counters.failed_reach, counters.searches, counters.poll, counters.answers) == (2, 0, 0, 0)
    empty = Instance(3, 60, [], [], [])
    assert both(empty, Dgs(overlay="cyclon")).metrics().jobs == 0


def test_two_nodes_by_hand():
    # Each node knows only the other one: the searcher is not the entry node, but its only neighbour is.
    seed = seed_with_entries(2, [0, 0, 1])
    jobs = Instance(2, 60, [0, 0, 1], [1, 1, 2], [3, 2, 1])
    run = both(jobs, Dgs(seed=seed))
    # job 0: node 0 at 0. Job 1: node 0 is busy, the searcher asks it and hears of itself: node 1 at 0.
    # Job 2: both nodes, discovered as 1 and then 0, from 3 on.
    assert run.starts.tolist() == [0, 0, 3]
    assert [run.nodes(j) for j in range(3)] == [[0], [1], [0, 1]]
    expected = {"searches": 3, "first": 3, "queries": 2, "second": 2, "pull": 5, "push": 4, "poll": 2}
    expected |= {"forwards": 3, "answers": 3, "refusals": 0, "allocated_nodes": 4, "failed_reach": 0, "failed_stale": 0}
    assert dataclasses.asdict(run.counters) == expected


def test_polling_two_nodes_by_hand():
    seed = seed_with_entries(2, [0, 0, 0, 0])
    jobs = Instance(2, 60, [0, 0, 1, 2], [1, 1, 1, 1], [5, 1, 1, 1])
    run = both(jobs, Dgs(seed=seed, messaging="poll", poll_slots=2))
    # what was confirmed in slot 0 is unknown in slots 0 and 1: no node queries further, node 0 is offered and refuses;
    # in slot 2 all nodes have polled: node 0 is known to be busy, and node 1 is found
    assert run.starts.tolist() == [0, -1, -1, 2]
    assert run.nodes(3) == [1]
    counters = run.counters
    assert (counters.refusals, counters.failed_stale, counters.failed_reach, counters.answers) == (2, 2, 0, 4)
    assert counters.poll == 2 * 2  # both nodes, in slots 0 and 2
    own = both(jobs, Dgs(seed=seed, messaging="poll", poll_slots=3, poll_phase="own"))
    # now node 1, which searches, polls in slot 1 and knows in slots 1 and 2
    assert own.starts.tolist() == [0, -1, 1, 2]
    assert own.counters.poll == 1 + 1


def test_before_its_first_poll_a_node_knows_no_reservation():
    seed = seed_with_entries(2, [0, 0])
    jobs = Instance(2, 60, [0, 3], [1, 1], [9, 1])
    run = both(jobs, Dgs(seed=seed, messaging="poll", poll_slots=10, poll_phase="own"))
    assert run.starts.tolist() == [0, 3]  # node 1 searches: it polled in slot 1 and knows
    late = Instance(6, 60, [0, 4], [1, 1], [9, 1])
    for k in range(40):
        options = Dgs(fwd=1, degree=1, seed=k, messaging="poll", poll_slots=10, poll_phase="own")
        lists = static_lists(6, 1, k)
        first, second = entries(6, 2, k)
        if lists[first] == lists[second] and lists[first][0] == 5:  # node 5 polls in slot 5 for the first time
            assert both(late, options).counters.failed_stale == 1
            return
    raise AssertionError("no such seed")


def test_an_offer_of_a_later_searcher_replaces_an_outdated_one():
    taken = 0
    for seed in range(60):
        instance = random_instance(seed, jobs=30, nodes=10, span=12, longest=6)
        counters = both(instance, Dgs(fwd=2, degree=4, messaging="poll", poll_slots=7, seed=seed)).counters
        taken += counters.refusals > 2 * counters.failed_stale  # more than those of the jobs that failed
    assert taken > 5


def test_wide_jobs_fail_out_of_reach_or_explore_further():
    nodes = 60
    jobs = Instance(nodes, 60, [0], [40], [1])
    run = both(jobs, Dgs(degree=3))
    assert run.counters.failed_reach == 1  # 3 neighbours and 9 of theirs
    assert run.counters.queries == 9
    further = both(jobs, Dgs(degree=3, explore="further"))
    assert further.starts.tolist() == [0]
    lists = static_lists(nodes, 3, 0)
    word = raw_words(2, "grid", "job", 0)
    entry = word[0] * nodes // 2**64
    searcher = lists[entry][word[1] * 3 // 2**64]
    known = list(lists[searcher])
    asked = 0
    while len(known) < 40:  # all neighbours are asked first, and that is the order of discovery
        known += [node for node in lists[known[asked]] if node not in known]
        asked += 1
    assert further.nodes(0) == sorted(known[:40])


def test_the_least_start_wins_and_ties_go_to_the_searcher_drawn_first():
    nodes, degree = 30, 3
    for seed in range(30):
        jobs = Instance(nodes, 60, [0], [2], [1])
        run = both(jobs, Dgs(degree=degree, seed=seed))
        lists = static_lists(nodes, degree, seed)
        word = raw_words(2, "grid", "job", seed)
        searcher = lists[word[0] * nodes // 2**64][word[1] * degree // 2**64]
        assert run.nodes(0) == sorted(lists[searcher][:2])


def test_counts_of_messages():
    instance = random_instance(8, jobs=40, nodes=30, span=50, longest=9, widest=6)
    for poll_slots in (1, 2, 7):
        for phase in ("common", "own"):
            run = both(instance, Dgs(degree=5, poll_slots=poll_slots, poll_phase=phase))
            counters, lists = run.counters, static_lists(instance.nodes, 5, 0)
            last = int(instance.submit[-1])
            polls = sum(
                len(lists[k])
                for t in range(last + 1)
                for k in range(instance.nodes)
                if t % poll_slots == (k % poll_slots if phase == "own" else 0)
            )
            assert counters.poll == polls
            assert counters.push == sum(sum(int(k) in row for row in lists) for k in run.held)
            assert counters.pull == counters.first + counters.second
            assert counters.first == 5 * counters.searches
            assert counters.forwards == counters.searches == 5 * len(instance)


def test_cyclon_turns_between_slots():
    # the round of slot 5 comes before the job of slot 5, that of slot 10 after the job of slot 9
    jobs = Instance(12, 60, [4, 5, 9, 10], [1, 1, 1, 1], [1, 1, 1, 1])
    options = Dgs(fwd=2, degree=3, overlay="cyclon", every=5, swap=2)
    run = both(jobs, options)
    cyclon = Cyclon(12, 3, 0, 2)
    words = raw_words(64 * 4, "grid", "job", 0)
    pushed = 0
    for j, rounds in enumerate([0, 1, 0, 1]):
        if rounds:
            cyclon.shuffle(1 if j == 1 else 2)
        lists = cyclon.lists()
        row = lists[words[64 * j] * 12 // 2**64]
        searcher = row[words[64 * j + 1] * len(row) // 2**64]
        assert run.nodes(j) == lists[searcher][:1]
        pushed += sum(run.nodes(j)[0] in row for row in lists)
    assert run.counters.push == pushed
    # polls of a slot come after its round: slots 0, 2, 4 before any, 6 and 8 after the first, 10 after the second
    sizes = [sum(map(len, Cyclon(12, 3, 0, 2).lists()))]
    again = Cyclon(12, 3, 0, 2)
    for number in (1, 2):
        again.shuffle(number)
        sizes.append(sum(map(len, again.lists())))
    assert run.counters.poll == 3 * sizes[0] + 2 * sizes[1] + sizes[2]
