"""What a page of results consists of, by name."""

from __future__ import annotations

from enum import StrEnum, auto

__all__ = ["SHORT", "Section"]


class Section(StrEnum):
    """What a page consists of."""

    SUMMARY = auto()
    RATIOS = auto()
    CURVES = auto()
    PROFILE = auto()
    PARAMETERS = auto()
    COMPARISON = auto()
    EXAMPLE = auto()
    FACTS = auto()
    UNFINISHED = auto()


#: The parts that fit two sheets of paper, with two populations or fewer.
SHORT = (Section.SUMMARY, Section.RATIOS, Section.FACTS)
