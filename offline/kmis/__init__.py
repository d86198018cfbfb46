"""Maximum k-subset intersection: m rows of a boolean array that share as many columns as possible, exactly.

**The problem.** ``up`` is a boolean p x N array; rows may be workers and columns slots, or any sets and their elements.
`max_common_slots` finds m rows that are True together in as many columns as possible, `earliest_common_slots` the
shortest prefix of the columns in which some m rows share w columns. Both are NP-hard; the first also finds a biclique
with m nodes on one side. No family of problems is known here; families reduce their problems to these two.

**Reading order.** `api` has the two functions and `shared_slots` their answer; `exact` solves them; `sides` selects a
side of the search and runs it; `matrix` holds the array as bits; `core_bounds` proves bounds after a time limit. In
`kernels`, `tree_search` is the search, `incumbent` finds the first solution, `root_node` the core,
`tree_size_estimate` the split, and `single_call` does all of it in one call. `parameters` has the numbers that tune it.

**Method.** A depth-first search chooses rows and watches the columns that remain, or the other way round; a random
estimate selects the side. Pigeonhole splitting enumerates subsets within groups of items only, and exact reductions
drop candidates and bits. The whole state of the search is in arrays, and it returns to Python after some 10 ms, so that
time limits and Ctrl-C take effect. docs/kmis.md describes the search and proves its reductions.
"""

from hindsched.offline.kmis.api import earliest_common_slots, max_common_slots
from hindsched.offline.kmis.shared_slots import SharedSlots

__all__ = ["SharedSlots", "earliest_common_slots", "max_common_slots"]
