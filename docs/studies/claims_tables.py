"""Write claims, printed numbers and exhibits of a paper as tables of a page and as data files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from docs.studies.claims import Claim, Exhibit, PrintedNumber, Verdict
from hindsched.bench.report.formatting import NOTHING, count
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["claims_frame", "claims_table", "exhibits_table", "number_of_claims", "one_of", "printed_table"]

_WORDS: Mapping[str, Verdict] = {
    "holds": Verdict.HOLDS,
    "partly": Verdict.PARTLY,
    "fails": Verdict.FAILS,
    "undecided": Verdict.UNDECIDED,
    "substitute": Verdict.SUBSTITUTE,
    "measured": Verdict.MEASURED,
}


def claims_frame(claims: Sequence[Claim]) -> pd.DataFrame:
    """Return all claims with evidence and verdict."""
    import pandas as pd

    frame = pd.DataFrame([asdict(claim) | {"verdict": str(claim.verdict)} for claim in claims])
    return frame.astype({"runs": "Int64"})


def claims_table(claims: Sequence[Claim], *words: str) -> str:
    """Return a Markdown table of the claims with these verdicts, or of all claims without a word.

    A word is one of holds, partly, fails, undecided, substitute and measured.
    """
    wanted = {_WORDS[one_of(word, _WORDS)] for word in words or _WORDS}
    rows = [
        (
            claim.source,
            claim.claim,
            claim.printed,
            claim.evidence,
            "" if claim.runs is None else count(claim.runs),
            str(claim.verdict) + (f": {claim.reason}" if claim.reason else ""),
        )
        for claim in claims
        if claim.verdict in wanted
    ]
    return _markdown(("place", "the paper", "printed", "here", "runs", "verdict"), "---|---|--:|---|--:|---", rows)


def exhibits_table(exhibits: Sequence[Exhibit]) -> str:
    """Return a Markdown table of the tables and figures of a paper and where they stand here."""
    rows = [(exhibit.source, exhibit.shows, exhibit.here) for exhibit in exhibits]
    return _markdown(("the paper", "shows", "here"), "---|---|---", rows)


def printed_table(numbers: Sequence[PrintedNumber], write: Callable[[float], str] = "{:,.2f}".format) -> str:
    """Return a Markdown table of printed numbers beside the numbers here, with 95 % intervals.

    Parameters
    ----------
    numbers
        Numbers of one table of the paper.
    write
        Writes the numbers here; a printed number keeps its digits.
    """
    rows = []
    for number in numbers:
        here = NOTHING if number.here is None else write(number.here)
        if number.low is not None and number.high is not None:
            here += f" ({write(number.low)} to {write(number.high)})"
        printed = NOTHING if number.printed is None else f"{number.printed:,}"
        runs = "" if number.runs is None else count(number.runs)
        rows.append((number.row, number.column, printed, here, runs))
    return _markdown(("row", "column", "printed", "here", "runs"), "---|---|--:|--:|--:", rows)


def number_of_claims(claims: Sequence[Claim], word: str = "all") -> str:
    """Return the number of claims with a verdict, or of all claims that the paper makes."""
    if word == "all":
        return str(sum(claim.verdict is not Verdict.MEASURED for claim in claims))
    verdict = _WORDS[one_of(word, _WORDS)]
    return str(sum(claim.verdict is verdict for claim in claims))


def one_of(word: str, words: Iterable[str]) -> str:
    """Return a word of a mark if it is known.

    Raises
    ------
    InputError
        For any other word.
    """
    known = list(words)
    if word not in known:
        raise InputError(f"{word!r}, expected one of {', '.join(map(str, known))}")
    return word


def _markdown(header: Sequence[str], rule: str, rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", f"|{rule}|"]
    lines += [f"| {' | '.join(text.replace('|', '/') for text in row)} |" for row in rows]
    return "\n".join(lines) + "\n"
