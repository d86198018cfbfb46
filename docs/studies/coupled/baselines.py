"""Baselines that need no Markov chains: they judge a worker by how long, or how often, it was UP so far.

Run them by ``--policy docs/studies/coupled/baselines.py:LongestUp`` and ``...:MostUp``.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.states import UP
from hindsched.online.coupled.visible import Visible

__all__ = ["LongestUp", "MostUp"]


class _ByUptime:
    """Give the tasks to the UP workers that are best by their past; keep the configuration until it fails.

    The best m workers get a task each. If fewer are UP, each further task goes to the worker that ends it first. Ties
    go to the faster worker, then to the lower index.
    """

    name = ""

    def __init__(self) -> None:
        self._score: list[int] = []

    def choose(self, visible: Visible) -> Mapping[int, int] | None:
        """Return the best workers if no complete configuration is held."""
        problem = visible.problem
        if visible.slot == 0:
            self._score = [0] * problem.num_workers
        self._score = [self._after(score, state == UP) for score, state in zip(self._score, visible.now, strict=True)]
        if visible.is_complete:
            return None
        up = sorted(visible.up, key=lambda q: (-self._score[q], problem.w[q], q))
        if sum(problem.capacities[q] for q in up) < problem.tasks:
            return {}
        tasks: dict[int, int] = {}
        for q in [q for q in up if problem.capacities[q]][: problem.tasks]:
            tasks[q] = 1
        while sum(tasks.values()) < problem.tasks:
            room = [q for q in tasks if tasks[q] < problem.capacities[q]]
            tasks[min(room, key=lambda q: ((tasks[q] + 1) * problem.w[q], q))] += 1
        return tasks

    def _after(self, score: int, is_up: bool) -> int:
        """Return the score of a worker after one more slot."""
        raise NotImplementedError


class LongestUp(_ByUptime):
    """Prefer the workers that have been UP longest without a break."""

    name = "longest-up"

    def _after(self, score: int, is_up: bool) -> int:
        return score + 1 if is_up else 0


class MostUp(_ByUptime):
    """Prefer the workers that were UP in most slots so far."""

    name = "most-up"

    def _after(self, score: int, is_up: bool) -> int:
        return score + is_up
