"""docs/bags/model.md: its examples are read and replayed, and its sections are those that docstrings cite."""

import json
import re
from pathlib import Path

from hindsched import instances
from hindsched.instances.bags import RULES, check, read_instance, read_schedule
from hindsched.online.bags import MAX_COPIES, PAPER_POLICIES, POLICIES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "bags" / "model.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_examples() -> None:
    instance_text, schedule_text = (json.loads(block) for kind, block in FENCE.findall(PAGE) if kind == "json")
    instance, schedule = read_instance(instance_text), read_schedule(schedule_text)
    verdict = check(instance, schedule)
    assert verdict.is_valid, verdict.reason
    assert verdict.outcome.turnaround == schedule_text["turnaround"]


def test_sections_are_those_that_docstrings_cite() -> None:
    headings = re.findall(r"^## (\d+)\. ", PAGE, re.MULTILINE)
    assert headings == [str(number) for number in range(1, 10)]
    cited = set()
    for package in ("instances", "offline", "online", "bench"):
        for source in (ROOT / package / "bags").rglob("*.py"):
            cited |= set(re.findall(r"docs/bags/model\.md section (\d+)", source.read_text(encoding="utf-8")))
    assert cited <= set(headings)
    assert cited


def test_names_on_the_page() -> None:
    for rule in RULES:
        assert f"`{rule}`" in PAGE
    for policy in POLICIES:
        assert f"**{policy}**" in PAGE
    assert len(PAPER_POLICIES) == 4
    assert f"`max_copies` live copies ({MAX_COPIES}, with the original)" in " ".join(PAGE.split())


def test_the_family_is_found_by_its_formats(tmp_path: Path) -> None:
    blocks = [block for kind, block in FENCE.findall(PAGE) if kind == "json"]
    paths = [tmp_path / name for name in ("instance.json", "schedule.json")]
    for path, block in zip(paths, blocks, strict=True):
        path.write_text(block, encoding="utf-8")
    instance, schedule = instances.read(paths[0]), instances.read_schedule(paths[1])
    assert instances.check(instance, schedule).is_valid
    instances.write(instance, tmp_path / "again.json")
    assert instances.read(tmp_path / "again.json") == instance
