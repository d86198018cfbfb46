"""``hindsched bench``: measurements and data that the documentation rests on, each rebuilt by one command."""

from __future__ import annotations

import click

from hindsched.bench.commands.measure.bags import bags
from hindsched.bench.commands.measure.beyond import beyond
from hindsched.bench.commands.measure.booking import booking
from hindsched.bench.commands.measure.bounds import bounds
from hindsched.bench.commands.measure.core import core
from hindsched.bench.commands.measure.foresight import foresight
from hindsched.bench.commands.measure.markov import markov
from hindsched.bench.commands.measure.nodes import nodes
from hindsched.bench.commands.measure.online_optimum import online_optimum
from hindsched.bench.commands.measure.optima import optima
from hindsched.bench.commands.measure.pages import pages
from hindsched.bench.commands.measure.readings import readings
from hindsched.bench.commands.measure.rents import rents
from hindsched.bench.commands.measure.requests import requests
from hindsched.bench.commands.measure.rungs import rungs
from hindsched.bench.commands.measure.scale import scale
from hindsched.bench.commands.measure.simulator import simulator
from hindsched.bench.commands.measure.solvers import solvers
from hindsched.bench.commands.measure.volunteers import volunteers

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
