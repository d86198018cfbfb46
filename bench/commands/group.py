"""All commands, as one group."""

from __future__ import annotations

import click

from hindsched.bench.commands.audit import audit
from hindsched.bench.commands.biclique import biclique
from hindsched.bench.commands.campaign import campaign
from hindsched.bench.commands.check import check
from hindsched.bench.commands.compile_ import compile_
from hindsched.bench.commands.export import export
from hindsched.bench.commands.gantt import gantt
from hindsched.bench.commands.generate import generate
from hindsched.bench.commands.import_ import import_
from hindsched.bench.commands.leaderboard import leaderboard
from hindsched.bench.commands.online_optimum import online_optimum
from hindsched.bench.commands.options import CONTEXT
from hindsched.bench.commands.recheck import recheck
from hindsched.bench.commands.reduce import reduce
from hindsched.bench.commands.report import report
from hindsched.bench.commands.reproduce import reproduce
from hindsched.bench.commands.score import score
from hindsched.bench.commands.simulate import simulate
from hindsched.bench.commands.solve import solve
from hindsched.bench.commands.verify import verify_bags, verify_reductions, verify_simulator, verify_solvers

__all__ = ["hindsched"]


@click.group(context_settings=CONTEXT)
@click.version_option(package_name="hindsched", prog_name="hindsched")
def hindsched() -> None:
    """Compare on-line schedulers on volatile machines with the exact optimum in hindsight."""


for _command in (
    generate,
    import_,
    solve,
    online_optimum,
    simulate,
    check,
    gantt,
    export,
    audit,
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
    compile_,
):
    hindsched.add_command(_command)
