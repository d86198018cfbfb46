"""All commands, as one group."""

from __future__ import annotations

import click

from bench.commands.biclique import biclique
from bench.commands.campaign import campaign
from bench.commands.check import check
from bench.commands.compile_ import compile_
from bench.commands.export import export
from bench.commands.gantt import gantt
from bench.commands.generate import generate
from bench.commands.import_ import import_
from bench.commands.leaderboard import leaderboard
from bench.commands.measure.group import bench
from bench.commands.online_optimum import online_optimum
from bench.commands.recheck import recheck
from bench.commands.reduce import reduce
from bench.commands.report import report
from bench.commands.reproduce import reproduce
from bench.commands.score import score
from bench.commands.simulate import simulate
from bench.commands.solve import solve
from bench.commands.verify.bags import verify_bags
from bench.commands.verify.reductions import verify_reductions
from bench.commands.verify.simulator import verify_simulator
from bench.commands.verify.solvers import verify_solvers

__all__ = ["hindsched"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="hindsched", prog_name="hindsched")
def hindsched() -> None:
    """Compare on-line schedulers on volatile machines with the best that full knowledge of the future allows."""


for _command in (
    generate,
    import_,
    solve,
    online_optimum,
    simulate,
    check,
    gantt,
    export,
    score,
    leaderboard,
    campaign,
    report,
    reproduce,
    recheck,
    reduce,
    biclique,
    verify_reductions,
    verify_solvers,
    verify_simulator,
    verify_bags,
    bench,
    compile_,
):
    hindsched.add_command(_command)
