"""Packaged traces: small traces of real machines under free licences, found by name.

Each is a folder of ``instances/data`` with a README that names source and licence. Its files are opened as package
resources, so they are found wherever the package is installed.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable

from hindsched.instances.errors import InputError
from hindsched.instances.traces.parsing import excerpt
from hindsched.instances.traces.samples import node_of, read_samples
from hindsched.instances.traces.trace import Trace

__all__ = ["packaged_traces", "read_packaged"]

#: Suffix of the files that contain samples.
_SUFFIX = ".csv.xz"


def packaged_traces() -> tuple[str, ...]:
    """Return the names of the packaged traces in alphabetical order.

    Examples
    --------
    >>> packaged_traces()
    ('spot_aws_v100',)
    """
    folders = (folder for folder in _data().iterdir() if folder.is_dir())
    return tuple(sorted(folder.name for folder in folders if _samples(folder)))


@cache
def read_packaged(name: str) -> Trace:
    """Return a packaged trace. Each file is a node; nodes are in alphabetical order.

    Parameters
    ----------
    name
        One of `packaged_traces`.

    Raises
    ------
    InputError
        If there is no trace of this name.

    Notes
    -----
    A trace is read once per process. The 181,422 samples of ``spot_aws_v100`` take a second or two.

    Examples
    --------
    >>> trace = read_packaged("spot_aws_v100")
    >>> len(trace.nodes), trace.nodes[0], trace.states(slot_s=195).shape
    (9, 'us-east-1a_v100_1', (9, 20193))
    """
    if name not in packaged_traces():
        raise InputError(f"{excerpt(name)}, expected one of {', '.join(packaged_traces())}", place="trace")
    found = _samples(_data() / name)
    with ExitStack() as opened:
        paths = [opened.enter_context(as_file(file)) for file in found]
        return read_samples(*paths, nodes=[node_of(file.name) for file in found])


def _data() -> Traversable:
    return files("hindsched.instances") / "data"


def _samples(folder: Traversable) -> list[Traversable]:
    return sorted((file for file in folder.iterdir() if file.name.endswith(_SUFFIX)), key=lambda file: file.name)
