"""The parts of a report, by name."""

from __future__ import annotations

from enum import StrEnum, auto

__all__ = ["SHORT", "Section"]


class Section(StrEnum):
    """A part of a report."""

    SUMMARY = auto()
    RATIOS = auto()
    CURVES = auto()
    PROFILE = auto()
    PARAMETERS = auto()
    COMPARISON = auto()
    EXAMPLE = auto()
    FACTS = auto()
    UNFINISHED = auto()


#: The parts that fit two sheets of paper, for at most two populations.
SHORT = (Section.SUMMARY, Section.RATIOS, Section.FACTS)
