"""Numbers of the pages on batches equal those computed from the bare rows."""

from docs.studies.batches.booking_page import BookingPage
from docs.studies.batches.pages import Published
from docs.studies.rows import read_rows


def test_numbers_on_batches_are_those_of_the_bare_rows():
    """The test computes them directly from the file."""
    published = Published()
    rows = read_rows("batches_runs")
    mine = rows[(rows["policy"] == "A3-speed") & (rows["first"] == "spread") & (rows["copies_lambda"] == 2)]
    mine = mine[(mine["deadline_s"] == 8 * mine["c"]) & (mine["tasks"] == 1024)]
    shown = published.mean("copies_per_task", "A3-speed", "spread", "2", "D/8", "1024")
    assert shown == f"{mine['copies_per_task'].mean():.2f}"
    assert published.runs() == str(len(rows))
    assert published.runs("optima") == str(rows["stream_batches"].notna().sum())
    for better, worse in (("free", "stream"), ("stream", "satisfied")):
        both = rows[rows[f"{better}_batches"].notna()]
        assert (both[f"{better}_batches"] >= both[f"{worse}_batches"]).all()
        assert (both[f"{better}_tasks"] >= both[f"{worse}_tasks"]).all()
    asked = read_rows("batches_readings")
    carried = asked[(asked["question"] == "closing") & (asked["overdue"] == "carry")]
    assert published.stuck("carry") == f"{carried['stuck'].sum():.0f}"
    two = asked[(asked["question"] == "requests") & (asked["copies_lambda"] == 2) & (asked["policy"] == "A3-speed")]
    assert published.requested("copies_per_task", "A3-speed", "2") == f"{two['copies_per_task'].item():.2f}"
    compared = asked[asked["stream_tasks"].notna()]
    assert (compared["stream_tasks"] >= compared["satisfied_tasks"]).all()
    masters = read_rows("batches_policies")
    mine = masters[(masters["crowd"] == "paper") & (masters["c"] == 7200) & (masters["copies_lambda"] == 2)]
    ours, others = mine[mine["policy"] == "booking"], mine[mine["policy"] != "booking"]
    best = others.loc[others["satisfied_tasks"].idxmax()]
    gap = best["stream_tasks"] - best["satisfied_tasks"]
    closed = 100 * (ours["satisfied_tasks"].item() - best["satisfied_tasks"]) / gap
    assert BookingPage().closed("14400", "7200") == f"{closed:.0f}%"
