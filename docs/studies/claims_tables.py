"""Write claims of a paper as tables of a page and as a data file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from docs.studies.claims import Claim, Verdict
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["claims_frame", "claims_table", "number_of_claims", "one_of"]

_WORDS: Mapping[str, Verdict] = {
    "holds": Verdict.HOLDS,
    "partly": Verdict.PARTLY,
    "fails": Verdict.FAILS,
    "undecided": Verdict.UNDECIDED,
    "measured": Verdict.MEASURED,
}


def claims_frame(claims: Sequence[Claim]) -> pd.DataFrame:
    """Return all claims with evidence and verdict."""
    import pandas as pd

    return pd.DataFrame([asdict(claim) | {"verdict": str(claim.verdict)} for claim in claims])


def claims_table(claims: Sequence[Claim], *words: str) -> str:
    """Return a Markdown table of the claims with these verdicts: holds, partly, fails, undecided or measured."""
    wanted = {_WORDS[one_of(word, _WORDS)] for word in words}
    rows = [(claim.source, claim.claim, claim.evidence) for claim in claims if claim.verdict in wanted]
    lines = ["| source | the paper | here |", "|---|---|---|"]
    lines += [f"| {' | '.join(text.replace('|', '/') for text in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def number_of_claims(claims: Sequence[Claim], word: str = "all") -> str:
    """Return the number of claims with a verdict, or of all claims that the paper makes."""
    if word == "all":
        return str(sum(claim.verdict is not Verdict.MEASURED for claim in claims))
    verdict = _WORDS[one_of(word, _WORDS)]
    return str(sum(claim.verdict is verdict for claim in claims))


def one_of(word: str, words: Sequence[str] | Mapping[str, object]) -> str:
    """Return a word of a mark if it is known.

    Raises
    ------
    InputError
        For any other word.
    """
    if word not in words:
        raise InputError(f"{word!r}, expected one of {', '.join(map(str, words))}")
    return word
