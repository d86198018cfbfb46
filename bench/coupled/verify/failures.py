"""The instance with which a verification failed, where a person can find it."""

from __future__ import annotations

from pathlib import Path

from hindsched.bench.shared_types import Problem
from hindsched.instances import write

__all__ = ["place_of"]


def place_of(instance: Problem, number: int, seed: int, *, folder: Path | None, name: str) -> str:
    """Return where the instance is: the file ``name`` in the folder, where it is written, or else number and seed."""
    if folder is None:
        return f"instance {number} of seed {seed}"
    folder.mkdir(parents=True, exist_ok=True)
    write(instance, folder / name)
    return str(folder / name)
