"""The best on-line policy, to be run like any other."""

from __future__ import annotations

from collections.abc import Mapping

from instances.coupled.model import Instance
from instances.errors import InputError
from instances.states import DOWN, RECLAIMED, UP
from online.coupled.optimum.solve import OnlineOptimum
from online.coupled.options import Service
from online.coupled.simulate import Run, _Execution
from online.coupled.visible import Visible

__all__ = ["Optimal", "run_optimum"]


class Optimal:
    """The policy of an on-line optimum.

    Parameters
    ----------
    optimum
        With its policy kept; the instances to be run have the same problem.
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
        self._served: tuple[int, ...] = ()

    def choose(self, visible: Visible) -> Mapping[int, int]:
        """Return every UP worker, and who stays, with the tasks that the best choice in this state gives them."""
        problem, now = visible.problem, visible.now
        kept = {q: 0 for q in self._space.workers if now[q] == UP or q in visible.tasks}
        loads = tuple(have + data for have, data in zip(visible.program, visible.data, strict=True))
        decisions = self._optimum.decisions[problem.iterations - visible.iteration - 1]
        self._served = ()
        if visible.computed and self._goes_on(visible, loads):
            return kept | {q: x for q, x in visible.tasks.items() if x}
        state = self._space.number(now, loads)
        action = int(decisions.actions[state])
        if action < 0:
            team, attempt = self._pairs[-1 - action]
            members = (self._space.workers[place] for place in team.members)
            return kept | dict(zip(members, attempt.tasks, strict=True))
        self._served = tuple(q for q, place in self._places.items() if action >> place & 1)
        for q in self._served:
            if visible.program[q] == problem.t_prog:
                kept[q] = visible.data[q] // problem.t_data + 1
        return kept

    @property
    def served(self) -> tuple[int, ...]:
        """Whom the master serves in this slot, as `choose` decided it."""
        return self._served

    def _goes_on(self, visible: Visible, loads: tuple[int, ...]) -> bool:
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
        goes_on = self._optimum.decisions[visible.problem.iterations - visible.iteration - 1].goes_on
        return bool(goes_on[bit >> 3] >> (bit & 7) & 1)


def run_optimum(instance: Instance, optimum: OnlineOptimum, *, slots: int | None = None) -> Run:
    """Run the best policy on an instance, showing it only the past; the master serves whom it says.

    Parameters
    ----------
    instance
        Of the problem that was solved.
    optimum
        With its policy kept.
    slots
        Stop after so many; None: all slots of the instance.
    """
    policy = Optimal(optimum)
    execution = _Serving(instance, policy)
    for slot in range(instance.slots if slots is None else slots):
        execution.enrol(policy.choose(execution.fail(slot)))
        execution.work()
        if execution.iteration == instance.iterations:
            break
    is_done = execution.iteration == instance.iterations
    return Run(
        policy=policy.name,
        makespan=execution.slot + 1 if is_done else None,
        iterations=execution.iteration,
        schedule=execution.schedule(),
        slots=execution.slot + 1,
    )


class _Serving(_Execution):
    """The platform with a master that serves whom the policy says, rather than by an order."""

    def __init__(self, instance: Instance, policy: Optimal) -> None:
        super().__init__(instance, Service.INDEX)
        self._policy = policy

    def _communicate(self, needs: dict[int, int]) -> None:
        served = self._policy.served
        self.channels = len(served)
        super()._communicate({q: needs[q] for q in served})
