"""Numbers of the dual bounds that have no parameter class yet, and codes that `bounds` imports from here."""

from __future__ import annotations

from hindsched.offline.coupled.search.channel_flow import NO, YES
from hindsched.offline.coupled.search.dominance import DOMINANCE_EFFORT
from hindsched.offline.coupled.search.effort import EFFORT_PER_CLOCK_CHECK as PAUSE_EFFORT
from hindsched.offline.coupled.search.effort import EFFORT_PER_STEP as PER_STEP
from hindsched.offline.coupled.search.effort import LIMIT, SPENT, STOP
from hindsched.offline.coupled.search.modes import FREE_PREFETCH as FREE
from hindsched.offline.coupled.search.modes import NO_STAND_BY as OWN
from hindsched.offline.coupled.search.modes import RELAXED, STAND_BY
from hindsched.offline.coupled.search.scratch_memory import NUM_MEMBERS
from hindsched.offline.coupled.search.scratch_memory import WORK_INDEX as WORK
from hindsched.offline.coupled.search.slot_codes import EFFORT_LIMIT_MET as PAUSE
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.slot_codes import SLOTS_UNKNOWN as BEYOND

__all__ = [
    "ANY_SLOT",
    "BEYOND",
    "CHAINS",
    "CHAIN_LABELS",
    "CHANNEL_SHARE",
    "DOMINANCE_EFFORT",
    "DROPPED",
    "ENOUGH",
    "FAINT",
    "FAR_AWAY",
    "FEW_ARCS",
    "FIND_EFFORT",
    "FIRST_CREDIT",
    "FIRST_MORE",
    "FIRST_RATE",
    "FIRST_STRIDE",
    "FREE",
    "FREE_EFFORT",
    "FREE_SCAN",
    "GROWTH",
    "LEAST",
    "LEAST_BUDGET",
    "LESSER_SHARE",
    "LIMIT",
    "MODEL_EFFORT",
    "MORE_ARCS",
    "MORE_TIME",
    "MOST",
    "MOST_ARCS",
    "MOST_BUDGET",
    "MOST_CELLS",
    "MOST_KEPT",
    "MOST_PARTS_KEPT",
    "NARROWED",
    "NEAR_END",
    "NEVER",
    "NEVER_PAID",
    "NEW_RATE",
    "NEW_USE",
    "NO",
    "NUM_MEMBERS",
    "OPEN",
    "OWN",
    "PART_PATIENCE",
    "PART_VALUE_STEP",
    "PATIENCE",
    "PAUSE",
    "PAUSE_EFFORT",
    "PAYING_LABELS",
    "PAYING_PATIENCE",
    "PAYING_SHARE",
    "PAYING_STEP",
    "PAYING_TURNS",
    "PER_STEP",
    "RATE",
    "REFUTED",
    "RELAXED",
    "RENT_SHARE",
    "ROUNDS_AT_ONCE",
    "SCANNED",
    "SCANNED_TO",
    "SOME_LEFT_OUT",
    "SPENT",
    "STAND_BY",
    "STEPS",
    "STOP",
    "STOPPED",
    "SUM",
    "TOGETHER_EFFORT",
    "TURN_EFFORT",
    "UNIT",
    "VAIN_PART",
    "VALUE_STEP",
    "VARIABLE_EFFORT",
    "WORK",
    "YES",
]

FAR_AWAY = 1 << 60
"""More than every cost of a path."""

ANY_SLOT = 1 << 30
"""Later than every slot that is known, in 32 bits."""

OPEN, REFUTED, STOPPED = 0, -1, -2
"""Why `channel_bound.refute` stopped: not refuted with these prices; no schedule is that short; the effort, or the room
for labels, was used up."""

DROPPED = -2
"""Instead of a label's parent: it is dominated."""

SCANNED, SCANNED_TO = range(2)
"""Of ``Prefetch.scan``: the slot t for which F(t) is not found yet, and the last slot to be tried next."""

CHAINS, SUM, LEAST, MOST = range(4)
"""Rows of ``Chains.ends``."""

FREE_EFFORT = 1 << 20  # for one last slot in the prefetch relaxation
FREE_SCAN = 20_000  # slots tried there before the next look at the clock

# ---- Rounds of the portfolio, in steps of work.

GROWTH = 2  # a later one is larger than the last by that divided by this
CHANNEL_SHARE = 4  # what the channel bound has of every round, if its bound is the better one
RENT_SHARE = 14  # what the bound by rents has then; half of it if others lead too
PAYING_SHARE = 28  # what that by labels that pay rents has, less the part of it that rents have of theirs
LESSER_SHARE = 1  # what a bound has that is behind
NEAR_END = 64  # the end is near if what is left of the gap is this part of the makespan, or less
# ---- The bound that charges programs to the channel.

UNIT = 1 << 20  # what one unit of program is worth
STEPS = 12  # steps tau
RATE = 0.05  # how fast the steps are weighted
FAINT = 0.02  # usage of every UP slot before anything is learnt
CHAIN_LABELS = 1 << 15
MOST_CELLS = 1 << 20  # slots times workers that are few enough for prices
PATIENCE = 40  # searches for one question, before the schedules are divided
PART_PATIENCE = 12  # the same, once they have been divided
ROUNDS_AT_ONCE = 4  # searches between two looks at the clock
MOST_KEPT = 1 << 26  # subproblems times slots times workers for which usage is kept

# ---- Labels that pay rents.

PAYING_LABELS = 1 << 15
FIND_EFFORT = 1 << 23  # for one search
TOGETHER_EFFORT = 1 << 14  # for the last slot from which members can compute together
MOST_ARCS = 1 << 17  # between merged labels, in the first round that has too many; later ones can take more
NARROWED = 8  # times that many could still be few enough when windows are made narrower
MOST_PARTS_KEPT = 1 << 28  # bytes for what is known of parts of the schedules
TURN_EFFORT = 8_000  # what is done beside the kernels for one search
PAYING_TURNS = 60  # searches for one horizon
PAYING_PATIENCE = 6  # of them without progress
PAYING_STEP = 3.0  # how far rents move
VALUE_STEP = 0.5  # how fast the values of programs move
PART_VALUE_STEP = 0.3  # the same, once the schedules have been divided
NEW_USE = 0.1  # what the last path counts beside those before it, for which lives are used
NEVER_PAID = 1 << 44  # more than any multiplier: the rent of a life in an iteration in which it does not compute
FIRST_STRIDE = 64  # the part of a bound that the first horizon is above it, at most
SOME_LEFT_OUT = 0.8  # of the arcs when they are unfolded again
FEW_ARCS = 100  # between the nodes of a part that CP-SAT is asked about first
MORE_ARCS = 16  # the part of them that is added where a part has more
FIRST_RATE = 0.1  # CP-SAT's deterministic time for a model, by the arcs for each iteration, at first
LEAST_BUDGET, MOST_BUDGET = 0.2, 8.0  # and in all
FIRST_MORE, MORE_TIME = 1.5, 1.1  # times that it has after it could not tell: until it can, and later
ENOUGH = 3  # times that it has which it took to tell
NEW_RATE = 0.3  # what the last answer counts there beside those before it
VAIN_PART = 2  # what it may take in vain is what all else takes, divided by this
FIRST_CREDIT = 200_000_000  # what all else is said to have taken before it begins
MODEL_EFFORT = 40_000_000  # for each unit of CP-SAT's deterministic time, which is about two seconds
VARIABLE_EFFORT = 250  # for each variable of a model
