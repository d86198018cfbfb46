"""Parameters of the local search: they decide which schedules it finds, and nothing that is proven."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LocalSearchParameters"]


class LocalSearchParameters(NamedTuple):
    """Parameters of simulated annealing; temperatures and weights are in slots.

    Parameters
    ----------
    moves
        Moves of one annealing run, after which the next starts from the best schedule.
    initial_temperature, final_temperature
        Between them the temperature falls geometrically: a higher one accepts larger violations.
    pauses
        Pauses that a window has room for.
    target_divisor
        The makespan target is below the incumbent by at most the makespan divided by this.
    slot_weight
        Violation of each slot after the target: large, so that states end in time.
    program_weight
        Violation of each program, as a share of its slots on the channel: enough to drop programs without use.
    task_weight
        Violation of each missing task, as a multiple of the programs per task of the start.
    max_changes
        Largest number of programs that the repair changes after one move.
    max_penalty
        Largest penalty factor of an iteration.
    penalty_increase, penalty_decay
        Relative increase of a penalty after each accepted state that violates it, and its decay towards 1 otherwise.
    step_divisor
        A window moves by at most an average iteration divided by this, or by three slots.
    programs_share, communication_share, length_share
        Cumulated shares of the moves that withdraw programs, shift a window, and change its length; the rest changes a
        pause.
    """

    moves: int = 40_000
    initial_temperature: float = 0.7
    final_temperature: float = 0.07
    pauses: int = 8
    target_divisor: int = 50
    slot_weight: float = 50.0
    program_weight: float = 0.02
    task_weight: float = 1.3
    max_changes: int = 60
    max_penalty: float = 10.0
    penalty_increase: float = 0.002
    penalty_decay: float = 0.001
    step_divisor: int = 16
    programs_share: float = 0.30
    communication_share: float = 0.62
    length_share: float = 0.88
