"""docs/model.md and docs/formats.md: examples are read, replayed and solved, and tables compared with the code."""

import json
import re
from pathlib import Path

import pytest

from hindsched import instances, offline
from hindsched.bench.cli import main
from hindsched.instances.coupled import Instance, Schedule
from hindsched.instances.states import to_letters
from hindsched.offline.coupled import free_prefetch_bound
from hindsched.online import coupled as online_coupled
from hindsched.online.coupled.visible import Problem

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = ("instances", "offline", "online", "reductions", "bench")


def blocks(kind: str, text: str = PAGE) -> list[str]:
    return [block for name, block in FENCE.findall(text) if name == kind]


def section(number: int) -> str:
    """Return the text of one section."""
    return PAGE[PAGE.index(f"\n## {number}. ") : (PAGE + "\n## 9. ").index(f"\n## {number + 1}. ")]


def table(heading: str, text: str) -> list[list[str]]:
    """Return the rows of the table under a heading line."""
    lines = text[text.index(f"\n{heading}\n") :].splitlines()[3:]
    rows = lines[: next((i for i, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def names(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> tuple[Instance, Instance, Schedule]:
    """The instance with written states, the one with drawn states, and the schedule of the first."""
    folder = tmp_path_factory.mktemp("page")
    found = {}
    for block in blocks("json"):
        document = json.loads(block)
        path = folder / document["format"].replace("/", "-")
        path.write_text(block, encoding="utf-8")
        is_schedule = document["format"] in instances.coupled.SCHEDULE_FORMATS
        found[document["format"]] = instances.read_schedule(path) if is_schedule else instances.read(path)
    return found["coupled/1"], found["coupled/2"], found["schedule/1"]


def test_the_certificate_of_the_page_proves_the_optimum(example, tmp_path):
    text = next(block for block in blocks("json") if "coupled-rents/2" in block)
    (tmp_path / "rents.json").write_text(text, encoding="utf-8")
    verdict = instances.check(example[0], instances.read_schedule(tmp_path / "rents.json"))
    assert verdict.is_valid
    assert verdict.outcome.value == offline.coupled.solve(example[0]).value == 15


def test_sections_are_those_that_docstrings_cite():
    headings = re.findall(r"^## (\d+)\. ", PAGE, re.MULTILINE)
    assert headings == [str(number) for number in range(1, 9)]
    cited = set()
    for package in (*PACKAGES, "tests"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for numbers in re.findall(r"docs/model\.md\s+sections?\s+([\d, and\s]+)", text):
                cited |= set(re.findall(r"\d+", numbers))
    assert cited
    assert cited <= set(headings)


def test_links_inside_the_page_lead_somewhere():
    headings = [line.lstrip("# ") for line in PAGE.splitlines() if line.startswith("#")]
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors
    for name in re.findall(r"\]\(([^#)]+)(?:#[^)]*)?\)", PAGE):
        assert (ROOT / "docs" / name).exists(), name


def test_the_schedule_is_made_for_the_instance_valid_and_optimal(example):
    instance, _, schedule = example
    assert instances.is_made_for(instance, schedule)
    verdict = instances.check(instance, schedule)
    assert verdict.is_valid, verdict
    sizes = {label: int(number) for label, number in table("| of this instance | slots |", section(4))}
    assert verdict.outcome.makespan == sizes["hindsight optimum"]
    assert sizes == {
        "free-prefetch bound": free_prefetch_bound(instance, "makespan"),
        "hindsight optimum": offline.solve(instance, solver="brute").value,
        "hindsight optimum without stand-by": offline.solve(instance, solver="brute", stand_by=False).value,
        "makespan of IE": online_coupled.run_policy(instance, "IE", engine="plain").makespan,
    }


def test_the_picture_shows_the_states_and_the_schedule(example):
    instance, _, schedule = example
    picture = next(block for block in blocks("text", section(4)) if "worker 0" in block)
    shown = [line[10:] for line in picture.splitlines()[2:]]
    expected = [row for pair in zip(to_letters(instance.states), schedule.letters, strict=True) for row in pair]
    assert shown == expected


def test_the_changed_letter_breaks_the_rule_shown(example):
    instance, _, schedule = example
    shown = next(block for block in blocks("text", section(4)) if "broken" in block).strip()
    first, second = schedule.letters
    changed = Schedule(schedule.instance, (first[:5] + "C" + first[6:], second), schedule.configurations)
    assert str(instances.check(instance, changed)) == shown


def test_the_drawn_states_begin_as_shown(example):
    _, drawn, _ = example
    shown = blocks("text", section(1))[0].split()
    assert to_letters(drawn.prefix(len(shown[0]))) == shown


def test_the_heuristics_named_are_those_there_are():
    text = section(6)
    proactive = [cell for row in table("| | IP | IE | IY | IAY |", text) for cell in row[1:]]
    passive = [row[0] for row in table("| name | criterion | better |", text)]
    assert [*passive, *proactive, "RANDOM"] == list(online_coupled.POLICIES)


def test_a_policy_sees_the_attributes_of_the_table():
    rows = table("| attribute | what it is |", section(6))
    seen = {name.partition("(")[0] for row in rows for name in names(row[0])}
    visible = online_coupled.Visible
    there = {name for name in (*visible.__slots__, *vars(visible)) if not name.startswith("_")}
    assert seen == there - {"history"}
    problem = next(names(row[1]) for row in rows if names(row[0]) == {"problem"})
    assert problem == set(Problem.__slots__)


def test_every_column_of_a_row_is_described(example, tmp_path, monkeypatch, capsys):
    described = {
        kind: {name for row in table(heading, part) for name in names(row[0])}
        for kind, heading, part in (
            ("all", "| column | what it is |", FORMATS),
            ("run", "| column | what it is |", FORMATS[FORMATS.index("\nA run:") :]),
            ("optimum", "| column | what it is |", FORMATS[FORMATS.index("\nAn optimum") :]),
        )
    }
    path = tmp_path / "instance.json"
    instances.write(example[0], path)
    arguments = ["score", path, "--policy", "RANDOM", "--results", tmp_path, "--jobs", 1, "--solver", "brute", "--json"]
    monkeypatch.setattr("sys.argv", ["hindsched", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0, capsys.readouterr().err
    rows = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["kind"] for row in rows} == {"run", "optimum"}
    for row in rows:
        assert set(row) == described["all"] | described[row["kind"]]
