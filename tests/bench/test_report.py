"""The page: its content, that it needs no other files, and that no content of rows breaks it."""

import json
import random
import re
from functools import partial
from html.parser import HTMLParser

import pandas as pd
import pytest

from hindsched.bench.campaign.score import score
from hindsched.bench.campaign.sources import Given
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.report.page import write_report
from hindsched.bench.report.sections import SHORT, Section
from hindsched.bench.report.svg import inline_svg
from hindsched.bench.run_records import Options
from hindsched.instances.coupled.generate import small
from hindsched.online.coupled import POLICIES

VOID = {"meta", "link", "br", "img"}


class Page(HTMLParser):
    """Texts and tags of a page, which must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts, self.ids = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def rows(policies=POLICIES, *, instances=12, seed=0, **fixed):
    """Return made-up rows of a campaign at two points, with some runs unfinished."""
    draw = random.Random(seed)
    found = []
    for number in range(instances):
        wmin = 1 + number % 2
        point = {
            "p": 20,
            "m": 5,
            "n_com": 10,
            "wmin": wmin,
            "scenario": number // 2,
            "trial": 0,
            "seed": 0,
        }
        setting = f"paper p=20 m=5 n_com=10 wmin={wmin} K=10"
        common = {"setting": setting, "instance": f"{setting} {number}", "fingerprint": f"f{number}", "point": point}
        optimum = draw.randint(50, 90)
        found.append(
            common | {"kind": "optimum", "status": "optimal", "value": optimum, "bound": optimum, "check": "valid"}
        )
        for policy in policies:
            makespan = None if draw.random() < 0.1 else round(optimum * draw.uniform(1, 4))
            run = {"kind": "run", "policy": policy, "makespan": makespan, "slot_limit": 500, "check": "valid"}
            options = {"estimator": "printed", "service": "index", "ties": "lowest"}
            found.append(common | run | options | {"code": "abc", "version": "1.2", "runtime_s": 0.5} | fixed)
    return found


def reported(place, found, **options):
    folder = place / "results"
    folder.mkdir(exist_ok=True)
    (folder / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    written = write_report(folder, place / "report", **options)
    return written, Page(written.page.read_text(encoding="utf-8"))


@pytest.fixture
def report(tmp_path):
    return partial(reported, tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return reported(tmp_path_factory.mktemp("whole"), rows())


def test_the_summary_comes_first_and_all_sections_follow(whole):
    written, page = whole
    where = [
        page.text.index(text)
        for text in ("Summary", "Best by median ratio", "Competitive ratios", "Comparison with IE")
    ]
    assert where == sorted(where)
    for text in (
        "Ratios to the optimum",
        "Share of runs within a factor of the optimum",
        "Performance profiles of the policies",
        "Median ratio by wmin",
        "Difference to IE by wmin",
        "code digest abc",
        "checks of runs 204 valid",
        "instances that may be feasible",
        *POLICIES,
    ):
        assert text in page.text
    assert written.counts == {"runs": 204, "instances": 12}
    names = {path.name for path in written.files}
    assert {"report.html", "ranges.svg", "ecdf-IE.svg", "profile-others.svg", "ratios.csv", "versus.csv"} <= names
    assert {path.name for path in written.page.parent.iterdir()} == names


def test_the_page_needs_no_other_file(whole):
    written, page = whole
    text = written.page.read_text(encoding="utf-8")
    assert {"link", "img", "iframe", "object", "image"}.isdisjoint(page.tags)
    assert page.tags.count("script") == 1  # it sorts tables and is part of the page
    targets = [value for name, value in page.attributes if name in ("href", "src")]
    assert {"#how", "ratios.csv", "ecdf-IE.svg"} <= set(targets)
    for target in targets:
        inside = target.startswith("#") and target[1:] in page.ids
        assert inside or (written.page.parent / target).is_file()
    assert "@import" not in text
    assert all(found.startswith("#") for found in re.findall(r"url\(([^)]*)\)", text))
    assert not re.search(r"(?:https?:)?//\w", text)
    assert len(page.ids) == len(set(page.ids))


def test_equal_rows_in_any_order_give_equal_bytes(report):
    found = rows(("IE", "Y-IE", "RANDOM", "mine.py:Mine"))
    written, _ = report(found)
    before = {path.name: path.read_bytes() for path in written.files}
    random.Random(1).shuffle(found)
    written, _ = report(found)
    assert {path.name: path.read_bytes() for path in written.files} == before


def test_tables_and_files_have_the_same_numbers(report):
    written, page = report(rows(("IE", "IP")))
    table = pd.read_csv(written.page.parent / "ratios.csv")
    for value in table["median"]:
        assert f"{value:.2f}" in page.text
    versus = pd.read_csv(written.page.parent / "versus.csv").set_index("policy")
    assert f"{versus.loc['IP', 'diff']:+.1f}" in page.text


def test_nothing_in_the_rows_is_taken_for_markup(report):
    nasty = ("<script>alert(1)</script>", 'a" onload="x', "$x^2$_{&}", "{{ 7 * 7 }}", "_hidden", "a.py:É")
    found = rows((*nasty, "IE"), machine="<b>fast</b>")
    found = [row | {"setting": "<i>s</i>", "instance": f"<u>{row['fingerprint']}", "point": None} for row in found]
    written, page = report(found)
    assert {"b", "i", "u"}.isdisjoint(page.tags)
    assert page.tags.count("script") == 1  # our own
    assert not any(name.startswith("on") for name, _ in page.attributes)
    for text in ("alert(1)", "<b>fast</b>", "{{ 7 * 7 }}", "_hidden", "a.py:É"):
        assert text in page.text
    picture = (written.page.parent / "ranges.svg").read_text()
    assert "$x^2$_{&amp;}" in picture
    assert "<script" not in picture


def test_one_policy_of_a_user(report):
    written, page = report(rows(("own/mine.py:Mine",)))
    assert "Mine: half of the runs take at most" in page.text
    assert "Mine is own/mine.py:Mine" in page.text
    assert "Performance profiles" not in page.text
    assert "Comparison with" not in page.text
    assert (written.page.parent / "ecdf-all.svg").is_file()


def test_another_reference(report):
    _, page = report(rows(("IP", "IY", "mine.py:Mine")), reference="mine.py:Mine")
    assert "Comparison with Mine" in page.text


def test_a_class_with_the_name_of_a_heuristic_is_not_mistaken_for_it(report):
    _, page = report(rows(("some/mine.py:IE", "IP")))
    assert "mine.py:IE is some/mine.py:IE" in page.text
    assert "Comparison with IE" not in page.text


def test_no_run_finished(report):
    written, page = report(rows(("IE", "IP"), makespan=None))
    assert written.findings[1:] == ["No run finished."] or "No run finished." in written.findings
    assert "times the hindsight optimum; no upper end is known" in page.text
    _, page = report(rows(("IE", "IP"), makespan=None, slot_limit=None))
    assert "no median is known" in page.text


def test_no_optimum_at_all(report):
    written, page = report([row for row in rows(("IE", "IP")) if row["kind"] == "run"])
    assert "No optimum is known" in written.findings[0]
    assert "Performance profiles" in page.text
    assert "Competitive ratios" not in page.text


def test_no_schedule_finishes(report):
    found = [
        row
        | ({"status": "infeasible", "value": None, "bound": None} if row["kind"] == "optimum" else {"makespan": None})
        for row in rows(("IE", "IP"))
    ]
    written, page = report(found)
    assert "No schedule finishes any of these instances" in written.findings[0]
    assert "24 more are on 12 infeasible instances" in page.text


def test_optima_that_are_not_proven_leave_intervals(report):
    found = rows(("IE", "IP"))
    found = [row | {"status": "feasible", "bound": 40} if row["kind"] == "optimum" else row for row in found]
    written, page = report(found)
    assert "12 open" in page.text
    assert re.search(r"take at most \d\.\d\d–\d\.\d\d times", written.findings[0])  # noqa: RUF001


def test_missing_runs_are_reported(report):
    written, _ = report([row for row in rows(("IE", "IP")) if row["fingerprint"] != "f3" or row.get("policy") != "IP"])
    assert any(line.startswith("1 run of policies on instances is missing") for line in written.findings)


def test_options_and_populations_have_sections_of_their_own(report):
    other = [
        row | {"setting": "files", "point": None, "fingerprint": "g" + row["fingerprint"]} for row in rows(("IE",))
    ]
    found = rows(("IE", "IP")) + [row | {"estimator": "conditional"} for row in rows(("IE", "IP"), seed=1)] + other
    written, page = report(found)
    for title in (
        "paper p=20 K=10, default options",
        "paper p=20 K=10, estimator conditional",
        "files, default options",
    ):
        assert title in page.text
    assert (written.page.parent / "3-ratios.csv").is_file()


def test_contradictions_come_first(report):
    found = rows(("IE",))
    next(row for row in found if row["kind"] == "run")["makespan"] = 1
    written, page = report(found)
    assert len(written.contradictions) == 1
    assert page.text.index("The results contradict themselves") < page.text.index("Summary")


def test_a_run_is_drawn_beside_the_optimum(tmp_path):
    sources = [Paper(2, 2, 1, scenario, 0, 400, 0, 4, 2) for scenario in range(3)]
    score([*sources, Given("a", "files", small(3, p=3, slots=40))], ["IE", "RANDOM"], Options(), tmp_path)
    written = write_report(tmp_path, tmp_path / "report")
    page = Page(written.page.read_text())
    assert "One run and the optimum" in page.text
    assert re.search(r"IE on paper p=4 m=2 n_com=2 wmin=1 K=2 scenario=\d trial=0", page.text)
    picture = (written.page.parent / "example.svg").read_text()
    assert "hindsight optimum: makespan" in picture


@pytest.mark.parametrize("change", [{"makespan": 1000}, {"fingerprint": "sha256:0"}, {"policy": "own.py:IE"}])
def test_a_run_that_cannot_be_repeated_is_not_drawn(report, tmp_path, change):
    score([Paper(2, 2, 1, 0, 0, 400, 0, 4, 2)], ["IE"], Options(), tmp_path)
    found = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    for row in found:
        row |= {name: value for name, value in change.items() if name in row}
    _, page = report(found)
    assert "One run and the optimum" not in page.text


def found_in(place, **makespans):
    """Return the findings on instances with the optimum 10, given the makespans of each policy."""
    path = place / "runs.csv"
    rows = [
        {"instance": f"i{number:02}", "policy": policy.replace("_", "-"), "makespan": makespan, "optimum": 10}
        for policy, values in makespans.items()
        for number, makespan in enumerate(values)
    ]
    pd.DataFrame(rows).to_csv(path)
    return write_report(path, place / "page").findings


def test_nine_instances_rank_no_policy_and_ten_do(tmp_path):
    few = found_in(tmp_path, IE=[10] * 9, IP=[20] * 9, IY=[30] * 9)
    assert few[0].startswith("Too few instances to rank policies (at least 10")
    assert not re.search("Best|Second|Farthest|first|interval", " ".join(few))
    enough = found_in(tmp_path, IE=[10] * 10, IP=[20] * 10, IY=[30] * 10)
    assert enough[0].startswith("Best by median ratio: IE. Half of its runs take at most 1.00 times")
    assert "Farthest from the optimum: IY, median 3.00." in enough
    assert "Of the others, IP is first by %diff to IE, the paper's metric: IP takes 100.0% longer than IE" in enough[-1]
    alike = found_in(tmp_path, IE=[10, 20] * 6, IP=[20, 10] * 5 + [11, 22])
    assert alike[-1].endswith("; these runs do not distinguish it from IE.")


def test_ties_are_named_and_a_policy_that_is_not_distinguished_is_not_the_farthest(tmp_path):
    spread = [10, 12, 14, 16, 18, 10, 12, 14, 16, 40]
    found = found_in(tmp_path, IE=spread, IP=spread, IY=[19, 10, 16, 15, 12, 17, 13, 15, 11, 30])
    assert found[0].startswith("Best by median ratio: IP and IE tie. Half of their runs take at most 1.40 times")
    assert found[1] == "These runs distinguish no other policy from them."
    assert not any(line.startswith("Farthest") for line in found)
    apart = found_in(tmp_path, IE=spread, IP=[90] * 10, IY=[90] * 10)
    assert "Farthest from the optimum: IP and IY tie, median 9.00." in apart
    assert "IP and IY tie for the first place by %diff to IE, the paper's metric: IP and IY take" in apart[-1]
    alike = found_in(tmp_path, IE=spread, IP=spread, IY=spread)
    assert " tie. Half of their runs take at most 1.40 times" in alike[0]
    assert not any("distinguish" in line or "Farthest" in line for line in alike)


def test_a_compact_table_gives_the_same_findings(report, tmp_path):
    found = rows(("IE", "IP"))
    written, _ = report(found)
    optima = {row["fingerprint"]: row["value"] for row in found if row["kind"] == "optimum"}
    flat = [row | row["point"] | {"optimum": optima[row["fingerprint"]]} for row in found if row["kind"] == "run"]
    pd.DataFrame(flat).drop(columns="point").to_csv(tmp_path / "runs.csv.xz", index=False)
    assert write_report(tmp_path / "runs.csv.xz", tmp_path / "other").findings == written.findings


def test_the_command_writes_into_the_results_and_prints_its_findings(tmp_path, hindsched):
    results = tmp_path / "runs.csv"
    pd.DataFrame({"instance": ["a", "a"], "policy": ["IE", "IP"], "makespan": [20, 10], "optimum": 10}).to_csv(results)
    code, out, _ = hindsched("report", results)
    assert code == 0
    assert "Too few instances to rank policies" in out
    assert "their median ratios go from 1.00 to 2.00" in out
    assert "Best" not in out
    assert "interval" not in out
    assert (tmp_path / "runs-report" / "report.html").is_file()
    code, out, _ = hindsched("report", results, "-o", tmp_path / "here", "--json")
    assert code == 0
    row = json.loads(out)
    assert (row["runs"], row["instances"]) == (2, 1)
    assert row["page"] == str(tmp_path / "here" / "report.html")


def test_bad_input_is_one_line(tmp_path, hindsched):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "runs.jsonl").write_text("{\n")
    (tmp_path / "file").write_text("x")
    for arguments in (("nowhere",), ("broken",), ("file",), (".",)):
        code, out, error = hindsched("report", *(tmp_path / name for name in arguments))
        assert (code, out) == (2, "")
        assert error.startswith("hindsched: ")
        assert len(error.splitlines()) == 1


def test_rows_of_several_campaigns_are_reported_on_the_page_and_on_standard_error(tmp_path, hindsched):
    found = rows(("IE",))
    again = [row | {"seed": 2, "makespan": row["makespan"] + 5} for row in found if row.get("makespan")][:2]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*found, *again]))
    code, _, error = hindsched("report", tmp_path)
    said = "2 runs came out differently in rows that differ in seed: the last row of each counts. "
    assert code == 0
    assert error.startswith(f"hindsched: {tmp_path}: {said}")
    assert said in Page((tmp_path / "report" / "report.html").read_text()).text


def test_a_contradiction_is_written_and_reported(tmp_path, hindsched):
    results = tmp_path / "runs.csv"
    pd.DataFrame({"instance": ["a"], "policy": ["IE"], "makespan": [9], "optimum": 10}).to_csv(results)
    code, _, error = hindsched("report", results)
    assert code == 3
    assert "IE on a: makespan 9, although it is proven that the optimum is >= 10" in error
    assert (tmp_path / "runs-report" / "report.html").is_file()


def test_a_picture_in_a_page_takes_its_colours_and_keeps_its_texts():
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt" version="1.1">'
        '<metadata>m</metadata><defs><style type="text/css">*{}</style><path id="a" d="M 1.23456 2 \n L 3 4"/></defs>'
        '<use xlink:href="#a" style="fill: #0072b2; clip-path: url(#b)"/>'
        '<text>url(#a) id="a" &lt;#ffffff&gt;</text></svg>'
    )
    assert inline_svg(text, "x") == (
        '<svg aria-hidden="true"><defs><path id="x-a" d="M 1.23 2 L 3 4" /></defs>'
        '<use style="fill: var(--c-0072b2,#0072b2); clip-path: url(#x-b)" href="#x-a" />'
        '<text>url(#a) id="a" &lt;#ffffff&gt;</text></svg>'
    )


def test_parts_of_a_page(report, tmp_path, hindsched):
    (whole, _), (short, page) = report(rows()), report(rows(), only=SHORT)
    assert {file.name for file in short.files} < {file.name for file in whole.files}
    assert ("class", "short") in page.attributes
    assert "Competitive ratios" in page.text
    assert "How the results were computed" in page.text
    assert "Dolan" not in page.text
    assert short.findings == whole.findings
    alone, page = report(rows(), only=["profile"])
    assert alone.findings == []
    assert "Dolan" in page.text
    assert "dl" not in page.tags
    assert not any(text in page.text for text in ("Competitive ratios", "How the results were computed"))
    for part in Section:
        report(rows(), only=[part])
    for arguments, message in (
        (("--only", "summary,ratio"), "'ratio', expected one of summary"),
        (("--only", "ratios", "--short"), "--short goes without"),
    ):
        code, _, error = hindsched("report", tmp_path / "results", *arguments)
        assert (code, error.count("\n")) == (2, 1)
        assert message in error


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (8, "reach at least the hindsight optimum divided by 1.25"),
        (None, "reach at most the hindsight optimum divided by 10.0; no upper end is known."),
    ],
)
def test_a_ratio_of_a_maximised_value_is_described_as_such(tmp_path, value, said):
    table = pd.DataFrame({"family": "batches", "policy": "A1", "instance": ["a", "b"], "value": value, "limit": 1})
    table.assign(optimum=10).to_csv(tmp_path / "runs.csv", index=False)
    (first, *_) = write_report(tmp_path / "runs.csv", tmp_path / "page").findings
    assert said in first
