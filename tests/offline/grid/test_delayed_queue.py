"""The delayed queue: its schedules are valid, follow from its releases, and do not depend on the clock."""

import numpy as np
import pytest

from hindsched.instances.grid import Instance
from hindsched.instances.grid.packaged_log import kth_sp2
from hindsched.offline.grid.blocks import fits
from hindsched.offline.grid.delayed_queue import delayed_starts, queued, rules
from hindsched.offline.grid.kernels.queue_replay import search_delays
from hindsched.offline.grid.order_search import total_wait
from hindsched.offline.limits import Limits, Stopwatch
from tests.cases.grid import random_instance


def queue_of(instance: Instance, release: list[int], rank: list[int]) -> list[int]:
    """Return the starts of a queue in which jobs join at their releases, slot by slot."""
    rows = list(instance.rows())
    starts: list[int | None] = [None] * len(rows)
    slot = 0
    while None in starts:
        free = instance.nodes - sum(
            n for (_, n, s), start in zip(rows, starts, strict=True) if start is not None and slot < start + s
        )
        for j in sorted(range(len(rows)), key=rank.__getitem__):
            if starts[j] is None and release[j] <= slot and rows[j][1] <= free:
                starts[j] = slot
                free -= rows[j][1]
        slot += 1
    return starts  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(12))
def test_a_move_agrees_with_a_plain_queue(seed: int) -> None:
    instance = random_instance(seed, jobs=25, nodes=7, span=40, longest=9)
    rank = rules(instance)[seed % 4]
    starts = queued(instance, rank)
    assert starts.tolist() == queue_of(instance, instance.submit.tolist(), rank.tolist())
    best, release = starts.copy(), instance.submit.copy()
    order = np.argsort(release, kind="stable")
    weights = np.arange(1, len(instance) + 1)[None, :] * 1000
    state = np.array([seed + 1, 0])
    scratch = np.zeros((5, len(instance)), dtype=np.int64)
    jobs = instance.submit, instance.width, instance.length, instance.nodes, rank, weights
    seen, was_held = total_wait(instance, best), False
    for _ in range(40):
        search_delays(*jobs, 1, 40, state, order, release, starts, best, scratch)
        assert starts.tolist() == queue_of(instance, release.tolist(), rank.tolist())
        assert (np.diff(release[order]) >= 0).all()
        seen = min(seen, total_wait(instance, starts))
        assert total_wait(instance, best) == seen
        assert total_wait(instance, starts) == seen + state[1]
        was_held |= bool((release > instance.submit).any())
    assert was_held


def test_delays_help_where_long_jobs_block_others() -> None:
    instance = kth_sp2(count=150)
    queues = min(total_wait(instance, queued(instance, rank)) for rank in rules(instance))
    best, moves = delayed_starts(instance, 3, Stopwatch(Limits()), None)
    assert fits(instance, best)
    assert (best >= instance.submit).all()
    assert moves
    assert total_wait(instance, best) < 0.8 * queues
    again, _ = delayed_starts(instance, 3, Stopwatch(Limits()), None)
    assert again.tolist() == best.tolist()
