"""Random volunteers: their availability and their speed (docs/batches/model.md section 7).

Every volunteer has a separate random stream, so it depends neither on the number of volunteers nor on the window that
is read.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.batches.availability import MOST, Availability, AvailabilitySource, Ints, with_least_dtype
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream

__all__ = ["DAY", "HOUR", "WEEK", "Volunteer", "VolunteerParameters", "Volunteers", "draw_volunteer", "merge_intervals"]

HOUR = 3600
DAY = 24 * HOUR
WEEK = 7 * DAY

#: Number of intervals that are drawn before they are copied into one array.
_BLOCK = 1 << 20

#: Largest number of volunteers, and of cycles of all volunteers over the trace.
_MOST_WORKERS, _MOST_CYCLES = 250_000, 10**10

#: Largest number of on-times, or days, that are drawn for a volunteer.
_MOST_DRAWN = 1 << 24

_Reals = npt.NDArray[np.float64]

#: Largest values of the constants, for which all times are finite numbers.
_MOST: dict[str, float] = {
    **dict.fromkeys(("days", "life_days"), MOST // DAY),
    **dict.fromkeys(("share_alpha", "share_beta", "start_sigma_s", "cycle_s"), MOST),
    **dict.fromkeys(("share_least", "share_most", "daily", "weekend_off"), 1),
    **dict.fromkeys(("speed_sigma", "length_sigma", "cycle_sigma", "time_sigma"), 10),
    "phase_hour": 24,
    "phase_sigma_hours": MOST // HOUR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VolunteerParameters:
    """Constants of the generator of volunteers.

    Parameters
    ----------
    days
        Length of the trace in days; day 0 is a Sunday.
    share_alpha, share_beta, share_least, share_most
        Share of time that a volunteer is available: the parameters of a Beta distribution, and the limits to which it
        is cut.
    life_days
        Mean of the exponential life in days. Births are uniform over the trace.
    speed_sigma
        Standard deviation of the logarithm of the speed, a log-normal factor of the computing time with mean 1.
    daily
        Share of the volunteers with a daily rhythm. The others alternate between on-times and off-times.
    phase_hour, phase_sigma_hours
        Hour at which a daily volunteer becomes available: mean and standard deviation over volunteers, modulo a day.
    start_sigma_s, length_sigma
        Variation of single days: standard deviation of the normal begin in seconds, and standard deviation of the
        logarithm of the length, which is log-normal with mean 1.
    weekend_off
        Probability that a daily volunteer is not available on a day of the weekend.
    cycle_s, cycle_sigma
        Sum of a mean on-time and a mean off-time: its median over volunteers in seconds, and the standard deviation of
        its logarithm.
    time_sigma
        Standard deviation of the logarithm of an on-time or off-time; both are log-normal.

    Raises
    ------
    InputError
        If a constant is out of range. The message names it.
    """

    days: int = 318
    share_alpha: float = 1.66
    share_beta: float = 2.34
    share_least: float = 0.02
    share_most: float = 0.98
    life_days: float = 150.0
    speed_sigma: float = 0.5
    daily: float = 0.1
    phase_hour: float = 18.0
    phase_sigma_hours: float = 4.0
    start_sigma_s: float = 1800.0
    length_sigma: float = 0.3
    weekend_off: float = 0.15
    cycle_s: float = 3600.0
    cycle_sigma: float = 0.7
    time_sigma: float = 1.2

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{value!r}, expected a number >= 0", place=name)
        for name in ("days", "share_alpha", "share_beta", "life_days"):
            if getattr(self, name) <= 0:
                raise InputError(f"{getattr(self, name)!r}, expected a number > 0", place=name)
        if self.cycle_s < 1:
            raise InputError(f"{self.cycle_s!r}, expected at least 1", place="cycle_s")
        for name, most in _MOST.items():
            if getattr(self, name) > most:
                raise InputError(f"{getattr(self, name)!r}, expected at most {most}", place=name)
        least, most = self.share_least, self.share_most
        if least > most:
            raise InputError(f"{least!r}, expected at most share_most, {most!r}", place="share_least")


@dataclass(frozen=True, eq=False)
class Volunteers(AvailabilitySource):
    """W volunteers as a source of availability; they are drawn when their intervals are read.

    Parameters
    ----------
    workers
        W, at least 1.
    seed
        Seed of the volunteers.
    habits
        Constants of the generator.
    mean_c
        Mean of the seconds per task.
    homogeneous
        Whether all volunteers need ``mean_c`` seconds per task.

    Raises
    ------
    InputError
        If a number is out of range.

    Notes
    -----
    About 0.4 ms per volunteer with the default constants. The window that was drawn last is cached.

    Examples
    --------
    >>> few, more = Volunteers(2, seed=1), Volunteers(3, seed=1)
    >>> bool((few.whole().of_worker(1) == more.whole().of_worker(1)).all())
    True
    >>> more.c[:2] == few.c
    True
    """

    workers: int
    seed: int = 0
    habits: VolunteerParameters = VolunteerParameters()
    mean_c: int = 1800
    homogeneous: bool = False
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, least, most in (("workers", 1, _MOST_WORKERS), ("seed", 0, 2**63 - 1), ("mean_c", 1, MOST)):
            if getattr(self, name) < least:
                raise InputError(f"{getattr(self, name)!r}, expected an integer >= {least}", place=name)
            if getattr(self, name) > most:
                raise InputError(f"{getattr(self, name)!r}, expected at most {most}", place=name)
        cycles = self.workers * min(round(self.span / self.habits.cycle_s), _MOST_DRAWN)
        if cycles > _MOST_CYCLES:
            raise InputError(f"about {cycles} times of availability, expected at most {_MOST_CYCLES}", place="workers")

    @property
    def num_workers(self) -> int:
        """Number of workers, W."""
        return self.workers

    @property
    def span(self) -> int:
        """Length of the trace in seconds."""
        return self.habits.days * DAY

    @property
    def firsts(self) -> Ints:
        """First available second of each worker, read-only; -1 for a worker that is never available."""
        if "firsts" not in self._kept:
            self._draw(0, 0)
        firsts: Ints = self._kept["firsts"]
        return firsts

    @property
    def identity(self) -> bytes:
        """The number of workers, the seed and all constants."""
        return b"volunteers\0" + repr((self.workers, self.seed, tuple(asdict(self.habits).items()))).encode()

    @property
    def c(self) -> tuple[int, ...]:
        """Computing time of each volunteer: ``mean_c`` times its speed factor, rounded, and at least 1."""
        if self.homogeneous:
            return (self.mean_c,) * self.workers
        if "speeds" not in self._kept:
            speeds = [_draw_traits(self.seed, j, self.habits).speed for j in range(self.workers)]
            self._kept["speeds"] = np.array(speeds)
        return tuple(max(1, int(c)) for c in np.rint(self.mean_c * self._kept["speeds"]))

    def with_computing_times(self, mean_c: int, *, homogeneous: bool = False) -> Volunteers:
        """Return the same volunteers with other computing times; both share the cache of drawn intervals."""
        other = Volunteers(self.workers, self.seed, self.habits, mean_c, homogeneous)
        object.__setattr__(other, "_kept", self._kept)
        return other

    def covering(self, since: int, until: int) -> Availability:
        """Return the intervals of the cached window if it covers this one; otherwise draw this one."""
        low, high, kept = self._kept.get("window", (0, -1, None))
        if kept is None or since < low or high < until:
            kept = self._draw(since, until)
            self._kept["window"] = (since, until, kept)
        covering: Availability = kept
        return covering

    def window(self, since: int, until: int) -> Availability:
        """Return the intervals with a second in [since, until); they are not clipped to this window."""
        return self.covering(since, until).window(since, until)

    def whole(self) -> Availability:
        """Return all intervals."""
        return self.window(0, self.span)

    def _draw(self, since: int, until: int) -> Availability:
        """Draw all volunteers and return their intervals in a window.

        Intervals are copied block by block, so memory holds little more than the result.
        """
        counts = np.zeros(self.workers + 1, dtype=np.int64)
        speeds = np.empty(self.workers)
        firsts = np.full(self.workers, -1, dtype=np.int64)
        blocks: list[npt.NDArray[Any]] = []
        block: list[npt.NDArray[Any]] = []
        held = 0
        for j in range(self.workers):
            volunteer = draw_volunteer(self.seed, j, self.habits)
            speeds[j] = volunteer.speed
            if len(volunteer.ups):
                firsts[j] = volunteer.ups[0, 0]
            ups = volunteer.ups
            low = np.searchsorted(ups[:, 1], since, side="right")
            high = np.searchsorted(ups[:, 0], until, side="left")
            ups = with_least_dtype(ups[low : max(low, high)])
            counts[j + 1] = len(ups)
            block.append(ups)
            held += len(ups)
            if held > _BLOCK:
                blocks.append(np.concatenate(block))
                block, held = [], 0
        blocks.append(np.concatenate(block) if block else np.empty((0, 2), dtype=np.int32))
        firsts.setflags(write=False)
        self._kept.update(speeds=speeds, firsts=firsts)
        return Availability(_joined(blocks), np.cumsum(counts))

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.workers, self.seed, self.habits, self.mean_c, self.homogeneous)
        return Volunteers, arguments  # without the cache


class Volunteer(NamedTuple):
    """One volunteer: its speed, the factor of its computing time, and its intervals, shape (n, 2)."""

    speed: float
    ups: Ints


class _Traits(NamedTuple):
    """The traits of a volunteer, which are drawn before its intervals, and its random stream.

    ``share`` is the share of time that it is available; ``birth`` and ``death`` are seconds.
    """

    share: float
    birth: float
    death: float
    speed: float
    numbers: np.random.Generator


def draw_volunteer(seed: int, worker: int, habits: VolunteerParameters) -> Volunteer:
    """Return one volunteer, drawn from the stream named ("batches", "volunteer", seed, worker).

    The draws, with the default constants, are in this order; z is a standard normal number, U uniform in [0, 1).

    1. Share a: Beta(1.66, 2.34), cut to [0.02, 0.98].
    2. Birth: 318 U days. Life: exponential with mean 150 days. Death: the earlier of 318 days and birth + life.
    3. Speed: exp(0.5 z - 0.125).
    4. U < 0.1: daily. Phase: (18 h + 4 h z) modulo a day. There are n = floor((death - birth) / day) + 3 days d from
       floor((birth - phase) / day) on. First all n begins d day + phase + 1800 z, then n lengths
       a day exp(0.3 z - 0.045), then n numbers U: a day of the weekend, (d + 6) mod 7 >= 5, is omitted if U < 0.15.
    5. Otherwise: cycle 1 h exp(0.7 z), then n = floor(2 (death - birth) / cycle) + 30 on-times
       a cycle exp(1.2 z - 0.72), then n off-times with 1 - a instead of a. The volunteer is on first, from its birth.

    Examples
    --------
    >>> volunteer = draw_volunteer(1, 0, VolunteerParameters())
    >>> bool((volunteer.ups[1:, 0] > volunteer.ups[:-1, 1]).all())
    True
    """
    traits = _draw_traits(seed, worker, habits)
    is_daily = traits.numbers.random() < habits.daily
    starts, stops = (_daily if is_daily else _renewal)(traits, habits)
    return Volunteer(traits.speed, _whole_seconds(starts, stops, traits))


def _draw_traits(seed: int, worker: int, habits: VolunteerParameters) -> _Traits:
    numbers = stream("batches", "volunteer", seed, worker)
    share = min(max(numbers.beta(habits.share_alpha, habits.share_beta), habits.share_least), habits.share_most)
    span = habits.days * DAY
    birth = numbers.random() * span
    death = min(float(span), birth + numbers.exponential(habits.life_days * DAY))
    sigma = habits.speed_sigma
    speed = math.exp(sigma * numbers.standard_normal() - sigma**2 / 2)
    return _Traits(share, birth, death, speed, numbers)


def _daily(traits: _Traits, habits: VolunteerParameters) -> tuple[_Reals, _Reals]:
    """Return begins and ends of the on-times of a volunteer with a daily rhythm, in seconds."""
    numbers = traits.numbers
    phase = (habits.phase_hour * HOUR + habits.phase_sigma_hours * HOUR * numbers.standard_normal()) % DAY
    n = _as_count((traits.death - traits.birth) / DAY, "days") + 3
    days = math.floor((traits.birth - phase) / DAY) + np.arange(n)
    starts = days * DAY + phase + habits.start_sigma_s * numbers.standard_normal(n)
    sigma = habits.length_sigma
    lengths = traits.share * DAY * np.exp(sigma * numbers.standard_normal(n) - sigma**2 / 2)
    is_off = ((days + 6) % 7 >= 5) & (numbers.random(n) < habits.weekend_off)
    return starts[~is_off], (starts + lengths)[~is_off]


def _renewal(traits: _Traits, habits: VolunteerParameters) -> tuple[_Reals, _Reals]:
    """Return begins and ends of the on-times of a volunteer that alternates between on and off, in seconds."""
    numbers = traits.numbers
    cycle = habits.cycle_s * math.exp(habits.cycle_sigma * numbers.standard_normal())
    n = _as_count(2 * (traits.death - traits.birth) / cycle, "cycle_s") + 30
    normals = numbers.standard_normal((2, n))  # all on-times, then all off-times
    shares = np.array([traits.share, 1 - traits.share])
    sigma = habits.time_sigma
    for pairs in (2 * n // 3, n):  # about n / 2 pairs reach from birth to death, so the first attempt is mostly enough
        times = shares * cycle * np.exp(sigma * normals[:, :pairs].T - sigma**2 / 2)
        edges = traits.birth + np.concatenate(([0.0], np.cumsum(times)))
        if edges[-1] >= traits.death:
            break
    return edges[:-1:2], edges[1::2]


def _as_count(number: float, name: str) -> int:
    """Return the number of times to draw, rounded down; raise `InputError` with the name if it is too large."""
    if number > _MOST_DRAWN:
        raise InputError(f"a volunteer of {number:.3g} times, expected at most {_MOST_DRAWN}", place=name)
    return math.floor(number)


def _whole_seconds(starts: _Reals, stops: _Reals, traits: _Traits) -> Ints:
    """Clip intervals to birth and death, round down, drop empty ones, and join those that overlap or touch."""
    a, b = (np.floor(np.clip(edges, traits.birth, traits.death)).astype(np.int64) for edges in (starts, stops))
    kept = a < b
    return merge_intervals(a[kept], b[kept])


def merge_intervals(starts: Ints, stops: Ints) -> Ints:
    """Return the union of half-open intervals as intervals in increasing order that do not touch; shape (n, 2).

    Examples
    --------
    >>> merge_intervals(np.array([5, 0, 2]), np.array([6, 2, 4])).tolist()
    [[0, 4], [5, 6]]
    """
    order = np.argsort(starts, kind="stable")
    a, b = starts[order], np.maximum.accumulate(stops[order])
    is_new = np.concatenate((np.ones(min(1, a.size), dtype=bool), a[1:] > b[:-1]))
    last = np.concatenate((is_new[1:], np.ones(min(1, a.size), dtype=bool)))
    return np.stack((a[is_new], b[last]), axis=1)


def _joined(blocks: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the blocks as one array; each block is freed as soon as it is copied."""
    dtype = np.result_type(*(block.dtype for block in blocks))
    whole = np.empty((sum(map(len, blocks)), 2), dtype=dtype)
    blocks.reverse()
    done = 0
    while blocks:
        block = blocks.pop()
        whole[done : done + len(block)] = block
        done += len(block)
    return whole
