"""The best on-line policy, as a policy that can be run."""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.online.coupled.optimum.value_iteration import OnlineOptimum
from hindsched.online.coupled.visible import Decision, Visible

__all__ = ["Optimal"]


class Optimal:
    """The policy of an on-line optimum.

    Parameters
    ----------
    optimum
        An optimum that kept its policy, for the problem of the instances to run.
    """

    name = "optimum"

    def __init__(self, optimum: OnlineOptimum) -> None:
        if not optimum.decisions:
            raise InputError("no policy was kept", place="optimum")
        self._optimum = optimum
        self._space = optimum.space
        self._teams = optimum.space.teams()
        self._pairs = [(team, attempt) for team in self._teams for attempt in team.attempts]
        places = {q: place for place, q in enumerate(self._space.workers)}
        self._at = {
            (tuple(self._space.workers[place] for place in team.members), attempt.offset): (team, attempt)
            for team, attempt in self._pairs
        }
        self._places = places

    def choose(self, visible: Visible) -> Mapping[int, int] | Decision:
        """Return all UP and all enrolled workers, with tasks by the best decision in this state."""
        problem, now = visible.problem, visible.now
        kept = {q: 0 for q in self._space.workers if now[q] == UP or q in visible.tasks}
        loads = tuple(have + data for have, data in zip(visible.program, visible.data, strict=True))
        decisions = self._optimum.decisions[problem.iterations - visible.iteration - 1]
        if visible.computed and self._continues(visible, loads):
            return kept | {q: x for q, x in visible.tasks.items() if x}
        state = self._space.number(now, loads)
        action = int(decisions.actions[state])
        if action < 0:
            team, attempt = self._pairs[-1 - action]
            members = (self._space.workers[place] for place in team.members)
            return kept | dict(zip(members, attempt.tasks, strict=True))
        served = [q for q, place in self._places.items() if action >> place & 1]
        for q in served:
            if visible.program[q] == problem.t_prog:
                kept[q] = visible.data[q] // problem.t_data + 1
        return Decision(kept, served)

    def _continues(self, visible: Visible, loads: tuple[int, ...]) -> bool:
        space, now = self._space, visible.now
        members = tuple(q for q in space.workers if visible.tasks.get(q))
        places = [self._places[q] for q in members]
        offset = sum(int(space.strides[place]) * (1 + loads[q]) for place, q in zip(places, members, strict=True))
        team, attempt = self._at[members, offset]
        left = max(visible.tasks[q] * visible.problem.w[q] for q in members) - visible.computed
        pattern = sum(1 << bit for bit, q in enumerate(members) if now[q] == RECLAIMED)
        place = 0
        for other in team.others:
            q = space.workers[other]
            digit = 0 if now[q] == DOWN else 1 + loads[q] + (space.loads[other] + 1 if now[q] == RECLAIMED else 0)
            place = place * space.sizes[other] + digit
        bit = attempt.first + ((left - 1) * team.patterns.size + pattern) * team.block.size + place
        continues = self._optimum.decisions[visible.problem.iterations - visible.iteration - 1].continues
        return bool(continues[bit >> 3] >> (bit & 7) & 1)
