"""Maximum k-subset intersection: m rows of a boolean array that share as many columns as possible, exactly.

**The problem.** ``up`` is a boolean p x N array; rows may be workers and columns slots, or any sets and their elements.
`max_common_slots` finds m rows that are True together in as many columns as possible, `earliest_common_slots` the
shortest prefix of the columns in which some m rows share w columns. Both are NP-hard; the first also finds a biclique
with m nodes on one side. No family of problems is known here; families reduce their problems to these two.

**Reading order.** `api` has the two functions and `shared_slots` their answer; `exact` solves them; `sides` selects a
side of the search and runs it; `matrix` holds the array as bits; `core_bounds` proves bounds after a time limit. In
`kernels`, `tree_search` is the search, `incumbent` finds the first solution, `root_node` the core,
`tree_size_estimate` the split, and `single_call` does all of it in one call. `parameters` has the numbers that tune it.

**Two sides.** A solution is an all-True block of m rows and w columns. The search can choose rows and watch the columns
that remain, or choose columns and watch the rows. It is written once, for *items* (which are chosen) and *bits* (which
remain); an item is a set of bits. It looks for ``kx`` items that share ``ky`` bits.

- Row side: items are rows, kx = m, ky = best + 1; every improvement raises ky.
- Column side: items are columns, ky = m, kx = best + 1; every improvement raises kx.

**Nodes.** A node is a set S of chosen items, the set T of bits common to S, and an ordered list of candidates. Let r =
kx - |S| be the number of items still to choose. These reductions are exact.

- (size) A candidate c with |T & c| < ky is dropped: T & c only shrinks below the node.
- (absorption) A candidate c that contains T is chosen at once: in a solution below the node without c, c can replace
  any item not in S, and no common bit is lost.
- (degree) A bit held by fewer than r candidates is dropped from T: the r items that complete a solution share its bits.
  Then |T| >= ky is checked again.
- (twin) No branch is made on a candidate with the same T & c as the one before it: in a solution below it the two can
  be exchanged, and the branch on the one before is searched. (Both are early, or neither is; see below.)
- (count) A node with fewer than r candidates has no solution.

At the root (size) and (degree) are applied in turn until nothing changes. The rest is the *core* of the two sides; if
it is empty there is no solution.

**Pigeonhole splitting.** The plain scheme branches on the candidates in turn, each branch with the candidates after it.
It visits every surviving j-subset of the n items once, for each j: C(n, j) of them as long as nothing can be pruned, as
near the root. We split the items into g groups with g (s - 1) < kx. By the pigeonhole principle a solution has at least
s items in one of the groups. So for each group only the s-subsets *within the group* are enumerated, and each is
completed with items of every group. At level s that is g C(n/g, s) nodes instead of C(n, s): for kx = 10, s = 5 and
g = 2 one in sixteen to eighteen. The price is that a node at level s has more candidates, those of the other groups;
hence s is chosen by the estimate below.

**Early groups.** When group i (from 0) is searched, groups 0 to i - 1 are searched completely. A solution that is not
found yet has at most s - 1 items in each of them, together at most cap = i (s - 1). The candidates of these early
groups stand last in the list. A branch on an early candidate completes the node from early candidates only, so

- (cap) a node with r > cap makes no branch on an early candidate, and is closed if it has fewer than r candidates,
  where early ones count at most cap times.

**Representation.** Sets of bits are 64-bit words, stored word by word over the candidates (structure of arrays), so
that one vector instruction serves eight candidates. When T shrinks to half its words or less, the node may be
*compacted* to the bits of T, by 64 x 64 bit transpositions of the other side's matrix: later nodes soon have one word
for each candidate. At the same time (degree) is applied and candidates are sorted by rising size.

**Choice of side and s.** Random dives in the manner of Knuth (1975) estimate the number of surviving j-subsets on
either side; `kernels.tree_size_estimate.visited_shares` is the share of them that each split visits. The estimate
decides how to search, never what is found, and the dives use a fixed generator: the search is deterministic. If a side
takes far longer than estimated, the two sides take turns, in doubling shares and with a common incumbent, so that a
wrong estimate costs a factor only.

**Incumbent.** A beam search over sets of rows gives the first solution, and exchanges of single rows improve it. For a
prefix the beam tries short prefixes first, four times as long each time, then shorter and shorter ones.

**Single call.** Small problems take less time than a few calls from Python. `kernels.single_call` does all of it in one
call, from the boolean array to the answer: words, beam, core, estimate and search, if the estimate is at most some
milliseconds. If it ends without an answer, the search continues from its incumbent as described above. It splits no
root whose items differ much in size: if UP comes in bursts, the order by rising size does as much.

**Earliest prefix.** Whether m rows share w columns in the first L slots is the same search with both numbers fixed,
stopped at the first solution. Each solution shortens L to one less than the prefix it needs; the last search, which
fails, is the proof. Binary search would not help: refutations far below the optimum prove nothing that the last one
does not.

**Complexity.** Exponential in the worst case, as it must be unless P = NP: O(C(p, m) m p N / 64) word operations on the
row side, in space O(m p N / 64); the column side exchanges p with N and m with w. The core takes O(min(p, N) p N / 64),
the beam of width b O(b m p N / 64).

**Slices.** The whole state of the search is in arrays (an explicit stack of nodes), and it returns to Python after some
10 ms: time limits and Ctrl-C take effect there. `core_bounds` then proves bounds.
"""

from hindsched.offline.kmis.api import earliest_common_slots, max_common_slots
from hindsched.offline.kmis.shared_slots import SharedSlots

__all__ = ["SharedSlots", "earliest_common_slots", "max_common_slots"]
