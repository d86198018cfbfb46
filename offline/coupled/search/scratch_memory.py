"""Working memory of the kernels, in groups by who writes it: kernels make no arrays of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.offline.coupled.search.channel_flow import Flow, Participants, make_flow, make_participants
from hindsched.offline.coupled.search.constants import EFFORT_LIMIT, FOUND_LIMIT, LIMIT, NEVER, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem


class Needs(NamedTuple):
    """What every worker needs in an iteration in given slots: see `iteration.prepare`.

    Worker q may receive in UP slots from ``receive_from[q]`` on. It can hold x tasks by slot c if ``cnt[c, q] -
    data_base[q] >= x T_data``, and the program by slot ``program_by[q]``. ``survivors`` hold the program throughout,
    ``obtainable`` are the others that could have it at the end.
    """

    receive_from: Ints
    data_base: Ints
    program_by: Ints
    survivors: Words
    obtainable: Words


class WorkerOrder(NamedTuple):
    """In which order workers are tried: see module `worker_order`.

    ``workers`` is the order by ``key``; ``merit[t, q]`` tells what the program is worth to worker q from slot t on.
    Workers q, r are symmetric if ``symmetry[q] == symmetry[r] >= 0``.
    """

    workers: Ints
    key: Ints
    merit: Reals
    symmetry: Ints


class Tree(NamedTuple):
    """The depth-first enumeration of sets of members: see `member_sets.advance`.

    ``able`` are the workers that are UP in the last slot. Row d of the other arrays belongs to the node whose set has d
    members, ``members[:d]``: the slots in which all of them are UP, as bits, its slot ``c``, and the workers that may
    be added, each with the set's c and the tasks it could hold if it were added now, most tasks first.
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
    """The branching over sets of stand-by workers that can be served: see `holders`.

    Of the workers ``optional``, d have been decided about at depth d: ``step[d]`` tells what has been tried and
    ``is_taken[d]`` whether the d-th is in. ``certain`` are the holders whoever is taken, ``hoped`` those of the best
    that a branch can lead to.
    """

    optional: Ints
    step: Ints
    is_taken: Ints
    certain: Words
    hoped: Words


class Proposal(NamedTuple):
    """One set made without a search: see module `proposals`.

    ``fresh`` are the workers that could be sent the program, with the tasks they could hold, what becomes of them and
    the ``value`` of a program to them; ``old`` are the holders that could compute, most tasks first. ``top`` are the
    indices of the best so far with their ``score``, best first.
    """

    fresh: Ints
    fresh_tasks: Ints
    fate: Ints
    value: Reals
    old: Ints
    old_c: Ints
    old_tasks: Ints
    top: Ints
    score: Reals


class HolderSets(NamedTuple):
    """The holder sets found for a last slot: see `holders`.

    For each the holders, the workers that compute, the first slot c in which they do, and the index of W.
    """

    held: Words
    members: Words
    c: Ints
    iw: Ints


class Scratch(NamedTuple):
    """All of it.

    ``counters`` and ``effort`` have named cells (module `constants`). ``wanted`` is the holder set that is asked for,
    ``exchanged`` the workers that stand for symmetric ones in a question of dominance, and ``reachable`` are all the
    holders that an iteration could leave behind.
    """

    counters: Ints
    effort: Ints
    flow: Flow
    participants: Participants
    needs: Needs
    order: WorkerOrder
    tree: Tree
    subsets: Subsets
    proposal: Proposal
    found: HolderSets
    wanted: Words
    exchanged: Words
    reachable: Words


def make_scratch(problem: Problem, slots: int, found: int) -> Scratch:
    """Working memory for `slots` slots and at most `found` holder sets at a time."""

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
        Proposal(ints(p), ints(p), ints(p), np.zeros(p), ints(p), ints(p), ints(p), ints(p), np.zeros(p)),
        HolderSets(words(found, k), words(found, k), ints(found), ints(found)),
        words(k),
        words(k),
        words(k),
    )
