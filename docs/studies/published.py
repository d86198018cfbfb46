"""Which module writes the pages of a family."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docs.studies.marked_pages import Published

__all__ = ["PAGE_WRITERS", "published"]

#: Modules with a class ``Published``, by family.
PAGE_WRITERS = {
    "coupled": "docs.studies.coupled.pages.published",
    "bags": "docs.studies.bags.pages",
    "batches": "docs.studies.batches.pages",
    "grid": "docs.studies.grid.pages",
    "deadline": "docs.studies.deadline.pages",
}


def published(family: str) -> Published:
    """Return the writers and pictures of a family's pages."""
    found: Published = import_module(PAGE_WRITERS[family]).Published()
    return found
