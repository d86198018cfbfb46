"""docs/glossary.md defines the words that modules and public classes are named with."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
PACKAGES = ("instances", "offline", "online", "reductions", "bench")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading line."""
    lines = PAGE[PAGE.index(f"{heading}\n") :].splitlines()[2:]
    table = lines[: next((i for i, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table]


TERMS = rows("| term | in code | definition | source |")


def test_terms_are_sorted():
    terms = [term.partition(" (")[0].lower() for term, *_ in TERMS]
    assert terms == sorted(terms)


def test_names_in_code_exist():
    known = {path.stem for path in SOURCES} | {path.parent.name for path in SOURCES}
    known |= set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)))
    assert {name for _, code, *_ in TERMS for name in re.findall(r"`([^`]+)`", code)} <= known


def test_sources_are_those_cited():
    cited = {key for *_, sources in TERMS for key in re.findall(r"\[(\w+)\]", sources)}
    assert {key for key, _ in rows("| key | source |")} == cited
