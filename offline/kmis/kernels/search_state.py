"""The layout of the arrays that hold the state of a search."""

from __future__ import annotations

FRAME_FIELDS = 11
# A frame is one node on the stack:
AT = 0  # where its candidates' words start
COUNT = 1  # number of candidates
DEPTH = 2  # words per candidate
STRIDE = 3  # distance of consecutive words of one candidate; the ids follow the last word
BITS_AT = 4  # where the names of its bits start
SIZE = 5  # number of bits that have names
CHOSEN = 6  # items chosen so far
NEXT = 7  # next candidate to branch on
OWN = 8  # candidates before this one belong to the current group (while NEED > 0)
EARLY = 9  # candidates from this one on belong to early groups
NEED = 10  # items still to be taken from the current group

# The scalars of the search:
TOP = 0  # the frame on top of the stack; -1: the stack is empty
KX = 1  # items wanted
KY = 2  # bits wanted
GROUP = 3  # the next group
CAP = 4  # most items of early groups in a solution that is not found yet
STATUS = 5
FOUND = 6  # bits of the latest solution
STEPS = 7  # steps made, some ns each
SCALARS = 8

# The numbers of a root:
ROOT_ITEMS, ROOT_DEPTH, ROOT_STRIDE, ROOT_BITS, ROOT_SPLIT, ROOT_BY_ROWS = range(6)
ROOT_NUMBERS = 6

DONE, PAUSED, FULL, HIT = range(4)  # values of STATUS: all searched, out of steps, out of room, stopped at a solution
MORE_BITS, MORE_ITEMS, ANY = range(3)  # what a solution raises; ANY: the search stops

MAX_SPLIT = 5  # s is at most this
LEVELS = 48  # levels of the estimate
