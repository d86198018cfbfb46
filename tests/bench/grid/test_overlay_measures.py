"""Reach, in-degrees and new links are those of the readable overlays."""

from collections import Counter

import pytest

from hindsched.bench.grid import overlay_measures
from hindsched.bench.grid.overlay_measures import measure_overlay
from hindsched.online.grid.options import Dgs
from hindsched.online.grid.overlays import Cyclon, static_lists


def reach(lists):
    return [len({other for node in own for other in (node, *lists[node])}) for own in lists]


def deviation(lists):
    degrees = Counter(node for row in lists for node in row)
    each = [degrees[node] for node in range(len(lists))]
    mean = sum(each) / len(each)
    return (sum((x - mean) ** 2 for x in each) / len(each)) ** 0.5


@pytest.mark.parametrize(("nodes", "degree", "seed"), [(30, 4, 0), (12, 6, 1), (40, 9, 2)])
def test_a_replay_counts_the_links_of_the_readable_overlay(monkeypatch, nodes, degree, seed):
    monkeypatch.setattr(overlay_measures, "_ROUNDS", 3)
    monkeypatch.setattr(overlay_measures, "_COUNTED", 4)
    plain = Cyclon(nodes, degree, seed, Dgs().swap)
    created = []
    for number in range(1, 8):
        before = plain.lists()
        plain.shuffle(number)
        created.append(sum(len(set(new) - set(old)) for old, new in zip(before, plain.lists(), strict=True)))
    found = measure_overlay(nodes, degree, seed, "cyclon")
    assert found["new_links"] == sum(created[3:]) / 4 > 0
    assert (found["least"], found["most"]) == (min(reach(plain.lists())), max(reach(plain.lists())))
    assert found["in_degree_sd"] == pytest.approx(deviation(plain.lists()))


def test_a_static_overlay_has_no_new_links():
    lists = static_lists(25, 5, 3)
    found = measure_overlay(25, 5, 3, "static")
    assert found["new_links"] == 0
    assert (found["least"], found["mean"], found["most"]) == (
        min(reach(lists)),
        round(sum(reach(lists)) / 25),
        max(reach(lists)),
    )
    assert found["in_degree_sd"] == pytest.approx(deviation(lists))
