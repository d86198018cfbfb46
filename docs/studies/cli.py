"""The command line of the studies: ``python -m docs.studies NAME``."""

from __future__ import annotations

import click

from docs.studies.commands.bags import bags
from docs.studies.commands.beyond import beyond
from docs.studies.commands.booking import booking
from docs.studies.commands.bounds import bounds
from docs.studies.commands.core import core
from docs.studies.commands.foresight import foresight
from docs.studies.commands.markov import markov
from docs.studies.commands.nodes import nodes
from docs.studies.commands.online_optimum import online_optimum
from docs.studies.commands.optima import optima
from docs.studies.commands.pages import pages
from docs.studies.commands.readings import readings
from docs.studies.commands.rents import rents
from docs.studies.commands.requests import requests
from docs.studies.commands.rungs import rungs
from docs.studies.commands.scale import scale
from docs.studies.commands.simulator import simulator
from docs.studies.commands.solvers import solvers
from docs.studies.commands.volunteers import volunteers

__all__ = ["studies"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def studies() -> None:
    """Run the studies that the results in the documentation come from, or write the pages from their rows."""


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
    studies.add_command(_command)
