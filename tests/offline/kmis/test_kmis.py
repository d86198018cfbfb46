"""The k-subset intersection against brute force."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from hindsched.instances import InputError
from hindsched.offline import Status
from hindsched.offline.kmis import core_bounds, exact, matrix, sides
from hindsched.offline.kmis.api import earliest_common_slots, max_common_slots
from hindsched.offline.kmis.kernels.bit_matrix import pack
from hindsched.offline.kmis.kernels.search_state import ANY, DONE, MORE_BITS, MORE_ITEMS
from hindsched.offline.kmis.parameters import KmisParameters
from hindsched.offline.kmis.shared_slots import SharedSlots
from hindsched.offline.limits import Limits, Stopwatch

Up = npt.NDArray[np.bool_]


def brute_max(up: Up, m: int) -> int:
    """Return the most columns shared by m rows; all sets of m rows are tried."""
    sets = combinations(range(up.shape[0]), m)
    return max(int(up[list(rows)].all(axis=0).sum()) for rows in sets)


def brute_earliest(up: Up, m: int, w: int) -> int | None:
    """Return the shortest prefix in which m rows share w columns; all prefixes are tried."""
    for prefix in range(up.shape[1] + 1):
        for rows in combinations(range(up.shape[0]), m):
            if up[list(rows), :prefix].all(axis=0).sum() >= w:
                return prefix
    return None


def check_max(up: Up, m: int, expected: int) -> None:
    result = max_common_slots(up, m)
    assert isinstance(result, SharedSlots)
    assert result.value == expected == result.bound == len(result.slots)
    assert result.status is Status.OPTIMAL
    assert list(result.workers) == sorted(set(result.workers))
    assert len(result.workers) == m
    assert list(result.slots) == np.flatnonzero(up[list(result.workers)].all(axis=0)).tolist()


def check_earliest(up: Up, m: int, w: int, expected: int | None) -> None:
    result = earliest_common_slots(up, m, w)
    if expected is None:
        assert result is None
        return
    assert isinstance(result, SharedSlots)
    assert result.value == expected == result.bound
    assert len(set(result.workers)) == m
    assert len(set(result.slots)) == w
    assert max(result.slots, default=-1) + 1 == expected
    assert up[np.ix_(result.workers, result.slots)].all()


def random_up(rng: np.random.Generator) -> Up:
    """Return a small array of one of several kinds."""
    p, n = int(rng.integers(1, 9)), int(rng.integers(0, 140))
    if rng.random() < 0.5:
        n = int(rng.integers(0, 13))
    up = rng.random((p, n)) < rng.random()
    kind = rng.integers(6)
    if kind == 0 and p > 1:  # equal rows
        up = up[rng.integers(0, p, p)]
    elif kind == 1 and n > 1:  # equal columns
        up = up[:, rng.integers(0, n, n)]
    elif kind == 2:  # bursts
        up = np.repeat(rng.random((p, n // 4 + 1)) < rng.random(), 4, axis=1)
    elif kind == 3:  # rows and columns of very different density
        up = rng.random((p, n)) < np.outer(rng.random(p) ** 0.3, rng.random(n) ** 0.3)
    return np.ascontiguousarray(up)


@pytest.mark.parametrize("seed", range(10))
def test_the_most_common_slots_of_random_arrays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(150):
        up = random_up(rng)
        m = int(rng.integers(1, up.shape[0] + 1))
        check_max(up, m, brute_max(up, m))


@pytest.mark.parametrize("seed", range(6))
def test_the_earliest_common_slots_of_random_arrays(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    for _ in range(60):
        up = random_up(rng)[:, :40]
        m = int(rng.integers(1, up.shape[0] + 2))
        w = int(rng.integers(0, 6))
        check_earliest(up, m, w, brute_earliest(up, m, w))


@pytest.mark.parametrize("seed", range(3))
def test_large_arrays_give_the_same_answers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "PARAMETERS", KmisParameters(small_array=-1))
    rng = np.random.default_rng(4000 + seed)
    for _ in range(60):
        up = random_up(rng)
        m = int(rng.integers(1, up.shape[0] + 1))
        check_max(up, m, brute_max(up, m))
        w = int(rng.integers(0, 6))
        check_earliest(up[:, :40], m, w, brute_earliest(up[:, :40], m, w))


@pytest.mark.parametrize("n", [1, 7, 63, 64, 65, 127, 128, 200])
def test_an_array_may_have_any_memory_layout(n: int) -> None:
    up = np.random.default_rng(n).random((12, n)) < 0.7
    locked = up.copy()
    locked.setflags(write=False)
    spread = np.repeat(up, 2, axis=1)[:, ::2]
    expected, expected_end = brute_max(up, 4), brute_earliest(up, 4, 2)
    for same in (up, locked, spread, np.asfortranarray(up), up[::-1, ::-1][::-1, ::-1]):
        check_max(same, 4, expected)
        check_earliest(same, 4, 2, expected_end)
    packed = np.zeros((12, (n + 63) // 64), np.uint64)
    pack(up, packed)
    assert np.array_equal(packed, matrix.octets_of(up).view(np.uint64))


@pytest.mark.parametrize("seed", range(3))
def test_the_beam_reports_the_columns_of_its_rows(seed: int) -> None:
    rng = np.random.default_rng(5000 + seed)
    for _ in range(60):
        up = rng.random((int(rng.integers(2, 80)), int(rng.integers(1, 200)))) < rng.random()
        p, n = up.shape
        m, prefix = int(rng.integers(1, min(p, 9) + 1)), int(rng.integers(1, n + 1))
        both = matrix.Matrix(matrix.octets_of(up), n)
        best, rows = both.beam(m, int(rng.integers(1, 9)), prefix)
        assert rows == sorted(set(rows))
        assert len(rows) == m
        assert up[rows, :prefix].all(axis=0).sum() == best


@pytest.mark.parametrize(
    ("p", "n", "density", "m"),
    [(14, 60, 0.5, 5), (14, 200, 0.6, 7), (16, 70, 0.8, 8), (12, 300, 0.3, 3), (70, 30, 0.3, 2), (130, 65, 0.3, 2)],
)
def test_more_rows_than_a_word_has_bits_and_more_words(p: int, n: int, density: float, m: int) -> None:
    up = np.random.default_rng(p).random((p, n)) < density
    check_max(up, m, brute_max(up, m))
    check_max(np.ascontiguousarray(up[:, ::-1]), m, brute_max(up, m))


@pytest.mark.parametrize("p", [1, 2, 5, 64, 65])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_all_up_and_none_up(p: int, n: int) -> None:
    for m in {1, 2, p} & set(range(p + 1)):
        check_max(np.ones((p, n), bool), m, n)
        check_max(np.zeros((p, n), bool), m, 0)
        check_earliest(np.ones((p, n), bool), m, n, n)
        check_earliest(np.zeros((p, n), bool), m, 1, None)
    assert max_common_slots(np.ones((p, n), bool), p + 1) is None
    assert earliest_common_slots(np.ones((p, n), bool), p + 1, 0) is None


def test_a_planted_block_is_found_among_many_slots() -> None:
    rng = np.random.default_rng(0)
    up = rng.random((200, 20_000)) < 0.05
    rows, columns = rng.choice(200, 7, replace=False), rng.choice(20_000, 300, replace=False)
    up[np.ix_(rows, columns)] = True
    found = max_common_slots(up, 7)
    assert found is not None
    assert found.status is Status.OPTIMAL
    assert set(found.workers) == set(rows.tolist())
    assert set(found.slots) >= set(columns.tolist())


@pytest.mark.parametrize(
    ("up", "m", "where"),
    [
        (np.ones((2, 2), bool), 0, "m: 0"),
        (np.ones(2, bool), 1, "up: 1 dim"),
        (np.full((2, 2), 0.5), 1, "up: an array of float64"),
        (np.full((2, 2), 2), 1, "up: an array of int64"),
    ],
)
def test_invalid_arguments_raise(up: Up, m: int, where: str) -> None:
    with pytest.raises(InputError, match=where):
        max_common_slots(up, m)
    with pytest.raises(InputError, match=where):
        earliest_common_slots(up, m, 1)


def test_bad_limits_and_widths_are_refused() -> None:
    up = np.ones((2, 2), bool)
    with pytest.raises(InputError, match="w: -1"):
        earliest_common_slots(up, 1, -1)
    with pytest.raises(InputError, match="time limit"):
        max_common_slots(up, 1, time_limit_s=0)


def test_numbers_0_and_1_are_booleans() -> None:
    found = max_common_slots(np.array([[1, 0, 1], [1, 1, 1]]), 2)
    assert found is not None
    assert found.slots == (0, 2)


def test_a_stopped_search_claims_no_more_than_is_true() -> None:
    up = np.random.default_rng(0).random((120, 1500)) < 0.5
    found = max_common_slots(up, 12, time_limit_s=0.1)
    assert found is not None
    assert found.value is not None
    assert 0 < found.value < found.bound
    assert found.status is Status.FEASIBLE
    assert up[np.ix_(found.workers, found.slots)].all()


def test_a_stopped_search_for_a_prefix_may_have_no_rows() -> None:
    up = np.random.default_rng(0).random((120, 1500)) < 0.5
    found = earliest_common_slots(up, 14, 17, time_limit_s=0.1)
    assert found is not None
    assert found.workers == ()
    assert found.value is None
    assert 17 < found.bound <= 1501
    assert found.status is Status.UNKNOWN


@pytest.mark.parametrize("seed", range(3))
def test_the_bounds_of_stopped_searches_are_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        up = random_up(rng)[:, :40]
        m = int(rng.integers(1, up.shape[0] + 1))
        both = matrix.Matrix(matrix.octets_of(up), up.shape[1])
        best = brute_max(up, m)
        assert core_bounds.widest_bound(both, m, 0) >= best
        time = Stopwatch(Limits(time_limit_s=60))
        assert best <= exact._relaxed_widest(up, m, time, up.shape[1]) <= up.shape[1]
        w = int(rng.integers(1, 6))
        earliest = brute_earliest(up, m, w)
        assert exact._relaxed_earliest(up, m, w, time, 0) <= (earliest or up.shape[1] + 1)
        assert core_bounds.earliest_bound(both, m, w, up.shape[1]) <= (earliest or max(w, up.shape[1] + 1))


def forced(up: Up, m: int, by_rows: bool, s: int, best: int, find_any: bool) -> int:
    """Return the best w above ``best`` found by one side with one split, or ``best``; -1: there is no such split."""
    both = matrix.Matrix(matrix.octets_of(up), up.shape[1])
    side = sides.Side(both, by_rows, m, best + 1, up.shape[1])
    if side.n == 0:
        return best
    side.s = s
    side.groups = (side.kx - 1) // (s - 1) if s > 1 else 1
    if side.groups < 1:
        return -1
    side.start(ANY if find_any else MORE_BITS if by_rows else MORE_ITEMS)
    status = side.run(Stopwatch(Limits()))
    rows = side.found(m)
    assert rows is not None or status == DONE
    return best if rows is None else len(both.columns(rows))


@pytest.mark.parametrize("seed", range(8))
def test_every_side_and_split(seed: int) -> None:
    rng = np.random.default_rng(2000 + seed)
    for _ in range(40):
        p, n = int(rng.integers(4, 13)), int(rng.integers(4, 260))
        up = rng.random((p, n)) < rng.uniform(0.2, 0.95)
        if rng.random() < 0.3:
            up = up[rng.integers(0, p, p)]
        if rng.random() < 0.3:
            up = up[:, rng.integers(0, n, n)]
        if rng.random() < 0.3:
            up = np.vstack((up, np.zeros((70, n), bool), rng.random((3, n)) < 0.1))
        m = int(rng.integers(2, min(p, 8)))
        expected = brute_max(up[up.any(axis=1)], m) if up.any(axis=1).sum() >= m else 0
        for s in range(1, 6):
            for by_rows in (True, False):
                start = 1 if by_rows else max(1, expected - int(rng.integers(0, 4)))
                if expected <= start or (not by_rows and expected > 25):
                    continue
                assert forced(up, m, by_rows, s, start, False) in (expected, -1)
                assert forced(up, m, by_rows, s, expected, False) in (expected, -1)
                assert forced(up, m, by_rows, s, expected - 1, True) in (expected, -1)


@pytest.mark.parametrize("seed", range(3))
def test_existence_and_floors(seed: int) -> None:
    rng = np.random.default_rng(3000 + seed)
    watch = Stopwatch(Limits())
    for _ in range(100):
        up = random_up(rng)
        m = int(rng.integers(1, up.shape[0] + 1))
        best = brute_max(up, m)
        assert exact.exists(up, m, best + 1, watch) is None
        if best:
            found = exact.exists(up, m, best, watch)
            assert found is not None
            assert len(found.slots) >= best
            assert up[np.ix_(found.workers, found.slots)].all()
        for floor in (best - 1, best, best + 3):
            found = exact.widest(up, m, watch, max(0, floor))
            if floor > 0 and floor >= best:
                assert found is None
            else:
                assert found is not None
                assert (len(found.slots), found.value, found.bound, found.status) == (best, best, best, Status.OPTIMAL)
