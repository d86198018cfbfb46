import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances import InputError
from hindsched.instances.intervals import Interval, Presence
from hindsched.instances.traces import Trace


def node(*spans):
    return tuple(Interval(a, b, Presence.AVAILABLE) for a, b in spans)


LATE = Trace(
    ("a", "b", "c", "d"),
    (node((0, 100)), node((40, 60), (60, 200)), node((50, 90), (95, 300)), node((120, 130))),
)


@pytest.mark.parametrize(
    ("choice", "nodes", "start", "slots"),
    [
        ({"nodes": ["a", "b"]}, ("a", "b"), 40, 6),
        ({"nodes": ["b", "a"], "start": 50}, ("b", "a"), 50, 5),
        ({"nodes": "d"}, ("d",), 120, 1),
        ({"nodes": ["a"], "slots": 3}, ("a",), 0, 3),
        ({"nodes": ["a"], "start": "1970-01-01 00:00:30"}, ("a",), 30, 7),
        ({"nodes": 1}, ("c",), 95, 20),  # the longest
        ({"nodes": 2}, ("b", "c"), 95, 10),
        ({"nodes": 3}, ("a", "b", "c"), 50, 4),
        ({"nodes": 2, "slots": 5}, ("a", "b"), 40, 5),  # the earliest
        ({"nodes": 2, "slots": 7}, ("b", "c"), 95, 7),
        ({"nodes": 2, "start": 125}, ("b", "c"), 125, 7),
        ({"nodes": 2, "start": 80, "slots": 2}, ("a", "b"), 80, 2),
        ({"nodes": 1, "start": 91}, ("b",), 91, 10),
    ],
)
def test_windows(choice, nodes, start, slots):
    window = LATE.window(slot_s=10, **choice)
    assert (window.nodes, window.start, window.slots, window.slot_s) == (nodes, start, slots, 10)
    assert (LATE.states(slot_s=10, **choice) == np.zeros((len(nodes), slots))).all()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({}, "node 'a': no slot of 10 s from 120 s on: it is observed until 100 s"),
        ({"nodes": ["x"]}, "nodes: 'x' is not in the trace, expected one of a, b, c, d"),
        ({"nodes": ["a", "a"]}, "nodes: 'a' occurs twice"),
        ({"nodes": []}, "nodes: none, expected at least one"),
        ({"nodes": 0}, "nodes: 0, expected 1 to 4, the nodes of the trace"),
        ({"nodes": 5}, "nodes: 5, expected 1 to 4"),
        ({"nodes": 4}, "nodes: 4, expected fewer: they are never observed together for 10 s"),
        ({"nodes": 3, "slots": 5}, "nodes: 3, expected at most 2: no more nodes are observed together without a gap"),
        (
            {"nodes": 3, "start": 80, "slots": 2},
            "nodes: 3, expected at most 2: no more nodes are observed without a gap",
        ),
        ({"nodes": 1, "start": 500}, "nodes: 1, expected fewer"),
        (
            {"nodes": ["a"], "start": -10, "slots": 2},
            "node 'a': not observed during all of slot 0, which starts at -10 s (observed in [0",
        ),
        (
            {"nodes": ["a"], "start": 85, "slots": 2},
            "node 'a': not observed during all of slot 1, which starts at 95 s",
        ),
        (
            {"nodes": ["c"]},
            "node 'c': not observed during all of slot 4, which starts at 90 s (observed in [50, 90), [95, 300))",
        ),
        ({"nodes": ["a"], "slots": 0}, "slots: 0, expected an integer >= 1"),
        ({"nodes": ["a"], "slots": 10**12}, "slots: 1000000000000 of 10 s, expected at most 2147483647"),
        ({"nodes": ["a"], "start": "noon"}, "start: 'noon', expected UNIX seconds or a date and time such as 2023"),
        ({"nodes": ["a"], "start": math.nan}, "start: nan, expected a finite number of seconds"),
        ({"nodes": ["a"], "slot_s": 0}, "slot_s: 0, expected a number of seconds above 0"),
        ({"nodes": ["a"], "slot_s": "1970-01-01"}, "slot_s: '1970-01-01', expected a number of seconds above 0"),
        ({"nodes": ["a"], "absent": "gone"}, "absent: 'gone', expected one of down, reclaimed"),
        ({"nodes": ["a"], "unobserved": "up"}, "unobserved: 'up', expected one of refuse, down, reclaimed"),
    ],
)
def test_windows_that_do_not_exist(choice, message):
    with pytest.raises(InputError) as caught:
        LATE.states(**{"slot_s": 10, **choice})
    assert str(caught.value).startswith(message)


SPANS = some.lists(
    some.tuples(some.integers(0, 12), some.integers(0, 12)).map(sorted).map(tuple), min_size=1, max_size=6
)


@given(SPANS, some.integers(1, 6), some.integers(1, 4))
def test_chosen_windows_are_the_earliest_or_the_longest(spans, count, slots):
    trace = Trace(tuple(map(str, range(len(spans)))), tuple(node(span) for span in spans))

    def covering(begin, length):
        return [str(q) for q, (a, b) in enumerate(spans) if a <= begin and begin + length <= b]

    there = {(begin, n): covering(begin, n) for begin in range(13) for n in range(1, 13)}
    there = {place: names[:count] for place, names in there.items() if len(names) >= count}
    for given_slots, places in ((slots, [place for place in there if place[1] == slots]), (None, list(there))):
        if not places:
            with pytest.raises(InputError, match=r"^nodes: "):
                trace.window(slot_s=1, slots=given_slots, nodes=count)
            continue
        window = trace.window(slot_s=1, slots=given_slots, nodes=count)
        best = min(places, key=lambda place: (-place[1], place[0]))
        assert (window.start, window.slots) == best
        assert list(window.nodes) == there[best]
