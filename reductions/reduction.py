"""What a reduction is here: an object that maps problems forth, and witnesses both ways."""

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
    """How large an instance of OFF-LINE-COUPLED is."""

    workers: int
    slots: int


class Reduction(Protocol[P_contra, Q_co, V, X, D]):
    """A many-one reduction from problems P (witnesses V) to problems Q (witnesses X), with data D between them.

    Both witness maps are total on valid witnesses: ``forward`` turns every witness of the problem into one of its
    image, ``backward`` every witness of the image into one of the problem. So yes maps to yes, and no to no.
    """

    @property
    def name(self) -> str:
        """What a user calls it."""

    def apply(self, problem: P_contra) -> tuple[Q_co, D]:
        """Return the image, and all that the witness maps need to know of this step."""

    def size(self, problem: P_contra) -> Size:
        """Return the size of the image without making it."""

    def forward(self, witness: V, data: D) -> X:
        """Map a witness of the problem to one of its image; InputError for one that is not valid."""

    def backward(self, witness: X, data: D) -> V:
        """Map a witness of the image to one of the problem; InputError for one that is not valid."""
