"""The order of policies in tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hindsched.bench.family import family_named

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["in_order", "policies_of"]


def in_order(policies: Iterable[str], family: str = "coupled") -> list[str]:
    """Return policies in the order of tables: published ones, the toolkit's own, then users' policies by name.

    Examples
    --------
    >>> in_order(["mine", "hot", "RANDOM", "Y-IE", "IE"])
    ['IE', 'Y-IE', 'RANDOM', 'hot', 'mine']
    """
    adapter = family_named(family)
    places = {policy: place for place, policy in enumerate((*adapter.policies(), *adapter.our_policies()))}
    return sorted(policies, key=lambda policy: (places.get(policy, len(places)), policy))


def policies_of(runs: pd.DataFrame) -> list[str]:
    """Return the policies of runs of one family, in the family's order."""
    return in_order(runs["policy"].unique(), str(runs["family"].iloc[0])) if len(runs) else []
