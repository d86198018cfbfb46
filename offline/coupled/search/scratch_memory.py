"""Scratch memory of the kernels, grouped by the kernel that writes it: kernels allocate no arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.offline.coupled.search.channel_flow import Flow, Participants, make_flow, make_participants
from hindsched.offline.coupled.search.effort import LIMIT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.slot_codes import NEVER

NUM_FOUND, FOUND_LIMIT, EFFORT_LIMIT, NUM_NODES, NUM_MEMBERS, WORK_INDEX, DEPTH, NUM_ABLE, FIRST_SLOT = range(9)
"""Cells of ``Scratch.counters``.

Holder sets found, their limit, the effort limit of one expansion, and the teams enumerated so far. The other cells are
the state of `teams.next_team`: size of the team, index of its W, depth, number of workers that are UP in the last slot,
and first slot of the iteration.
"""


class Needs(NamedTuple):
    """What every worker needs in an iteration with given first and last slots: see `normal_form.prepare`.

    Worker q can receive in its UP slots from ``receive_from[q]`` on. It can hold x tasks before slot c if ``cnt[c, q] -
    data_base[q] >= x T_data``, and the program before slot ``program_by[q]``. ``survivors`` hold the program from the
    first slot to the last; ``obtainable`` are the other workers that can hold it at the end.
    """

    receive_from: Ints
    data_base: Ints
    program_by: Ints
    survivors: Words
    obtainable: Words


class WorkerOrder(NamedTuple):
    """The order in which workers are tried: see module `worker_order`.

    ``workers`` lists the workers by ascending ``key``. ``merit[t, q]`` estimates the value of the program to worker q
    from slot t on, in programs. Workers q and r are symmetric if ``symmetry[q] == symmetry[r] >= 0``.
    """

    workers: Ints
    key: Ints
    merit: Reals
    symmetry: Ints


class Tree(NamedTuple):
    """The depth-first enumeration of teams: see `teams.next_team`.

    ``able`` lists the workers that are UP in the last slot. Row d of the other arrays belongs to the node with members
    ``members[:d]``: their common UP slots as bits, their slot ``c``, and the candidates for the next member, those that
    can hold most tasks first. Each candidate has the team's c and its own tasks if it joins now.
    """

    able: Ints
    members: Ints
    common_up: Words
    c: Ints
    candidate: Ints
    candidate_c: Ints
    candidate_tasks: Ints
    num_candidates: Ints
    next_candidate: Ints


class Subsets(NamedTuple):
    """The branching over sets of stand-by workers that the channel can serve: see `holders`.

    At depth d the first d workers of ``optional`` are decided. ``step[d]`` says which branches are done, and
    ``is_taken[d]`` whether the d-th worker is taken. ``required`` are the holders of every branch, ``optimistic`` is a
    superset of all holder sets below the node.
    """

    optional: Ints
    step: Ints
    is_taken: Ints
    required: Words
    optimistic: Words


class GreedyArrays(NamedTuple):
    """One holder set that is built greedily: see module `greedy_expansion`.

    ``receivers`` lists the workers that can be sent the program, with the tasks that they can hold, their ``role`` and
    the ``value`` of the program to them. ``holders`` lists the holders that can compute, most tasks first.
    ``selected`` has the indices of the selected receivers and ``score`` their scores, best first.
    """

    receivers: Ints
    receiver_tasks: Ints
    role: Ints
    value: Reals
    holders: Ints
    holder_c: Ints
    holder_tasks: Ints
    selected: Ints
    score: Reals


class HolderSets(NamedTuple):
    """The holder sets found for one last slot: see module `holders`.

    Each has the holders, the members, the first slot c of their computation, and the index of W.
    """

    held: Words
    members: Words
    c: Ints
    iw: Ints


class Scratch(NamedTuple):
    """All scratch memory of a search.

    The cells of ``counters`` are named above, those of ``effort`` in module `effort`. ``wanted`` is the holder set
    whose feasibility is tested. ``exchanged`` has the workers that replace symmetric workers in a dominance test.
    ``reachable`` is a superset of the holders after an iteration.
    """

    counters: Ints
    effort: Ints
    flow: Flow
    participants: Participants
    needs: Needs
    order: WorkerOrder
    tree: Tree
    subsets: Subsets
    greedy: GreedyArrays
    found: HolderSets
    wanted: Words
    exchanged: Words
    reachable: Words


def make_scratch(problem: Problem, slots: int, found: int) -> Scratch:
    """Return scratch memory for `slots` slots and at most `found` holder sets at a time."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    def words(*shape: int) -> Words:
        return np.zeros(shape, np.uint64)

    p, k = problem.p, problem.num_words
    deep = min(problem.m, p) + 1
    counters, effort = ints(9), ints(3)
    counters[EFFORT_LIMIT] = effort[LIMIT] = effort[STOP] = NEVER
    counters[FOUND_LIMIT] = found
    return Scratch(
        counters,
        effort,
        make_flow(p, slots, effort),
        make_participants(p),
        Needs(ints(p), ints(p), ints(p), words(k), words(k)),
        WorkerOrder(np.arange(p, dtype=np.int64), ints(p), np.zeros((0, p)), ints(p)),
        Tree(
            able=ints(p),
            members=ints(deep),
            common_up=words(deep, (slots + 63) // 64),
            c=ints(deep),
            candidate=ints(deep, p),
            candidate_c=ints(deep, p),
            candidate_tasks=ints(deep, p),
            num_candidates=ints(deep),
            next_candidate=ints(deep),
        ),
        Subsets(ints(p), ints(p + 1), ints(p + 1), words(k), words(k)),
        GreedyArrays(ints(p), ints(p), ints(p), np.zeros(p), ints(p), ints(p), ints(p), ints(p), np.zeros(p)),
        HolderSets(words(found, k), words(found, k), ints(found), ints(found)),
        words(k),
        words(k),
        words(k),
    )
