"""Overlays: lists by their definition, a round of Cyclon by hand, both engines, and invariants."""

import numpy as np
import pytest

from hindsched.online.grid.draws import words
from hindsched.online.grid.kernels.overlay_kernels import cyclon_round, static_overlay
from hindsched.online.grid.overlays import Cyclon, Entry, static_lists
from tests.cases.grid import raw_words


def kernel_lists(overlay):
    return [[node for node in row if node >= 0] for row in overlay.lists.tolist()]


@pytest.mark.parametrize(("nodes", "degree"), [(1, 20), (2, 1), (2, 20), (7, 3), (30, 29), (40, 12)])
def test_static_lists_follow_the_definition(nodes, degree):
    d = min(degree, nodes - 1)
    expected = []
    for k in range(nodes):
        pool = [node for node in range(nodes) if node != k]
        for i, word in enumerate(raw_words(d, "grid", "overlay", 9, k)):
            x = i + word * (len(pool) - i) // 2**64
            pool[i], pool[x] = pool[x], pool[i]
        expected.append(pool[:d])
    assert static_lists(nodes, degree, 9) == expected
    overlay = static_overlay(nodes, degree, 9)
    assert kernel_lists(overlay) == expected
    assert overlay.in_degrees.tolist() == [sum(k in row for row in expected) for k in range(nodes)]


def test_a_round_of_two_nodes_by_hand():
    cyclon = Cyclon(2, 1, seed=0, swap=3)
    assert cyclon.lists() == [[1], [0]]
    # node 0 sends itself to node 1, which knows it; the reply names node 0 itself; so node 0 has no neighbour left.
    # Then node 1 sends itself to node 0, which has an empty place, and has emptied its own.
    cyclon.shuffle(1)
    assert cyclon.lists() == [[1], []]
    # node 0 sends itself to node 1, whose place is empty; then node 1 sends itself back
    cyclon.shuffle(2)
    assert cyclon.lists() == [[1], []]
    assert cyclon.caches == [[Entry(1, 0)], [None]]


def test_a_merge_by_hand():
    cyclon = Cyclon(9, 3, seed=0, swap=2)
    cyclon.caches[0] = [Entry(4, 5), None, Entry(6, 1)]
    cyclon._merge(
        0, [Entry(0, 1), Entry(4, 2), Entry(7, 3), Entry(8, 4), Entry(5, 0), Entry(6, 9), Entry(3, 9)], [2, 0]
    )
    # 0 is itself, 4 is known, 7 takes the empty place, 8 the place of 6, 5 that of 4; 6 finds no place, nor does 3
    assert cyclon.caches[0] == [Entry(5, 0), Entry(7, 3), Entry(8, 4)]


def test_a_node_shuffles_with_the_first_of_its_oldest_neighbours():
    cyclon = Cyclon(5, 3, seed=1, swap=1)
    cyclon.caches = [[Entry(1, 2), Entry(2, 7), Entry(3, 7)], *([None] * 3 for _ in range(4))]
    cyclon.shuffle(1)
    # Node 0 contacts node 2, which adds node 0 to its list and has no entry to return. Node 2 then contacts node 0,
    # which adds it again and returns one of its two others, chosen by the first word.
    given = [1, 3][raw_words(1, "grid", "shuffle", 1, 1)[0] * 2 // 2**64]
    assert cyclon.lists() == [[1, 2, 3], [], [given], [], []]
    assert [entry.age for entry in cyclon.caches[0]] == [3, 0, 8]


@pytest.mark.parametrize(
    ("nodes", "degree", "swap"), [(2, 1, 3), (3, 2, 1), (5, 4, 8), (12, 3, 2), (12, 8, 4), (40, 6, 6), (25, 20, 8)]
)
def test_kernel_and_plain_shuffle_agree(nodes, degree, swap):
    plain = Cyclon(nodes, degree, 4, swap)
    overlay = static_overlay(nodes, degree, 4)
    d = overlay.lists.shape[1]
    few = min(swap, d)
    work = np.empty((6, few + d + 1), dtype=np.int32)
    emptied = 0
    for number in range(1, 60):
        plain.shuffle(number)
        cyclon_round(overlay, few, words(nodes * (2 * few - 1), "grid", "shuffle", 4, number), work)
        lists = plain.lists()
        assert overlay.lists.tolist() == [[-1 if e is None else e.node for e in cache] for cache in plain.caches]
        filled = overlay.lists >= 0
        ages = [[0 if e is None else e.age for e in cache] for cache in plain.caches]
        assert np.where(filled, overlay.ages, 0).tolist() == ages
        assert overlay.sizes.tolist() == [len(row) for row in lists]
        assert overlay.in_degrees.tolist() == [sum(k in row for row in lists) for k in range(nodes)]
        assert all(k not in row and len(set(row)) == len(row) <= d for k, row in enumerate(lists))
        emptied += int((~filled).sum())
    assert emptied or nodes > 20
