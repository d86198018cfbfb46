"""What nearly every kernel of the native search takes first: states, constants and scratch memory, as one argument."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table


class SearchArrays(NamedTuple):
    """The arrays of one instance; `Workspace.arrays` returns them.

    Parameters
    ----------
    table
        The known states.
    problem
        The constants of the instance.
    scratch
        The memory in which kernels keep results and intermediate results.
    """

    table: Table
    problem: Problem
    scratch: Scratch
