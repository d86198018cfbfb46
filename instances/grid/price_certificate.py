"""Prices as certificates: a lower bound on the total wait of every schedule, evaluated exactly.

docs/grid/model.md section 6. Nothing here is shared with any solver: a certificate is judged by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hindsched.instances.grid.model import Instance
from hindsched.instances.text_files import encode, expect_format

__all__ = ["CERTIFICATE_FORMATS", "PriceCertificate", "Resource", "read_certificate", "write_certificate"]

#: What the key ``format`` of a certificate may say.
CERTIFICATE_FORMATS = ("grid-prices/1",)


@dataclass(frozen=True, slots=True)
class Resource:
    """Something jobs need while they run, of which there is never more than a limit at once.

    Parameters
    ----------
    limit
        No set of jobs that fits together on the nodes has loads that sum to more.
    prices
        (from, to, p): p over scale per unit of load in slots from .. to-1; disjoint, ascending, elsewhere 0.
    loads
        Load by width, 0 where it is not named; None (and ``jobs`` None): the width itself.
    jobs
        Load by job number, 0 where it is not named; None: it goes by width.
    """

    limit: int
    prices: Sequence[tuple[int, int, int]]
    loads: Mapping[int, int] | None = None
    jobs: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PriceCertificate:
    """A certificate as its file says it; what it proves is for `hindsched.instances.grid.check` to say.

    Parameters
    ----------
    document
        The JSON object of the file, decoded. It is not to be changed.

    Examples
    --------
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 2], length=[5, 1])
    >>> PriceCertificate.of(pair, 1, [Resource(3, [(0, 5, 1)])]).document["resources"]
    [{'loads': None, 'limit': 3, 'prices': [[0, 5, 1]]}]
    """

    family: ClassVar[str] = "grid"

    document: Mapping[str, Any]

    @classmethod
    def of(cls, instance: Instance, scale: int, resources: Sequence[Resource]) -> PriceCertificate:
        """Return the certificate of these resources; prices count in 1/scale."""
        return cls(
            {
                "format": CERTIFICATE_FORMATS[0],
                "instance": instance.fingerprint,
                "scale": int(scale),
                "resources": [_written(resource) for resource in resources],
            }
        )

    @property
    def instance(self) -> object:
        """The fingerprint of the instance it was made for; whatever stands there, None if nothing does."""
        return self.document.get("instance")


def _written(resource: Resource) -> dict[str, Any]:
    key, loads = ("jobs", resource.jobs) if resource.jobs is not None else ("loads", resource.loads)
    return {
        key: None if loads is None else {str(int(k)): int(load) for k, load in sorted(loads.items())},
        "limit": int(resource.limit),
        "prices": [[int(start), int(stop), int(price)] for start, stop, price in resource.prices],
    }


def read_certificate(document: Mapping[str, Any]) -> PriceCertificate:
    """Return the certificate that a decoded file holds, of the right form or not: that is for the checker to say.

    Raises
    ------
    InputError
        Where ``format`` names no certificate of this family.
    """
    expect_format(document, CERTIFICATE_FORMATS)
    return PriceCertificate(document)


def write_certificate(prices: PriceCertificate) -> str:
    """Return the text of a certificate's file, one resource a line."""
    document = prices.document
    head = ",".join(f"{encode(key)}:{encode(document[key])}" for key in ("format", "instance", "scale"))
    lines = ",\n".join(encode(resource) for resource in document["resources"])
    return f'{{{head},"resources":[\n{lines}\n]}}\n'
