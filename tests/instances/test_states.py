import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsched.instances import InputError
from hindsched.instances.states import DOWN, LETTERS, RECLAIMED, UP, from_letters, to_letters


@some.composite
def rows(draw):
    slots = draw(some.integers(0, 150))
    return draw(some.lists(some.text(LETTERS, min_size=slots, max_size=slots), min_size=1, max_size=4))


@given(rows())
def test_letters_and_codes_convert_to_each_other(letters):
    states = from_letters(letters)
    assert states.dtype == np.uint8
    assert states.shape == (len(letters), len(letters[0]))
    assert to_letters(states) == letters
    assert [[LETTERS[code] for code in row] for row in states] == [list(row) for row in letters]


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        (["uu", "uxu"[:2]], "workers[1].states: letter 'x' in slot 1, expected one of u (UP), r (RECLAIMED), d (DOWN)"),
        (["uu", "U "], "workers[1].states: letter 'U' in slot 0"),
        (["uäu"], "workers[0].states: letter 'ä' in slot 1"),
        (["u\ud800u"], "workers[0].states: letter '\\ud800' in slot 1"),
        (["u\0"], "workers[0].states: letter '\\x00' in slot 1"),
        (["uu", "uuu"], "workers[1].states: 3 slots, expected 2 as in workers[0]"),
    ],
)
def test_an_invalid_state_is_refused_with_worker_and_slot(letters, message):
    with pytest.raises(InputError) as caught:
        from_letters(letters)
    assert message in str(caught.value)


def test_codes_are_ordered_from_best_to_worst():
    assert UP < RECLAIMED < DOWN
    assert LETTERS[UP] + LETTERS[RECLAIMED] + LETTERS[DOWN] == "urd"
