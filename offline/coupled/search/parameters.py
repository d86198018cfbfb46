"""Parameters of the searches: they decide how long a search takes and which optimal schedule it finds.

No bound and no optimum depends on them. Kernels take the named tuples as arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["BeamParameters", "GreedyParameters", "LabelSearchParameters", "PortfolioParameters"]


class LabelSearchParameters(NamedTuple):
    """Parameters of best-first search and of dives.

    Parameters
    ----------
    slice_steps
        Steps of work between two checks of the clock, where workers times tasks are at most ``slice_places``.
    slice_places
        More workers times tasks make a step slower, and slices shorter in proportion.
    first_labels
        Initial room for labels; the arrays double when they are full.
    best_first_effort
        Units of effort for one expansion of the best-first search; four times as many after an incomplete expansion.
    best_first_sets
        Holder sets of one expansion of the best-first search; twice as many after an incomplete expansion.
    dive_effort
        Units of effort for one expansion of a dive: fewer make a dive faster and its schedules worse.
    dive_sets
        Holder sets of one expansion of a dive.
    """

    slice_steps: int = 4_000
    slice_places: int = 4_000
    first_labels: int = 1 << 10
    best_first_effort: int = 1 << 14
    best_first_sets: int = 64
    dive_effort: int = 1 << 11
    dive_sets: int = 8


class GreedyParameters(NamedTuple):
    """Parameters of the greedy expansion.

    Parameters
    ----------
    max_reclaimed
        Slots between c and e in which a member may be RECLAIMED: c is tried in this many slots before the latest.
    sets_per_work
        Slots c with a holder set after which the next value of W is tried.
    max_works
        Values of W that are tried for one end e; other ends try other values.
    variants
        Holder sets for each c: one by value of the programs, the others by value times a random number.
    flow_trials
        Flows that are solved for one holder set, each with one stand-by worker fewer.
    """

    max_reclaimed: int = 6
    sets_per_work: int = 2
    max_works: int = 32
    variants: int = 4
    flow_trials: int = 3


class BeamParameters(NamedTuple):
    """Parameters of the beam search; the *places* of a level are workers times tasks.

    Parameters
    ----------
    first_width
        Labels that the first beam keeps on each level.
    min_width
        Least width of the first beam, and 1 from ``coarse_places`` on.
    first_places
        Largest product of places and width of the first beam: large instances begin with a narrow beam.
    coarse_places
        Places from which on ends are sampled more coarsely.
    max_words
        Width of a beam times the words of a holder set, at most: limits the memory of later beams.
    effort
        Units of effort for one expansion.
    holder_sets
        Holder sets of one expansion.
    later_ends
        Least number of ends that are tried after the first end with a successor: longer iterations send more programs.
    first_end_slots
        Slots after the completion bound in which the first end with a successor is sought.
    first_end_factor
        The same as a multiple of the shortest duration of the iteration; the larger of the two counts.
    fine_length
        Iterations of fewer slots try every end; longer ones skip one slot for each multiple of this.
    coarse_length
        The same from ``coarse_places`` on.
    pool_factor
        Successors per kept label that are collected before the best are selected.
    """

    first_width: int = 20
    min_width: int = 5
    first_places: int = 80_000
    coarse_places: int = 100_000
    max_words: int = 1 << 16
    effort: int = 1 << 11
    holder_sets: int = 64
    later_ends: int = 5
    first_end_slots: int = 100
    first_end_factor: int = 20
    fine_length: int = 80
    coarse_length: int = 20
    pool_factor: int = 16


@dataclass(frozen=True, slots=True)
class PortfolioParameters:
    """How the portfolio shares its rounds; a *step* is `effort.EFFORT_PER_STEP` units of effort.

    Parameters
    ----------
    first_round
        Steps of the exact search before the others join, and of the first round: most instances need no more.
    doubled_rounds
        Rounds double until they have this many times ``first_round`` steps.
    growth
        A later round is longer than the round before by that round's steps divided by this.
    second_turn
        Steps of the exact search after the first dives, as a multiple of the round: it has an incumbent by then.
    near_bound
        The relaxed bound is near the best bound if the gap is at most that bound divided by this.
    near_share
        Steps of the relaxed search while its bound rises and is near the best, as a multiple of the round.
    failed_dive
        Divisor of the steps of a dive whose last turn found nothing better.
    beam_share
        Steps of a beam per step of a round: the next beam is twice as wide if the last one took less.
    last_beams
        Divisor of the share of beams near the end, after a beam that found nothing better.
    near_end
        The search is near its end if the gap is at most the cost of the incumbent divided by this.
    first_local_search
        Steps of the local search in its first round, as a multiple of the round: most instances need no more.
    local_search
        The same in later rounds.
    failures_per_halving
        Successive local searches without success after which their share is halved.
    least_local_search
        The least multiple that halving leaves.
    """

    first_round: int = 20_000
    doubled_rounds: int = 2
    growth: int = 2
    second_turn: int = 16
    near_bound: int = 8
    near_share: int = 2
    failed_dive: int = 4
    beam_share: int = 4
    last_beams: int = 8
    near_end: int = 64
    first_local_search: int = 4
    local_search: int = 8
    failures_per_halving: int = 2
    least_local_search: int = 1
