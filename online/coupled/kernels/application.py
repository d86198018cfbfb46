"""The instance without its states, as an argument of kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.coupled.model import Instance
from hindsched.online.coupled.visible import Problem

__all__ = ["Application", "application_of"]


class Application(NamedTuple):
    """The instance without its states."""

    tasks: int
    iterations: int
    n_com: int  # p + 1 where it is unbounded
    channels: int
    t_prog: int
    t_data: int
    w: Ints
    capacities: Ints


def application_of(given: Instance | Problem) -> Application:
    """Return the argument of kernels for an instance, or for the problem that a policy sees."""
    p = given.num_workers
    return Application(
        given.tasks,
        given.iterations,
        p + 1 if given.n_com is None else given.n_com,
        p if given.n_com is None else min(given.n_com, p),
        given.t_prog,
        given.t_data,
        np.array(given.w, dtype=np.int64),
        np.array(given.capacities, dtype=np.int64),
    )
