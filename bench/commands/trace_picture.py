"""What a trace holds, for people: its first intervals and its availability over time, as text and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from hindsched.instances.errors import printable
from hindsched.instances.intervals import Interval, Presence, Seconds
from hindsched.instances.text_files import as_unicode
from hindsched.instances.traces.times import short, to_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hindsched.instances.traces import Trace

__all__ = ["explain", "svg"]

#: Number of nodes that are shown, and of intervals of each.
MOST_NODES, MOST_INTERVALS = 100, 10
#: Width of the picture in characters, and in columns of the SVG.
_CHARACTERS, _COLUMNS = 64, 640
#: Letter, colour and meaning of a part of the picture.
_SIGNS = {
    "available": ("#", "#009e73"),
    "mostly available": ("+", "#8fd3bf"),
    "mostly not": ("-", "#b3b3b3"),
    "unavailable": (".", "#595959"),
    "claimed": ("c", "#e69f00"),
    "not observed": (" ", "none"),
}
#: Height of a row, width of the names, and margin of the SVG, in pixels.
_ROW, _NAMES, _MARGIN = 16, 160, 24


def explain(trace: Trace, nodes: Sequence[str]) -> Iterator[str]:
    """Yield lines on what was read: findings, assumptions, a picture, and the first ten intervals of each node.

    Parameters
    ----------
    trace
        The trace.
    nodes
        The nodes to show; the first hundred are shown.
    """
    yield f"read: {trace.summary}"
    yield from (f"assumed: {assumption}" for assumption in trace.assumptions)
    shown = list(nodes[:MOST_NODES])
    rows = [trace.intervals[trace.nodes.index(node)] for node in shown]
    begin, end = _span(rows)
    width = max(len(_cut(node, 24)) for node in shown)
    yield ""
    for node, row in zip(shown, rows, strict=True):
        signs = (_SIGNS[sign][0] for sign in _signs(row, begin, end, _CHARACTERS))
        yield f"{_cut(node, width):{width}} |{''.join(signs)}|"
    first, last = to_text(begin), to_text(end)
    yield f"{'':{width}}  {first}{last:>{_CHARACTERS - len(first)}}"
    yield f"{'':{width}}  " + ", ".join(f"{sign.strip() or 'blank'} {meaning}" for meaning, (sign, _) in _SIGNS.items())
    for node, row in zip(shown, rows, strict=True):
        number = f"{len(row)} interval{'' if len(row) == 1 else 's'}"
        yield f"\n{_cut(node)}: {number}{f', the first {MOST_INTERVALS}:' if len(row) > MOST_INTERVALS else ''}"
        for start, stop, presence in row[:MOST_INTERVALS]:
            yield f"  {to_text(start)} to {to_text(stop)}  {presence} for {short(stop - start)} s"
    if len(nodes) > MOST_NODES:
        yield f"\n{len(nodes) - MOST_NODES} more nodes; --nodes chooses others"


def svg(trace: Trace, nodes: Sequence[str]) -> str:
    """Return the picture as SVG: a row for each node, time from left to right."""
    shown = list(nodes[:MOST_NODES])
    rows = [trace.intervals[trace.nodes.index(node)] for node in shown]
    begin, end = _span(rows)
    height = _MARGIN + len(rows) * _ROW
    parts: list[str] = []
    for i, (node, row) in enumerate(zip(shown, rows, strict=True)):
        y = _MARGIN + i * _ROW
        parts.append(f'<text x="{_NAMES - 6}" y="{y + 12}" text-anchor="end">{escape(_cut(node, 22))}</text>')
        signs = _signs(row, begin, end, _COLUMNS)
        starts = [x for x in range(_COLUMNS) if x == 0 or signs[x] != signs[x - 1]]
        for x, after in zip(starts, [*starts[1:], _COLUMNS], strict=True):
            colour = _SIGNS[signs[x]][1]
            if colour != "none":
                place = f'x="{_NAMES + x}" y="{y + 2}" width="{after - x}" height="{_ROW - 4}"'
                parts.append(f'<rect {place} fill="{colour}"><title>{signs[x]}</title></rect>')
    parts.append(f'<text x="{_NAMES}" y="{height + 16}">{to_text(begin)}</text>')
    parts.append(f'<text x="{_NAMES + _COLUMNS}" y="{height + 16}" text-anchor="end">{to_text(end)}</text>')
    for i, (meaning, (_, colour)) in enumerate(_SIGNS.items()):
        x = _NAMES + i * 107
        parts.append(f'<rect x="{x}" y="6" width="10" height="10" fill="{colour}" stroke="#a6a6a6"/>')
        parts.append(f'<text x="{x + 14}" y="15">{meaning}</text>')
    size = f'width="{_NAMES + _COLUMNS + _MARGIN}" height="{height + _MARGIN}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n"


def _cut(name: str, width: int = 80) -> str:
    name = printable(as_unicode(name))
    return name if len(name) <= width else f"{name[: width - 3]}..."


def _span(rows: Sequence[Sequence[Interval]]) -> tuple[Seconds, Seconds]:
    """Return the time that all rows span; a second if they have only instants."""
    begin, end = min(row[0].start for row in rows), max(row[-1].stop for row in rows)
    return begin, end if end > begin else begin + 1


def _signs(row: Sequence[Interval], begin: Seconds, end: Seconds, count: int) -> list[str]:
    """Return what the node is in each of ``count`` equal parts of the time from ``begin`` to ``end``."""
    import numpy as np

    times = [float((time - begin) * count / (end - begin)) for interval in row for time in interval[:2]]

    def parts(*presences: Presence) -> npt.NDArray[np.float64]:
        spent = [(stop - start) * (presence in presences) for start, stop, presence in row]
        totals = np.cumsum([0.0, *(float(seconds * count / (end - begin)) for seconds in spent)])
        sums = [0.0, *np.repeat(totals[1:-1], 2), totals[-1]]
        return np.diff(np.interp(np.arange(count + 1), times, sums))

    observed, available, claimed = parts(*Presence), parts(Presence.AVAILABLE), parts(Presence.CLAIMED)
    signs: list[str] = []
    for seen, up, taken in zip(observed, available, claimed, strict=True):
        if seen < 1e-6:
            signs.append("not observed")
        elif up > seen * 0.999:
            signs.append("available")
        elif up > seen * 0.001:
            signs.append("mostly available" if up > seen / 2 else "mostly not")
        else:
            signs.append("claimed" if taken > seen / 2 else "unavailable")
    return signs
