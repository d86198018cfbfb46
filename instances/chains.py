"""Markov chains of volatile workers: three states, their stationary distribution, their fit, and streams of states."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, RECLAIMED, UP, States

__all__ = ["Chain", "StateStream", "fit"]

_SUM_TOLERANCE = 1e-9
#: Number of slots from which compiled code draws the states; loading it takes longer than drawing fewer.
_WORTH_COMPILING = 8192


@dataclass(frozen=True, slots=True)
class Chain:
    """A 3-state Markov chain over UP, RECLAIMED, DOWN (docs/model.md section 5).

    Parameters
    ----------
    rows
        Transition probabilities, ``rows[x][y]`` from state x to state y. Each row sums to 1 within 1e-9. The numbers
        are kept as given.

    Raises
    ------
    InputError
        If the shape is wrong, a number is outside [0, 1], or a row does not sum to 1.

    Examples
    --------
    >>> chain = Chain(((0.9, 0.1, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    >>> [round(float(share), 4) for share in chain.stationary()]
    [0.8333, 0.1667, 0.0]
    """

    rows: tuple[tuple[float, float, float], ...]

    def __post_init__(self) -> None:
        if len(self.rows) != 3 or any(len(row) != 3 for row in self.rows):
            raise InputError("expected 3 rows of 3 probabilities, from and to u, r, d", place="markov")
        # adding 0.0 turns -0.0 into 0.0: equal chains must have equal texts
        rows = tuple((float(row[0]) + 0.0, float(row[1]) + 0.0, float(row[2]) + 0.0) for row in self.rows)
        for x, row in enumerate(rows):
            place = f"markov[{x}]"
            for probability in row:
                if not 0.0 <= probability <= 1.0:
                    raise InputError(f"{probability!r}, expected a probability in [0, 1]", place=place)
            if abs(sum(row) - 1.0) > _SUM_TOLERANCE:
                raise InputError(f"probabilities sum to {sum(row)!r}, expected 1", place=place)
        object.__setattr__(self, "rows", rows)

    def stationary(self, start: int = UP) -> npt.NDArray[np.float64]:
        """Return the long-run share of slots in each state for a chain that starts in ``start``; shape (3,).

        With one recurrent class this is the stationary distribution. Otherwise it is the mixture of the distributions
        of the classes that are reached from the start. So a worker that can never go DOWN from UP has a meaningful
        answer for any third row.

        Notes
        -----
        The shares are computed from the probabilities of leaving a state in exact rational arithmetic and rounded once.
        A chain that leaves a state once in 1e9 slots is as precise as any other. By the Markov chain tree theorem the
        share of x is proportional to the sum, over the spanning trees directed to x, of the products of their
        probabilities.
        """
        leave = [[Fraction(0 if x == y else self.rows[x][y]) for y in range(3)] for x in range(3)]
        y, z = (x for x in (UP, RECLAIMED, DOWN) if x != start)
        if leave[start][y] and leave[start][z] and not any(leave[y]) and not any(leave[z]):
            weights = list(leave[start])  # two absorbing states
        else:
            reached = _reached(leave, start)
            weights = [_tree_weight(leave, x, reached) if x in reached else Fraction(0) for x in range(3)]
        total = sum(weights)
        return np.array([float(weight / total) for weight in weights])


def _reached(leave: list[list[Fraction]], start: int) -> set[int]:
    reached = {start}
    for _ in range(2):  # two steps reach every state
        reached |= {y for x in reached for y in range(3) if leave[x][y]}
    return reached


def _tree_weight(leave: list[list[Fraction]], root: int, within: set[int]) -> Fraction:
    others = sorted(within - {root})
    if not others:
        return Fraction(1)
    if len(others) == 1:
        return leave[others[0]][root]
    a, b = others
    return leave[a][root] * (leave[b][root] + leave[b][a]) + leave[a][b] * leave[b][root]


class StateStream:
    """The infinite sequence of states of one worker, drawn block by block.

    Slot 0 is ``start``. One uniform number per later slot decides the transition into it, so the states do not depend
    on the sizes of the blocks.

    Parameters
    ----------
    chain
        The worker's chain.
    generator
        The worker's random stream (see `hindsched.instances.random_streams.stream`).
    start
        The state in slot 0.
    """

    def __init__(self, chain: Chain, generator: np.random.Generator, start: int = UP) -> None:
        # within a row the state that stays comes first: the number leaves state x iff it is >= P_xx
        self._order: list[tuple[int, int, int]] = []
        for x in (UP, RECLAIMED, DOWN):
            second, third = (y for y in (UP, RECLAIMED, DOWN) if y != x)
            self._order.append((x, second, third))
        self._stay, self._second = [], []
        for x, second, third in self._order:
            stay, to_second, to_third = (chain.rows[x][y] for y in (x, second, third))
            # a row may sum to slightly less than 1; the rest must not lead to a state of probability 0
            self._stay.append(stay if to_second or to_third else 1.0)
            self._second.append(stay + to_second if to_third else 1.0)
        self._generator = generator
        self._state = start
        self._begun = False

    def take(self, slots: int) -> npt.NDArray[np.uint8]:
        """Return the next ``slots`` states, shape (slots,). The work is about one step per change of state."""
        states = np.empty(slots, dtype=np.uint8)
        if slots == 0:
            return states
        first = 0
        if not self._begun:
            states[0] = self._state
            self._begun, first = True, 1
        if slots >= _WORTH_COMPILING:
            self._walk(states[first:])
            return states
        numbers = self._generator.random(slots - first)
        leaves = [np.flatnonzero(numbers >= stay).tolist() for stay in self._stay]
        position = 0
        while position < numbers.size:
            x = self._state
            next_leave = bisect_left(leaves[x], position)
            leave = leaves[x][next_leave] if next_leave < len(leaves[x]) else numbers.size
            states[first + position : first + leave] = x
            if leave == numbers.size:
                break
            second, third = self._order[x][1:]
            self._state = second if numbers[leave] < self._second[x] else third
            states[first + leave] = self._state
            position = leave + 1
        return states

    def _walk(self, states: npt.NDArray[np.uint8]) -> None:
        """Draw the states with compiled code."""
        from hindsched.instances.kernels.state_walk import walk_states  # noqa: PLC0415  # numba, for long streams only

        bounds, order = np.array([self._stay, self._second]).T.copy(), np.array(self._order)
        numbers = np.empty(_WORTH_COMPILING)  # a block that fits into the processor's cache
        for first in range(0, states.size, numbers.size):
            part = states[first : first + numbers.size]
            self._generator.random(out=numbers[: part.size])
            self._state = int(walk_states(numbers[: part.size], bounds, order, self._state, part))


def fit(states: States | Sequence[int]) -> Chain:
    """Return the maximum-likelihood chain of one worker's observed states.

    ``P_xy`` is the share of transitions out of x that go to y. A state without an observed transition does not
    determine its row. RECLAIMED and DOWN then return to UP at once, so that a worker is not given up for a state that
    was hardly seen. UP then leads to every state with the same probability: a worker without a known UP slot must not
    look like one that never fails.

    Parameters
    ----------
    states
        State codes of one worker, shape (N,), N >= 2.

    Raises
    ------
    InputError
        If there are fewer than two slots, or a code is not a state.

    Examples
    --------
    >>> fit([0, 0, 1, 0, 0]).rows
    ((0.6666666666666666, 0.3333333333333333, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    """
    codes = np.asarray(states, dtype=np.int64)
    if codes.ndim != 1 or codes.size < 2:
        raise InputError(f"states of shape {codes.shape}, expected at least two slots of one worker", place="fit")
    if codes.min() < UP or codes.max() > DOWN:
        raise InputError("a code outside 0 (UP), 1 (RECLAIMED), 2 (DOWN)", place="fit")
    counts = np.bincount(codes[:-1] * 3 + codes[1:], minlength=9).reshape(3, 3)
    rows: list[tuple[float, float, float]] = []
    for x in (UP, RECLAIMED, DOWN):
        total = int(counts[x].sum())
        if total:
            u, r, d = (float(count) / total for count in counts[x])
            rows.append((u, r, d))
        else:
            rows.append((1 / 3, 1 / 3, 1 / 3) if x == UP else (1.0, 0.0, 0.0))
    return Chain((rows[UP], rows[RECLAIMED], rows[DOWN]))
