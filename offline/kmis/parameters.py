"""Parameters of the k-subset intersection: they decide how long a search takes, and nothing that is proven."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PARAMETERS", "KmisParameters"]


class KmisParameters(NamedTuple):
    """Parameters of the search; expected times are estimates in nanoseconds.

    Parameters
    ----------
    small_array
        Entries of an array up to which one compiled call is tried: it saves the calls from Python.
    single_call_ns
        Expected time from which the single call starts no search.
    single_call_steps
        Least number of steps after which the single call stops a search.
    row_side_ns
        Expected time below which the row side is searched without an estimate of the column side.
    max_column_goal
        Number of columns wanted beyond which the column side is not considered.
    better_incumbent_ns
        Expected time from which a wider beam for the incumbent pays off in the single call.
    long_search_ns
        The same outside the single call, with a better estimate.
    narrow_beam, wide_beam, widest_beam
        Widths of the beam: in the single call, for its better incumbent, and for long searches.
    first_dives, more_dives
        Random dives of the estimate, for short searches and for others, in the single call.
    dives
        Random dives of the first estimate outside the single call.
    uneven_ns
        Expected time below which a root with items of very different size is not split: their order does as much.
    search_time_share
        Part of the remaining time for a search that cannot end in time; the rest is for bounds.
    """

    small_array: int = 1 << 17
    single_call_ns: float = 2_000_000.0
    single_call_steps: int = 500_000
    row_side_ns: float = 80_000.0
    max_column_goal: int = 40
    better_incumbent_ns: float = 120_000.0
    long_search_ns: float = 5e6
    narrow_beam: int = 3
    wide_beam: int = 8
    widest_beam: int = 64
    first_dives: int = 6
    more_dives: int = 16
    dives: int = 12
    uneven_ns: float = 1_000_000.0
    search_time_share: float = 0.75


PARAMETERS = KmisParameters()
"""The parameters of all searches; kernels compile them in."""
