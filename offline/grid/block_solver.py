"""Optima, or a good schedule and a proven bound: rules, local search, prices, and an exact search block by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.blocks import fits, pieces, split
from hindsched.offline.grid.claim import Claim
from hindsched.offline.grid.delayed_queue import delayed_starts
from hindsched.offline.grid.linear_program import SlotMultipliers, linear_program_multipliers
from hindsched.offline.grid.order_search import best_of_rules, improved, in_order, total_wait
from hindsched.offline.grid.subgradient import SCALE, CellMultipliers, certificate, subgradient_multipliers
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve", "solve_bounds"]

#: Most jobs whose prices are found together: where each of them has so many seconds, and where it has less.
_GROUP, _GROUP_S, _SMALL_GROUP = 1000, 0.02, 300
#: Shares of the time limit by the end of which the queue that holds back, the search over orders and the search for
#: prices are over: where an exact search follows, where none does, and where a block is too large for both searches.
_EXACTLY, _ALONE, _LARGE = (0.1, 0.2, 0.8), (0.15, 0.25, 0.9), (0.25, 0.25, 0.9)
#: Fewer jobs are searched by orders alone, blocks of more by the queue alone, and not improved piece by piece.
_HELD_JOBS, _ORDERED_JOBS = 16, 3000
#: Share of the time for prices that the ascent takes, and more jobs than that are not searched exactly.
_ASCENT, _EXACT_JOBS = 0.08, 150
#: No exact search begins with less time.
_LEAST_S = 0.02
#: Windows are thinned out up to so many slots, shared by the jobs of a block.
_WINDOWS = 3_000_000
#: Milliseconds to write down a job for the exact search, about; a block that would take most of its time is left.
_WRITE_MS = 3


class _Pace:
    """The limits, the clock, and whether the time limit cut a step short.

    Parameters
    ----------
    limits
        Of the solver. Without a time limit every step has a fixed amount of work.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.watch = Stopwatch(limits)
        self._is_cut = False

    def until(self, share: float, weights: list[int], i: int) -> float | None:
        """Return when block i has to finish a step that has to end at a share of the time limit."""
        if self.limits.time_limit_s is None:
            return None
        now = self.watch.elapsed_s()
        return now + max(0.0, share * self.limits.time_limit_s - now) * weights[i] / max(1, sum(weights[i:]))

    def note(self, until_s: float | None) -> None:
        """Note the end of a step that had time until ``until_s``."""
        self._is_cut = self._is_cut or (until_s is not None and self.watch.elapsed_s() >= until_s)

    @property
    def limit(self) -> Limit:
        """What stopped the steps."""
        return Limit.TIME if self._is_cut else Limit.EFFORT


@dataclass(slots=True)
class _Block:
    """Jobs that are solved alone."""

    jobs: Ints
    instance: Instance
    starts: Ints
    groups: list[tuple[Ints, CellMultipliers | SlotMultipliers]]
    is_optimal: bool

    @property
    def wait(self) -> int:
        """Slots waited."""
        return total_wait(self.instance, self.starts)


def solve(instance: Instance, limits: Limits) -> Claim:
    """Solve an instance exactly as far as the time goes."""
    return _solve(instance, limits, exactly=True)


def solve_bounds(instance: Instance, limits: Limits) -> Claim:
    """Return a good schedule and a proven bound without exact search, for any number of jobs."""
    return _solve(instance, limits, exactly=False)


def _solve(instance: Instance, limits: Limits, exactly: bool) -> Claim:
    pace = _Pace(limits)
    counts = {"held": 0, "blocks": 0, "moves": 0, "price_rounds": 0, "programs": 0, "windows": 0}
    rules = best_of_rules(instance)
    _expect_countable(instance, rules)
    is_large = max(map(len, split(instance, rules)), default=0) > _ORDERED_JOBS
    shares = _LARGE if is_large else _EXACTLY if exactly else _ALONE
    known = _held(instance, rules, pace, shares[0], counts)
    blocks = [_block(instance, jobs, known) for jobs in split(instance, known)]
    while True:
        hard = [block for block in blocks if not block.is_optimal and not block.groups]
        counts["blocks"] += len(hard)
        _search(hard, pace, shares[1], counts)
        _price(hard, pace, shares[2], counts)
        if exactly:
            _search_exactly(hard, pace, counts)
        found = known.copy()
        for block in blocks:
            found[block.jobs] = block.starts
        if fits(instance, found):
            break
        blocks = _merged(instance, blocks, known)
    groups = [group for block in blocks for group in block.groups]
    is_optimal = all(block.is_optimal for block in blocks)
    return Claim(found.tolist(), is_optimal, certificate(instance, groups), counts, pace.limit)


def _expect_countable(instance: Instance, starts: Ints) -> None:
    """Refuse waits that, in the unit of prices, 64 bits do not hold."""
    end = int((starts + instance.length).max(initial=0))
    most = 2**61 // SCALE
    if max(end, total_wait(instance, starts)) >= most:
        raise InputError(f"waits of {most} slots or more, expected fewer: take longer slots", place="jobs")


def _held(instance: Instance, starts: Ints, pace: _Pace, share: float, counts: dict[str, int]) -> Ints:
    """Return starts at least as good, of the queue that holds jobs back; it is asked before blocks are cut."""
    if len(instance) < _HELD_JOBS or not total_wait(instance, starts):
        return starts
    until_s = None if pace.limits.time_limit_s is None else share * pace.limits.time_limit_s
    held, counts["held"] = delayed_starts(instance, pace.limits.seed, pace.watch, until_s)
    pace.note(until_s)
    held = in_order(instance, np.argsort(held, kind="stable"))
    return held if held.sum() < starts.sum() else starts


def _block(instance: Instance, jobs: Ints, starts: Ints) -> _Block:
    return _Block(jobs, instance.subset(jobs), starts[jobs], [], bool((starts[jobs] == instance.submit[jobs]).all()))


def _merged(instance: Instance, blocks: list[_Block], known: Ints) -> list[_Block]:
    """Return blocks of which each ends before the next begins: where a better schedule ended too late they are one.

    A block that stays keeps what is known of it.
    """
    merged: list[list[_Block]] = []
    latest = -1
    for block in blocks:
        if merged and latest > block.instance.submit[0]:
            merged[-1].append(block)
        else:
            merged.append([block])
        latest = max(latest, int((block.starts + block.instance.length).max()))
    result = []
    for parts in merged:
        if len(parts) == 1:
            result += parts
            continue
        together = _block(instance, np.concatenate([part.jobs for part in parts]), known)
        order = np.argsort(np.concatenate([part.starts for part in parts]), kind="stable")
        again = in_order(together.instance, order)
        if again.sum() < together.starts.sum():
            together.starts = again
        result.append(together)
    return result


def _search(blocks: list[_Block], pace: _Pace, share: float, counts: dict[str, int]) -> None:
    weights = [len(block.jobs) ** 2 for block in blocks]
    for i, block in enumerate(blocks):
        if len(block.jobs) > _ORDERED_JOBS:
            continue
        until_s = pace.until(share, weights, i)
        block.starts, moves = improved(block.instance, block.starts, pace.limits.seed, pace.watch, until_s)
        pace.note(until_s)
        counts["moves"] += moves


def _price(blocks: list[_Block], pace: _Pace, share: float, counts: dict[str, int]) -> None:
    """Find the prices of each block; a large one is cut, for bounds of disjoint sets of jobs add up.

    The ascent is quick to something good; the linear program starts anew, and with its cuts reaches more.
    """
    limits, watch = pace.limits, pace.watch
    left_s = None if limits.time_limit_s is None else share * limits.time_limit_s - watch.elapsed_s()
    has_time = left_s is None or left_s >= _GROUP_S * sum(len(block.jobs) for block in blocks)
    most = _GROUP if has_time else _SMALL_GROUP
    groups = [(block, part) for block in blocks for part in pieces(block.instance, block.starts, most)]
    weights = [len(part) ** 2 for _, part in groups]
    for i, (block, part) in enumerate(groups):
        until_s = pace.until(share, weights, i)
        now_s = watch.elapsed_s()
        soon_s = None if until_s is None else now_s + _ASCENT * (until_s - now_s)
        jobs = block.jobs[part]
        alone = block.instance.subset(part)
        starts = block.starts[part] if len(part) == len(block.jobs) else best_of_rules(alone)
        found: CellMultipliers | SlotMultipliers = subgradient_multipliers(alone, starts, watch, soon_s)
        counts["price_rounds"] += found.rounds
        reached = found.scaled_value()
        if SCALE * (total_wait(alone, starts) - 1) >= reached:
            program = linear_program_multipliers(alone, starts, watch, until_s, limits.seed)
            counts["programs"] += program.rounds
            if program.scaled_value() > reached:
                found = program
            pace.note(until_s)
        block.groups.append((jobs, found))


def _search_exactly(blocks: list[_Block], pace: _Pace, counts: dict[str, int]) -> None:
    """Search each block within the windows that its prices leave, the least gap first; large ones by pieces."""
    from hindsched.offline.grid.block_cpsat import search
    from hindsched.offline.grid.large_neighbourhood import refined

    limits, watch = pace.limits, pace.watch
    gaps = []
    for block in blocks:
        slack = SCALE * block.wait - sum(group.scaled_value() for _, group in block.groups)
        block.is_optimal = slack < SCALE  # the bound, rounded up, is the wait
        gaps.append(slack)
    todo = [i for i in sorted(range(len(blocks)), key=lambda i: (gaps[i], i)) if not blocks[i].is_optimal]
    weights = [len(blocks[i].jobs) for i in todo]
    for turn, i in enumerate(todo):
        block = blocks[i]
        until_s = pace.until(1.0, weights, turn)
        left_s = None if until_s is None else until_s - watch.elapsed_s()
        if len(block.jobs) > _ORDERED_JOBS:
            continue
        if len(block.jobs) > _EXACT_JOBS:
            block.starts = refined(block.instance, block.starts, limits, watch, until_s, counts)
            pace.note(until_s)
            continue
        if left_s is not None and left_s < _LEAST_S + 2 * _WRITE_MS * len(block.jobs) / 1000:
            pace.note(0.0)  # too little time is left
            continue
        most = _WINDOWS // len(block.jobs)
        windows = [window for _, group in block.groups for window in group.windows(gaps[i], most)]
        counts["windows"] += sum(last - first + 1 for window in windows for first, last in window)
        left_s = None if until_s is None else max(_LEAST_S, until_s - watch.elapsed_s())
        block.starts, block.is_optimal = search(block.instance, block.starts, windows, limits, left_s, counts)
        if not block.is_optimal:
            pace.note(None if left_s is None else 0.0)
