"""docs/grid/model.md: its examples are read, and its tables and numbers compared with the code."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from hindsched.instances.grid import Instance, PriceCertificate, Schedule, check, read_instance
from hindsched.instances.grid.generate import NARROW_MIX, WIDE_MIX
from hindsched.instances.grid.packaged_log import kth_sp2
from hindsched.instances.grid.workloads import UNUSABLE
from hindsched.online.grid import OPTIONS, POLICIES, Counters, Metrics
from hindsched.online.grid.options import CHOICES
from hindsched.online.grid.runs import EventCounters, LateCounters

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "grid" / "model.md").read_text(encoding="utf-8")
EXAMPLES = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def section(number: str) -> str:
    """Return the text of one section or subsection."""
    start = re.search(rf"^##+ {re.escape(number)}\.? ", PAGE, re.MULTILINE).start()
    ends = [match.start() for match in re.finditer(r"^##+ \d", PAGE, re.MULTILINE) if match.start() > start]
    return PAGE[start : ends[0] if ends else len(PAGE)]


def test_every_citation_names_a_section_that_exists():
    known = set(re.findall(r"^##+ (\d(?:\.\d)?)\.? ", PAGE, re.MULTILINE))
    cited = set()
    for package in ("instances", "online", "bench"):
        for path in (ROOT / package / "grid").rglob("*.py"):
            cited |= set(re.findall(r"docs/grid/model\.md sections? (\d(?:\.\d)?)", path.read_text()))
    assert len(cited) > 6
    assert cited <= known


def test_the_examples_are_read():
    instance, schedule, prices = EXAMPLES
    assert list(read_instance(instance).rows()) == [(0, 16, 90), (2, 1, 4)]
    grid = Instance(8, 60, [0, 0], [5, 8], [2, 1])
    assert check(grid, Schedule(schedule | {"instance": grid.fingerprint})).outcome.failed == 1
    many = Instance(5000, 60, [0] * 8, [3000] * 8, [5] * 8)
    found = check(many, PriceCertificate(prices | {"instance": many.fingerprint}))
    assert found.is_valid, found.reason


@pytest.mark.parametrize("counter", [field.name for field in dataclasses.fields(Counters)])
def test_the_table_has_all_counters(counter):
    assert f"`{counter}`" in section("3.5")


def test_metrics_rules_and_schedulers_are_described():
    assert all(f"`{field.name}`" in section("2") for field in dataclasses.fields(Metrics))
    assert all(f"`{reason}`" in section("1.1") for reason in UNUSABLE)
    described = section("3.3") + section("3.6") + section("3.7")
    assert all(f"`{name}`" in described or name in ("dgs", "queue") for name in POLICIES)
    assert all(f"`{rule}`" in section("3.6") for rule in CHOICES["rule"])
    for option in OPTIONS:
        assert f"`{option}`" in section("3.2") + section("3.3") + section("3.4") + section("3.7") + section("3.8"), (
            option
        )
    assert all(f"`{field.name}`" in section("3.7") for field in dataclasses.fields(LateCounters))
    described = section("3.3") + section("3.4") + section("3.5") + section("3.8")
    assert all(f"`{field.name}`" in described for field in dataclasses.fields(EventCounters))


def test_the_mixes_are_those_of_the_table():
    rows = {
        cells[0].split("`")[1]: cells[1:]
        for cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in section("1.2").splitlines())
        if cells and "`" in cells[0] and cells[0].split("`")[1] in ("WIDE_MIX", "NARROW_MIX")
    }
    for name, mix in (("WIDE_MIX", WIDE_MIX), ("NARROW_MIX", NARROW_MIX)):
        assert [float(rows[name][0]), float(rows[name][1]), int(rows[name][3])] == [mix.serial, mix.wide, mix.top]
    assert rows["WIDE_MIX"][2] == f"{WIDE_MIX.wide_from}, {WIDE_MIX.wide_to}"
    assert rows["WIDE_MIX"][4] == f"{WIDE_MIX.median_s:.0f}, {WIDE_MIX.sigma}, {WIDE_MIX.longest_s:.0f}"


def test_the_packaged_log_is_as_described():
    assert "1,500 jobs of **KTH-SP2**" in PAGE
    assert len(kth_sp2()) == 1500


def test_the_competitive_example_grows():
    """Fact 8 of section 5: a job (M, L) and L jobs (M, 1), one a slot."""
    for length in (2, 5, 9):
        jobs = Instance(3, 60, range(length + 1), [3] * (length + 1), [length, *[1] * length])
        at_once = [0, *range(length, 2 * length)]
        waiting = [length + 1, *range(1, length + 1)]
        waits = [
            check(jobs, Schedule.of(jobs, starts, [[0, 1, 2]] * (length + 1))).outcome.total_wait
            for starts in (at_once, waiting)
        ]
        assert waits == [length * (length - 1), length + 1]
