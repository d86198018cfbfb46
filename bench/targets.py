"""Where commands write instances and schedules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from instances import InputError, Instance, write
from instances.coupled.files import format_instance

__all__ = ["schedule_target", "write_instance"]


def write_instance(instance: Instance, output: str) -> None:
    """Write an instance to a file, or to standard output for ``-``."""
    if output == "-":
        click.echo(format_instance(instance), nl=False)
    else:
        write(instance, output)


def schedule_target(out: str | None, *, several: bool) -> Callable[..., Path] | None:
    """Return the rule that names the schedule file of an instance file and, where it applies, a policy.

    Parameters
    ----------
    out
        What the user asked for; None: no schedule.
    several
        Whether more than one schedule will be written: then ``out`` is a folder, made if needed, and a schedule is
        ``<instance>[.<policy>].schedule.json`` in it.
    """
    if out is None:
        return None
    if not several:
        return lambda *_: Path(out)
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError("several schedules are written, expected a folder", file=out) from None
    taken: set[Path] = set()

    def target(file: str, policy: str | None = None) -> Path:
        stem = Path(file).stem
        middle = f".{policy}" if policy else ""
        path = folder / f"{stem}{middle}.schedule.json"
        if path in taken:
            raise InputError(f"two instances are called {stem}: schedules would overwrite each other", file=out)
        taken.add(path)
        return path

    return target
