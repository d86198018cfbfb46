"""The bound by labels that pay rents, raised step by step (docs/model.md section 3).

Multipliers are learnt from the paths of labels that they do not exclude yet, first of merged ones, then of all. Where
they do not refute a horizon, the schedules are divided, by when an iteration ends, or by whether a life computes in
any. A life that does is sent a program in some iteration in which it can be: in such a part it pays the least of those
values in any case, and nothing else, as what all others pay is then no more than what the other programs are worth. One
that does not may have any rents.

Before that, it is found who can compute when at all, and CP-SAT is asked about parts with few arcs (module
`part_model`), ahead of their bounds too: whoever refutes a step, the next one is twice as long. How much that takes
differs by orders of magnitude, from instance to instance and from part to part. So what is asked, and with what budget,
follows from what could be told lately; and CP-SAT has a part of the time only for what it could not, but for parts as
small as those that it could tell about lately.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.offline.coupled.bounds.priced_label_search import PayingSearch, Room
from hindsched.offline.coupled.bounds.program_lagrangian.multipliers import SCALE, Learner, Momentum
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import RentBound
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Path
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Graph, Tables
from hindsched.offline.coupled.bounds.state_space_relaxation import Charges
from hindsched.offline.coupled.plans import IterationPlan, end_of
from hindsched.offline.coupled.search.constants import (
    ENOUGH,
    FAR_AWAY,
    FEW_ARCS,
    FIRST_CREDIT,
    FIRST_MORE,
    FIRST_RATE,
    FIRST_STRIDE,
    GROWTH,
    LEAST_BUDGET,
    MODEL_EFFORT,
    MORE_ARCS,
    MORE_TIME,
    MOST_ARCS,
    MOST_BUDGET,
    MOST_PARTS_KEPT,
    NARROWED,
    NEAR_END,
    NEVER_PAID,
    NEW_RATE,
    NEW_USE,
    OWN,
    PART_VALUE_STEP,
    PAYING_PATIENCE,
    PAYING_STEP,
    PAYING_TURNS,
    REFUTED,
    SOME_LEFT_OUT,
    STOPPED,
    TURN_EFFORT,
    VAIN_PART,
    VALUE_STEP,
    VARIABLE_EFFORT,
)
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["PayingBound"]


class _Part:
    """The schedules whose iterations 1..k are complete within ``soonest[k]`` to ``latest[k]`` slots.

    The lives ``used``, each given by a worker and its first slot, compute in some iteration, those ``unused`` in none.
    None has a makespan below ``bound``; that none has one up to ``bound + stride`` is to be refuted next. ``search`` is
    the last one, ``widest`` one for a horizon as large or larger: it is where searches for smaller ones begin.
    """

    def __init__(self, learner: Learner, soonest: Ints, latest: Ints, bound: int, stride: int) -> None:
        self.learner = learner
        self.soonest, self.latest = soonest, latest
        self.bound, self.stride = bound, stride
        self.used: tuple[tuple[int, int], ...] = ()
        self.unused: tuple[tuple[int, int], ...] = ()
        self.value_step = VALUE_STEP
        self._is_eager = True  # the last step has not failed: after one that is refuted the next may be longer
        self._tables: Tables | None = None
        self.usage = np.zeros(0)  # how many of lately found paths use each life
        self.nearest: Charges | None = None  # those that came nearest to refuting the last horizon
        self.widest: PayingSearch | None = None
        self.search: PayingSearch | None = None

    def move(self, tables: Tables) -> None:
        """Look at the lives of other tables from now on."""
        if tables is not self._tables:
            self._tables, self.usage = tables, np.zeros(len(tables.owner))
        self.learner.move(tables)

    def copy(self) -> _Part:
        """Return the same schedules, to be made fewer."""
        half = _Part(self.learner.copy(), self.soonest.copy(), self.latest.copy(), self.bound, self.stride)
        half.used, half.unused = self.used, self.unused
        half.search = None if self.search is None else self.search.copy()
        half.widest = self.widest
        half.value_step = PART_VALUE_STEP
        return half

    def refuted(self, horizon: int) -> None:
        """Note that none has a makespan up to a horizon; what was left out for it tells nothing of larger ones.

        The next step is twice as long, but for the first after one that failed.
        """
        self.bound = horizon + 1
        self.stride += self.stride + 1 if self._is_eager else 0
        self._is_eager = True
        self.search = None
        if self.widest is not None and self.widest.horizon <= horizon:
            self.widest = None

    def failed(self, horizon: int) -> None:
        """Note that a horizon could not be refuted: the next step is half as long."""
        self.stride = (horizon - self.bound) // 2
        self._is_eager = False

    def halves_by_end(self, k: int, t: int) -> tuple[_Part, _Part]:
        """Return those whose iteration k ends within t slots, and the others."""
        sooner, later = self.copy(), self.copy()
        sooner.latest[k] = t
        later.soonest[k] = t + 1
        return sooner, later

    def halves_by_life(self, life: tuple[int, int]) -> tuple[_Part, _Part]:
        """Return those that use a life, and the others."""
        yes, no = self.copy(), self.copy()
        yes.used += (life,)
        no.unused += (life,)
        return yes, no

    def charges(self, graph: Graph) -> Charges:
        """Return what is paid, by the multipliers learnt: a life that is used for its program, in any case."""
        pi, rents = self.learner.multipliers(graph)
        life = graph.tables.facts.life
        rents[1:, [life[t, q] for q, t in self.unused]] = NEVER_PAID
        paid = 0
        for q, t in self.used:
            rents[:, life[t, q]] = 0
            paid += int(pi[_cheapest(graph, pi, int(life[t, q]))])
        possible = None if self.search is None else self.search.possible_for(life)
        if possible is not None:
            rents[~possible.member] = NEVER_PAID
        return Charges(life, rents, pi, paid)

    def step(self, graph: Graph, charges: Charges, path: Path, momentum: Momentum, length: float) -> None:
        """Move the multipliers by what a path uses."""
        new = path.used.max(axis=0)
        self.usage = self.usage + NEW_USE * (new - self.usage) if self.usage.any() else new
        for q, t in self.used:
            life = int(graph.tables.facts.life[t, q])
            path.used[:, life] = 0.0
            path.sent[_cheapest(graph, charges.pi, life)] -= 1
        self.learner.step(graph, path, momentum, PAYING_STEP * length, self.value_step)
        self.learner.scale()

    def life_in_doubt(self) -> tuple[int, int] | None:
        """Return a life that some paths use, and others not if there is one; None if all used ones are known to be."""
        tables = self._tables
        assert tables is not None
        doubt = np.where(self.usage > 0.0, np.minimum(self.usage, 1.0 - self.usage) + 1e-9, 0.0)
        for q, t in (*self.used, *self.unused):
            doubt[tables.facts.life[t, q]] = 0.0
        life = int(np.argmax(doubt))
        return (int(tables.owner[life]), int(tables.first[life])) if doubt[life] > 0.0 else None

    @property
    def has_lives_to_divide(self) -> bool:
        """Whether all ends but the last are fixed, and nothing is known of any life."""
        assert self.search is not None
        is_fixed = bool((self.search.early == self.search.late)[:-1].all())
        return is_fixed and not self.used and not self.unused

    def nbytes(self) -> int:
        """Memory taken."""
        return self.learner.nbytes() + (0 if self.search is None else self.search.nbytes())


def _cheapest(graph: Graph, pi: Ints, life: int) -> int:
    """Return the iteration in which a program for a life is worth least, of those in which it can be sent one."""
    return int(np.argmin(np.where(graph.sendable[:, life], pi, FAR_AWAY)))


class PayingBound:
    """The bound by labels that pay rents, of one instance.

    Parameters
    ----------
    workspace
        With T_prog >= 1 and a channel that binds.
    rents
        The bound by rents, whose tables, multipliers and counts of paths are used.
    mode
        `constants.STAND_BY` or `constants.OWN`; it matters to schedules, not to the bound by labels.

    ``bound``, and ``cost``, the makespan of the best schedule found, are in slots.
    """

    def __init__(self, workspace: Workspace, rents: RentBound, mode: int) -> None:
        self._workspace, self._rents = workspace, rents
        self._is_own = mode == OWN
        self.iterations = rents.iterations
        self.bound = 0
        self.cost = FAR_AWAY
        self._plan: tuple[IterationPlan, ...] = ()
        self.few_arcs = FEW_ARCS  # between the nodes of a part that CP-SAT is asked about
        self._sure_arcs = 0  # with so many or fewer it is asked, whatever it has taken in vain
        self._rate = FIRST_RATE  # CP-SAT's deterministic time for them, by the arcs for each iteration
        self._has_told = False  # whether it ever could tell
        self._effort = FIRST_CREDIT  # of all else so far
        self._vain_effort = 0  # CP-SAT's, where it could not tell
        self.most_arcs = MOST_ARCS  # of a part that multipliers are learnt for
        self._limit = 0  # makespans of interest are smaller
        self._parts: list[_Part] = []  # those whose bounds are below the limit, one at least
        self._room: Room | None = None
        self._is_finished = False
        self._going = self._raise()

    def work(self, known: int, limit: int) -> int:
        """Work a little; return the effort that took, 0 if there is nothing to be done for now.

        Parameters
        ----------
        known
            A bound that somebody has proven.
        limit
            Only makespans below it are of interest.
        """
        self.bound, self._limit = max(self.bound, known), min(limit, self.cost, self._workspace.slots + 1)
        if self._is_finished or self.bound >= self._limit or self._rents.tables is None:
            return 0
        spent = next(self._going, None)
        self._is_finished = spent is None
        self._effort += spent or 0
        return spent or 0

    def offer(self, incumbent: Incumbent) -> None:
        """Offer the best schedule found."""
        if self.cost < incumbent.cost:
            incumbent.take(self.cost, self._plan)

    def _raise(self) -> Iterator[int]:
        """Refute ever larger horizons of the part with the least bound, the last made of several; yields the effort.

        Where few slots are left, the largest one of interest at once. It yields 0 to wait.
        """
        never = np.full(self.iterations + 1, FAR_AWAY)
        self._room = Room(self._workspace.problem.p, self.iterations)
        learner = self._rents.learnt()
        self._parts = [_Part(learner, np.zeros(self.iterations + 1, np.int64), never, 0, -1)]
        while True:
            part = min(reversed(self._parts), key=lambda part: part.bound)
            self.bound = part.bound = max(part.bound, self.bound)
            tables = self._rents.tables
            assert tables is not None
            if part.bound >= self._limit or part.bound > tables.slots:
                yield 0
                continue
            if part.stride < 0:
                part.stride = min((self._limit - 1 - part.bound) // 4, 1 + part.bound // FIRST_STRIDE)
            horizon = min(self._limit - 1, tables.slots)
            is_last = horizon - self.bound <= horizon // NEAR_END
            if not is_last:
                horizon = min(horizon, part.bound + part.stride)
            is_refuted = yield from self._refute(part, tables, horizon)
            if is_refuted is None:  # too many arcs
                if horizon == part.bound or is_last:
                    yield 0
                    self.most_arcs += self.most_arcs // GROWTH  # as the rounds
                part.stride = (horizon - part.bound) // 2
            elif is_refuted:
                self._note_refuted(part, horizon)
            elif horizon > part.bound and not is_last:
                if (yield from self._ask(part, tables)) is False:
                    self._note_refuted(part, horizon)
                else:
                    part.failed(horizon)
            elif not (yield from self._end(part, tables, horizon)):
                return

    def _note_refuted(self, part: _Part, horizon: int) -> None:
        """Note that a part has no schedule within the horizon; one that is of no interest any more is forgotten."""
        part.refuted(horizon)
        if part.bound >= self._limit and len(self._parts) > 1:
            self._parts.remove(part)

    def _refute(self, part: _Part, tables: Tables, horizon: int) -> Generator[int, None, bool | None]:
        """Tell whether it could be refuted that a part has a makespan within the horizon; None: too many arcs."""
        part.move(tables)
        part.soonest[-1] = part.bound  # no schedule of it is shorter
        graph = Graph(tables, self.iterations, horizon, part.soonest, part.latest)
        if graph.is_empty:
            return True
        early, late = np.array(graph.early), np.array(graph.late)
        search = part.search
        if search is not None and search.horizon < horizon:
            search = None
        if search is None and part.widest is not None and part.widest.horizon >= horizon:
            search = part.widest.copy()
        if search is None:
            assert self._room is not None
            search = PayingSearch(self._workspace, early, late, self._room)
            if search.most_arcs() > NARROWED * self.most_arcs:
                return None
            if not (yield from search.narrow()):
                return True
            if search.most_arcs() > self.most_arcs:
                return None
            part.widest = search
        search.cut(early, late)
        part.search = search
        return (yield from self._learn(part, search, graph))

    def _learn(self, part: _Part, search: PayingSearch, graph: Graph) -> Generator[int, None, bool]:
        """Learn multipliers until they refute the horizon, then True, or do not get better."""
        momentum = part.learner.begin(graph)
        best, since, num_arcs, stopped = -np.inf, 0, 0, 0
        part.nearest = None
        if not (yield from search.unfold()):
            return True
        for turn in range(PAYING_TURNS):
            charges = part.charges(graph)
            if (yield from search.weigh(charges)) > 0:
                return True
            if turn % 2 == 0:
                left = yield from search.fix(charges)
                if left < SOME_LEFT_OUT * num_arcs or turn == 0:
                    num_arcs = left
                    if not (yield from search.unfold()):
                        return True
                    if (yield from search.weigh(charges)) > 0:
                        return True
            label = -1
            if stopped < 3 or turn % 4 == 0:
                label = yield from search.find(charges)
                if label == REFUTED:
                    return True
                stopped = stopped + 1 if label == STOPPED else 0
            cost, path = search.path(charges, label)
            length = cost / SCALE
            if label >= 0 or stopped:
                since += 1
            if label >= 0 and (part.nearest is None or length > best + 0.03 * abs(best)):
                best, since = length, 0
                part.nearest = charges
            if since >= PAYING_PATIENCE:
                return False
            if graph.tables is self._rents.tables:  # or else more slots are looked at by now
                self._rents.usage.add(path)
            yield TURN_EFFORT + path.used.size
            part.step(graph, charges, path, momentum, max(-length, 0.01 * graph.horizon))
        return False

    def _is_small(self, part: _Part) -> bool:
        """Whether CP-SAT is to be asked about a part, given what that has cost lately."""
        assert part.search is not None
        num_arcs = part.search.most_arcs()
        if num_arcs > max(self.few_arcs, self.iterations):
            self.few_arcs += 1 + self.few_arcs // MORE_ARCS
            return False
        return num_arcs <= self._sure_arcs or VAIN_PART * self._vain_effort <= self._effort

    def _budget(self, part: _Part) -> float:
        """Return the deterministic time that CP-SAT has for a part."""
        assert part.search is not None
        return min(MOST_BUDGET, max(LEAST_BUDGET, self._rate * part.search.most_arcs() / self.iterations))

    def _settle(self, part: _Part, tables: Tables, budget: float) -> Generator[int, None, bool | None]:
        """Ask CP-SAT whether there can be schedules in a part; None if it cannot tell within the budget."""
        search = part.search
        assert search is not None
        num_arcs = search.most_arcs()
        with self._workspace.watch.stopped():
            from hindsched.offline.coupled.bounds import node_cpsat
        life = tables.facts.life
        used, unused = ([int(life[t, q]) for q, t in those] for those in (part.used, part.unused))
        left_s = self._workspace.watch.left_s()
        reply = node_cpsat.ask(
            tables,
            self._workspace.table,
            search.early,
            search.late,
            used,
            unused,
            possible=search.possible_for(life),
            is_own=self._is_own,
            budget=budget,
            left_s=math.inf if left_s is None else left_s,
        )
        if reply.plan is not None:
            last = end_of(self._workspace.instance, reply.plan[-1])
            assert last is not None
            self.cost, self._plan = last + 1, reply.plan
        effort = reply.num_variables * VARIABLE_EFFORT + int(reply.spent * MODEL_EFFORT)
        if reply.is_possible is None:
            self._vain_effort += effort
            self._effort -= effort  # as it is counted with the rest
            self._rate *= MORE_TIME if self._has_told else FIRST_MORE
            self.few_arcs = min(self.few_arcs, num_arcs - num_arcs // 4)
            self._sure_arcs = min(self._sure_arcs, num_arcs // 2)
        else:
            self._has_told = True
            self._rate += NEW_RATE * (ENOUGH * reply.spent * self.iterations / num_arcs - self._rate)
            self.few_arcs = max(self.few_arcs, 2 * num_arcs)
            self._sure_arcs = max(self._sure_arcs, num_arcs)
        yield effort
        return reply.is_possible

    def _ask(self, part: _Part, tables: Tables, most: float = 0.0) -> Generator[int, None, bool | None]:
        """Tell whether there can be schedules in a part that multipliers do not refute; None if that is not known.

        CP-SAT is asked about a small one, or about any if budgets up to ``most`` are to be tried.
        """
        assert part.search is not None
        if part.nearest is not None and not (yield from part.search.exclude(part.nearest)):
            return False
        if not most and not self._is_small(part):
            return None
        budget = self._budget(part)
        is_possible = yield from self._settle(part, tables, budget)
        while is_possible is None and 2 * budget <= most:
            budget *= 2
            is_possible = yield from self._settle(part, tables, budget)
        return is_possible

    def _end(self, part: _Part, tables: Tables, horizon: int) -> Generator[int, None, bool]:
        """Refute a horizon that multipliers do not, find a schedule, or divide the part; False if none can be done."""
        most = MOST_BUDGET if part.has_lives_to_divide else 0.0  # to divide by lives is worse than to ask for long
        is_possible = yield from self._ask(part, tables, most)
        assert part.search is not None
        budget = max(most, self._budget(part))
        while is_possible is None and not self._divide(part):
            if part.search.most_arcs() > max(self.few_arcs, FEW_ARCS):
                return False
            budget *= 2  # there is nothing else to be done
            is_possible = yield from self._settle(part, tables, budget)
        if is_possible is False:
            self._note_refuted(part, horizon)
        return True

    def _divide(self, part: _Part) -> bool:
        """Divide a part by the slot in which an iteration ends, or by whether a life is used; False if it cannot be."""
        assert part.search is not None
        if self.nbytes() > MOST_PARTS_KEPT:
            return False
        where = part.learner.where_ends_differ(part.search.early, part.search.late)
        if where is not None:
            halves = part.halves_by_end(*where)
        else:
            life = part.life_in_doubt()
            if life is None:
                return False
            halves = part.halves_by_life(life)
        self._parts.remove(part)
        self._parts += halves[::-1]  # the last is the next
        return True

    def nbytes(self) -> int:
        """Memory taken."""
        return sum(part.nbytes() for part in self._parts) + (0 if self._room is None else self._room.nbytes())
