"""Measure overlays without jobs: reach of a search, in-degrees, and new links per round of Cyclon."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Int32s
from hindsched.online.grid.draws import words
from hindsched.online.grid.options import Dgs

__all__ = ["measure_overlay"]

#: Rounds of Cyclon before its overlay is measured, and then rounds in which new links are counted.
_ROUNDS, _COUNTED = 200, 50


def measure_overlay(nodes: int, degree: int, seed: int, overlay: str) -> dict[str, float]:
    """Return how many nodes a searcher reaches, how uneven in-degrees are, and how many links a round creates.

    Parameters
    ----------
    nodes, degree, seed, overlay
        As for `hindsched.online.grid.options.Dgs`; ``cyclon`` is measured after 250 rounds.

    Returns
    -------
    dict
        ``least``, ``mean`` and ``most``: distinct nodes within two hops of a searcher, minimum, rounded mean and
        maximum. ``in_degree_sd``: standard deviation of the number of nodes that list a node. ``new_links``: pairs of
        nodes per round of which the first lists the second after the round and not before, mean over the last 50
        rounds; 0 for a static overlay. A link that is lost and found again within a round is not counted.

    Notes
    -----
    O(M x d^2) per counted round.
    """
    from hindsched.online.grid.kernels.overlay_kernels import cyclon_round, static_overlay

    found = static_overlay(nodes, degree, seed)
    swap = Dgs().swap
    work = np.empty((6, swap + found.lists.shape[1]), dtype=np.int32)
    created = []
    for number in range(1, _ROUNDS + _COUNTED + 1) if overlay == "cyclon" else ():
        before = found.lists.copy()
        cyclon_round(found, swap, words(nodes * (2 * swap - 1), "grid", "shuffle", seed, number), work)
        if number > _ROUNDS:
            created.append(_new_links(before, found.lists))
    reach = [_reach(found.lists, own[own >= 0]) for own in found.lists]
    return {
        "least": min(reach),
        "mean": round(sum(reach) / nodes),
        "most": max(reach),
        "in_degree_sd": float(found.in_degrees.std()),
        "new_links": sum(created) / len(created) if created else 0.0,
    }


def _reach(lists: Int32s, own: Int32s) -> int:
    """Return the number of distinct nodes among neighbours and their neighbours."""
    known = np.unique(np.concatenate((own, lists[own].ravel())))
    return int((known >= 0).sum())


def _new_links(before: Int32s, after: Int32s) -> int:
    """Return the number of entries of the lists ``after`` that the same node did not list ``before``."""
    known = (after[:, :, None] == before[:, None, :]).any(axis=2)
    return int((~known & (after >= 0)).sum())
