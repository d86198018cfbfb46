"""``hindsched audit``: what a real job has paid, beside what foresight and policies would have paid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.traces import chosen_nodes, read_traces, trace_options
from hindsched.bench.output import Table, say_written
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    from hindsched.bench.deadline.audit import Audit
    from hindsched.bench.deadline.audit_market import AuditTerms
    from hindsched.instances.traces import Trace

__all__ = ["audit", "audit_of", "bill_rows"]

#: Columns of the table of bills.
_BILLS = {
    "who": "who",
    "dollars": "dollars",
    "dollars_if_there": "with unobserved spot",
    "ratio": "/ foresight",
    "hours": "finished, h",
    "spot_h": "spot, h",
    "on_demand_h": "on-demand, h",
    "overhead_h": "overhead, h",
    "launches": "launches",
}


@click.command(short_help="Compare the bill of a real job with what foresight would have paid.")
@click.argument("log")
@click.argument("traces", nargs=-1, metavar="[TRACE]...")
@click.option("--deadline-h", metavar="H", required=True, help="Hours from the first row of LOG to the deadline.")
@click.option("--work-h", metavar="H", help="Hours of computing that the job needs.  [default: what LOG has computed]")
@click.option("--overhead-h", metavar="H", default="0", help="Hours after each launch in which nothing is computed.")
@click.option(
    "--slot",
    "slot_s",
    type=options.POSITIVE,
    metavar="S",
    help="Seconds of a slot.  [default: 60 to 300, by the samples of TRACE and the overhead]",
)
@click.option("--spot-price", metavar="USD", help="Dollars an hour of a spot instance.  [default: 0.9731]")
@click.option("--on-demand-price", metavar="USD", help="Dollars an hour of an on-demand instance.  [default: 3.06]")
@click.option("--prices", metavar="CSV", help="Spot prices over time: a table with time, zone and price.")
@click.option("--checkpoint-gb", type=options.Number(min=0), default=0.0, help="Size of the checkpoint.")
@click.option("--nodes", metavar="all|K|NAME,...", help="More nodes of TRACE that the job could have used.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PAGE", help="Write an HTML page.")
@options.as_json
def audit(log: str, traces: tuple[str, ...], output: Path | None, as_json: bool, **given: Any) -> None:
    """Show what the job of LOG has paid, what foresight and each policy would have paid, and where money was lost.

    LOG is a table with the columns time, zone and kind. From a row's time on, the job runs in the zone on spot or
    on-demand; with the kinds none, lost (spot was preempted) and stopped it does not run. The last row is its end.

    TRACE says when spot was there, in any form that hindsched import reads (spot_aws_v100: nine packaged zones).
    Without it, spot is known only while the log runs on it. Foresight then has two bills: spot is there, or it is not,
    wherever nothing was observed.
    """
    try:
        _audit(log, traces, output, as_json, given)
    except InputError as error:
        raise options.in_flags(error) from None


def _audit(log: str, traces: tuple[str, ...], output: Path | None, as_json: bool, given: Row) -> None:
    from hindsched.bench.deadline.audit_page import audit_findings, write_audit_page
    from hindsched.bench.output_files import expect_writable

    if output is not None:
        expect_writable(str(output))
    done = audit_of(log, traces, given)
    if as_json:
        _print_json(done)
    else:
        hidden = "dollars_if_there" if done.is_known else ""
        table = Table({key: name for key, name in _BILLS.items() if key != hidden}, as_json)
        table.add_all(bill_rows(done))
        table.show()
        for line in audit_findings(done):
            click.echo(line)
        for sentence in done.assumptions:
            click.echo(f"hindsched: assumed: {sentence}", err=True)
    if output is not None:
        written = write_audit_page(done, output, Path(log).name)
        say_written("page, picture and tables", ", ".join(map(str, written)))


def audit_of(log: str, traces: Sequence[str], given: Row) -> Audit:
    """Return the audit of a log that the options describe.

    Raises
    ------
    InputError
        As the command does.
    """
    from hindsched.bench.deadline.audit import audit as made_audit
    from hindsched.instances.deadline.job_log import read_job_log

    read = read_job_log(log)
    trace, rest = read_traces(traces, given) if traces else (None, given)
    return made_audit(read, trace, _terms(rest), _nodes(trace, rest["nodes"]))


def _terms(given: Row) -> AuditTerms:
    from hindsched.bench.deadline.audit_market import AuditTerms
    from hindsched.instances.deadline.from_trace import hours_to_s
    from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE
    from hindsched.instances.deadline.prices import micro_dollars, read_prices

    if given["prices"] is not None and given["spot_price"] is not None:
        raise InputError("one price and a table of prices, expected one of them", place="--prices")
    seconds = {
        name: None if given[f"{name}_h"] is None else hours_to_s(given[f"{name}_h"], f"--{name}-h")
        for name in ("work", "deadline", "overhead")
    }
    if seconds["work"] == 0:
        raise InputError("0 h, expected more", place="--work-h")
    prices = {"spot_price": SPOT_PRICE, "on_demand_price": ON_DEMAND_PRICE}
    for name in prices:
        if given[name] is not None:
            prices[name] = micro_dollars(given[name], f"--{name.replace('_', '-')}")
    return AuditTerms(
        deadline_s=seconds["deadline"] or 0,
        overhead_s=seconds["overhead"] or 0,
        work_s=seconds["work"],
        slot_s=given["slot_s"],
        prices=None if given["prices"] is None else read_prices(given["prices"]),
        checkpoint_gb=given["checkpoint_gb"],
        **prices,
    )


def _nodes(trace: Trace | None, text: str | None) -> list[str]:
    """Return the names that ``--nodes`` means."""
    if text is None:
        return []
    if trace is None:
        raise InputError("nodes without a trace, expected a TRACE", place="--nodes")
    if text == "all":
        return list(trace.nodes)
    chosen = chosen_nodes(trace, text)
    return list(trace.nodes[:chosen]) if isinstance(chosen, int) else list(chosen or [])


def bill_rows(audit: Audit) -> list[Row]:
    """Return the bills with their ratios to that of foresight."""
    best = audit.bills[1].dollars
    rows = []
    for bill in audit.bills:
        row: Row = {
            key: round(value, 6) if isinstance(value, float) else value for key, value in bill._asdict().items()
        }
        row["ratio"] = None if not best or bill.dollars is None else round(bill.dollars / best, 4)
        rows.append(row)
    return rows


def _print_json(audit: Audit) -> None:
    """Print a row for the whole, one for each bill and one for each loss."""
    out = Table(None, as_json=True)
    best = audit.bills[1]
    out.add(
        {
            "row": "audit",
            "paid": audit.bills[0].dollars,
            "foresight": best.dollars,
            "foresight_if_there": best.dollars_if_there,
            "least": audit.least,
            "slot_s": audit.job.slot_s,
            "work_s": audit.job.work_s,
            "assumptions": list(audit.assumptions),
        }
    )
    out.add_all({"row": "bill", **row} for row in bill_rows(audit))
    out.add_all({"row": "loss", **loss._asdict()} for loss in audit.losses)


audit.params += trace_options()
