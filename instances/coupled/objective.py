"""The objectives of this family."""

from __future__ import annotations

from enum import StrEnum

from hindsched.instances.errors import InputError

__all__ = ["Objective"]


class Objective(StrEnum):
    """What schedules and runs of an instance are compared by (docs/model.md section 3)."""

    #: fewest slots in which K iterations are complete
    MAKESPAN = "makespan"
    #: most iterations that are complete within N slots
    ITERATIONS = "iterations"

    @classmethod
    def parse(cls, text: Objective | str) -> Objective:
        """Return the objective of this name; raise `InputError` for an unknown name."""
        try:
            return cls(text)
        except ValueError:
            known = " or ".join(cls)
            raise InputError(f"{text!r}, expected {known}", place="objective") from None
