"""Refutation of one horizon by the slot Lagrangian: multipliers, chains, and multipliers moved by chains, in turn."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, compose
from hindsched.offline.coupled.bounds.sentinels import OPEN
from hindsched.offline.coupled.bounds.slot_lagrangian.chain_search import (
    END_MAX,
    END_MIN,
    END_SUM,
    NUM_CHAINS,
    Chains,
    SlotRelaxation,
    count_chain,
    find_chain,
)
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import (
    NUM_STEPS,
    set_multipliers,
)
from hindsched.offline.coupled.search.effort import SPENT
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import NEVER


@kernel
def refute(
    arrays: SearchArrays,
    prefetch: Prefetch,
    relaxation: SlotRelaxation,
    mode: int,
    iterations: int,
    end: int,
    horizon: int,
    rounds: int,
) -> int:
    """Try to prove that no schedule completes the iterations within `end` slots, all of which are known.

    Returns `REFUTED`, `OPEN` after this many rounds, or `STOPPED`.
    """
    multipliers, ends = relaxation.multipliers, relaxation.chains.ends
    # The thresholds lie between the first slot by which programs can be needed and the end.
    early = compose(arrays, prefetch, 0, min(2, iterations), horizon)
    if early < 0 or early >= end:
        early = 0
    for i in range(NUM_STEPS):
        multipliers.thresholds[i] = early + 1 + (end - early - 1) * i // (NUM_STEPS - 1)
    for k in range(iterations + 1):
        ends[NUM_CHAINS, k] = ends[END_SUM, k] = ends[END_MAX, k] = 0
        ends[END_MIN, k] = NEVER
    for _ in range(rounds):
        set_multipliers(arrays.table, arrays.problem, multipliers, end)
        arrays.scratch.effort[SPENT] += 1 + arrays.problem.p * end // 16
        label = find_chain(arrays, prefetch, relaxation, mode, iterations, end, horizon)
        if label < 0:
            return label
        count_chain(arrays, relaxation, mode, label, iterations, end)
    return OPEN


def branching_end(chains: Chains, iterations: int) -> tuple[int, int] | None:
    """Return an iteration k and slot t to branch by: the iterations 1..k are complete within t slots or not.

    The ends of k differ most in the last chains, and t is their mean. None if no iteration can be branched by.
    """
    ends = chains.ends
    best = None
    spread = 0
    for k in range(1, iterations):
        if ends[NUM_CHAINS, k] and ends[END_MAX, k] - ends[END_MIN, k] > spread:
            spread = int(ends[END_MAX, k] - ends[END_MIN, k])
            best = k, int(ends[END_SUM, k] // ends[NUM_CHAINS, k])
    if best is None:  # all chains have the same ends: branch so that these are in the smaller child
        for k in range(1, iterations):
            t = int(ends[END_MAX, k])
            low, high = int(chains.earliest[k]), int(min(chains.latest[k], ends[END_MAX, iterations]))
            if ends[NUM_CHAINS, k] and min(high, t + 20) - max(low, t - 20) > spread:
                spread = min(high, t + 20) - max(low, t - 20)
                best = k, t if t < high else t - 1
    return best
