"""docs/deadline/model.md: its examples are read, and its names and numbers compared with the code."""

import json
import re
from pathlib import Path

from hindsched.instances.deadline import Guard, Schedule, check, read_instance, read_schedule
from hindsched.instances.deadline.check import RULES
from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE
from hindsched.instances.deadline.spot_zones import SAMPLES, SLOT_S
from hindsched.online.deadline import POLICIES, strategy_files

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "deadline" / "model.md").read_text(encoding="utf-8")
EXAMPLES = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def section(number: int) -> str:
    """Return the text of one section."""
    return re.split(r"^## \d+\. ", PAGE, flags=re.MULTILINE)[number]


def test_every_citation_names_a_section_that_exists():
    known = set(re.findall(r"^## (\d)\. ", PAGE, re.MULTILINE))
    cited = set()
    for package in ("instances", "offline", "online", "bench"):
        for path in (ROOT / package / "deadline").rglob("*.py"):
            cited |= set(re.findall(r"model\.md,? sections? (\d)", path.read_text(encoding="utf-8")))
    assert len(cited) > 4
    assert cited <= known


def test_the_examples_are_read():
    instance, schedule = EXAMPLES
    job = read_instance(instance)
    assert (job.slots, job.zones[0].region) == (6, "a")
    plan = read_schedule(schedule | {"instance": job.fingerprint})
    assert isinstance(plan, Schedule)
    verdict = check(job, plan)
    assert verdict.is_valid, str(verdict)


def test_policies_guards_and_rules_are_described():
    assert all(f"**{name.replace(':4', ':S')}**" in section(6) for name in POLICIES)
    assert all(f"`{guard}`" in section(4) for guard in Guard)
    assert all(f"`{rule}`" in section(3) for rule in RULES)


def test_numbers_are_those_of_the_code():
    assert f"{ON_DEMAND_PRICE / 1e6:.2f}" in section(8)
    assert f"{SPOT_PRICE / 1e6:.4f}" in section(8)
    assert f"a slot of {SLOT_S} s" in section(8)
    assert f"{SAMPLES + 1:,}" in section(8)
    assert f"or {strategy_files.TIME_LIMIT_S:.0f} s end the run" in section(6)
    for name in ("task_done_time", "remaining_restart_overhead", "restart_overheads", "elapsed_seconds", "gap_seconds"):
        assert f"`{name}`" in section(6)
