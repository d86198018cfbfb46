"""Chunks hold whole groups, short groups together, and every item once."""

from itertools import chain

from hindsched.bench.campaign.chunks import Chunks


def taken(chunks, item_s):
    """Take all chunks, finish each, and return them."""
    found = []
    while chunks:
        found.append(chunks.take())
        chunks.finished(len(found[-1]), len(found[-1]) * item_s)
    return found


def tens(number):
    return number // 10


def test_short_groups_are_joined_until_a_chunk_takes_long_enough():
    found = taken(Chunks(range(10_000), tens), 0.001)
    assert list(chain(*found)) == list(range(10_000))
    assert [len(chunk) for chunk in found[:6]] == [10, 20, 40, 80, 160, 250]
    assert {len(chunk) for chunk in found[6:-1]} == {250}


def test_long_groups_stay_whole_and_alone():
    assert taken(Chunks(range(30), tens), 60.0) == [list(range(first, first + 10)) for first in (0, 10, 20)]


def test_chunks_shrink_when_items_take_longer():
    chunks = Chunks(range(100))
    chunks.finished(1000, 0.25)
    chunks.finished(20, 1.0)
    assert len(chunks.take()) == 5
    chunks.finished(1, 100.0)
    assert len(chunks.take()) == 1


def test_the_rest_of_a_chunk_comes_next_and_is_cut_only_if_nothing_else_waits():
    chunks = Chunks(range(20), tens)
    first = chunks.take()
    chunks.put_back(first[4:], num_idle=2)
    assert [chunks.take(), chunks.take()] == [list(range(4, 10)), list(range(10, 20))]
    chunks.put_back(range(15, 20), num_idle=2)
    assert [chunks.take(), chunks.take(), bool(chunks)] == [[15, 16, 17], [18, 19], False]
    chunks.put_back(range(8, 12), num_idle=2)
    assert [chunks.take(), chunks.take()] == [[8, 9], [10, 11]]
    chunks.put_back([], num_idle=2)
    assert not chunks
