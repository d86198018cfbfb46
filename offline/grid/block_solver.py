"""The solvers ``cpsat`` and ``bounds``: rules, local search, Lagrangian bounds, and an exact search of blocks of jobs.

A schedule of rules and of a delayed queue divides the jobs into blocks that are solved alone (module `blocks`). Each
block is improved by a search over orders and bounded by prices. ``cpsat`` then searches the starts whose reduced costs
leave room for a better schedule. If blocks overlap in the end, they are merged and solved again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.blocks import fits, pieces, split
from hindsched.offline.grid.claim import Claim
from hindsched.offline.grid.delayed_queue import delayed_starts
from hindsched.offline.grid.job_prices import SCALE, JobPrices, certificate
from hindsched.offline.grid.linear_program import linear_program_prices
from hindsched.offline.grid.order_search import best_of_rules, improved, in_order, total_wait
from hindsched.offline.grid.subgradient import subgradient_prices
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["BlockParameters", "solve", "solve_bounds"]


@dataclass(frozen=True, slots=True)
class BlockParameters:
    """Parameters of the solvers.

    Shares are fractions of the time limit by the end of which three steps have to end: the delayed queue, the search
    over orders, and the search for prices.

    Parameters
    ----------
    exact_shares
        Shares where an exact search follows.
    bounds_shares
        Shares without an exact search.
    large_shares
        Shares where a block has more than ``most_ordered_jobs``.
    least_delayed_jobs
        Fewer jobs have no delayed queue; the search over orders suffices.
    most_ordered_jobs
        A block of more jobs has neither a search over orders nor an exact search.
    most_exact_jobs
        A block of more jobs has a large neighbourhood search instead of an exact search.
    most_priced_jobs
        Largest number of jobs whose prices are found together, where there are ``priced_job_s`` seconds for each job.
    most_hurried_jobs
        The same with less time.
    priced_job_s
        Seconds for each job that make the difference.
    ascent_share
        Share of the time for prices that the subgradient method gets; the linear program gets the rest.
    least_exact_s
        No exact search begins with less time.
    build_ms
        Milliseconds to build the exact model, per job. A block is skipped if this would take most of its time.
    window_slots
        Slots of a block in which single starts are excluded; larger windows stay intervals.
    """

    exact_shares: tuple[float, float, float] = (0.1, 0.2, 0.8)
    bounds_shares: tuple[float, float, float] = (0.15, 0.25, 0.9)
    large_shares: tuple[float, float, float] = (0.25, 0.25, 0.9)
    least_delayed_jobs: int = 16
    most_ordered_jobs: int = 3000
    most_exact_jobs: int = 150
    most_priced_jobs: int = 1000
    most_hurried_jobs: int = 300
    priced_job_s: float = 0.02
    ascent_share: float = 0.08
    least_exact_s: float = 0.02
    build_ms: int = 3
    window_slots: int = 3_000_000


_PARAMETERS = BlockParameters()


def solve(instance: Instance, limits: Limits) -> Claim:
    """Solve an instance exactly, as far as the limits allow."""
    return _BlockSearch(instance, limits, is_exact=True).run()


def solve_bounds(instance: Instance, limits: Limits) -> Claim:
    """Return a good schedule and a proven bound without exact search, for any number of jobs."""
    return _BlockSearch(instance, limits, is_exact=False).run()


@dataclass(slots=True)
class _Block:
    """Jobs that are solved alone.

    Parameters
    ----------
    jobs
        Their indices among all jobs.
    instance
        These jobs.
    starts
        Of the best schedule.
    groups
        Prices, each for some of the jobs, whose bounds add up.
    bound
        The sum of these bounds, over `SCALE`.
    is_optimal
        Whether the starts are proven optimal.
    """

    jobs: Ints
    instance: Instance
    starts: Ints
    is_optimal: bool
    groups: list[tuple[Ints, JobPrices]] = field(default_factory=list)
    bound: int = 0

    @property
    def wait(self) -> int:
        """The total wait, in slots."""
        return total_wait(self.instance, self.starts)


class _BlockSearch:
    """The steps of both solvers.

    Parameters
    ----------
    instance
        The jobs.
    limits
        Without a time limit every step has a fixed amount of work.
    is_exact
        Whether an exact search follows.
    """

    def __init__(self, instance: Instance, limits: Limits, *, is_exact: bool) -> None:
        self.instance = instance
        self.limits = limits
        self.watch = Stopwatch(limits)
        self.is_exact = is_exact
        self.is_cut = False  # whether the time limit has ended a step
        self.counts = {"held": 0, "blocks": 0, "moves": 0, "price_rounds": 0, "programs": 0, "windows": 0}

    def run(self) -> Claim:
        instance = self.instance
        rules = best_of_rules(instance)
        _expect_countable(instance, rules)
        is_large = max(map(len, split(instance, rules)), default=0) > _PARAMETERS.most_ordered_jobs
        usual = _PARAMETERS.exact_shares if self.is_exact else _PARAMETERS.bounds_shares
        delay_share, order_share, price_share = _PARAMETERS.large_shares if is_large else usual
        known = self._delayed(rules, delay_share)
        blocks = [_block(instance, jobs, known) for jobs in split(instance, known)]
        while True:
            open_blocks = [block for block in blocks if not block.is_optimal and not block.groups]
            self.counts["blocks"] += len(open_blocks)
            self._improve(open_blocks, order_share)
            self._find_prices(open_blocks, price_share)
            if self.is_exact:
                self._search_exactly(open_blocks)
            starts = known.copy()
            for block in blocks:
                starts[block.jobs] = block.starts
            if fits(instance, starts):
                break
            blocks = _merged(instance, blocks, known)
        groups = [group for block in blocks for group in block.groups]
        is_optimal = all(block.is_optimal for block in blocks)
        limit = Limit.TIME if self.is_cut else Limit.EFFORT
        return Claim(starts.tolist(), is_optimal, certificate(instance, groups), self.counts, limit)

    def _end_of_step(self, share: float, weights: list[int], i: int) -> float | None:
        """Return when block i has to finish a step that ends for all blocks at a share of the time limit."""
        if self.limits.time_limit_s is None:
            return None
        now = self.watch.elapsed_s()
        return now + max(0.0, share * self.limits.time_limit_s - now) * weights[i] / max(1, sum(weights[i:]))

    def _note_end(self, until_s: float | None) -> None:
        """Record whether the time limit has ended a step that had time until ``until_s``."""
        self.is_cut = self.is_cut or (until_s is not None and self.watch.elapsed_s() >= until_s)

    def _delayed(self, starts: Ints, share: float) -> Ints:
        """Return starts at least as good, by the delayed queue, which comes before the jobs are divided into blocks."""
        instance = self.instance
        if len(instance) < _PARAMETERS.least_delayed_jobs or not total_wait(instance, starts):
            return starts
        until_s = None if self.limits.time_limit_s is None else share * self.limits.time_limit_s
        delayed, self.counts["held"] = delayed_starts(instance, self.limits.seed, self.watch, until_s)
        self._note_end(until_s)
        delayed = in_order(instance, np.argsort(delayed, kind="stable"))
        return delayed if delayed.sum() < starts.sum() else starts

    def _improve(self, blocks: list[_Block], share: float) -> None:
        """Improve the starts of each block by a search over orders."""
        weights = [len(block.jobs) ** 2 for block in blocks]
        for i, block in enumerate(blocks):
            if len(block.jobs) > _PARAMETERS.most_ordered_jobs:
                continue
            until_s = self._end_of_step(share, weights, i)
            block.starts, moves = improved(block.instance, block.starts, self.limits.seed, self.watch, until_s)
            self._note_end(until_s)
            self.counts["moves"] += moves

    def _find_prices(self, blocks: list[_Block], share: float) -> None:
        """Find prices for each block; a large one is divided, since bounds of disjoint sets of jobs add up.

        The subgradient method quickly finds good prices. The linear program starts from nothing and, with its cuts,
        reaches better ones.
        """
        left_s = None if self.limits.time_limit_s is None else share * self.limits.time_limit_s - self.watch.elapsed_s()
        has_time = left_s is None or left_s >= _PARAMETERS.priced_job_s * sum(len(block.jobs) for block in blocks)
        most = _PARAMETERS.most_priced_jobs if has_time else _PARAMETERS.most_hurried_jobs
        groups = [(block, part) for block in blocks for part in pieces(block.instance, block.starts, most)]
        weights = [len(part) ** 2 for _, part in groups]
        for i, (block, part) in enumerate(groups):
            until_s = self._end_of_step(share, weights, i)
            alone = block.instance.subset(part)
            starts = block.starts[part] if len(part) == len(block.jobs) else best_of_rules(alone)
            prices, bound = self._prices(alone, starts, until_s)
            block.groups.append((block.jobs[part], prices))
            block.bound += bound

    def _prices(self, instance: Instance, starts: Ints, until_s: float | None) -> tuple[JobPrices, int]:
        """Return the better prices of both methods, and their bound over `SCALE`.

        One method suffices if its bound is the wait of the starts, or if no time is left: computing the bound of
        thousands of jobs takes seconds.
        """
        now_s = self.watch.elapsed_s()
        ascent_s = None if until_s is None else now_s + _PARAMETERS.ascent_share * (until_s - now_s)
        cells = subgradient_prices(instance, starts, self.watch, ascent_s)
        self.counts["price_rounds"] += cells.rounds
        reached = cells.scaled_value()
        if SCALE * (total_wait(instance, starts) - 1) < reached:
            return cells, reached
        if until_s is not None and self.watch.elapsed_s() >= until_s:
            self._note_end(until_s)
            return cells, reached
        slots = linear_program_prices(instance, starts, self.watch, until_s, self.limits.seed)
        self._note_end(until_s)
        self.counts["programs"] += slots.rounds
        value = slots.scaled_value()
        return (slots, value) if value > reached else (cells, reached)

    def _search_exactly(self, blocks: list[_Block]) -> None:
        """Search each block within the windows that its prices leave, the one with the least gap first."""
        gaps = []
        for block in blocks:
            gap = SCALE * block.wait - block.bound
            block.is_optimal = gap < SCALE  # the bound, rounded up, is the wait
            gaps.append(gap)
        todo = [i for i in sorted(range(len(blocks)), key=lambda i: (gaps[i], i)) if not blocks[i].is_optimal]
        weights = [len(blocks[i].jobs) for i in todo]
        for turn, i in enumerate(todo):
            until_s = self._end_of_step(1.0, weights, turn)
            self._search_block(blocks[i], gaps[i], until_s)

    def _search_block(self, block: _Block, gap: int, until_s: float | None) -> None:
        """Search one block by CP-SAT, or by large neighbourhoods if it has many jobs."""
        from hindsched.offline.grid.block_cpsat import search
        from hindsched.offline.grid.large_neighbourhood import refined

        count = len(block.jobs)
        left_s = None if until_s is None else until_s - self.watch.elapsed_s()
        if count > _PARAMETERS.most_ordered_jobs:
            return
        if count > _PARAMETERS.most_exact_jobs:
            block.starts = refined(block.instance, block.starts, self.limits, self.watch, until_s, self.counts)
            self._note_end(until_s)
            return
        if left_s is not None and left_s < _PARAMETERS.least_exact_s + 2 * _PARAMETERS.build_ms * count / 1000:
            self.is_cut = True
            return
        most = _PARAMETERS.window_slots // count
        windows = [window for _, group in block.groups for window in group.windows(gap, most)]
        self.counts["windows"] += sum(last - first + 1 for window in windows for first, last in window)
        left_s = None if until_s is None else max(_PARAMETERS.least_exact_s, until_s - self.watch.elapsed_s())
        block.starts, block.is_optimal = search(block.instance, block.starts, windows, self.limits, left_s, self.counts)
        self.is_cut = self.is_cut or (left_s is not None and not block.is_optimal)


def _expect_countable(instance: Instance, starts: Ints) -> None:
    """Refuse waits that overflow 64 bits in the unit of prices."""
    end = int((starts + instance.length).max(initial=0))
    most = 2**61 // SCALE
    if max(end, total_wait(instance, starts)) >= most:
        raise InputError(f"waits of {most} slots or more, expected fewer: take longer slots", place="jobs")


def _block(instance: Instance, jobs: Ints, starts: Ints) -> _Block:
    return _Block(jobs, instance.subset(jobs), starts[jobs], bool((starts[jobs] == instance.submit[jobs]).all()))


def _merged(instance: Instance, blocks: list[_Block], known: Ints) -> list[_Block]:
    """Return blocks each of which ends before the next one begins: those that overlap are merged, the others stay."""
    overlapping: list[list[_Block]] = []
    latest = -1
    for block in blocks:
        if overlapping and latest > block.instance.submit[0]:
            overlapping[-1].append(block)
        else:
            overlapping.append([block])
        latest = max(latest, int((block.starts + block.instance.length).max()))
    result = []
    for parts in overlapping:
        if len(parts) == 1:
            result += parts
            continue
        merged = _block(instance, np.concatenate([part.jobs for part in parts]), known)
        order = np.argsort(np.concatenate([part.starts for part in parts]), kind="stable")
        starts = in_order(merged.instance, order)
        if starts.sum() < merged.starts.sum():
            merged.starts = starts
        result.append(merged)
    return result
