"""Price certificates: prices of resources that prove a lower bound on the total wait (docs/grid/model.md section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hindsched.instances.grid.model import Instance
from hindsched.instances.text_files import expect_format, expect_keys, format_document

__all__ = ["CERTIFICATE_FORMATS", "PriceCertificate", "Resource", "read_certificate", "write_certificate"]

#: The formats of a certificate's file.
CERTIFICATE_FORMATS = ("grid-prices/1",)

_KEYS = ("format", "instance", "scale", "resources")


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that jobs load while they run, with a limit and prices.

    Parameters
    ----------
    limit
        Upper bound on the sum of the loads of every set of jobs that fits together on the nodes.
    prices
        Triples (from, to, p): the price of a unit of load is p / scale in slots from .. to-1. The intervals are
        disjoint and ascending; elsewhere the price is 0.
    loads
        Load of each width; missing widths have load 0. If it is None and ``jobs`` is None, the load is the width.
    jobs
        Load of each job, by number; missing jobs have load 0. None: the load depends on the width.
    """

    limit: int
    prices: Sequence[tuple[int, int, int]]
    loads: Mapping[int, int] | None = None
    jobs: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PriceCertificate:
    """A certificate as the content of its file. `hindsched.instances.grid.check` decides what it proves.

    Parameters
    ----------
    document
        The parsed JSON object of the file; do not modify it.

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
        """Return the certificate with these resources; the unit of prices is 1/scale."""
        return cls(
            {
                "format": CERTIFICATE_FORMATS[0],
                "instance": instance.fingerprint,
                "scale": int(scale),
                "resources": [_as_document(resource) for resource in resources],
            }
        )

    @property
    def instance(self) -> object:
        """The value of the key ``instance``, which should be a fingerprint; None if the key is missing."""
        return self.document.get("instance")


def _as_document(resource: Resource) -> dict[str, Any]:
    key, loads = ("jobs", resource.jobs) if resource.jobs is not None else ("loads", resource.loads)
    return {
        key: None if loads is None else {str(int(k)): int(load) for k, load in sorted(loads.items())},
        "limit": int(resource.limit),
        "prices": [[int(start), int(stop), int(price)] for start, stop, price in resource.prices],
    }


def read_certificate(document: Mapping[str, Any]) -> PriceCertificate:
    """Return the certificate of a parsed file. The checker examines the entries of the list of resources.

    Raises
    ------
    InputError
        If ``format`` is not one of `CERTIFICATE_FORMATS`, a key is missing or unknown, or there is no list.
    """
    expect_format(document, CERTIFICATE_FORMATS)
    expect_keys(document, _KEYS, "resources")
    return PriceCertificate(document)


def write_certificate(prices: PriceCertificate) -> str:
    """Return the text of a certificate's file, one resource per line; `read_certificate` returns an equal object."""
    document = {key: prices.document[key] for key in _KEYS}
    return format_document(document, ["resources"])
