from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    time: int | Fraction | None
    rule: str | None
    reason: str | None
    outcome: Any = None

    @property
    def is_valid(self) -> bool:
        return self.rule is None
