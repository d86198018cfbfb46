"""Branch nodes divide the schedules, and the pool returns the node with the least bound."""

from dataclasses import dataclass

from hindsched.offline.coupled.bounds.branch_node import BranchNode, NodePool
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE


@dataclass
class State:
    """The generation of a node."""

    generation: int = 0

    def for_child(self) -> "State":
        return State(self.generation + 1)


def test_children_divide_the_ends_of_an_iteration():
    root = BranchNode(7, 3, State())
    root.branch_by_end(2, 10, stride=1)
    sooner, later = root.children
    assert root.branching == (2, 10)
    assert (sooner.bound, sooner.stride, sooner.depth, sooner.state.generation) == (7, 1, 1, 1)
    earliest, latest = sooner.windows(3)
    assert earliest.tolist() == [0, 0, 0, 0]
    assert latest.tolist() == [UNREACHABLE, UNREACHABLE, 10, UNREACHABLE]
    assert later.windows(3)[0].tolist() == [0, 0, 11, 0]
    assert later.windows(1)[0].tolist() == [0, 0]
    later.branch_by_end(2, 15, stride=1)
    assert [child.windows(2)[0][2] for child in later.children] == [11, 16]
    assert root.windows(2)[0].tolist() == [0, 0, 0]


def test_children_divide_by_the_use_of_a_period():
    root = BranchNode(0, 1, State(), used=((0, 3),))
    root.branch_by_period((1, 5), stride=1)
    used, unused = root.children
    assert (used.used, used.unused) == (((0, 3), (1, 5)), ())
    assert (unused.used, unused.unused) == (((0, 3),), ((1, 5),))


def test_the_pool_returns_the_least_bound_and_of_equal_ones_the_first_child():
    for newest_first in (False, True):
        root = BranchNode(5, 1, State())
        pool = NodePool(root, newest_first=newest_first)
        assert pool.least() is root
        root.branch_by_end(1, 4, stride=1)
        pool.replace(root)
        sooner, later = root.children
        assert (len(pool), pool.least()) == (2, sooner)
        sooner.branch_by_end(2, 6, stride=1)
        pool.replace(sooner)
        assert len(pool) == 3
        assert pool.least() is (sooner.children[0] if newest_first else later)
        for node in (later, sooner.children[0]):
            node.bound = 9
        assert pool.least() is sooner.children[1]
        pool.discard(sooner.children[1])
        assert set(map(id, pool)) == {id(later), id(sooner.children[0])}
        assert pool.least().bound == 9
