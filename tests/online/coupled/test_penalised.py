"""The penalised bound on every on-line policy, where policies are known exactly."""

from itertools import pairwise, product

import numpy as np
import pytest

from hindsched.bench.coupled.online_optimum import sample_path
from hindsched.instances.chains import Chain
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.online.coupled.optimum import horizon_value, online_optimum
from hindsched.online.coupled.optimum.hindsight import hindsight_of_path
from hindsched.online.coupled.optimum.penalised import Charge, Penalised


def pair_of(seed):
    """Draw two workers that are UP or DOWN, so that all futures can be enumerated."""
    draw = np.random.default_rng([16, seed])
    chains = []
    for _ in range(2):
        stay, back = draw.uniform(0.4, 0.9), draw.uniform(0.3, 0.9)
        chains.append(Chain(((stay, 0.0, 1 - stay), (1.0, 0.0, 0.0), (back, 0.0, 1 - back))))
    return Instance.from_letters(
        ["u", "u"],
        w=[int(length) for length in draw.integers(1, 3, 2)],
        tasks=int(draw.integers(1, 3)),
        iterations=int(draw.integers(1, 3)),
        n_com=int(draw.integers(1, 3)),
        t_prog=int(draw.integers(0, 2)),
        t_data=int(draw.integers(0, 2)),
        chains=chains,
    )


def futures(pair, slots):
    """Yield every future of two workers that are UP in slot 0, with its probability."""
    for path in product(product((0, 2), repeat=2), repeat=slots - 1):
        columns = ((0, 0), *path)
        chance = 1.0
        for before, after in pairwise(columns):
            for chain, x, y in zip(pair.chains, before, after, strict=True):
                chance *= chain.rows[x][y]
        yield np.array(columns, dtype=np.uint8).T, chance


@pytest.mark.parametrize("seed", range(6))
def test_over_all_futures_it_lies_between_hindsight_and_the_best_policy(seed):
    """Within four slots all three expectations are sums. Without charges the bound is hindsight on every path.

    The state after the last slot is charged too: any state is valid if its charge has the mean 0.
    """
    pair, slots = pair_of(seed), 4
    penalised = Penalised(pair)
    best = horizon_value(pair, slots)
    charges = [Charge(failed, share) for failed in (2.0, 6.0) for share in (0.5, 1.0)]
    means = dict.fromkeys(charges, 0.0)
    hindsight = 0.0
    for states, chance in futures(pair, slots + 1):
        least = hindsight_of_path(pair.replace(states=states[:, :slots])) or slots
        assert penalised.bound(states, Charge(3.0, 0.0)) == pytest.approx(least)
        hindsight += chance * least
        for charge in charges:
            means[charge] += chance * penalised.bound(states, charge)
    for mean in means.values():
        assert mean <= best + 1e-9
    assert hindsight <= best + 1e-9


def test_it_closes_part_of_the_gap():
    drawn = paper(m=2, n_com=2, wmin=1, scenario=3, trial=0, slots=2, p=3, iterations=1).replace(t_prog=2)
    best = online_optimum(drawn, keep_policy=False).value
    penalised = Penalised(drawn)
    slots = int(5 * best)
    free, charged = [], []
    for path in range(60):
        states = sample_path(drawn, 3, path).prefix(slots)
        free.append(penalised.bound(states, Charge(0.0, 0.0)))
        charged.append(penalised.bound(states, Charge(0.3 * best, 0.5)))
    gain = np.array(charged) - np.array(free)
    assert gain.mean() > 2 * gain.std(ddof=1) / len(gain) ** 0.5
    assert np.mean(charged) < best + 3.5 * np.std(charged, ddof=1) / len(charged) ** 0.5
