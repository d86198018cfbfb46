"""Random instances on which something is verified, and the instance with which a verification failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hindsched.bench.shared_types import Problem
from hindsched.instances import SelfCheckError, write

__all__ = ["Sample", "place_of"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Numbered random instances on which something is verified, up to the first failure.

    Parameters
    ----------
    instances
        Number of instances.
    first
        Number of the first instance.
    seed
        Seed of the instances.
    failures
        Folder for an instance that fails; None: it is not written.
    step
        Called with a note after each instance.
    """

    instances: int
    first: int = 0
    seed: int = 0
    failures: Path | None = None
    step: Callable[[str], object] = lambda note: None

    @property
    def numbers(self) -> range:
        """The numbers of the instances."""
        return range(self.first, self.first + self.instances)

    @contextmanager
    def keeping(self, instance: Problem, number: int, kind: str = "") -> Iterator[None]:
        """Write the instance if the block raises `SelfCheckError`, and add its place to the error."""
        try:
            yield
        except SelfCheckError as error:
            name = f"{kind}-{self.seed}-{number}.json".removeprefix("-")
            place = place_of(instance, number, self.seed, folder=self.failures, name=name)
            raise SelfCheckError(f"{place}: {error}") from error


def place_of(instance: Problem, number: int, seed: int, *, folder: Path | None, name: str) -> str:
    """Return where the instance is: the file ``name`` in the folder, where it is written, or else number and seed."""
    if folder is None:
        return f"instance {number} of seed {seed}"
    folder.mkdir(parents=True, exist_ok=True)
    write(instance, folder / name)
    return str(folder / name)
