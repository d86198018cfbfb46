"""The protocol of a reduction: a map of problems, and maps of witnesses in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["Reduction", "Size"]

P_contra = TypeVar("P_contra", contravariant=True)
Q_co = TypeVar("Q_co", covariant=True)
V = TypeVar("V")
X = TypeVar("X")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an instance of OFF-LINE-COUPLED."""

    workers: int
    slots: int


class Reduction(Protocol[P_contra, Q_co, V, X, D]):
    """A many-one reduction from problems P with witnesses V to problems Q with witnesses X.

    Both witness maps are total on valid witnesses: ``forward`` maps every witness of the problem to one of its image,
    and ``backward`` every witness of the image to one of the problem. So yes-instances map to yes-instances, and
    no-instances to no-instances. ``apply`` returns the data D that the witness maps need.
    """

    @property
    def name(self) -> str:
        """Name of the reduction on the command line."""

    def apply(self, problem: P_contra) -> tuple[Q_co, D]:
        """Return the image, and the data for the witness maps."""

    def size(self, problem: P_contra) -> Size:
        """Return the size of the image without building it."""

    def forward(self, witness: V, data: D) -> X:
        """Map a witness of the problem to one of its image; raise `InputError` if the witness is invalid."""

    def backward(self, witness: X, data: D) -> V:
        """Map a witness of the image to one of the problem; raise `InputError` if the witness is invalid."""
