"""Files that commands write, tested before any work is done."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from errno import EACCES
from pathlib import Path

import click

from hindsched.bench.output import say_written
from hindsched.bench.shared_types import Problem
from hindsched.instances import InputError, write
from hindsched.instances.families import part
from hindsched.instances.text_files import excerpt, open_stream, resolved

__all__ = ["expect_folder", "expect_writable", "schedule_targets", "write_instance", "write_instances"]

_UNFIT_FOR_NAMES = re.compile(r"[^\w.+-]+")


def write_instance(instance: Problem, output: str) -> None:
    """Write an instance to a file, or to standard output for ``-``."""
    if output == "-":
        click.echo(part(instance.family, "instances").write_instance(instance), nl=False)
    else:
        write(instance, output)
        say_written(f"instance of {instance.family}", output)


def write_instances(instances: Mapping[str, Problem], output: str) -> None:
    """Write instances to files of these names in a folder; the only one, if its name is empty, to a file or ``-``.

    Raises
    ------
    InputError
        For a folder that holds other files, which would later be taken for windows of the same trace.
    """
    if "" in instances:
        write_instance(instances[""], output)
        return
    if output == "-":
        raise InputError("standard output, expected a folder for several instances", place="-o")
    folder = Path(output)
    expect_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    others = sorted({path.name for path in folder.iterdir()} - set(instances))
    if others:
        raise InputError(f"holds {excerpt(others[0])}, expected a new or empty folder", file=output)
    for name, instance in instances.items():
        write(instance, folder / name)


def expect_writable(path: str | os.PathLike[str]) -> None:
    """Raise `InputError` for a file that cannot be written."""
    target = Path(path)
    if open_stream(path) is not None:
        return
    if target.is_dir():
        raise InputError("a directory, expected a file to write to", file=path)
    if target.is_file() or not target.exists():
        target = resolved(path).parent  # files are replaced atomically, so their folder must be writable
        if not target.is_dir():
            raise InputError("cannot be written: no such directory", file=path)
    if not os.access(target, os.W_OK):
        raise InputError(f"cannot be written: {os.strerror(EACCES)}", file=path)


def expect_folder(path: Path) -> None:
    """Raise `InputError` for a folder that cannot be written or created."""
    nearest = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise InputError("not a folder, expected one to write to", file=nearest)
    if not os.access(nearest, os.W_OK):
        raise InputError(f"cannot be written: {os.strerror(EACCES)}", file=path)


def schedule_targets(
    out: str | None, runs: Sequence[tuple[str, str]], *, is_one: bool
) -> Mapping[tuple[str, str], Path]:
    """Return the file of each schedule, by instance file and policy; empty if no schedules are requested.

    Parameters
    ----------
    out
        The file of the schedule; or, if there may be several, a folder, created if needed, of files named
        ``<instance>[.<policy>].schedule.json``.
    runs
        The instance file and the policy of each schedule; ``""``: no policy.
    is_one
        Whether at most one schedule is requested.

    Raises
    ------
    InputError
        For files that cannot be written, and for two schedules with the same file.
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
