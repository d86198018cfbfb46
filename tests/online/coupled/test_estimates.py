"""The analytic estimates of docs/model.md section 5, compared with direct sums and with simulated chains."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsched.instances import Chain, InputError
from hindsched.instances.coupled.generate import paper
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.estimates import ESTIMATORS, Estimates, log_sum, whole_slots
from hindsched.online.coupled.renewal_sums import modes, sums, sums_closed, sums_truncated

ALWAYS_UP = Chain(((1.0, 0.0, 0.0), (0.3, 0.3, 0.4), (0.5, 0.0, 0.5)))
NEVER_DOWN = Chain(((0.8, 0.2, 0.0), (0.3, 0.7, 0.0), (0.0, 0.0, 1.0)))
FICKLE = Chain(((0.90, 0.08, 0.02), (0.3, 0.6, 0.1), (0.2, 0.2, 0.6)))
SLOW = Chain(((0.95, 0.02, 0.03), (0.05, 0.93, 0.02), (0.1, 0.1, 0.8)))
RELIABLE = Chain(((1 - 1e-3 - 1e-7, 1e-3, 1e-7), (0.2, 0.8 - 1e-7, 1e-7), (0.5, 0.0, 0.5)))


def brute_sums(chains: list[Chain], slots: int) -> tuple[float, float]:
    """Return E_u and A by powers of M, slot by slot, without eigenvalues."""
    matrices = [np.array(chain.rows)[:2, :2] for chain in chains]
    powers = [np.eye(2) for _ in chains]
    e_u = a = 0.0
    for t in range(1, slots + 1):
        powers = [power @ matrix for power, matrix in zip(powers, matrices, strict=True)]
        product = math.prod(float(power[0, 0]) for power in powers)
        e_u += product
        a += t * product
    return e_u, a


probabilities = st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5, 1.0])


@st.composite
def any_chains(draw: st.DrawFn) -> Chain:
    """Draw a chain with zeros and ones in any place that goes DOWN from UP with a positive probability."""
    rows = []
    for least in (0.05, 0.0, 0.0):
        down = draw(probabilities.filter(lambda x, least=least: x >= least))
        other = draw(probabilities) * (1 - down)
        rows.append((1 - down - other, other, down) if draw(st.booleans()) else (other, 1 - down - other, down))
    return Chain(tuple(rows))


@given(st.lists(any_chains(), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_both_forms_of_the_sums_equal_a_brute_sum(chains: list[Chain]) -> None:
    workers = [modes(chain) for chain in chains]
    expected = brute_sums(chains, 12_000)  # l1 <= 0.9976: later terms are below 1e-12
    assert sums_closed(workers) == pytest.approx(expected, rel=1e-10, abs=1e-14)
    assert sums_truncated(workers) == pytest.approx(expected, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize(
    "chain",
    [
        Chain(((0.0, 0.0, 1.0), (0.5, 0.2, 0.3), (1.0, 0.0, 0.0))),  # first row of M zero
        Chain(((0.4, 0.4, 0.2), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))),  # second row of M zero
        Chain(((0.4, 0.4, 0.2), (0.0, 0.4, 0.6), (1.0, 0.0, 0.0))),  # defective: l1 = l2 and P_ur > 0
        Chain(((0.4, 0.0, 0.6), (0.1, 0.4, 0.5), (1.0, 0.0, 0.0))),  # defective the other way
        Chain(((0.4, 0.1, 0.5), (0.0, 0.9, 0.1), (1.0, 0.0, 0.0))),  # the larger eigenvalue has no part in p(t)
        Chain(((0.0, 0.5, 0.5), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))),  # l2 = -l1
        Chain(((0.5, 0.4, 0.1), (1e-9, 0.9, 0.1 - 1e-9), (1.0, 0.0, 0.0))),  # almost triangular
    ],
)
def test_degenerate_matrices(chain: Chain) -> None:
    for others in ([], [FICKLE], [NEVER_DOWN, SLOW]):
        chains = [chain, *others]
        expected = brute_sums(chains, 3000)
        assert sums_closed([modes(one) for one in chains]) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert sums_truncated([modes(one) for one in chains]) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_a_worker_that_never_returns_to_up() -> None:
    estimates = Estimates([Chain(((0.0, 0.0, 1.0), (0.5, 0.2, 0.3), (1.0, 0.0, 0.0)))])
    assert estimates.of_set(1).p_plus == 0.0
    assert estimates.duration(1, 1) == 1.0
    assert estimates.log_success(1, 1) == 0.0
    assert estimates.duration(1, 2) == math.inf
    assert estimates.log_success(1, 2) == -math.inf
    assert Estimates([FICKLE]).of_set(1).p_plus > 0


def test_very_reliable_workers_cost_few_slots_and_lose_no_digits() -> None:
    workers = [modes(RELIABLE)] * 3
    closed, truncated = sums_closed(workers), sums_truncated(workers)
    assert truncated == pytest.approx(closed, rel=1e-11)
    # to first order each of the three goes DOWN with 1e-7 per slot, and each is UP in 200 of 201 slots
    assert closed[0] == pytest.approx((200 / 201) ** 3 / 3e-7, rel=1e-3)


def test_many_workers_take_the_truncated_sum_and_agree_with_the_closed_form() -> None:
    chains = paper(m=1, n_com=1, wmin=1, scenario=0, trial=0, slots=1, p=16).chains
    workers = sorted(modes(chain) for chain in chains if chain is not None)
    assert sums(workers) == pytest.approx(sums_closed(workers), rel=1e-12)
    assert sums_truncated(workers) == pytest.approx(sums_closed(workers), rel=1e-12)
    # 40 workers: 2^40 series are out of reach
    assert sums([modes(RELIABLE)] * 40)[0] == pytest.approx((200 / 201) ** 40 / 40e-7, rel=1e-2)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_worker_that_is_always_up_takes_exactly_as_long_as_its_work(estimator: str) -> None:
    estimates = Estimates([ALWAYS_UP, ALWAYS_UP], estimator=estimator)
    for slots in range(1, 200):
        assert estimates.duration_alone(0, slots) == slots
        assert estimates.duration(0b11, slots) == slots
        assert math.exp(estimates.log_duration(0b11, slots)) == pytest.approx(slots, rel=1e-14)
    assert estimates.duration_alone(0, 0) == 0
    assert estimates.duration_alone(0, 2**31) == 2**31
    assert estimates.log_not_down(0, 10**9) == 0


def test_workers_that_never_go_down_return_after_the_mean_return_time() -> None:
    estimates = Estimates([NEVER_DOWN, NEVER_DOWN, ALWAYS_UP])
    share = 0.3 / (0.2 + 0.3)
    assert estimates.of_set(0b001)[:3] == pytest.approx((1.0, 0.0, 1 / share))
    assert estimates.of_set(0b111)[:3] == pytest.approx((1.0, 0.0, 1 / share**2))


def test_the_never_down_case_is_the_limit_of_the_others() -> None:
    nearly = Chain(((0.8 - 1e-9, 0.2, 1e-9), (0.3, 0.7, 0.0), (0.0, 0.0, 1.0)))
    of_nearly = Estimates([nearly, NEVER_DOWN]).of_set(0b11)
    of_never = Estimates([NEVER_DOWN, NEVER_DOWN]).of_set(0b11)
    assert of_nearly.p_plus == pytest.approx(1.0, abs=1e-8)
    assert of_nearly.e_c == pytest.approx(of_never.e_c, rel=1e-7)


def test_equal_workers_give_equal_numbers_to_the_last_bit() -> None:
    estimates = Estimates([FICKLE, SLOW, FICKLE, NEVER_DOWN, SLOW])
    masks = [1 << a | 1 << b | 1 << 3 for a in (0, 2) for b in (1, 4)]
    assert len({estimates.of_set(mask) for mask in masks}) == 1


def up_or_down_times(chains: list[Chain], runs: int, gaps: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate ``runs`` times from all UP until they were all UP ``gaps`` times again, or one of them was DOWN.

    Returns whether each run succeeded, and how many slots it took.
    """
    draw = stream("test", "return times", len(chains), gaps)
    cumulative = np.array([np.cumsum(chain.rows, axis=1) for chain in chains])
    states = np.full((runs, len(chains)), UP)
    left = np.full(runs, gaps)
    slots = np.zeros(runs, dtype=int)
    active = np.ones(runs, dtype=bool)
    workers = np.arange(len(chains))
    while active.any():
        rows = cumulative[workers, states[active]]
        numbers = draw.random((int(active.sum()), len(chains), 1))
        states[active] = (numbers >= rows[..., :2]).sum(axis=2)
        slots[active] += 1
        left[active] -= (states[active] == UP).all(axis=1)
        active &= (left > 0) & ~(states == DOWN).any(axis=1)
    return left == 0, slots


@pytest.mark.parametrize("chains", [[FICKLE], [FICKLE, SLOW], [FICKLE, SLOW, NEVER_DOWN]], ids=len)
def test_p_plus_and_e_c_against_simulated_chains(chains: list[Chain]) -> None:
    success, slots = up_or_down_times(chains, runs=60_000, gaps=1)
    p_plus, _, e_c, e_given_success = Estimates(chains).of_set(2 ** len(chains) - 1)
    assert success.mean() == pytest.approx(p_plus, abs=4 * success.std() / math.sqrt(success.size))
    counted = slots * success
    assert counted.mean() == pytest.approx(e_c, abs=4 * counted.std() / math.sqrt(counted.size))
    given_success = slots[success]
    assert given_success.mean() == pytest.approx(
        e_given_success, abs=4 * given_success.std() / math.sqrt(given_success.size)
    )


def test_the_conditional_estimator_is_the_expectation_that_the_paper_defines_and_the_printed_is_not() -> None:
    """E(W): expected slots until W slots of computation are done, given that no worker goes DOWN before."""
    chains, work = [FICKLE, SLOW], 9
    success, slots = up_or_down_times(chains, runs=200_000, gaps=work - 1)
    durations = 1 + slots[success]  # the first slot computes: all are UP now
    standard_error = durations.std() / math.sqrt(durations.size)
    printed, conditional = (Estimates(chains, estimator=name).duration(0b11, work) for name in ESTIMATORS[:2])
    assert abs(durations.mean() - conditional) < 4 * standard_error
    assert abs(durations.mean() - printed) > 100 * standard_error
    # the probability of success is the same in both
    expected = math.exp(Estimates(chains).log_success(0b11, work))
    assert success.mean() == pytest.approx(expected, abs=4 * success.std() / math.sqrt(success.size))


def test_staying_off_down_against_powers_of_the_whole_chain() -> None:
    chains = [FICKLE, SLOW, NEVER_DOWN, Chain(((0.4, 0.4, 0.2), (0.0, 0.4, 0.6), (1.0, 0.0, 0.0)))]
    chains.append(Chain(((0.7, 0.3, 0.0), (0.5, 0.4, 0.1), (1.0, 0.0, 0.0))))  # DOWN only by way of RECLAIMED
    estimates = Estimates(chains)
    for (q, chain), slots in itertools.product(enumerate(chains), (0, 1, 2, 3, 10, 57, 300)):
        rows = np.array(chain.rows)
        rows[2] = (0, 0, 1)  # once DOWN, always counted as DOWN
        stays = 1 - np.linalg.matrix_power(rows, slots)[0, 2]
        assert math.exp(estimates.log_not_down(q, slots)) == pytest.approx(stays, abs=1e-13)


def test_the_communication_estimate() -> None:
    estimates = Estimates([ALWAYS_UP] * 4, n_com=2)
    assert math.exp(estimates.measure({0: 3, 1: 5}, 4).log_duration) == pytest.approx(5 + 4)
    assert math.exp(estimates.measure({0: 3, 1: 5, 2: 3}, 4).log_duration) == pytest.approx(5.5 + 4)
    # a complete member still counts in |S| > n_com
    assert math.exp(estimates.measure({0: 3, 1: 3, 2: 0}, 4).log_duration) == pytest.approx(3 + 4)
    assert math.exp(estimates.measure({0: 0, 1: 0}, 4).log_duration) == pytest.approx(4)
    assert math.exp(Estimates([ALWAYS_UP] * 3).measure({0: 3, 1: 5, 2: 3}, 4).log_duration) == pytest.approx(5 + 4)


def test_the_probability_of_an_iteration_takes_the_communication_rounded_up() -> None:
    estimates = Estimates([FICKLE, ALWAYS_UP, ALWAYS_UP], n_com=2)
    measured = estimates.measure({0: 1, 1: 3, 2: 1}, 4)
    assert estimates.communication(3.0, 5, 3) == 3.0
    expected = estimates.log_not_down(0, 3) + estimates.log_success(0b111, 4)
    assert measured.log_probability == pytest.approx(expected)
    later = estimates.measure({0: 1, 1: 3, 2: 3}, 4)
    assert later.log_probability == pytest.approx(estimates.log_not_down(0, 4) + estimates.log_success(0b111, 4))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("needs", "work"), [({0: 3, 1: 5}, 6), ({0: 4, 1: 4, 2: 0}, 1), ({0: 2, 1: 7, 2: 7, 3: 1}, 9)])
def test_a_configuration_against_the_formulas_in_plain_numbers(
    needs: dict[int, int], work: int, estimator: str
) -> None:
    chains = [FICKLE, SLOW, FICKLE, SLOW]
    n_com = 2

    def plain(members: list[int], slots: int) -> tuple[float, float]:
        e_u, a = brute_sums([chains[q] for q in members], 3000)
        p_plus, e_c = e_u / (1 + e_u), a / (1 + e_u) ** (1 if estimator == "undivided" else 2)
        success = p_plus ** (slots - 1)
        if estimator != "conditional":
            return success, (1 + (slots - 1) * e_c) / success
        return success, 1 + (slots - 1) * e_c / p_plus

    e_comm = max(plain([q], n)[1] if n else 0.0 for q, n in needs.items())
    if len(needs) > n_com:
        e_comm = max(e_comm, sum(needs.values()) / n_com)
    p_comm = 1.0
    for q in needs:
        rows = np.array(chains[q].rows)[:2, :2]
        p_comm *= np.linalg.matrix_power(rows, math.ceil(e_comm))[0].sum()
    success, duration = plain(list(needs), work)
    measured = Estimates(chains, n_com=n_com, estimator=estimator).measure(needs, work)
    assert math.exp(measured.log_probability) == pytest.approx(p_comm * success, rel=1e-10)
    assert math.exp(measured.log_duration) == pytest.approx(e_comm + duration, rel=1e-10)


def test_rounding_errors_do_not_cost_a_slot() -> None:
    assert whole_slots(0.1 * 3 * 10) == 3  # 3.0000000000000004
    assert whole_slots(3.1) == 4
    assert whole_slots(0.0) == 0
    assert whole_slots(math.inf) > 10**300


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_work_beyond_floats_neither_raises_nor_ties(estimator: str) -> None:
    estimates = Estimates([FICKLE, SLOW], estimator=estimator)
    first, second = (estimates.measure({0: 10**5, 1: n}, 10**6) for n in (10**5, 10**5 + 10**4))
    assert estimates.measure({1: 10}, 10**6).log_duration < estimates.measure({0: 10, 1: 10}, 10**6).log_duration
    assert first.log_probability >= second.log_probability
    assert first.log_probability < estimates.measure({0: 3, 1: 3}, 10**6).log_probability < -1000
    assert not math.isnan(first.log_duration)


def test_log_sum() -> None:
    assert math.exp(log_sum(math.log(3), 4)) == pytest.approx(7)
    assert log_sum(math.log(3), 0) == math.log(3)
    assert log_sum(1000.0, 5.0) == 1000.0
    assert log_sum(705.0, 1e306) == pytest.approx(math.log(math.exp(705) + 1e306))
    assert log_sum(1000.0, math.inf) == log_sum(math.inf, 3.0) == math.inf


def test_unknown_estimators_and_missing_chains_are_refused() -> None:
    with pytest.raises(InputError, match="estimator: 'best', expected one of printed, conditional"):
        Estimates([FICKLE], estimator="best")
    with pytest.raises(InputError, match=r"workers\[1\]\.markov: missing.*separate training trace"):
        Estimates([FICKLE, None])
