"""A certificate of a lower bound on the makespan: Lagrangian multipliers of the program constraints.

An *availability period* is a longest run of a worker's slots without DOWN. The certificate has a multiplier for each
period and iteration, a value for a program sent in each iteration, and the distances that follow in the graph whose
node (k, t) stands for k complete iterations after t slots. It may divide the schedules by the slot in which an
iteration ends, and then has multipliers for each leaf of that tree. docs/bounds.md proves the bound;
`hindsched.instances.coupled.certificate_evaluation` evaluates a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, encode, encode_lines

__all__ = [
    "FORMAT",
    "MAX_DEPTH",
    "Branching",
    "LagrangianCertificate",
    "Multipliers",
    "Proof",
    "format_certificate",
    "read_certificate",
]

#: The format of a certificate's file.
FORMAT = "coupled-rents/2"

#: Largest depth of a tree of branchings.
MAX_DEPTH = 400

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class Multipliers:
    """Multipliers and distances that prove a bound for the schedules of one leaf.

    Parameters
    ----------
    horizon
        Number of slots of the schedules that the proof excludes: the bound - 1 or more.
    program_values
        Value of a program sent in each iteration.
    periods
        Worker, first slot of an availability period, and its multiplier for each iteration. Periods whose multipliers
        are all 0 may be left out.
    nodes
        For each iteration k the first slot t of the row, and lower bounds on the distances of the nodes (k, t),
        (k, t + 1), ...; None where no schedule of the leaf within the horizon has the node.
    """

    horizon: int
    program_values: tuple[int, ...]
    periods: tuple[tuple[int, int, tuple[int, ...]], ...]
    nodes: tuple[tuple[int, tuple[int | None, ...]], ...]

    def num_leaves(self) -> int:
        """Return the number of leaves: one."""
        return 1


@dataclass(frozen=True, slots=True)
class Branching:
    """A division of schedules by the slot in which an iteration ends.

    Parameters
    ----------
    iteration
        Number k of the iteration, 1 to K - 1.
    slot
        Number t of slots.
    sooner
        Proof for the schedules that complete iterations 1 to k within t slots.
    later
        Proof for all others.
    """

    iteration: int
    slot: int
    sooner: Proof
    later: Proof

    def num_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        return self.sooner.num_leaves() + self.later.num_leaves()


Proof: TypeAlias = Multipliers | Branching


@dataclass(frozen=True, slots=True)
class LagrangianCertificate:
    """A claim that no schedule completes the iterations in fewer than ``bound`` slots, with its proof.

    Parameters
    ----------
    bound
        Claimed lower bound on the makespan, in slots.
    scale
        Units of a slot in the integers of the proof.
    proof
        Multipliers, or a tree of branchings with multipliers at its leaves.
    instance
        Fingerprint of the instance.
    """

    family: ClassVar[str] = "coupled"

    bound: int
    scale: int
    proof: Proof
    instance: str

    def __str__(self) -> str:
        leaves = self.proof.num_leaves()
        return f"no makespan below {self.bound}, by Lagrangian multipliers" + (
            f" of {leaves} branch-and-bound leaves" if leaves > 1 else ""
        )


class _Period(msgspec.Struct, forbid_unknown_fields=True):
    worker: _Count
    slot: _Count
    rents: list[_Count]


class _Nodes(msgspec.Struct, forbid_unknown_fields=True):
    slot: _Count
    distances: list[int | None]


class _Multipliers(msgspec.Struct, forbid_unknown_fields=True):
    horizon: _Count
    programs: list[_Count]
    lives: list[_Period]
    nodes: list[_Nodes]


class _Branching(msgspec.Struct, forbid_unknown_fields=True):
    iteration: _Positive
    slot: _Count
    sooner: dict[str, Any]
    later: dict[str, Any]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    instance: str
    bound: _Count
    scale: _Positive
    proof: dict[str, Any]


def read_certificate(document: dict[str, Any]) -> LagrangianCertificate:
    """Return the certificate of a parsed file with the format ``coupled-rents/2``.

    Raises
    ------
    InputError
        If keys are unknown or missing, or numbers are negative. The message names the place.
    """
    file = convert(document, _File)
    return LagrangianCertificate(file.bound, file.scale, _read_proof(file.proof, "proof", 0), file.instance)


def _read_proof(document: dict[str, Any], place: str, depth: int) -> Proof:
    """Return the proof of a subtree; a branching has the key ``iteration``."""
    if depth > MAX_DEPTH:
        raise InputError(f"branchings nested {depth} deep, expected at most {MAX_DEPTH}", place=place)
    if "iteration" in document:
        branching = convert(document, _Branching, place)
        sooner = _read_proof(branching.sooner, f"{place}.sooner", depth + 1)
        later = _read_proof(branching.later, f"{place}.later", depth + 1)
        return Branching(branching.iteration, branching.slot, sooner, later)
    leaf = convert(document, _Multipliers, place)
    return Multipliers(
        horizon=leaf.horizon,
        program_values=tuple(leaf.programs),
        periods=tuple((period.worker, period.slot, tuple(period.rents)) for period in leaf.lives),
        nodes=tuple((row.slot, tuple(row.distances)) for row in leaf.nodes),
    )


def format_certificate(certificate: LagrangianCertificate) -> str:
    """Return the text of a certificate's file, one period per line; `read_certificate` returns an equal certificate."""
    head = {
        "format": FORMAT,
        "instance": certificate.instance,
        "bound": certificate.bound,
        "scale": certificate.scale,
    }
    return f'{encode(head)[:-1]},"proof":{_format_proof(certificate.proof)}}}\n'


def _format_proof(proof: Proof) -> str:
    if isinstance(proof, Branching):
        head = encode({"iteration": proof.iteration, "slot": proof.slot})[:-1]
        return f'{head},\n"sooner":{_format_proof(proof.sooner)},\n"later":{_format_proof(proof.later)}}}'
    head = encode({"horizon": proof.horizon, "programs": proof.program_values})[:-1]
    periods = encode_lines({"worker": q, "slot": t, "rents": values} for q, t, values in proof.periods)
    nodes = encode_lines({"slot": t, "distances": values} for t, values in proof.nodes)
    return f'{head},"lives":{periods},"nodes":{nodes}}}'
