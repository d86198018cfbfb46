"""Certificates of the Lagrangian bound, format ``deadline-bound/1`` (docs/deadline/model.md section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hindsched.instances.deadline.model import Instance
from hindsched.instances.text_files import expect_format, expect_keys, format_document

__all__ = ["CERTIFICATE_FORMATS", "BoundCertificate", "read_certificate", "write_certificate"]

#: The formats of a certificate's file.
CERTIFICATE_FORMATS = ("deadline-bound/1",)

_KEYS = ("format", "instance", "lambda", "phi")


@dataclass(frozen=True, slots=True)
class BoundCertificate:
    """A certificate as the content of its file. `hindsched.instances.deadline.check` decides what it proves.

    Parameters
    ----------
    document
        The parsed JSON object of the file; do not modify it.
    """

    family: ClassVar[str] = "deadline"

    document: Mapping[str, Any]

    @classmethod
    def of(cls, instance: Instance, numerator: int, denominator: int, phi: Sequence[Sequence[int]]) -> BoundCertificate:
        """Return the certificate with the multiplier numerator / denominator, units of money per second of work.

        Parameters
        ----------
        instance
            The instance.
        numerator, denominator
            p >= 0 and q >= 1.
        phi
            N + 1 rows with a lower bound for each state before a slot, in the order of docs/deadline/model.md.
        """
        rows = [[int(value) for value in row] for row in phi]
        return cls(
            {
                "format": CERTIFICATE_FORMATS[0],
                "instance": instance.fingerprint,
                "lambda": [int(numerator), int(denominator)],
                "phi": rows,
            }
        )

    @property
    def instance(self) -> object:
        """The value of the key ``instance``, which should be a fingerprint; None if the key is missing."""
        return self.document.get("instance")


def read_certificate(document: Mapping[str, Any]) -> BoundCertificate:
    """Return the certificate of a parsed file. The checker examines its numbers.

    Raises
    ------
    InputError
        If ``format`` is not one of `CERTIFICATE_FORMATS`, a key is missing or unknown, or ``phi`` is no list.
    """
    expect_format(document, CERTIFICATE_FORMATS)
    expect_keys(document, _KEYS, "phi")
    return BoundCertificate(document)


def write_certificate(certificate: BoundCertificate) -> str:
    """Return the text of a certificate's file, one slot per line; `read_certificate` returns an equal object."""
    document = {key: certificate.document[key] for key in _KEYS}
    return format_document(document, ["phi"])
