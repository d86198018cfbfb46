"""The file format ``deadline/1`` of instances, read strictly and written exactly (docs/deadline/model.md section 1)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from hindsched.instances.deadline.model import Instance, Zone, spot_from_text, spot_to_text
from hindsched.instances.text_files import convert, expect_format, format_document

__all__ = ["INSTANCE_FORMATS", "read_instance", "write_instance"]

INSTANCE_FORMATS = ("deadline/1",)

_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Natural = Annotated[int, msgspec.Meta(ge=0)]


class _ZoneFile(msgspec.Struct, forbid_unknown_fields=True):
    spot: str
    spot_price: _Natural | list[_Natural]
    on_demand_price: _Natural | list[_Natural]
    name: str = ""
    region: str = ""


class _InstanceFile(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    slot_s: _Positive
    deadline_s: _Positive
    work_s: _Positive
    overhead_s: _Natural
    zones: list[_ZoneFile]
    move_delay_s: list[list[_Natural]] | None = None
    move_cost: list[list[_Natural]] | None = None


def read_instance(document: dict[str, Any]) -> Instance:
    """Return the instance of a parsed file.

    Parameters
    ----------
    document
        The JSON object of a file with format ``deadline/1``. ``name``, ``region`` and the matrices may be left out.

    Raises
    ------
    InputError
        If the format is unknown, keys are unknown or missing, a character is not 0 or 1, a number is out of range or
        not an integer, or lengths differ. The message names the zone and the field.
    """
    expect_format(document, INSTANCE_FORMATS)
    file = convert(document, _InstanceFile)
    return Instance(
        slot_s=file.slot_s,
        deadline_s=file.deadline_s,
        work_s=file.work_s,
        overhead_s=file.overhead_s,
        zones=[
            Zone(
                spot_from_text(zone.spot, f"zones[{i}].spot"),
                _as_price(zone.spot_price),
                _as_price(zone.on_demand_price),
                zone.name,
                zone.region,
            )
            for i, zone in enumerate(file.zones)
        ],
        move_delay_s=file.move_delay_s,
        move_cost=file.move_cost,
    )


def write_instance(instance: Instance) -> str:
    r"""Return the text of an instance's file, one zone per line; `read_instance` returns an equal instance.

    Examples
    --------
    >>> zone = Zone(spot_from_text("10"), 1, (3, 4))
    >>> write_instance(Instance(10, 20, 5, 0, [zone])).splitlines()[1]
    '{"name":"zone0","region":"zone0","spot":"10","spot_price":1,"on_demand_price":[3,4]}'
    """
    document: dict[str, Any] = {
        "format": INSTANCE_FORMATS[0],
        "slot_s": instance.slot_s,
        "deadline_s": instance.deadline_s,
        "work_s": instance.work_s,
        "overhead_s": instance.overhead_s,
        "zones": [
            {
                "name": zone.name,
                "region": zone.region,
                "spot": spot_to_text(zone.spot),
                "spot_price": zone.spot_price,
                "on_demand_price": zone.on_demand_price,
            }
            for zone in instance.zones
        ],
    }
    for name in ("move_delay_s", "move_cost"):
        matrix = getattr(instance, name)
        if any(map(any, matrix)):
            document[name] = matrix
    return format_document(document, ["zones"])


def _as_price(price: int | list[int]) -> int | tuple[int, ...]:
    return price if isinstance(price, int) else tuple(price)
