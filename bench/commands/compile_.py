"""``hindsched compile``: machine code made ahead of the first run."""

from __future__ import annotations

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command("compile", short_help="Compile ahead what the first runs would.")
@click.argument("families", nargs=-1, metavar="[FAMILY]...")
@options.jobs
@options.as_json
def compile_(families: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Compile the machine code that solvers and simulators need, all of it or that of the named families.

    Nothing has to be compiled ahead: the first run of each kind compiles what it needs, and says so. An image for a
    cluster is a place to do it before. What was compiled is kept until hindsched or its compiler changes: in the folder
    that the environment variable NUMBA_CACHE_DIR names, else beside the installed sources, else in ~/.cache/hindsched.
    """
    import time

    from hindsched.bench.campaign.warm_up import warm_up
    from hindsched.instances.families import names

    table = Table({"families": "families", "runs": "runs", "runtime_s": "seconds"}, as_json=as_json)
    begun = time.monotonic()
    chosen = families or tuple(names())
    runs = warm_up(chosen, num_processes=jobs)
    table.add({"families": ", ".join(chosen), "runs": runs, "runtime_s": round(time.monotonic() - begun, 1)})
    table.show()
