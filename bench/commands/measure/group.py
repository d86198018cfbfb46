"""``hindsched bench``: measurements and data that the documentation rests on, each rebuilt by one command."""

from __future__ import annotations

import click

from bench.commands.measure.bags import bags
from bench.commands.measure.beyond import beyond
from bench.commands.measure.booking import booking
from bench.commands.measure.bounds import bounds
from bench.commands.measure.core import core
from bench.commands.measure.foresight import foresight
from bench.commands.measure.markov import markov
from bench.commands.measure.nodes import nodes
from bench.commands.measure.online_optimum import online_optimum
from bench.commands.measure.optima import optima
from bench.commands.measure.pages import pages
from bench.commands.measure.readings import readings
from bench.commands.measure.rents import rents
from bench.commands.measure.requests import requests
from bench.commands.measure.rungs import rungs
from bench.commands.measure.scale import scale
from bench.commands.measure.simulator import simulator
from bench.commands.measure.solvers import solvers
from bench.commands.measure.volunteers import volunteers

__all__ = ["bench"]


@click.group(short_help="Rebuild what the documentation claims.")
def bench() -> None:
    """Rebuild what the documentation claims: optima of the paper's experiment, and solvers against each other."""


_COMMANDS = (
    bags,
    beyond,
    booking,
    bounds,
    core,
    foresight,
    markov,
    nodes,
    online_optimum,
    optima,
    pages,
    readings,
    rents,
    requests,
    rungs,
    scale,
    simulator,
    solvers,
    volunteers,
)
for _command in _COMMANDS:
    bench.add_command(_command)
