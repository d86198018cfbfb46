"""Files, Python names and commands that pages name exist, and pages that code names."""

import importlib
import re
from pathlib import Path

import pytest

from hindsched.bench.commands.group import hindsched

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"`((?:instances|offline|online|reductions|bench|docs|tests)/[\w/.]+)`")
NAME = re.compile(r"`(hindsched(?:\.\w+)+)[`(]")
SHELL = re.compile(r"```sh\n.*?```|`[^`\n]+`", re.DOTALL)
COMMAND = re.compile(r"(?<!import )\bhindsched ([a-z][a-z-]+)")
#: Groups of entry points for installed policies and families, and placeholders for names.
ENTRY_POINTS, ANY = ("hindsched.policies", "hindsched.families"), "NAME"


def is_there(name: str) -> bool:
    """Return whether a dotted name is a module or an attribute of one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_pages_name_exists(page):
    text = page.read_text(encoding="utf-8")
    assert [path for path in FILE.findall(text) if ANY not in path and not (ROOT / path).exists()] == []
    assert [name for name in NAME.findall(text) if name not in ENTRY_POINTS and not is_there(name)] == []
    assert {verb for code in SHELL.findall(text) for verb in COMMAND.findall(code)} <= set(hindsched.commands)


def test_pages_that_code_names_exist():
    folders = ("instances", "offline", "online", "reductions", "bench", "docs/studies", "tests")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    named = {name for path in sources for name in re.findall(r"\bdocs/[\w/]+\.md", path.read_text(encoding="utf-8"))}
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
