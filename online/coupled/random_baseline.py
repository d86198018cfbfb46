"""RANDOM: the baseline that chooses any UP workers.

Written to be read; `hindsched.online.coupled.kernels.random_kernels` is the compiled twin.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hindsched.instances.random_streams import stream
from hindsched.online.coupled.visible import Visible

__all__ = ["Random"]


class Random:
    """Give each task to a uniformly random UP worker with free capacity, where the passive heuristics choose.

    Parameters
    ----------
    seed
        Names the random stream; every run draws it from the start.
    """

    name = "RANDOM"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._generator: np.random.Generator | None = None

    def choose(self, visible: Visible) -> Mapping[int, int] | None:
        """Keep a complete configuration; otherwise draw one among the UP workers, or hold none."""
        if visible.slot == 0 or self._generator is None:
            self._generator = stream("coupled", "policy", self.name, self._seed)
        if visible.is_complete:
            return None
        capacities = visible.problem.capacities
        up = visible.up
        if sum(capacities[q] for q in up) < visible.problem.tasks:
            return {}
        tasks: dict[int, int] = {}
        for _ in range(visible.problem.tasks):
            free = [q for q in up if tasks.get(q, 0) < capacities[q]]
            q = free[int(self._generator.integers(len(free)))]
            tasks[q] = tasks.get(q, 0) + 1
        return tasks
