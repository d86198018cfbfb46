"""Where commands write instances and schedules: settled before any work is done."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from errno import EACCES
from pathlib import Path
from typing import Any

import click

from hindsched.instances import InputError, write
from hindsched.instances.families import part
from hindsched.instances.text_files import open_stream

__all__ = ["expect_folder", "expect_writable", "schedule_targets", "write_instance"]

_UNFIT_FOR_NAMES = re.compile(r"[^\w.+-]+")


def write_instance(instance: Any, output: str) -> None:
    """Write an instance to a file, or to standard output for ``-``."""
    if output == "-":
        click.echo(part(instance.family, "instances").write_instance(instance), nl=False)
    else:
        write(instance, output)


def expect_writable(path: str | os.PathLike[str]) -> None:
    """Raise an `InputError` for a file that can be seen not to be writable: before any work is done."""
    target = Path(path)
    if open_stream(path) is not None:
        return
    if target.is_dir():
        raise InputError("a directory, expected a file to write to", file=path)
    if target.is_file() or not target.exists():
        target = Path(os.path.realpath(path)).parent  # where it is written beside; a terminal or a pipe is itself
        if not target.is_dir():
            raise InputError("cannot be written: no such directory", file=path)
    if not os.access(target, os.W_OK):
        raise InputError(f"cannot be written: {os.strerror(EACCES)}", file=path)


def expect_folder(path: Path) -> None:
    """Raise an `InputError` for a folder that can be seen not to be there for files, nor to be made."""
    nearest = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise InputError("not a folder, expected one to write to", file=nearest)
    if not os.access(nearest, os.W_OK):
        raise InputError(f"cannot be written: {os.strerror(EACCES)}", file=path)


def schedule_targets(
    out: str | None, runs: Sequence[tuple[str, str]], *, is_one: bool
) -> Mapping[tuple[str, str], Path]:
    """Return the file of each schedule, by instance file and policy; none if nobody asked for schedules.

    Parameters
    ----------
    out
        What the user asked for: the file of the schedule, or where there may be several a folder, made if needed, in
        which each is ``<instance>[.<policy>].schedule.json``.
    runs
        The instance file and the policy of each; the policy ``""`` has no name.
    is_one
        Whether what was asked for makes no more than one schedule, whatever can be read and run of it.

    Raises
    ------
    InputError
        For what cannot be written to, and for schedules that would overwrite each other.
    """
    if out is None or not runs:
        return {}
    if is_one:
        expect_writable(out)
        return {run: Path(out) for run in runs}
    folder = Path(out)
    targets: dict[tuple[str, str], Path] = {}
    for file, policy in runs:
        name = f"{Path(file).stem}.{policy}" if policy else Path(file).stem
        path = folder / f"{_UNFIT_FOR_NAMES.sub('_', name)}.schedule.json"
        if path in targets.values():
            raise InputError("two schedules of this name, expected files and policies of different names", file=path)
        targets[file, policy] = path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError("several schedules are written, expected a folder", file=out) from None
    for path in targets.values():
        expect_writable(path)
    return targets
