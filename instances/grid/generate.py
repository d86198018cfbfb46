"""Random workloads in place of the trace of the paper, which is not packaged (docs/grid/model.md section 1)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import LATEST, MOST_NODES, Instance
from hindsched.instances.random_streams import stream
from hindsched.instances.text_files import excerpt

__all__ = ["BURSTS", "NARROW_MIX", "POISSON", "WIDE_MIX", "Arrivals", "JobMix", "generate", "unit"]

_WORDS = 5  # random words per job
_NORMAL = NormalDist()
_DAYS, _HOURS, _PEAK = 7, 24, 14


@dataclass(frozen=True, slots=True)
class JobMix:
    """Distribution of the widths and lengths of jobs.

    Parameters
    ----------
    serial
        Share of jobs of width 1.
    wide
        Share of jobs whose width is uniform from ``wide_from`` to ``wide_to``.
    wide_from, wide_to
        Least and largest width of wide jobs; both are cut to the number of nodes.
    top
        The remaining jobs have widths 2, 4, ... 2^top, with equal probability. ``top`` is reduced until 2^top is at
        most the number of nodes. If it is 0, every width is 1.
    median_s, sigma
        Log-normal lengths in seconds: the median, and the standard deviation of the logarithm.
    longest_s
        Largest length in seconds; longer ones are cut to it.

    Raises
    ------
    InputError
        If a value is out of range. The message names it.
    """

    serial: float = 0.5
    wide: float = 0.015
    wide_from: int = 111
    wide_to: int = 360
    top: int = 6
    median_s: float = 3600.0
    sigma: float = 1.5
    longest_s: float = 604800.0

    def __post_init__(self) -> None:
        if not (self.serial >= 0 and self.wide >= 0 and self.serial + self.wide <= 1):
            raise InputError(
                f"{self.serial} and {self.wide}, expected shares that sum to at most 1", place="serial, wide"
            )
        if not 1 <= self.wide_from <= self.wide_to:
            raise InputError(
                f"{self.wide_from} to {self.wide_to}, expected 1 <= from <= to", place="wide_from, wide_to"
            )
        if self.top < 0:
            raise InputError(f"{self.top}, expected an integer >= 0", place="top")
        if not (self.median_s > 0 and self.sigma >= 0 and self.longest_s > 0):
            raise InputError("expected median_s > 0, sigma >= 0 and longest_s > 0", place="lengths")

    def width(self, branch: float, choice: float, nodes: int) -> int:
        """Return the width that belongs to two uniform numbers in (0, 1)."""
        top = min(self.top, nodes.bit_length() - 1)
        if top == 0 or branch < self.serial:
            return 1
        if branch < self.serial + self.wide:
            low, high = min(self.wide_from, nodes), min(self.wide_to, nodes)
            return low + math.floor(choice * (high - low + 1))
        return int(2 ** (1 + math.floor(choice * top)))

    def length(self, quantile: float, slot_s: int) -> int:
        """Return the length in slots that belongs to a uniform number in (0, 1)."""
        return math.ceil(min(self.longest_s, self.median_s * math.exp(self.sigma * _NORMAL.inv_cdf(quantile))) / slot_s)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Daily and weekly cycle of submissions, and batches of one user.

    Parameters
    ----------
    swing
        The rate of submissions in hour h of a day is 1 + ``swing`` cos(2 pi (h + 1/2 - 14) / 24) times its mean.
    weekend
        Rate on the last two days of a week over that on the others, above 0; slot 0 begins the first day.
    batch
        Mean number of jobs in a batch, >= 1: jobs of one width and length that are submitted together. Numbers are
        geometric.

    Raises
    ------
    InputError
        If a value is out of range. The message names it.

    References
    ----------
    M. Calzarossa, G. Serazzi, "A Characterization of the Variation in Time of Workload Arrival Patterns", IEEE
    Transactions on Computers C-34 (1985) (cycle). U. Lublin, D. G. Feitelson, "The Workload on Parallel
    Supercomputers", JPDC 63 (2003) (cycle). A. Iosup, M. Jan, O. Sonmez, D. Epema, "The Characteristics and
    Performance of Groups of Jobs in Grids", Euro-Par 2007 (batches).
    """

    swing: float = 0.0
    weekend: float = 1.0
    batch: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.swing < 1:
            raise InputError(f"{self.swing}, expected a number from 0 to below 1", place="swing")
        if not 0 < self.weekend < math.inf:
            raise InputError(f"{self.weekend}, expected a number above 0", place="weekend")
        if not 1 <= self.batch < math.inf:
            raise InputError(f"{self.batch}, expected a number >= 1", place="batch")

    def clock(self, times: Sequence[float], slot_s: int) -> list[float]:
        """Return the slots, not rounded, at which times of a constant rate of submissions stand in the cycle."""
        if self.swing == 0 and self.weekend == 1:
            return list(times)
        rates = [
            (1 + self.swing * math.cos(2 * math.pi * (hour + 0.5 - _PEAK) / _HOURS)) * (self.weekend if day >= 5 else 1)
            for day in range(_DAYS)
            for hour in range(_HOURS)
        ]
        mean = sum(rates) / len(rates)
        before = [0.0, *accumulate(rate / mean for rate in rates)]  # hours of the constant rate
        found = []
        for time in times:
            week, rest = divmod(time * slot_s / 3600, len(rates))
            hour = min(bisect_right(before, rest), len(rates)) - 1
            found.append((week * len(rates) + hour + (rest - before[hour]) * mean / rates[hour]) * 3600 / slot_s)
        return found


#: The default: a Poisson process.
POISSON = Arrivals()
#: Half as many submissions on days off, four times as many at 14:00 as at 2:00, and batches. Their mean size is chosen
#: so that days with a requested utilisation above 1, as in the paper's figures, occur at a load of 28 %.
BURSTS = Arrivals(swing=0.6, weekend=0.5, batch=50.0)


#: The default: mean width about 14 on 5,000 nodes; half of the jobs are serial, some are wider than a neighbourhood.
WIDE_MIX = JobMix()
#: Mean width about 3.7, which the numbers of messages in the paper's second table imply.
NARROW_MIX = JobMix(serial=0.585, wide=0.0, top=4)


def generate(
    *,
    nodes: int = 5000,
    slot_s: int = 60,
    jobs: int,
    load: float = 0.28,
    seed: int = 0,
    mix: JobMix = WIDE_MIX,
    arrivals: Arrivals = POISSON,
) -> Instance:
    """Return a random workload: Poisson or bursty submissions, widths of powers of two or wide, log-normal lengths.

    Job j takes five words of the stream ("grid", "generate", seed), each made a number u = (floor(word / 2^11) + 1/2) /
    2^53. u1 gives the gap before the job, -ln u1; u2 and u3 the width (`JobMix.width`); u4 the quantile of the length
    (`JobMix.length`). If u5 < 1 - 1 / batch, job j > 0 is in the batch of the job before it: it has the same width and
    length, and gap 0. Job 0 arrives in slot 0, and job j its gap after job j - 1. Gaps are scaled by the area of all
    jobs / (``load`` * M * the sum of all gaps, with that of job 0). `Arrivals.clock` puts their running sums into the
    cycle; the results are rounded up.

    Parameters
    ----------
    nodes, slot_s
        M and the seconds of a slot.
    jobs
        Number of jobs.
    load
        Area of all jobs divided by M times the duration of their submission; above 0. For a seed, the jobs are the same
        at every load, and only the gaps between submissions differ.
    seed
        Seed of the random stream.
    mix
        Distribution of widths and lengths.
    arrivals
        Cycle and batches. With a cycle, ``load`` is exact for whole weeks.

    Raises
    ------
    InputError
        If an option is out of range. The message names it.

    Examples
    --------
    >>> list(generate(nodes=8, slot_s=3600, jobs=3, seed=1).rows())
    [(0, 1, 1), (1, 1, 1), (3, 4, 1)]
    """
    if jobs < 0:
        raise InputError(f"{jobs}, expected an integer >= 0", place="jobs")
    for name, number, most in (("nodes", nodes, MOST_NODES), ("slot_s", slot_s, LATEST - 1)):
        if not 1 <= number <= most:
            raise InputError(f"{excerpt(str(number))}, expected an integer from 1 to {most}", place=name)
    if not (load > 0 and math.isfinite(load)):
        raise InputError(f"{load}, expected a number above 0", place="load")
    words = stream("grid", "generate", seed).bit_generator.random_raw(_WORDS * jobs)
    gap, branch, choice, quantile, follows = ([unit(int(word)) for word in words[i::_WORDS]] for i in range(_WORDS))
    width = [mix.width(u2, u3, nodes) for u2, u3 in zip(branch, choice, strict=True)]
    length = [mix.length(u4, slot_s) for u4 in quantile]
    gaps = [-math.log(u1) for u1 in gap]
    for j in range(1, jobs):
        if follows[j] < 1 - 1 / arrivals.batch:
            width[j], length[j], gaps[j] = width[j - 1], length[j - 1], 0.0
    area = sum(n * s for n, s in zip(width, length, strict=True))
    times = _submissions(gaps, area / (load * nodes))
    submit = [math.ceil(time) for time in arrivals.clock(times, slot_s)]
    return Instance(nodes, slot_s, submit, width, length)


def unit(word: int) -> float:
    """Return the uniform number in (0, 1) that belongs to a word of 64 bits."""
    return ((word >> 11) + 0.5) / 2**53


def _submissions(gaps: Sequence[float], duration: float) -> list[float]:
    """Return the times of submission in slots, from gaps scaled to sum to ``duration``; the first is not used."""
    if duration >= LATEST:
        raise InputError(f"submissions during {LATEST} slots or more, expected fewer", place="load")
    scale = duration / sum(gaps) if gaps else 0.0
    scaled = [0.0, *(scale * gap for gap in gaps[1:])][: len(gaps)]
    return list(accumulate(scaled))
