"""An integer linear program of R1-R5: K iterations within the first H slots, as a flow through phases.

It is independent of the CP-SAT model of `cpsat_model`, so that each can confirm the other. That model has monotone
literals and implications; this one has events, the phases between them as a flow, and capacities at events, which
tighten its linear relaxation.

What a schedule is
------------------
Let iteration i of a schedule end in slot e_i with length W = max x_q w_q, and let c_i be the W-th last slot that
advances its computation. No computation is lost from c_i on, so the workers with x_q >= 1, the *members*, and their
tasks are the same from c_i to e_i (R1, R2). They lack nothing in c_i (R4), and lose nothing before e_i without a change
of x_q: so nothing is sent from c_i to e_i (R3). Hence

(a) the members are UP in W slots, the first of them c_i and the last e_i, and not DOWN in between: c_i and e_i lie in
    the same availability *period* of a member;
(b) iteration i sends only in UP slots of its *communication phase* e_(i-1) + 1 .. c_i - 1, at most one unit to a
    worker and n_com in all in a slot; a member receives x_q T_data units of data in the period of c_i, and T_prog units
    of program unless it holds the program already (R1, R3, R5);
(c) a program that is held at the end of an iteration is received whole in the communication phase of this iteration or
    of an earlier one, in the period in which it is held (R1, R2, R5). One program in a period suffices.

Conversely, members with tasks, events, W computing slots and units that satisfy (a)-(c) are a schedule that ends
iteration i in e_i or before: `emit` writes it, and keeps the configuration from computing before c_i. More slots
between c_i and e_i may advance the computation than the program counts; then the iteration ends earlier, which only
leaves room to the next one.

Variables (iteration i; slots c, e, t within the windows; worker q; period g of it)
-----------------------------------------------------------------------------------
- ``begin[i,c]``, ``end[i,e]`` binary: the events c_i = c and e_i = e.
- ``level[i,L,e]`` binary: e_i = e and the length is L; L is one of the possible products x w_q.
- ``comm[i,t]``, ``comp[i,t]`` continuous: slot t lies in the communication or the computation phase of i.
- ``advance[i,t]`` binary: t is one of the L slots that compute.
- ``tasks[i,q,g]`` integer: x_q if q is a member of i with c_i and e_i in g, else 0.
- ``holds[i,q,g]`` binary: q has received the program in g by c_i. It never falls with i; its step ``receives[i,q,g]`` =
  holds[i,q,g] - holds[i-1,q,g] is the program sent in i.
- ``served[i,q,t]`` continuous, only if more than n_com workers may need a channel: the master serves q in t.

With all others fixed the ``served`` are a flow from workers to slots with integral capacities: if a fractional flow
exists, so does an integral one, which `SlotProgram.plan` finds.

*Size*, for T slots, E ends and l lengths per iteration and g periods per worker: about K (E l + 4 T + 2 p g + p T)
variables and K (E + 6 T + 6 p g + p T) constraints. Most entries are in (4), up to p E l in an iteration.

Constraints
-----------
(1) One unit of flow. It starts in comm[0,0] or begin[0,0] and leaves by end[K-1,e]; between, comm[i,t-1] +
    end[i-1,t-1] = comm[i,t] + begin[i,t] and comp[i,t-1] + begin[i,t] = comp[i,t] + end[i,t-1].
(2) The sum of level[i,L,e] over L is end[i,e]. The sum of advance[i,t] over t is that of L level[i,L,e] over (L, e).
    begin[i,t] <= advance[i,t], end[i,t] <= advance[i,t], advance[i,t] <= comp[i,t].
(3) The sum of tasks[i,q,g] over (q, g) is m. Over those with t in g it is >= m comp[i,t], and over those that are UP
    at t too it is >= m advance[i,t]: as the sum over all is m, no other worker is a member.
(4) tasks[i,q,g] <= the sum over (L, e) of most(q,g,L,e) level[i,L,e], and <= the sum over c of most(q,g,c)
    begin[i,c]. Module `capacities` defines them: the tasks that q can hold by its own UP slots in g, mu_q and w_q x_q
    <= L; 0 unless the event lies in g and q is UP in it.
(5) tasks[i,q,g] <= most holds[i,q,g], and holds never falls. ``stand_by=False``: receives[i,q,g] <= tasks[i,q,g].
(6) T_prog receives[i,q,g] + T_data tasks[i,q,g] is the sum of served[i,q,t] over the UP slots t of g; served[i,q,t]
    <= comm[i,t]; the sum of served[i,q,t] over q is <= n_com comm[i,t]. If the channels suffice for all members of i
    and of later iterations, it is <= the sum of comm[i,t] over these t instead.
(7) Implied, for the relaxation. The sum of level[i,L,e] over the (L, e) with e >= t whose deadline (see `capacities`)
    is <= t is <= comp[i,t]. The sum of advance[i,t] over the UP slots of q in g is >= w_q tasks[i,q,g].
(8) Implied, for the relaxation. By free prefetching, e_i <= e only if e_(i-1) <= s, with an s for each e that
    `round_windows` proves. So the sum of end[i,e'] over e' <= e and of end[i-1,s'] over s' > s is at most 1.

The objective is the last end, the sum of e end[K-1,e], or none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.coupled.models.capacities import Capacities, Period
from hindsched.offline.coupled.models.round_windows import Window
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.limits import Stopwatch

if TYPE_CHECKING:
    import pulp

__all__ = ["SlotProgram"]

_Terms = Iterable[tuple[Any, float]]  # variables, None for one that does not exist, and their factors


class SlotProgram:
    """The program of some iterations that end within their windows, as described above.

    Parameters
    ----------
    instance
        The instance.
    windows
        The slots in which each iteration may end.
    watch
        Stops the construction of a large program.
    stand_by
        Whether a program may be sent for a later iteration.
    is_any_sufficient
        Whether any schedule suffices; otherwise the last end is minimised.

    Raises
    ------
    OutOfTimeError
        When the time is over.
    """

    program: pulp.LpProblem

    def __init__(
        self,
        instance: Instance,
        windows: Sequence[Window],
        watch: Stopwatch,
        *,
        stand_by: bool,
        is_any_sufficient: bool,
    ) -> None:
        import pulp

        self._pulp = pulp
        self._watch = watch
        self.instance = instance
        self.program = pulp.LpProblem("iterations", pulp.LpMinimize)
        self._windows = windows
        self._stand_by = stand_by
        self._capacities = Capacities(instance, windows[-1].latest + 1)
        self._is_up = self._capacities.is_up
        self._begin: list[dict[int, Any]] = []
        self._end: list[dict[int, Any]] = []
        self._comm: list[dict[int, Any]] = []
        self._advance: list[dict[int, Any]] = []
        self._tasks: list[dict[tuple[int, Period], Any]] = []
        self._receives: list[dict[tuple[int, Period], dict[Any, float]]] = []
        self._held: dict[tuple[int, Period], Any] = {}
        self._zero = self.program.add_variable("zero", 0, 0)
        for i in range(len(windows)):
            self._add_iteration(i)
        if not is_any_sufficient:
            self.program.setObjective(self._sum((end, e) for e, end in self._end[-1].items()))

    # ------------------------------------------------------------------------------------------------ writing

    def _add_iteration(self, i: int) -> None:
        window = self._windows[i]
        first = self._first(i)
        slots = range(first, window.latest + 1)
        begin_most = self._capacities.at_begin(first, window.latest)
        level_most, deadline = self._capacities.at_end(first, window.earliest, window.latest)
        ends = sorted({e for _, e in deadline})
        begins = sorted({c for most in begin_most.values() for c in most if c <= max(deadline.values(), default=-1)})
        latest_comm = max(begins, default=first) - 1
        begin = {c: self._binary(f"begin_{i}_{c}") for c in begins}
        end = {e: self._binary(f"end_{i}_{e}") for e in ends}
        level = {(length, e): self._binary(f"level_{i}_{length}_{e}") for length, e in deadline}
        comm = {t: self._share(f"comm_{i}_{t}") for t in range(first, latest_comm + 1)}
        comp = {t: self._share(f"comp_{i}_{t}") for t in slots if begins and t >= begins[0]}
        advance = {t: self._binary(f"advance_{i}_{t}") for t in comp}
        before = self._end[-1] if i else {-1: 1}
        self._begin.append(begin)
        self._end.append(end)
        self._comm.append(comm)
        self._advance.append(advance)

        for t in range(first, window.latest + 2):  # (1)
            arrives = before.get(t - 1, 0)
            terms = [(comm.get(t - 1), 1), (comm.get(t), -1), (begin.get(t), -1)]
            if isinstance(arrives, int):
                self._equal(terms, -arrives)
            else:
                self._equal([*terms, (arrives, 1)], 0)
            self._equal([(comp.get(t - 1), 1), (begin.get(t), 1), (comp.get(t), -1), (end.get(t - 1), -1)], 0)
        by_end: dict[int, list[Any]] = defaultdict(list)
        for (_, e), chosen in level.items():
            by_end[e].append(chosen)
        for e in ends:  # (2)
            self._equal([(end[e], -1), *((chosen, 1) for chosen in by_end[e])], 0)
        lengths = [(chosen, -length) for (length, _), chosen in level.items()]
        self._equal([*((it, 1) for it in advance.values()), *lengths], 0)
        for t, computes in comp.items():
            self._at_most([(advance[t], 1), (computes, -1)], 0)
            self._at_most([(begin.get(t), 1), (advance[t], -1)], 0)
            self._at_most([(end.get(t), 1), (advance[t], -1)], 0)
        self._add_tasks(i, begin_most, level_most, level)
        self._add_team_slots(i, comp, advance)
        must: dict[int, list[Any]] = defaultdict(list)
        for (length, e), latest in deadline.items():
            for t in range(latest, e + 1):
                must[t].append(level[length, e])
        for t, chosen in must.items():  # (7)
            self._at_most([(comp.get(t), -1), *((it, 1) for it in chosen)], 0)
        if window.latest_before:
            self._add_prefetching(i)
        self._add_service(i)

    def _add_tasks(
        self,
        i: int,
        begin_most: Mapping[tuple[int, Period], Mapping[int, int]],
        level_most: Mapping[tuple[int, Period], Mapping[tuple[int, int], int]],
        level: Mapping[tuple[int, int], Any],
    ) -> None:
        """Add the tasks and the programs of one iteration: (3), (4) and (5)."""
        instance = self.instance
        begin, first, comm = self._begin[i], self._first(i), self._comm[i]
        tasks: dict[tuple[int, Period], Any] = {}
        receives: dict[tuple[int, Period], dict[Any, float]] = {}
        for q, periods in enumerate(self._capacities.periods):
            for period in periods:
                key = q, period
                at_end = level_most.get(key, {})
                at_begin = {c: most for c, most in begin_most.get(key, {}).items() if c in begin}
                most = min(max(at_end.values(), default=0), max(at_begin.values(), default=0))
                holds = None
                if instance.t_prog:
                    low, high = max(period[0], first), min(period[1] + 1, first + len(comm))
                    can_receive = low < high and self._capacities.num_up(q, low, high) >= instance.t_prog
                    holds = self._held.get(key)
                    if can_receive and (most or (self._stand_by and i + 1 < len(self._windows))):
                        new = self._binary(f"holds_{i}_{q}_{period[0]}")
                        receives[key] = {new: 1}
                        if holds is not None:
                            receives[key][holds] = -1
                            self._at_most([(holds, 1), (new, -1)], 0)
                        holds = self._held[key] = new
                    if holds is None:
                        continue
                if not most:
                    continue
                x = tasks[key] = self.program.add_variable(f"tasks_{i}_{q}_{period[0]}", 0, most, self._pulp.LpInteger)
                if holds is not None:
                    self._at_most([(x, 1), (holds, -most)], 0)
                    if not self._stand_by and key in receives:
                        self._at_most([*receives[key].items(), (x, -1)], 0)
                self._at_most([(x, 1), *((level[pair], -n) for pair, n in at_end.items())], 0)
                self._at_most([(x, 1), *((begin[c], -n) for c, n in at_begin.items())], 0)
        self._equal([(x, 1) for x in tasks.values()], instance.tasks)
        self._tasks.append(tasks)
        self._receives.append(receives)

    def _add_team_slots(self, i: int, comp: Mapping[int, Any], advance: Mapping[int, Any]) -> None:
        """Add the constraints between computing slots and members: (3) and the second half of (7)."""
        instance, tasks = self.instance, self._tasks[i]
        for t in comp:
            alive = {key: x for key, x in tasks.items() if key[1][0] <= t <= key[1][1]}
            is_up = {key: x for key, x in alive.items() if self._is_up[key[0], t]}
            if len(is_up) < len(tasks):
                self._at_most([(advance[t], instance.tasks), *((x, -1) for x in is_up.values())], 0)
            if len(alive) < len(tasks):
                self._at_most([(comp[t], instance.tasks), *((x, -1) for x in alive.values())], 0)
        for (q, period), x in tasks.items():
            own = ((advance[t], -1) for t in advance if period[0] <= t <= period[1] and self._is_up[q, t])
            self._at_most([(x, instance.w[q]), *own], 0)

    def _add_prefetching(self, i: int) -> None:
        """Add (8)."""
        end, before, limits = self._end[i], self._end[i - 1], self._windows[i].latest_before
        for e in end:
            late = [(it, 1) for s, it in before.items() if s > limits[e]]
            if late:
                self._at_most([*late, *((it, 1) for other, it in end.items() if other <= e)], 1)

    def _add_service(self, i: int) -> None:
        """Add (6)."""
        instance, tasks, receives, comm = self.instance, self._tasks[i], self._receives[i], self._comm[i]
        keys = sorted({*receives, *(tasks if instance.t_data else ())})
        num_served = len({q for q, _ in keys})
        if not (self._stand_by and receives) or i == len(self._windows) - 1:
            num_served = min(num_served, instance.tasks)  # only members
        else:
            num_served = min(num_served, instance.tasks * (len(self._windows) - i))  # members of this or a later one
        by_slot: dict[int, list[Any]] = defaultdict(list)
        for q, period in keys:
            key = q, period
            slots = [t for t in comm if period[0] <= t <= period[1] and self._is_up[q, t]]
            need: dict[Any, float] = {it: sign * instance.t_prog for it, sign in receives.get(key, {}).items()}
            if instance.t_data and key in tasks:
                need[tasks[key]] = instance.t_data
            if num_served <= instance.channels:
                self._at_most([*need.items(), *((comm[t], -1) for t in slots)], 0)
                continue
            units = []
            for t in slots:
                unit = self._share(f"served_{i}_{q}_{t}")
                self._at_most([(unit, 1), (comm[t], -1)], 0)
                units.append(unit)
                by_slot[t].append(unit)
            self._equal([*need.items(), *((unit, -1) for unit in units)], 0)
        for t, units in by_slot.items():
            if len(units) > instance.channels:
                self._at_most([(comm[t], -instance.channels), *((unit, 1) for unit in units)], 0)

    def _first(self, i: int) -> int:
        """First slot that iteration i may use."""
        return self._windows[i - 1].earliest + 1 if i else 0

    def _binary(self, name: str) -> Any:
        return self.program.add_variable(name, cat=self._pulp.LpBinary)

    def _share(self, name: str) -> Any:
        return self.program.add_variable(name, 0, 1)

    def _sum(self, terms: _Terms) -> Any:
        """Return a linear expression; a variable that does not exist is 0."""
        return self._pulp.LpAffineExpression([(it, factor) for it, factor in terms if it is not None])

    def _equal(self, terms: _Terms, right: int) -> None:
        self._add(terms, self._pulp.LpConstraintEQ, right)

    def _at_most(self, terms: _Terms, right: int) -> None:
        self._add(terms, self._pulp.LpConstraintLE, right)

    def _add(self, terms: _Terms, sense: int, right: int) -> None:
        self._watch.check()
        expression = self._sum(terms)
        if not expression:  # an empty sum is 0; the solver has to see a contradiction
            expression = self._sum([(self._zero, 1)])
        self.program += self._pulp.LpConstraint(expression, sense, rhs=right)

    # ------------------------------------------------------------------------------------------------ reading

    def plan(self) -> list[IterationPlan]:
        """Return the plan of a solution; its iterations may be shorter than in the program, never longer."""
        plan = []
        done = -1
        for i in range(len(self._windows)):
            begin = next(c for c, it in self._begin[i].items() if _is_one(it))
            phase = range(done + 1, begin)
            done = next(e for e, it in self._end[i].items() if _is_one(it))
            members = {key: round(x.value()) for key, x in self._tasks[i].items() if round(x.value())}
            needs = {key: count * self.instance.t_data for key, count in members.items()}
            for key, step in self._receives[i].items():
                if round(sum(sign * it.value() for it, sign in step.items())) and self._is_used(i, key):
                    needs[key] = needs.get(key, 0) + self.instance.t_prog
            service = self._serve(needs, phase)
            plan.append(IterationPlan({q: count for (q, _), count in members.items()}, service, begin))
        return plan

    def _is_used(self, i: int, key: tuple[int, Period]) -> bool:
        """Return whether a program received in iteration i serves a member in that period."""
        return any(round(tasks[key].value()) for tasks in self._tasks[i:] if key in tasks)

    def _serve(self, needs: Mapping[tuple[int, Period], int], phase: range) -> dict[int, list[int]]:
        """Return integral service: a maximum flow from the needs to the slots of the phase."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        wanted = [(key, units) for key, units in sorted(needs.items()) if units]
        if not wanted:
            return {}
        source, sink = len(wanted) + len(phase), len(wanted) + len(phase) + 1
        edges = [(source, a, units) for a, (_, units) in enumerate(wanted)]
        for a, ((q, period), _) in enumerate(wanted):
            edges += [
                (a, len(wanted) + b, 1)
                for b, t in enumerate(phase)
                if period[0] <= t <= period[1] and self._is_up[q, t]
            ]
        edges += [(len(wanted) + b, sink, self.instance.channels) for b in range(len(phase))]
        tails, heads, room = (np.array(column, dtype=np.int32) for column in zip(*edges, strict=True))
        flow = maximum_flow(csr_array((room, (tails, heads)), shape=(sink + 1, sink + 1)), source, sink)
        if flow.flow_value < sum(units for _, units in wanted):
            raise SelfCheckError("the transfers of a solution exceed the channel, expected an integral flow")
        table = flow.flow.toarray()
        return {
            q: [t for b, t in enumerate(phase) if table[a, len(wanted) + b] > 0] for a, ((q, _), _) in enumerate(wanted)
        }


def _is_one(variable: Any) -> bool:
    return bool(variable.value() > 0.5)
