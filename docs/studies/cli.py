"""The command line of the studies: ``python -m docs.studies NAME``."""

from __future__ import annotations

from importlib import import_module

import click

from hindsched.bench.commands.options import CONTEXT

__all__ = ["STUDIES", "studies"]

#: Where each command is: module and attribute.
STUDIES = {
    "bags-baselines": "docs.studies.commands.bags_baselines:bags_baselines",
    "bags-speed": "docs.studies.commands.bags_speed:bags_speed",
    "bags-sweeps": "docs.studies.commands.bags_sweeps:bags_sweeps",
    "bags-traces": "docs.studies.commands.bags_traces:bags_traces",
    "batches-arrivals": "docs.studies.commands.batches_arrivals:batches_arrivals",
    "batches-copies": "docs.studies.commands.batches_copies:batches_copies",
    "batches-correlated": "docs.studies.commands.batches_correlated:batches_correlated",
    "batches-crowd": "docs.studies.commands.batches_crowd:batches_crowd",
    "batches-hosts": "docs.studies.commands.batches_hosts:batches_hosts",
    "batches-policies": "docs.studies.commands.batches_policies:batches_policies",
    "batches-readings": "docs.studies.commands.batches_readings:batches_readings",
    "batches-scale": "docs.studies.commands.batches_scale:batches_scale",
    "batches-theorem": "docs.studies.commands.batches_theorem:batches_theorem",
    "chainless": "docs.studies.commands.chainless:chainless",
    "claims": "docs.studies.commands.claims:claims",
    "deadline-foresight": "docs.studies.commands.deadline_foresight:deadline_foresight",
    "deadline-renewal": "docs.studies.commands.deadline_renewal:deadline_renewal",
    "deadline-skynomad": "docs.studies.commands.deadline_skynomad:deadline_skynomad",
    "deadline-speed": "docs.studies.commands.deadline_speed:deadline_speed",
    "deadline-strategies": "docs.studies.commands.deadline_strategies:deadline_strategies",
    "fleets": "docs.studies.commands.fleets:fleets",
    "foresight": "docs.studies.commands.foresight:foresight",
    "front": "docs.studies.commands.front:front",
    "growth": "docs.studies.commands.growth:growth",
    "grid-bounds": "docs.studies.commands.grid_bounds:grid_bounds",
    "grid-dynamics": "docs.studies.commands.grid_dynamics:grid_dynamics",
    "grid-scale": "docs.studies.commands.grid_scale:grid_scale",
    "grid-waits": "docs.studies.commands.grid_waits:grid_waits",
    "kmis": "docs.studies.commands.kmis:kmis",
    "markov": "docs.studies.commands.markov:markov",
    "online-optima": "docs.studies.commands.online_optima:online_optima",
    "optima": "docs.studies.commands.optima:optima",
    "lookahead": "docs.studies.commands.lookahead:lookahead",
    "pages": "docs.studies.commands.pages:pages",
    "program-lagrangian": "docs.studies.commands.program_lagrangian:program_lagrangian",
    "readings": "docs.studies.commands.readings:readings",
    "real-machines": "docs.studies.commands.real_machines:real_machines",
    "scale": "docs.studies.commands.scale:scale",
    "simulator": "docs.studies.commands.simulator:simulator",
    "simulator-growth": "docs.studies.commands.simulator_growth:simulator_growth",
    "solvers": "docs.studies.commands.solvers:solvers",
    "variants": "docs.studies.commands.variants:variants",
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


@click.group(cls=_Studies, context_settings=CONTEXT)
def studies() -> None:
    """Run the studies that the results in the documentation come from, or write the pages from their rows."""
