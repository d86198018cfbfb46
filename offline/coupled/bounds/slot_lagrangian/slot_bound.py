r"""The channel bound: a dual bound that charges the programs to the channel, over all iterations together.

The free-prefetch bound lets everyone have the program for nothing, and the relaxed search lets the master send it to
any number of stand-by workers at once. If n_com binds, that is what is wrong with them: with short iterations few
programs can be sent before the computation has to go on. Here the programs sent are counted, in all iterations.

**Prices.** An *availability period* of a worker is a longest run of slots without DOWN. Let every worker q have a price
r_q(t) >= 0 for each slot t, and let v(t) >= 0 be what a program is worth that can first be used in slot t, such that
for every availability period and every slot t of it the prices of that period from t on sum up to at most v(t). An
iteration that computes in slots c..e with the workers S pays the prices of all of S for the slots c..e. Then in every
valid schedule, up to every iteration i,

    sum_{j <= i} prices paid by j  <=  sum_{j <= i} v(c_j) g_j,                                         (*)

where g_j is the number of programs that the channel can deliver in iteration j = (s_j, c_j, e_j) at most:
T_prog g_j <= n_com (c_j - s_j) - m T_data, and g_j is at most the number of workers with T_prog UP slots in
[s_j, c_j) after their last DOWN up to e_j; without stand-by it is at most m too.

*Proof.* By the normal form (module `iteration`) q can compute in iteration i only if a whole program was sent to it
in [s_j, c_j) for some j <= i, in the availability period that contains c_i..e_i, and so c_j. For each period used up to
i take such a j for its first use. All that the period pays is for slots from c_j on, since the iterations that use it
begin to compute in c_j or later, and these slots are all different, since iterations follow each other. So it pays at
most v(c_j). And at most g_j programs are delivered in iteration j and kept to its end, to a period each: all units of
the iteration are sent in [s_j, c_j), and m T_data of them are data. QED

So the prices are multipliers of the constraints that nobody computes without a program, and v those of the channel.

**The search** (module `chains`) looks for a chain of K iterations within V slots that satisfies (*) and relaxes
everything else: labels (t, H, R) after k iterations, where H are all workers that could hold the program (n_com does
not limit them), and R is the right side of (*) less the left. From a label, for every end e and every slot c to begin
to compute in, S is taken from the workers that are UP in c and in e, not DOWN between, and, each for itself, have W UP
slots there and can have received their needs; the cheapest S that holds m tasks is bounded by the fractional knapsack
(module `knapsack`). (t1, H1, R1) dominates (t2, H2, R2) if t1 <= t2, R1 >= R2, and every worker of H2 is in H1 and not
DOWN in [t1, t2), or has T_prog UP slots there after its last DOWN: from the first label the same c, e and S follow,
with the same prices and no fewer programs. If no chain is found there is no schedule of K iterations within V slots.

**Which prices** (module `prices`). Any are valid; good ones are learnt. If a chain is found, the one with most left
over is looked at: the price of an availability period moves to the slots in which that chain uses it, so that the next
chain has to pay for them. And v is a mixture of steps, 1 before a slot tau and 0 from tau on: (*) for one tau says that
too few programs can have been delivered by then; the weights follow the steps for which the chains had least left over.
Prices and v are integers, a unit of program being worth `UNIT`, so no rounding is involved in a proof.

**Subproblems** (module `subproblems`). Prices have to do for all chains at once, and no prices may refute all chains
where some refute each. Therefore the schedules are divided: a subproblem says of some iterations k in which slots at
the soonest and at the latest iteration k + 1 starts (``soonest``, ``latest``), and the search looks at the chains for
which this is so. A subproblem is divided by whether iteration k + 1 starts before slot t or not, so every schedule
belongs to one at all times, whatever k and t, and if no subproblem has a schedule within V slots, there is none. (*)
holds for every schedule, whatever its subproblem, so each may have prices of its own. Dominance stays valid: both
labels have k iterations within the subproblem, and what follows from the first has the same ends as what follows from
the second. For more iterations than are asked for, a subproblem restricts nothing.

O(V^2) pairs of start and end per level at most, each with a knapsack for each (c, W); the labels are few, because H
grows with the time that passed and R is a number.
"""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.iteration_knapsack import Knapsack, make_knapsack
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, compose
from hindsched.offline.coupled.bounds.slot_lagrangian.chain_search import Chains, find_chain, learn, make_chains
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import Prices, make_prices, set_prices
from hindsched.offline.coupled.search.constants import CHAINS, LEAST, MOST, NEVER, OPEN, SPENT, STEPS, SUM
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table


class Channel(NamedTuple):
    """All that the bound needs: prices, the chains of one search, and what is paid by an iteration of one."""

    prices: Prices
    chains: Chains
    knapsack: Knapsack

    def nbytes(self) -> int:
        """Memory taken."""
        return sum(array.nbytes for group in self for array in group)


def make_channel(workers: int, slots: int, iterations: int) -> Channel:
    """Room for schedules of so many iterations within so many slots."""
    return Channel(make_prices(workers, slots), make_chains(workers, iterations), make_knapsack(workers))


@kernel
def refute(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prefetch: Prefetch,
    channel: Channel,
    mode: int,
    iterations: int,
    end: int,
    horizon: int,
    rounds: int,
) -> int:
    """Try to prove that no schedule completes the iterations within `end` slots, all of which are known.

    Returns `constants.REFUTED`, or OPEN after so many rounds, or STOPPED.
    """
    prices, chains, knapsack = channel.prices, channel.chains, channel.knapsack
    # The steps tau lie between the first slot by which programs could be needed and the end.
    early = compose(table, problem, scratch, prefetch, 0, min(2, iterations), horizon)
    if early < 0 or early >= end:
        early = 0
    for i in range(STEPS):
        prices.steps[i] = early + 1 + (end - early - 1) * i // (STEPS - 1)
    ends = chains.ends
    for k in range(iterations + 1):
        ends[CHAINS, k] = ends[SUM, k] = ends[MOST, k] = 0
        ends[LEAST, k] = NEVER
    for _ in range(rounds):
        set_prices(table, problem, prices, end)
        scratch.effort[SPENT] += 1 + problem.p * end // 16
        label = find_chain(table, problem, scratch, prefetch, prices, chains, knapsack, mode, iterations, end, horizon)
        if label < 0:
            return label
        learn(table, problem, scratch, prices, chains, knapsack, mode, label, iterations, end)
    return OPEN


def split(chains: Chains, iterations: int) -> tuple[int, int] | None:
    """Return k and t to divide a subproblem by: whether the iteration after k starts before t; None if nothing does.

    The k for which the chains of the last question differ most, and their mean t.
    """
    ends = chains.ends
    best = None
    spread = 0
    for k in range(1, iterations):
        if ends[CHAINS, k] and ends[MOST, k] - ends[LEAST, k] > spread:
            spread = int(ends[MOST, k] - ends[LEAST, k])
            best = k, int(ends[SUM, k] // ends[CHAINS, k]) + 1
    if best is None:  # all alike: put that chain into the smaller part
        for k in range(1, iterations):
            t = int(ends[MOST, k])
            low, high = int(chains.soonest[k]), int(min(chains.latest[k], ends[MOST, iterations]))
            if ends[CHAINS, k] and min(high, t + 20) - max(low, t - 20) > spread:
                spread = min(high, t + 20) - max(low, t - 20)
                best = k, t + 1 if t < high else t
    return best
