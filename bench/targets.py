"""Where commands write instances and schedules: settled before any work is done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import click

from instances import InputError, write
from instances.families import part

__all__ = ["schedule_targets", "write_instance"]

_UNFIT_FOR_NAMES = re.compile(r"[^\w.+-]+")


def write_instance(instance: Any, output: str) -> None:
    """Write an instance to a file, or to standard output for ``-``."""
    if output == "-":
        click.echo(part(instance.family, "instances").write_instance(instance), nl=False)
    else:
        write(instance, output)


def schedule_targets(
    out: str | None, files: Sequence[str], policies: Sequence[str] = ("",)
) -> Mapping[tuple[str, str], Path]:
    """Return the file of each schedule, by instance file and policy; none if nobody asked for schedules.

    Parameters
    ----------
    out
        What the user asked for. If more than one schedule will be written it is a folder, made if needed, and a
        schedule is ``<instance>[.<policy>].schedule.json`` in it.
    files, policies
        Every file with every policy makes a schedule; the policy ``""`` has no name.

    Raises
    ------
    InputError
        For a folder that is not there, and for schedules that would overwrite each other.
    """
    if out is None:
        return {}
    if len(files) * len(policies) == 1:
        path = Path(out)
        if path.is_dir():
            raise InputError("a directory, expected a file to write to", file=out)
        if not path.parent.is_dir():
            raise InputError("cannot be written: no such directory", file=out)
        return {(files[0], policies[0]): path}
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError("several schedules are written, expected a folder", file=out) from None
    targets: dict[tuple[str, str], Path] = {}
    for file, policy in product(files, policies):
        name = f"{Path(file).stem}.{policy}" if policy else Path(file).stem
        path = folder / f"{_UNFIT_FOR_NAMES.sub('_', name)}.schedule.json"
        if path in targets.values():
            raise InputError("two schedules of this name, expected files and policies of different names", file=path)
        targets[file, policy] = path
    return targets
