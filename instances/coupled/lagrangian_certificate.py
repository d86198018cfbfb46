"""Rents: why no schedule completes K iterations sooner, as claimed by a solver.

A life is a longest run of a worker's slots without DOWN. Each life has a rent for each iteration that it computes in,
and each iteration a value for every program that its channel can send; the rents that a life could pay after it was
sent a program never exceed what that program is worth. A claim adds the distance of every node (k, t), *k iterations
are complete and t slots gone*; or it divides the schedules by when an iteration ends, and has a claim for each half.
Module `hindsched.instances.coupled.certificate_evaluation` evaluates it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, encode

__all__ = ["FORMAT", "MOST_DIVISIONS", "Division", "Multipliers", "Part", "Rents", "format_rents", "read_rents"]

#: The form of a certificate's file.
FORMAT = "coupled-rents/2"

#: Divisions within each other at most.
MOST_DIVISIONS = 400

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class Multipliers:
    """What proves a bound for the schedules of one part.

    Parameters
    ----------
    horizon
        The proof looks at the schedules of at most so many slots: the bound - 1 or more.
    programs
        For each iteration the value of a program sent in it.
    rents
        Worker, first slot of a life, and its rent for each iteration; lives that pay nothing may be left out.
    nodes
        For each iteration the first slot t and, from there on, a number below which the distance of the node (k, t)
        cannot be; None where no schedule of the part can be within the horizon.
    """

    horizon: int
    programs: tuple[int, ...]
    rents: tuple[tuple[int, int, tuple[int, ...]], ...]
    nodes: tuple[tuple[int, tuple[int | None, ...]], ...]

    def parts(self) -> int:
        """Return how many parts there are: one."""
        return 1


@dataclass(frozen=True, slots=True)
class Division:
    """The schedules of a part, divided by when an iteration ends.

    Parameters
    ----------
    iteration
        Its number k, 1 to K - 1.
    slot
        A number t of slots.
    sooner
        What proves the bound for the schedules whose iterations 1 to k are complete within t slots.
    later
        The same for all others.
    """

    iteration: int
    slot: int
    sooner: Part
    later: Part

    def parts(self) -> int:
        """Return how many parts there are in all."""
        return self.sooner.parts() + self.later.parts()


Part: TypeAlias = Multipliers | Division


@dataclass(frozen=True, slots=True)
class Rents:
    """A claim that no schedule completes the iterations in fewer than ``bound`` slots, and its proof.

    Parameters
    ----------
    bound
        What is claimed.
    scale
        What one slot counts in the numbers of the proof.
    proof
        Multipliers for all schedules, or for the parts that they are divided into.
    instance
        Fingerprint of the instance it was made for.
    """

    family: ClassVar[str] = "coupled"

    bound: int
    scale: int
    proof: Part
    instance: str

    def __str__(self) -> str:
        parts = self.proof.parts()
        return f"no makespan below {self.bound}, by rents" + (f" of {parts} parts" if parts > 1 else "")


class _Life(msgspec.Struct, forbid_unknown_fields=True):
    worker: _Count
    slot: _Count
    rents: list[_Count]


class _Nodes(msgspec.Struct, forbid_unknown_fields=True):
    slot: _Count
    distances: list[int | None]


class _Multipliers(msgspec.Struct, forbid_unknown_fields=True):
    horizon: _Count
    programs: list[_Count]
    lives: list[_Life]
    nodes: list[_Nodes]


class _Division(msgspec.Struct, forbid_unknown_fields=True):
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


def read_rents(document: dict[str, Any]) -> Rents:
    """Return the certificate of a parsed file of the form ``coupled-rents/2``.

    Raises
    ------
    InputError
        Naming the place: unknown or missing keys, negative numbers.
    """
    file = convert(document, _File)
    return Rents(bound=file.bound, scale=file.scale, proof=_part(file.proof, "proof", 0), instance=file.instance)


def _part(told: dict[str, Any], place: str, depth: int) -> Part:
    """Return the proof of a part; a key ``iteration`` tells that it is divided."""
    if depth > MOST_DIVISIONS:
        raise InputError(f"divided more than {MOST_DIVISIONS} times, expected fewer", place=place)
    if "iteration" in told:
        cut = convert(told, _Division, place)
        halves = (_part(cut.sooner, f"{place}.sooner", depth + 1), _part(cut.later, f"{place}.later", depth + 1))
        return Division(cut.iteration, cut.slot, *halves)
    found = convert(told, _Multipliers, place)
    return Multipliers(
        horizon=found.horizon,
        programs=tuple(found.programs),
        rents=tuple((life.worker, life.slot, tuple(life.rents)) for life in found.lives),
        nodes=tuple((row.slot, tuple(row.distances)) for row in found.nodes),
    )


def format_rents(rents: Rents) -> str:
    """Return the text of a certificate's file, one life a line; `read_rents` gives back an equal one."""
    head = {"format": FORMAT, "instance": rents.instance, "bound": rents.bound, "scale": rents.scale}
    return f'{encode(head)[:-1]},"proof":{_format_part(rents.proof)}}}\n'


def _format_part(part: Part) -> str:
    if isinstance(part, Division):
        head = encode({"iteration": part.iteration, "slot": part.slot})[:-1]
        return f'{head},\n"sooner":{_format_part(part.sooner)},\n"later":{_format_part(part.later)}}}'
    head = encode({"horizon": part.horizon, "programs": part.programs})[:-1]
    lives = ",\n".join(encode({"worker": q, "slot": t, "rents": paid}) for q, t, paid in part.rents)
    nodes = ",\n".join(encode({"slot": t, "distances": values}) for t, values in part.nodes)
    return f'{head},"lives":[\n{lives}\n],"nodes":[\n{nodes}\n]}}'
