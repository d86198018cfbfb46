"""`hindsched audit`: bills known by hand, both brackets, losses that add up, and bad input."""

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import hindsched as hs
from hindsched.bench.deadline.audit import audit
from hindsched.bench.deadline.audit_market import AuditTerms
from hindsched.bench.results.records import records_or_none
from hindsched.instances.deadline import HOUR_S, UNITS_PER_DOLLAR, Instance, Kind, Zone
from hindsched.instances.deadline.generate import generate
from hindsched.instances.deadline.job_log import JobLog, LoggedRun
from hindsched.instances.deadline.prices import PriceTable
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Presence
from hindsched.instances.traces.trace import Trace
from hindsched.offline.deadline.api import solve
from hindsched.online.deadline import run_policy

H = HOUR_S
#: Spot costs a dollar an hour, on-demand three.
DOLLAR = 1_000_000
DOCS = Path(__file__).resolve().parents[3] / "docs"


def log_of(*runs, start=0):
    """Return a log of runs (start_h, stop_h, zone, kind, is_lost)."""
    return JobLog(start, tuple(LoggedRun(Fraction(a) * H, Fraction(b) * H, *rest) for a, b, *rest in runs))


def terms_of(deadline_h, **changes):
    given = {"overhead_s": 0, "spot_price": DOLLAR, "on_demand_price": 3 * DOLLAR, "slot_s": H}
    return AuditTerms(deadline_s=deadline_h * H, **(given | changes))


def trace_of(**texts):
    """Return a trace in which each node is available in the hours with a 1."""
    presence = {"1": Presence.AVAILABLE, "0": Presence.UNAVAILABLE}
    rows = [tuple(Interval(t * H, (t + 1) * H, presence[bit]) for t, bit in enumerate(text)) for text in texts.values()]
    return Trace(tuple(texts), tuple(rows))


def dollars(found, *names):
    bills = {bill.who: (bill.dollars, bill.dollars_if_there) for bill in found.bills}
    return [bills[name] for name in names]


# Two hours on spot, lost, two hours on-demand at once; the deadline is after six.
LOST = log_of((0, 2, "a", Kind.SPOT, True), (2, 4, "a", Kind.ON_DEMAND, False))


def test_without_a_trace_the_optimum_is_bracketed():
    found = audit(LOST, None, terms_of(6))
    # no spot seen after two hours: 2 + 2 * 3; spot wherever it may be: four hours of it, but not hour 2
    assert dollars(found, "the log", "foresight") == [(8, 8), (8, 4)]
    assert found.least == 4
    assert found.job.spot.tolist() == [[True, True, False, False, False, False]]
    assert found.job_if_there.spot.tolist() == [[True, True, False, True, True, True]]
    assert [(loss.kind, loss.paid, loss.lost, loss.lost_if_there) for loss in found.losses] == [
        ("spot", 2, 0, 0),
        ("on-demand", 6, 0, 4),
    ]
    assert not found.is_known
    assert "spot is unknown in 50% of the slots" in " ".join(found.assumptions)


def test_a_stop_of_its_own_does_not_show_that_spot_was_lost():
    stopped = log_of((0, 2, "a", Kind.SPOT, False), (2, 4, "a", Kind.ON_DEMAND, False))
    assert audit(stopped, None, terms_of(6)).job_if_there.spot.all()


def test_with_a_trace_there_is_one_optimum():
    found = audit(LOST, trace_of(a="110011"), terms_of(6))
    assert dollars(found, "the log", "foresight", "on_demand", "fallback") == [(8, 8), (4, 4), (12, 12), (8, 8)]
    assert [(loss.start_h, loss.lost, loss.spot_h) for loss in found.losses] == [(0, 0, 2), (2, 4, 0)]
    assert found.is_known


def test_a_wait_that_forces_on_demand_is_charged():
    # spot in the first two hours only; the log waits for them, and then needs on-demand
    found = audit(log_of((2, 4, "a", Kind.ON_DEMAND, False)), trace_of(a="1100"), terms_of(4), ["a"])
    assert dollars(found, "the log", "foresight") == [(6, 6), (2, 2)]
    waits, runs = found.losses
    assert (waits.kind, waits.spot_h, waits.paid, waits.lost) == ("nothing", 2, 0, 4)
    assert (runs.kind, runs.lost) == ("on-demand", 0)


def test_launches_are_charged_and_bounded_without_slots():
    # three launches of half an hour of overhead each, where one is enough
    log = log_of(*((a, a + 1, "a", Kind.SPOT, False) for a in (0, 2, 4)))
    found = audit(log, trace_of(a="11111"), terms_of(5, overhead_s=H // 2, slot_s=H // 2))
    assert (found.job.work_s, found.bills[0].overhead_h) == (3 * H // 2, 1.5)
    assert dollars(found, "the log", "foresight") == [(3, 3), (2, 2)]
    assert 2 - 4 / 60 <= found.least <= 2  # the overhead is two slots of a minute shorter
    assert sum(loss.lost for loss in found.losses) == pytest.approx(1)


def test_prices_are_billed_by_the_second_and_moves_are_paid():
    prices = PriceTable(
        {"us-east-1a": [0, H // 2], "us-west-2a": [0]}, {"us-east-1a": [2 * DOLLAR, DOLLAR], "us-west-2a": [DOLLAR]}
    )
    log = log_of((0, 1, "us-east-1a", Kind.SPOT, False), (1, 2, "us-west-2a", Kind.SPOT, False))
    found = audit(
        log, trace_of(**{"us-east-1a": "11", "us-west-2a": "11"}), terms_of(2, prices=prices, checkpoint_gb=50)
    )
    assert found.bills[0].dollars == pytest.approx(2 / 2 + 1 / 2 + 1 + 50 * 0.02)
    assert dollars(found, "foresight")[0][0] == pytest.approx(2)


def test_the_log_prevails_over_the_trace():
    found = audit(LOST, trace_of(a="100111"), terms_of(6))
    assert found.job.spot.tolist() == [[True, True, False, True, True, True]]
    assert "in 1 slots of 3600 s the log contradicts the trace" in " ".join(found.assumptions)


def test_a_zone_that_the_trace_lacks_is_known_from_the_log_only():
    log = log_of((0, 1, "a", Kind.SPOT, True), (1, 2, "b", Kind.SPOT, False))
    found = audit(log, trace_of(a="1001"), terms_of(4))
    assert found.job.spot.tolist() == [[True, False, False, True], [False, True, False, False]]
    assert found.job_if_there.spot.tolist() == [[True, False, False, True], [True] * 4]
    assert "the trace has no node of b: spot there is known from the log only" in found.assumptions


def test_a_gap_of_the_trace_is_unknown():
    pieces = tuple(Interval(a * H, b * H, Presence.AVAILABLE) for a, b in ((0, 1), (3, 4)))
    found = audit(log_of((0, 2, "a", Kind.ON_DEMAND, False)), Trace(("a",), (pieces,)), terms_of(4))
    assert found.job.spot.tolist() == [[True, False, False, True]]
    assert found.job_if_there.spot.all()
    assert dollars(found, "foresight") == [(2, 2)]


def test_a_late_log_is_said():
    found = audit(LOST, None, terms_of(3))
    assert dollars(found, "the log", "foresight") == [(8, 8), (None, None)]
    assert "the log ends 1.00 h after the deadline" in found.assumptions
    assert sum(loss.lost for loss in found.losses) == pytest.approx(8 - 12)  # the work of four hours on-demand


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("policy", ["greedy", "uniform", "fallback"])
def test_the_run_of_a_policy_is_audited_exactly(seed, policy):
    """A log in whole slots has the policy's bill, the solver's optimum and losses that are not negative."""
    job = generate(seed, slots=30, slot_s=600, overhead_s=(0, 300, 900)[seed % 3])
    run = run_policy(job, policy)
    if run.finish is None:
        pytest.skip("the deadline is missed")
    g = job.slot_s
    # a run ends lost if its last slot is followed by a slot without spot
    runs = tuple(
        LoggedRun(
            r.first * g,
            r.end * g,
            "zone0",
            r.kind,
            r.kind is Kind.SPOT and r.end < job.slots and not job.spot[0, r.end],
        )
        for r in run.schedule.runs
    )
    presence = [Presence.AVAILABLE if up else Presence.UNAVAILABLE for up in job.spot[0]]
    trace = Trace(("zone0",), (tuple(Interval(t * g, (t + 1) * g, p) for t, p in enumerate(presence)),))
    terms = AuditTerms(
        job.deadline_s,
        job.overhead_s,
        job.zones[0].spot_price,
        job.zones[0].on_demand_price,
        work_s=job.work_s,
        slot_s=g,
    )
    found = audit(JobLog(0, runs), trace, terms)
    best = solve(job).value / UNITS_PER_DOLLAR
    assert found.bills[0].dollars == pytest.approx(run.cost / UNITS_PER_DOLLAR)
    assert found.bills[1].dollars == pytest.approx(best)
    assert found.least <= best * (1 + 1e-12)
    assert {bill.who: bill.dollars for bill in found.bills}[policy] == pytest.approx(found.bills[0].dollars)
    assert sum(loss.lost for loss in found.losses) == pytest.approx(found.bills[0].dollars - best)
    assert min(loss.lost for loss in found.losses) > -1e-9


@pytest.mark.parametrize("seed", range(8))
def test_no_schedule_of_finer_slots_beats_the_bound(seed):
    """The bound of an audit in long slots holds for the optimum in slots of ten seconds."""
    coarse = generate(seed, slots=24, slot_s=600, overhead_s=(120, 300, 660, 1300)[seed % 4])
    zone = coarse.zones[0]
    fine = Instance(
        10,
        coarse.deadline_s,
        coarse.work_s,
        coarse.overhead_s,
        [Zone(zone.spot.repeat(60), zone.spot_price, zone.on_demand_price)],
    )
    best = solve(fine).value
    if best is None:
        pytest.skip("infeasible")
    presence = [Presence.AVAILABLE if up else Presence.UNAVAILABLE for up in zone.spot]
    trace = Trace(("zone0",), (tuple(Interval(t * 600, (t + 1) * 600, p) for t, p in enumerate(presence)),))
    log = JobLog(0, (LoggedRun(0, coarse.deadline_s, "zone0", Kind.ON_DEMAND, False),))
    terms = AuditTerms(
        coarse.deadline_s, coarse.overhead_s, zone.spot_price, zone.on_demand_price, work_s=coarse.work_s, slot_s=600
    )
    assert audit(log, trace, terms).least <= best / UNITS_PER_DOLLAR * (1 + 1e-12)


# the command line


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text("time_s,zone,kind\n0,a,spot\n7200,,lost\n7200,a,on-demand\n14400,,none\n")
    return path


PRICES = ("--spot-price", 1, "--on-demand-price", 3)


def test_json_has_the_bills_and_the_losses(hindsched, job):
    code, out, err = hindsched("audit", job, "--deadline-h", 6, "--slot", 3600, *PRICES, "--json")
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    whole = rows[0]
    assert (whole["row"], whole["paid"], whole["foresight"], whole["foresight_if_there"]) == ("audit", 8, 8, 4)
    assert (whole["slot_s"], whole["work_s"]) == (3600, 4 * H)
    bills = [row for row in rows if row["row"] == "bill"]
    assert [row["who"] for row in bills[:4]] == ["the log", "foresight", "foresight with the guard", "on_demand"]
    assert bills[3]["dollars"] == 12
    assert [row["lost_if_there"] for row in rows if row["row"] == "loss"] == [0, 4]


def test_the_page_has_picture_and_tables(hindsched, job, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = hindsched("audit", job, "--deadline-h", 6, "--slot", 3600, *PRICES, "-o", page)
    assert code == 0
    assert "Foresight: 4.00 dollars if spot is there wherever nothing was observed, 8.00 if it is not" in out
    assert "hindsched: assumed: spot is unknown in 50% of the slots" in err
    files = sorted(str(file) for file in page.parent.glob("page*"))
    assert len(files) == 4
    written = err.splitlines()[-1].removeprefix("hindsched: page, picture and tables written to ")
    assert sorted(written.split(", ")) == files
    text = page.read_text()
    assert "<svg" in text
    assert "Where the money was lost, in dollars" in text
    assert "spot is unknown in 50% of the slots" in text
    with (page.parent / "page-losses.csv").open() as file:
        assert [float(row["lost_if_there"]) for row in csv.DictReader(file)] == [0, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--deadline-h", "soon"], "--deadline-h: soon h, expected a whole number of seconds >= 0"),
        (["--deadline-h", "6", "--spot-price", "-1"], "--spot-price: '-1', expected dollars an hour"),
        (["--deadline-h", "6", "--prices", "no.csv"], "no.csv"),
        (["--deadline-h", "6", "--nodes", "b"], "--nodes: nodes without a trace, expected a TRACE"),
        (["--deadline-h", "6", "--overhead-h", "2"], "--overhead-h: no run is longer than 7200 s"),
        (["--deadline-h", "6", "--work-h", "0"], "--work-h: 0 h, expected more"),
        (["--deadline-h", "0"], "--deadline-h: 0 s, expected at least one second"),
        (["--deadline-h", "1", "--slot", "3601"], "--slot: 3601 s, expected at most 3600, the deadline"),
        (["spot_aws_v100", "--deadline-h", "6", "--nodes", "b"], "--nodes: 'b', expected"),
        (["spot_aws_v100", "--deadline-h", "6", "--nodes", "us-east-2a"], "window: 0 s to 21600 s, but the nodes are"),
        (["spot_aws_v100", "--deadline-h", "6"], "trace: its zones are us-east-1a_v100_1"),
        ([], "Missing option '--deadline-h'"),
    ],
)
def test_bad_input_is_one_line(hindsched, job, arguments, message):
    code, out, err = hindsched("audit", job, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_bad_log_is_named(hindsched, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("time_s,zone,kind\n0,a,spto\n")
    code, _, err = hindsched("audit", path, "--deadline-h", 6)
    assert code == 2
    assert err.startswith(f"hindsched: {path}: line 2: kind 'spto'")


def test_the_tutorial_prints_what_it_shows(hindsched):
    """The commands of the tutorial give the dollars in its text."""
    page = (DOCS / "tutorials" / "spot_bill.md").read_text(encoding="utf-8")
    commands = re.findall(r"^hindsched audit job.csv (.*)$", page, re.MULTILINE)
    blocks = re.findall(r"^```text\n(.*?)```", page, re.MULTILINE | re.DOTALL)[1:]
    assert len(commands) == len(blocks) == 2
    for command, block in zip(commands, blocks, strict=True):
        code, out, _ = hindsched("audit", DOCS / "tutorials" / "job.csv", *command.partition(" -o ")[0].split())
        assert code == 0
        printed = [line.rstrip() for line in out.splitlines()]
        shown = block.splitlines()
        assert [line for line in shown if line and line not in printed] == []
        if "" in shown:  # bills are chosen, but all that was found is shown
            assert printed[-len(shown) + shown.index("") + 1 :] == shown[shown.index("") + 1 :]


def test_an_unknown_node_names_the_known_ones():
    with pytest.raises(InputError, match=r"nodes: b, expected one of a|nodes: 'b', expected one of a"):
        audit(LOST, trace_of(a="111111"), terms_of(6), ["b"])


def test_the_function_returns_what_the_command_prints(hindsched, tmp_path):
    log = DOCS / "tutorials" / "job.csv"
    code, out, _ = hindsched("audit", log, "spot_aws_v100", "--deadline-h", 70, "--overhead-h", "0.2", "--json")
    printed = [json.loads(line) for line in out.splitlines()]
    found = hs.audit(log, "spot_aws_v100", deadline_h=70, overhead_h=0.2)
    assert code == 0
    assert (found.least, found.assumptions) == (printed[0]["least"], printed[0]["assumptions"])
    for name, table in (("bill", found.bills), ("loss", found.losses)):
        rows = [{key: value for key, value in row.items() if key != "row"} for row in printed if row["row"] == name]
        assert records_or_none(table) == rows
    assert found.findings[0] == "Paid: 125.36 dollars in 60.61 h."
    shown = found._repr_html_()
    assert "125.36 dollars" in shown
    assert "<svg" in shown
    found.save(tmp_path / "page.html")
    assert "Was this spot bill good?" in (tmp_path / "page.html").read_text()
    without = hs.audit(log, deadline_h=70, overhead_h=0.2)
    assert without.bills["dollars_if_there"][1] < without.bills["dollars"][1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "--deadline-h"),
        ({"deadline_h": "x"}, "--deadline-h: x h, expected"),
        ({"deadline_h": 70, "spot": 1}, "spot: no such option, expected one of deadline_h"),
        ({"deadline_h": 70, "nodes": "all"}, "--nodes: nodes without a trace"),
    ],
)
def test_the_function_refuses_what_the_command_refuses(options, said):
    with pytest.raises(InputError, match=re.escape(said)):
        hs.audit(DOCS / "tutorials" / "job.csv", **options)
