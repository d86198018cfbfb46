"""docs/glossary.md defines the words that modules and public classes are named with."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = re.sub(r"\n +", " ", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
PACKAGES = ("instances", "offline", "online", "reductions", "bench")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
#: Term, symbol and names in the code, definition.
TERMS = re.findall(r"^- \*\*(.+?)\*\*(?: \((.+?)\))?: (.+)$", PAGE, re.MULTILINE)


def test_terms_are_sorted():
    terms = [term.lower() for term, _, _ in TERMS]
    assert len(terms) > 50
    assert terms == sorted(set(terms))


def test_names_in_code_exist():
    known = {path.stem for path in SOURCES} | {path.parent.name for path in SOURCES}
    known |= set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)))
    assert {name for _, names, _ in TERMS for name in re.findall(r"`([^`]+)`", names)} <= known


def test_sources_are_those_cited():
    cited = {key for *_, definition in TERMS for key in re.findall(r"\[([A-Z]+\d\d)\]", definition)}
    assert set(re.findall(r"^- \[(\w+)\]", PAGE, re.MULTILINE)) == cited
