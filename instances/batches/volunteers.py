"""Volunteers drawn at random: when each comes and goes, and how fast it is (docs/batches/model.md section 7).

Every volunteer draws from a stream of its own, so it depends neither on how many others there are nor on the window
that somebody looks at.
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

#: Intervals drawn before they are put into one array.
_BLOCK = 1 << 20

#: More on-times, or days, are not drawn of one volunteer.
_MOST_DRAWN = 1 << 24

_Reals = npt.NDArray[np.float64]

#: What constants are at most, so that all times are numbers.
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
    """How volunteers are drawn: every constant of the generator.

    Parameters
    ----------
    days
        Length of the trace; day 0 is a Sunday.
    share_alpha, share_beta, share_least, share_most
        The share of time that a volunteer is available: a Beta distribution, cut.
    life_days
        Mean of the exponential life; births are uniform over the trace.
    speed_sigma
        Of the log-normal speed, of mean 1.
    daily
        Share of the volunteers with a daily rhythm; the others alternate on and off.
    phase_hour, phase_sigma_hours
        When the day of a daily volunteer begins: the normal distribution of its habit, modulo a day.
    start_sigma_s, length_sigma
        How much a single day differs: normal begin, log-normal length of mean 1.
    weekend_off
        The chance that a daily volunteer stays away on a day of the weekend.
    cycle_s, cycle_sigma
        On and off together: the median and the log-normal spread over volunteers.
    time_sigma
        The log-normal spread, of mean 1, of a single on-time or off-time.

    Raises
    ------
    InputError
        Naming the constant that cannot be meant.
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
    """W volunteers as a source of availability, drawn when somebody looks.

    Parameters
    ----------
    workers
        W, at least 1.
    seed
        Names the draw_volunteer.
    habits
        The constants of the generator.
    mean_c
        Seconds per task of a volunteer of speed 1.
    homogeneous
        Whether all compute as fast as that one.

    Raises
    ------
    InputError
        For a number below the least.

    Notes
    -----
    About 0.4 ms a volunteer of the default habits. The last window drawn is kept.

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
        for name, least in (("workers", 1), ("seed", 0), ("mean_c", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{getattr(self, name)!r}, expected an integer >= {least}", place=name)

    @property
    def num_workers(self) -> int:
        """How many workers, W."""
        return self.workers

    @property
    def span(self) -> int:
        """Seconds of the trace."""
        return self.habits.days * DAY

    @property
    def firsts(self) -> Ints:
        """W first available seconds, read-only; -1 for a worker that never is."""
        if "firsts" not in self._kept:
            self._draw(0, 0)
        firsts: Ints = self._kept["firsts"]
        return firsts

    @property
    def identity(self) -> bytes:
        """What equality and fingerprints go by: the seed and all constants."""
        return b"volunteers\0" + repr((self.workers, self.seed, tuple(asdict(self.habits).items()))).encode()

    @property
    def c(self) -> tuple[int, ...]:
        """W computing times: the mean by each volunteer's speed, rounded, at least 1; or all alike."""
        if self.homogeneous:
            return (self.mean_c,) * self.workers
        if "speeds" not in self._kept:
            self._kept["speeds"] = np.array([_begin(self.seed, j, self.habits).speed for j in range(self.workers)])
        return tuple(max(1, int(c)) for c in np.rint(self.mean_c * self._kept["speeds"]))

    def computing(self, mean_c: int, *, homogeneous: bool = False) -> Volunteers:
        """Return the same volunteers with other computing times; both share what was drawn."""
        other = Volunteers(self.workers, self.seed, self.habits, mean_c, homogeneous)
        object.__setattr__(other, "_kept", self._kept)
        return other

    def covering(self, since: int, until: int) -> Availability:
        """Return the intervals of the last window, if it covers this one; else draw_volunteer this one."""
        low, high, kept = self._kept.get("window", (0, -1, None))
        if kept is None or since < low or high < until:
            kept = self._draw(since, until)
            self._kept["window"] = (since, until, kept)
        covering: Availability = kept
        return covering

    def window(self, since: int, until: int) -> Availability:
        """Return the intervals that have a second in [since, until), whole."""
        return self.covering(since, until).window(since, until)

    def whole(self) -> Availability:
        """Return all intervals."""
        return self.window(0, self.span)

    def _draw(self, since: int, until: int) -> Availability:
        """Draw everybody once; block by block, so that memory holds little more than the answer."""
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
        return Volunteers, (
            self.workers,
            self.seed,
            self.habits,
            self.mean_c,
            self.homogeneous,
        )  # what was drawn is left behind


class Volunteer(NamedTuple):
    """One volunteer: its speed (of mean 1) and its intervals, shape (n, 2)."""

    speed: float
    ups: Ints


class _Life(NamedTuple):
    """What is drawn of a volunteer before its days."""

    share: float
    born: float
    dies: float
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
    life = _begin(seed, worker, habits)
    is_daily = life.numbers.random() < habits.daily
    starts, stops = (_daily if is_daily else _renewal)(life, habits)
    return Volunteer(life.speed, _whole_seconds(starts, stops, life))


def _begin(seed: int, worker: int, habits: VolunteerParameters) -> _Life:
    numbers = stream("batches", "volunteer", seed, worker)
    share = min(max(numbers.beta(habits.share_alpha, habits.share_beta), habits.share_least), habits.share_most)
    span = habits.days * DAY
    born = numbers.random() * span
    dies = min(float(span), born + numbers.exponential(habits.life_days * DAY))
    sigma = habits.speed_sigma
    speed = math.exp(sigma * numbers.standard_normal() - sigma**2 / 2)
    return _Life(share, born, dies, speed, numbers)


def _daily(life: _Life, habits: VolunteerParameters) -> tuple[_Reals, _Reals]:
    numbers = life.numbers
    phase = (habits.phase_hour * HOUR + habits.phase_sigma_hours * HOUR * numbers.standard_normal()) % DAY
    n = _drawn((life.dies - life.born) / DAY, "days") + 3
    days = math.floor((life.born - phase) / DAY) + np.arange(n)
    starts = days * DAY + phase + habits.start_sigma_s * numbers.standard_normal(n)
    sigma = habits.length_sigma
    lengths = life.share * DAY * np.exp(sigma * numbers.standard_normal(n) - sigma**2 / 2)
    is_off = ((days + 6) % 7 >= 5) & (numbers.random(n) < habits.weekend_off)
    return starts[~is_off], (starts + lengths)[~is_off]


def _renewal(life: _Life, habits: VolunteerParameters) -> tuple[_Reals, _Reals]:
    numbers = life.numbers
    cycle = habits.cycle_s * math.exp(habits.cycle_sigma * numbers.standard_normal())
    n = _drawn(2 * (life.dies - life.born) / cycle, "cycle_s") + 30
    normals = numbers.standard_normal((2, n))  # all on-times, then all off-times
    shares = np.array([life.share, 1 - life.share])
    sigma = habits.time_sigma
    for pairs in (2 * n // 3, n):  # about n / 2 fill the life
        times = shares * cycle * np.exp(sigma * normals[:, :pairs].T - sigma**2 / 2)
        edges = life.born + np.concatenate(([0.0], np.cumsum(times)))
        if edges[-1] >= life.dies:
            break
    return edges[:-1:2], edges[1::2]


def _drawn(number: float, name: str) -> int:
    """Return how many times are to be drawn; InputError, naming a constant, where they are too many."""
    if number > _MOST_DRAWN:
        raise InputError(f"a volunteer of {number:.3g} times, expected at most {_MOST_DRAWN}", place=name)
    return math.floor(number)


def _whole_seconds(starts: _Reals, stops: _Reals, life: _Life) -> Ints:
    """Cut to the life, round down, drop what is empty, merge what overlaps or touches."""
    a, b = (np.floor(np.clip(edges, life.born, life.dies)).astype(np.int64) for edges in (starts, stops))
    kept = a < b
    return merge_intervals(a[kept], b[kept])


def merge_intervals(starts: Ints, stops: Ints) -> Ints:
    """Return the union of half-open intervals as increasing ones that do not touch; shape (n, 2).

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
    """Join blocks, letting go of each as soon as it is copied."""
    dtype = np.result_type(*(block.dtype for block in blocks))
    whole = np.empty((sum(map(len, blocks)), 2), dtype=dtype)
    blocks.reverse()
    done = 0
    while blocks:
        block = blocks.pop()
        whole[done : done + len(block)] = block
        done += len(block)
    return whole
