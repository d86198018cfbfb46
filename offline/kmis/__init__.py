"""Maximum k-subset intersection: m rows of a boolean array that share as many columns as possible, exactly and fast.

**The problem.** ``up`` is a boolean p x N array; rows may be workers and columns slots, or any sets and their elements.
`max_common_slots` finds m rows that are True together in as many columns as possible, `earliest_common_slots` the
shortest prefix of the columns in which some m rows share w columns. Both are NP-hard; the first is also the search for
a biclique with m nodes on one side. Nothing here knows a family of problems: those reduce their questions to these.

**Where to read.** `shared_slots` has the two functions and their answer, `exact` what they do, `sides` how a side of
the search is chosen and run, `matrix` the array in words, `core_bounds` what is proven when the time is over; in
`kernels` `tree_search` is the search itself, `incumbent` finds the first solution, `roots` the core, `estimate` the
split, and `attempt` does all of it in one call.

**Two sides.** A solution is an all-True block of m rows and w columns. It can be found from either side: choose rows
and watch the columns that remain, or choose columns and watch the rows. The search is written once, for *items* (what
is chosen) and *bits* (what remains); an item is a set of bits. It looks for ``kx`` items that share ``ky`` bits.

- Row side: items are rows, kx = m, ky = best + 1; every improvement raises ky.
- Column side: items are columns, ky = m, kx = best + 1; every improvement raises kx.

**Nodes.** A node is a set S of chosen items, the set T of bits common to S, and an ordered list of candidates. Let r =
kx - |S| be the number of items still to choose. These reductions are exact.

- (size) A candidate c with |T & c| < ky is dropped: T & c only shrinks further down.
- (absorption) A candidate c that contains T is chosen at once: in a solution below the node that lacks c, c can take
  the place of any item not in S, and no common bit is lost.
- (degree) A bit held by fewer than r candidates is dropped from T: the bits of a solution are common to the r items
  that complete it. Then |T| >= ky is asked again.
- (twin) No branch is made on a candidate with the same T & c as the one before it: in a solution below it the two can
  change places, and the branch on the one before has been searched. (Both are early, or neither is; see below.)
- (count) With fewer than r candidates there is nothing below.

At the root (size) and (degree) are applied in turn until nothing changes. What is left is the *core* of the two sides;
where it is empty the answer is no.

**Pigeonhole splitting.** The plain scheme branches on the candidates in turn, each branch keeping the candidates after
it. It visits every surviving j-subset of the n items once, for each j: C(n, j) of them as long as nothing can be
pruned, and near the root nothing can be. We split the items into g groups with g (s - 1) < kx. By the pigeonhole
principle a solution has at least s items in one of the groups. So for each group in turn only the s-subsets *within the
group* are enumerated, and each is then completed with items of every group. At level s that is g C(n/g, s) nodes in
place of C(n, s); for kx = 10, s = 5 and g = 2 one in sixteen to eighteen. The price is that a node at level s keeps
more candidates, since those of other groups have not been used up by an order; hence s is chosen by the estimate below.

**Early groups.** When group i (from 0) is searched, groups 0 to i - 1 have been searched completely. A solution still
unknown has at most s - 1 items in each of them, together at most cap = i (s - 1). The candidates of these early groups
stand last in the list. A branch on an early candidate completes the node from early candidates only, so

- (cap) at a node with r > cap no early candidate is branched on, and fewer than r candidates, the early ones counted at
  most cap times, close the node.

**Representation.** Sets of bits are 64-bit words, stored word by word over the candidates (structure of arrays), so
that one vector instruction serves eight candidates. When T shrinks to half its words or less the node may be *squeezed*
onto the bits of T, by 64 x 64 bit transpositions of the other side's matrix: later nodes soon fit in one word per
candidate. The moment serves for (degree) and for sorting the candidates by rising size as well.

**Which side, which s.** Random dives in the manner of Knuth (1975) estimate the number of surviving j-subsets on either
side; `kernels.estimate.visited` gives the part of them that each split visits. The estimate only decides how we search,
never what is found, and the dives use a fixed generator: the search is deterministic. A side that takes far longer than
foreseen takes turns with the other, in doubling shares and with a common incumbent, so that a wrong estimate costs a
factor only.

**Incumbent.** A beam search over sets of rows gives the first solution, and exchanges of one row for another improve
it. For a prefix the beam looks at short prefixes first, four times as long each time, then at shorter and shorter ones.

**In one call.** Small questions take less time than a few calls from Python. `kernels.attempt` does all of it in one
call, from the boolean array to the answer: words, beam, core, estimate and search, as long as the estimate is some
milliseconds at most. What it leaves open goes on from its incumbent as told above. It splits no root whose items differ
much in size: where UP comes in bursts the order by rising size does as much.

**Earliest prefix.** Whether m rows share w columns in the first L slots is the same search with both numbers fixed,
stopped at the first solution. Each solution is used at once to shorten L to one less than the prefix it needs; the last
search, which fails, is the proof. There is no binary search: refutations far below the optimum prove nothing that the
last one does not.

**Complexity.** Exponential in the worst case, as it must be unless P = NP: O(C(p, m) m p N / 64) word operations on the
row side, in space O(m p N / 64); the column side has p and N, and m and w, in each other's place. The core takes
O(min(p, N) p N / 64), the beam of width b O(b m p N / 64).

**Slices.** The whole state of the search is in arrays (an explicit stack of nodes) and it returns to Python after some
10 ms: time limits and Ctrl-C act there. What is proven by then comes from `core_bounds`.
"""

from hindsched.offline.kmis.shared_slots import SharedSlots, earliest_common_slots, max_common_slots

__all__ = ["SharedSlots", "earliest_common_slots", "max_common_slots"]
