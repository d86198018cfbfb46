"""``hindsched compile``: machine code made ahead of the first run."""

from __future__ import annotations

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command("compile", short_help="Compile the machine code ahead of the first runs.")
@click.argument("families", nargs=-1, metavar="[FAMILY]...")
@options.jobs
@options.as_json
def compile_(families: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Compile the machine code of solvers and simulators, for all families or for each FAMILY.

    This is optional: the first run of each kind compiles what it needs. It is useful for images of a cluster. The
    machine code is kept until hindsched or its compiler changes, in the folder NUMBA_CACHE_DIR if that variable is set,
    else next to the installed sources, else in ~/.cache/hindsched.
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
