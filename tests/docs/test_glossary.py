"""docs/glossary.md defines the words in names of modules and public classes."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = re.sub(r"\n +", " ", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
PACKAGES = ("instances", "offline", "online", "reductions", "bench")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
#: Term, symbol and names in the code, definition.
TERMS = re.findall(r"^- \*\*(.+?)\*\*(?: \((.+?)\))?: (.+)$", PAGE, re.MULTILINE)

#: Words of names that are plain English, terms of programming or textbooks, or names of tools.
COMMON_WORDS = """
agreement aim algorithm answer api application arguments array ascent assignment backends background bank base batsim
bench bit bitsets block bootstrap box branching budget build building burst cache call candidate canvas capacities case
cell charge cheapest checking child cli clock cluster code columns command communication compact compaction comparison
compile compiled compiling complement composition compression computation compute confirmation constants context copying
core count counter coupled criteria curves dask data deadlines decision delay delayed delimited dgs dict dmd domains
drawn draws earliest ecdf ends engine entry error estimate evaluation event exact example exchange execution expansion
expected experiment export facts failed failures fallback fcfs feasibility feasible figure file findings flow formatting
formulation from frozen futures gantt general generate generated given graph greedy grid group habits handover heaps
heuristic hindsched history horizon hour html ilp import imported inf input instance interval job journal json known kth
largest late layer leaderboard least ledger lengths level limit linear load loading log lost lower luck malformed
markdown market matching matrix meaning means measure memory metrics migrating milp mix model modes momentum name native
needs never noisy notebook number objective observed offline one only optimal options order others out outcome output
pace packaged page paper parameters parsing partial participants path periodic picture pinned plan planner plots pool
positions prdct predicting preparing presence price pricing print problem process progress pulp quantile queries
question queue random read reader real reason rebuild recheck reconstruction record reduce refusals refutation relaxed
repair replicating reply report reproduce reproduction reservation resource result robin root round rows running samples
sampling save schedule scheduler score scratch section seen self sense sentinels sequence serving set setting setup
shared shortest side simulate simulation simulator single size solutions solver source start statistics status stopwatch
subproblem summary svg sweep table termination text theorem ticks ties time timed traffic transpose tree types unit user
valid vectors verification verify versus violation visible walk warm week weighted weights window word work workspace
"""


def words_of(name: str) -> set[str]:
    """Return the words of a term, a module or a class that have three letters or more, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name) if len(word) > 2}


def singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else re.sub(r"(?<=[sxzh])es$|(?<=[^s])s$", "", word)


def names() -> dict[str, str]:
    """Return the names of all modules and public classes, each with a file that has it."""
    found = {}
    for path in SOURCES:
        place = str(path.relative_to(ROOT))
        found |= dict.fromkeys(path.relative_to(ROOT).with_suffix("").parts, place)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name] = place
    return found


def test_every_word_of_a_name_is_a_term_or_common():
    known = set(COMMON_WORDS.split()).union(*(words_of(f"{term} {code}") for term, code, _ in TERMS))
    known = {singular(word) for word in known}
    unknown = [
        f"{place}: {name}: {word}"
        for name, place in sorted(names().items())
        for word in sorted(words_of(name))
        if singular(word) not in known and name != "__init__"
    ]
    assert unknown == [], "expected a term of docs/glossary.md or one of COMMON_WORDS"


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
