"""The file format ``bags/1`` of instances, read strictly and written exactly (docs/bags/model.md section 1)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from hindsched.instances import states as st
from hindsched.instances.bags.model import Instance
from hindsched.instances.text_files import convert, expect_format, format_document

__all__ = ["INSTANCE_FORMATS", "read_instance", "write_instance"]

INSTANCE_FORMATS = ("bags/1",)

_Positive = Annotated[int, msgspec.Meta(ge=1)]


class _MachineFile(msgspec.Struct, forbid_unknown_fields=True):
    segment: _Positive
    states: str


class _InstanceFile(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    slot: _Positive
    tasks: _Positive
    segments: _Positive
    store: str
    machines: list[_MachineFile]
    on_demand: bool = False
    tick_ms: _Positive = 1
    reference_s: _Positive = 1800
    clock_s: Annotated[int, msgspec.Meta(ge=0)] | None = None
    move: Annotated[int, msgspec.Meta(ge=0)] = 0


def read_instance(document: dict[str, Any]) -> Instance:
    """Return the instance of a parsed file.

    Parameters
    ----------
    document
        The JSON object of a file with format ``bags/1``. ``on_demand``, ``tick_ms``, ``reference_s``, ``clock_s``
        and ``move`` may be left out.

    Raises
    ------
    InputError
        If the format is unknown, keys are unknown or missing, a letter is unknown, a number is out of range or not an
        integer, lengths differ, or there is no machine or no slot. The message names the machine and the field.
    """
    expect_format(document, INSTANCE_FORMATS)
    file = convert(document, _InstanceFile)
    return Instance(
        tasks=file.tasks,
        segments=file.segments,
        slot=file.slot,
        ticks=[machine.segment for machine in file.machines],
        states=st.from_letters([machine.states for machine in file.machines], "machines"),
        store=file.store,
        on_demand=file.on_demand,
        tick_ms=file.tick_ms,
        reference_s=file.reference_s,
        clock_s=file.clock_s,
        move=file.move,
    )


def write_instance(instance: Instance) -> str:
    r"""Return the text of an instance's file, one machine per line; `read_instance` returns an equal instance.

    Examples
    --------
    >>> lone = Instance.from_letters(["ud"], ticks=[2], slot=3, tasks=1, segments=1)
    >>> write_instance(lone).splitlines()[1]
    '{"segment":2,"states":"ud"}'
    """
    document = {
        "format": INSTANCE_FORMATS[0],
        "tick_ms": instance.tick_ms,
        "slot": instance.slot,
        "tasks": instance.tasks,
        "segments": instance.segments,
        "store": str(instance.store),
        "on_demand": instance.on_demand,
        "reference_s": instance.reference_s,
        "clock_s": instance.clock_s,
        **({"move": instance.move} if instance.move else {}),
        "machines": (
            {"segment": ticks, "states": letters}
            for ticks, letters in zip(instance.ticks, st.to_letters(instance.states), strict=True)
        ),
    }
    return format_document(document, ["machines"])
