"""Every number of the search that has a name: codes that the kernels hand on, and what the effort is divided by.

The numbers of the second half decide how long a search takes and which of several optimal schedules it finds, but
nothing that is proven.
"""

from __future__ import annotations

# ---- Slots that are none.

NEVER = 1 << 50
"""Later than every slot."""

FAR_AWAY = 1 << 60
"""More than every cost of a path."""

ANY_SLOT = 1 << 30
"""Later than every slot that is known, in 32 bits."""

BEYOND, PAUSE = -1, -2
"""Instead of a slot: more slots must be known first; stopped by a limit of effort, call again."""

# ---- Who may receive the program, and at what cost.

FREE, RELAXED, STAND_BY, OWN = 0, 1, 2, 3
"""The modes of the searches.

FREE: every program is fetched in advance for nothing (the prefetch relaxation of docs/model.md section 3).
RELAXED: stand-by allowed, n_com binds only what is sent to workers that compute in the same iteration or whom dominance
sends programs. Exact if n_com >= p.
STAND_BY: the model with ``stand_by=True``.  OWN: with ``stand_by=False``.
"""

# ---- What kernels return.

YES, NO, UNDECIDED = 1, 0, -1
"""Whether the channel can serve somebody (module `transfer`); undecided: the effort did not suffice."""

SOLVED, EXHAUSTED, NEED_SLOTS, NEED_LABELS, SLICE, CUT = range(6)
"""Why `best_first.run` stopped: best label found; nothing left; grow the table; grow the labels; its share
of work is done; an expansion was cut short."""

LEVEL_DONE, NO_ROOM, WAIT, MORE_SLOTS = range(4)
"""Why a level of the beam stopped: done; no room for what is found; time to look at the clock; more slots must be
known."""

OPEN, REFUTED, STOPPED = 0, -1, -2
"""Why `channel_bound.refute` stopped: not refuted with these prices; no schedule is that short; the effort, or the room
for labels, was used up."""

DROPPED = -2
"""Instead of a label's parent: it is dominated."""

# ---- Cells of arrays that hold counters.

SPENT, LIMIT, STOP = range(3)
"""Of an ``effort`` array: units done so far; where the present question, and where all work has to stop.

A unit is about a quarter of a microsecond. Effort is counted, not timed, so that answers are reproducible.
"""

NUM_FOUND, FOUND_LIMIT, EFFORT_LIMIT, NODES, NUM_MEMBERS, WORK, DEPTH, NUM_ABLE, FIRST_SLOT = range(9)
"""Of ``Scratch.counters``: holder sets found; how many there may be; the effort of an expansion; sets looked at so far.

The others are where `member_sets.advance` stands: the size of its set, the index of its W, its depth, how many workers
are UP in the last slot, and the first slot of the iteration.
"""

SCANNED, SCANNED_TO = range(2)
"""Of ``Prefetch.scan``: the slot t for which F(t) is not found yet, and the last slot to be tried next."""

COUNT, HEAP, BEST, POPPED, DOMINATED, EXPANDED = range(6)
"""Of ``Labels.tally``."""

NEXT, END, LAST, IN_POOL, ANY = range(5)
"""Of ``Pool.progress``: the label of the level whose iteration is looked at; the end to be tried next, -1 if none has
been; the end before which to give up; how many labels are in the pool; whether any follow that label."""

CHAINS, SUM, LEAST, MOST = range(4)
"""Rows of ``Chains.ends``."""

# ---- Effort, in units.

PER_STEP = 64  # in a step of work
EFFORT_PER_SECOND = 4_000_000  # until it has been measured
MEASURABLE = 1_000_000
PAUSE_EFFORT = 1 << 20  # between two looks at the clock
FREE_EFFORT = 1 << 20  # for one last slot in the prefetch relaxation
FREE_SCAN = 20_000  # slots tried there before the next look at the clock
DOMINANCE_EFFORT = 1 << 16  # for one question about dominance

# ---- Rounds of the portfolio, in steps of work.

FIRST_ROUND = 20_000
DOUBLED_TO = 2  # times the first round; so far each is twice the last one
GROWTH = 2  # a later one is larger than the last by that divided by this
SECOND_SHARE = 16  # what the exact search has of the first, once there have been dives: few small ones need more
NEAR = 8  # a bound is near the best one if it is at most that divided by this below
NEAR_SHARE = 2  # what the relaxed search has of every round while its bound is near the best, and rises
CHANNEL_SHARE = 4  # what the channel bound has of every round, if its bound is the better one
RENT_SHARE = 14  # what the bound by rents has then; half of it if others lead too
PAYING_SHARE = 28  # what that by labels that pay rents has, less the part of it that rents have of theirs
LESSER_SHARE = 1  # what a bound has that is behind
FIRST_IMPROVE_SHARE = 4  # what the walks around the best schedule have of the first round: most need no more
IMPROVE_SHARE = 8  # and of every other one
SOME_VAIN = 2  # rounds of walks in vain, after which they have half, and after as many more half of that
LAST_SHARE = 1  # the least that they have, and what they have after as many if the end is near too
NEAR_END = 64  # the end is near if what is left of the gap is this part of the makespan, or less
LAST_BEAMS = 8  # what the share of beams is divided by then, after one that found nothing better
VAIN_DIVE = 4  # what the share of a dive is divided by that found nothing better the last time
BEAM_SHARE = 4  # the next beam is twice as wide if this one had less of its round

# ---- Best-first search and dives.

SLICE_STEPS = 4_000  # between two looks at the clock
FIRST_LABELS = 1 << 10
FIRST_EFFORT = 1 << 14  # for an expansion
FIRST_FOUND = 64  # holder sets of an expansion
DIVE_EFFORT = 1 << 11
DIVE_FOUND = 8
DIVE_BONUS = 1 << 32  # more than any cost
DIVE_ROOT = -(1 << 62)  # less than any key

# ---- The beam.

FIRST_WIDTH = 20
LEAST_WIDTH = 5  # and where workers times tasks are many
MOST_PLACES = 80_000  # workers times tasks times the width of the first beam
TOO_MANY_PLACES = 100_000  # workers times tasks from which on the first beam is as narrow as can be, and coarser
BEAM_EFFORT = 1 << 11  # for an expansion
BEAM_FOUND = 64
LATER_ENDS = 5  # ends tried after the first that is possible
TRIED_SLOTS = 100  # slots in which the first is sought
TRIED_TIMES = 20  # the same, in multiples of the slots that the iteration takes at least, if that is more
COARSE = 80  # iterations of at least this many slots are not ended in every slot after the first that is possible
COARSER = 20  # the same where workers times tasks are too many, and before the first
MOST_WIDTH = 1 << 16  # of a beam, divided by the words that the holders of a label take
POOL_ROOM = 16  # labels found for a place in the beam before the best are chosen

# ---- Proposals.

SLACK = 6  # slots of RECLAIMED members between c and e
PER_WORK = 2  # sets for each W
MOST_WORKS = 32  # values of W that are tried for one end; another end has others
TASTES = 4  # sets for each slot to compute from: by value, and by value times a random number
TRIES = 3  # transfers checked for a set, with ever fewer on stand-by

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

# ---- Tables.

PIECE = 128  # slots entered for one worker before the next: keeps the rows in cache
FIRST_BLOCK = 512  # slots looked at first
