"""Numbers of the pages on batches equal those computed from the bare rows."""

from docs.studies.batches.booking_page import BookingPage
from docs.studies.batches.pages import Published
from docs.studies.rows import read_rows


def test_numbers_on_batches_are_those_of_the_bare_rows():
    """The test computes them directly from the file."""
    published = Published()
    rows = read_rows("batches_runs")
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
    page = BookingPage()
    speed = masters[(masters["policy"] == "A3-speed") & (masters["copies_lambda"] == 4) & (masters["c"] == 3600)]
    daily = speed[speed["crowd"] == "daily"]
    shown = page.compared("contacts", "A3-speed", "4", "14400", "3600", "daily")
    assert shown == f"{daily['contacts'].mean():.2f}"
    assert page.num_crowds() == str(daily["seed"].nunique())
    history = mine[mine["policy"] == "A3-history"].set_index("seed")["satisfied_tasks"]
    lead = 100 * (history - mine[mine["policy"] == "A2"].set_index("seed")["satisfied_tasks"])
    shown = page.lead("satisfied_tasks", "A3-history", "A2", "2", "7200")
    assert shown.startswith(f"{lead.mean():+.1f}")
    assert (" (" in shown) == (len(lead) > 1)
