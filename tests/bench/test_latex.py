"""The report for a paper: tables as LaTeX, pictures as PDF, with the same cells as on a terminal."""

from hindsched.bench.campaign.score import score
from hindsched.bench.campaign.sources import Given
from hindsched.bench.report.page import write_report
from hindsched.bench.results.print_table import readable
from hindsched.bench.results.ratio_statistics import in_median_order
from hindsched.bench.results.records import records
from hindsched.bench.run_records import Options
from hindsched.instances.coupled.generate import small


def test_tables_and_pictures_for_a_paper(tmp_path):
    sources = [Given(f"number {seed}", "small", small(seed, p=3, slots=30, tasks=2)) for seed in (1, 2, 3)]
    found = score(sources, ["IE", "RANDOM"], Options(), tmp_path / "rows")
    plain = write_report(tmp_path / "rows", tmp_path / "plain")
    assert not [file for file in plain.files if file.suffix in (".tex", ".pdf")]
    written = {file.name for file in write_report(tmp_path / "rows", tmp_path / "paper", latex=True).files}
    assert {"table.tex", "ranges.pdf", "ecdf-all.pdf"} <= written
    assert {file.name for file in plain.files} < written
    lines = (tmp_path / "paper" / "table.tex").read_text().splitlines()
    assert lines[0] == r"% needs \usepackage{booktabs}"
    rows = [line.split(" & ") for line in lines if " & " in line]
    cells = [readable(row, ()) for row in records(in_median_order(found.table))]
    assert [row[0] for row in rows[1:]] == [row["policy"] for row in cells]
    assert [row[3] for row in rows[1:]] == [row["median"] for row in cells]


def test_nothing_in_a_cell_is_read_as_a_command(tmp_path):
    class Odd:
        name = "50%_of & more"

        def choose(self, visible):
            return None if visible.is_complete or not visible.up else {visible.up[0]: visible.problem.tasks}

    score([Given("one", "small", small(1, slots=30))], [Odd()], Options(), tmp_path / "rows")
    write_report(tmp_path / "rows", tmp_path / "paper", latex=True)
    assert r"50\%\_of \& more &" in (tmp_path / "paper" / "table.tex").read_text()
