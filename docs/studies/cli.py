"""The command line of the studies: ``python -m docs.studies NAME``."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["STUDIES", "studies"]

#: Where each command is: module and attribute.
STUDIES = {
    "bags": "docs.studies.commands.bags:bags",
    "booking": "docs.studies.commands.booking:booking",
    "bounds": "docs.studies.commands.bounds:bounds",
    "foresight": "docs.studies.commands.foresight:foresight",
    "kmis": "docs.studies.commands.kmis:kmis",
    "markov": "docs.studies.commands.markov:markov",
    "nodes": "docs.studies.commands.nodes:nodes",
    "online-optima": "docs.studies.commands.online_optima:online_optima",
    "optima": "docs.studies.commands.optima:optima",
    "own-policies": "docs.studies.commands.own_policies:own_policies",
    "pages": "docs.studies.commands.pages:pages",
    "program-lagrangian": "docs.studies.commands.program_lagrangian:program_lagrangian",
    "readings": "docs.studies.commands.readings:readings",
    "requests": "docs.studies.commands.requests:requests",
    "rungs": "docs.studies.commands.rungs:rungs",
    "scale": "docs.studies.commands.scale:scale",
    "simulator": "docs.studies.commands.simulator:simulator",
    "solvers": "docs.studies.commands.solvers:solvers",
    "volunteers": "docs.studies.commands.volunteers:volunteers",
}


class _Studies(click.Group):
    """A group that imports a command when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in STUDIES:
            return None
        module, _, attribute = STUDIES[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=_Studies, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def studies() -> None:
    """Run the studies that the results in the documentation come from, or write the pages from their rows."""
