"""Tables whose first line names their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsched.instances.errors import InputError
from hindsched.instances.traces.delimited import Candidate, first_lines
from hindsched.instances.traces.times import plain_name

__all__ = ["TIME_NAMES", "ZONE_NAMES", "named_columns"]

#: Names of the columns of times and of zones, as `plain_name` writes them.
TIME_NAMES = ("time", "timestamp", "date", "datetime", "times")
ZONE_NAMES = ("zone", "availabilityzone", "availability_zone", "az", "node", "name")


def named_columns(lines: Sequence[str], known: Mapping[str, Sequence[str]]) -> tuple[Candidate, dict[str, int]]:
    """Return the line that names the columns of a table, and the column of each kind.

    Parameters
    ----------
    lines
        The lines of the file.
    known
        For each kind of column its possible names, as `plain_name` writes them.

    Raises
    ------
    InputError
        If no line has exactly one column of each kind.
    """
    for head in first_lines(lines):
        names = [plain_name(name) for name in head.names]
        found = {kind: [i for i, name in enumerate(names) if name in those] for kind, those in known.items()}
        if all(len(columns) == 1 for columns in found.values()):
            return head, {kind: columns[0] for kind, columns in found.items()}
    kinds = list(known)
    listed = f"{', '.join(kinds[:-1])} and {kinds[-1]}"
    wanted = "; ".join(f"{kind}: {', '.join(those[:3])}" for kind, those in known.items())
    raise InputError(f"no line names one column each of {listed} ({wanted})", place="line 1")
