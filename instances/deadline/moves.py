"""What it takes to move a checkpoint between zones: published rates for regions of one or two continents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from hindsched.instances.errors import InputError

__all__ = ["moves_of_checkpoint", "names_of_node", "region_of"]

#: Names of zones of AWS and GCP; the group is the region.
_ZONES = (
    re.compile(r"([a-z]{2}(?:-[a-z]+)+-\d)[a-z](?![a-z0-9])"),
    re.compile(r"([a-z]+-[a-z]+\d+)-[a-z](?![a-z0-9])"),
)

#: Megabits per second within a region, between regions of a continent, and between continents.
_WITHIN, _NEAR, _FAR = 9720, 8200, 3590
#: Micro-dollars per gigabyte that leaves a region, and between two regions that pay half.
_EGRESS, _HALF_EGRESS, _HALF_PAIR = 20_000, 10_000, frozenset(("us-east-1", "us-east-2"))
_MBIT_PER_GB = 8192
#: The largest checkpoint in gigabytes; moving it costs less than the largest number of an instance.
_MOST_GB = 100_000


def names_of_node(node: str) -> tuple[str, str]:
    """Return the names of a zone that a node of a trace may have: its own, and the part of it before ``_``.

    Examples
    --------
    >>> names_of_node("us-east-2a_v100_1")
    ('us-east-2a_v100_1', 'us-east-2a')
    """
    return node, node.partition("_")[0]


def region_of(zone: str) -> str:
    """Return the region of a zone that is named as AWS or GCP do; otherwise the name.

    Examples
    --------
    >>> region_of("us-east-2a_v100_1"), region_of("us-central1-b"), region_of("lab")
    ('us-east-2', 'us-central1', 'lab')
    """
    for pattern in _ZONES:
        found = pattern.match(zone)
        if found:
            return found[1]
    return zone


def moves_of_checkpoint(regions: Sequence[str], gigabytes: float | Fraction) -> tuple[list[list[int]], list[list[int]]]:
    """Return the delays in seconds and the costs in micro-dollars of moving a checkpoint between zones.

    The rates are those of SkyNomad: nothing within a region; on one continent the transfer takes as much longer as
    8200 Mbit/s are slower than 9720, between continents as 3590 are, and a gigabyte costs 0.02 dollars (0.01 between
    us-east-1 and us-east-2). The first part of a region's name is its continent.

    Parameters
    ----------
    regions
        The region of each zone.
    gigabytes
        Size of the checkpoint.

    Raises
    ------
    InputError
        If the size is not a number from 0 to 100,000.

    Examples
    --------
    >>> moves_of_checkpoint(["us-east-1", "us-east-2", "us-west-2"], 50)
    ([[0, 8, 8], [8, 0, 8], [8, 8, 0]], [[0, 500000, 1000000], [500000, 0, 1000000], [1000000, 1000000, 0]])
    """
    if not 0 <= gigabytes <= _MOST_GB:
        raise InputError(f"{gigabytes}, expected gigabytes from 0 to {_MOST_GB}", place="checkpoint_gb")
    size = Fraction(gigabytes)
    return (
        [[_delay_s(a, b, size) for b in regions] for a in regions],
        [[_micro_dollars(a, b, size) for b in regions] for a in regions],
    )


def _delay_s(a: str, b: str, size: Fraction) -> int:
    if a == b:
        return 0
    rate = _NEAR if a.partition("-")[0] == b.partition("-")[0] else _FAR
    return floor(_MBIT_PER_GB * size * (Fraction(1, rate) - Fraction(1, _WITHIN)) + Fraction(1, 2))


def _micro_dollars(a: str, b: str, size: Fraction) -> int:
    if a == b:
        return 0
    return floor((_HALF_EGRESS if {a, b} == _HALF_PAIR else _EGRESS) * size + Fraction(1, 2))
