"""Vary the predictor and the readings of the paper's experiment, one at a time, on weekdays of substitute traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from docs.studies.bags.traces import starts_of
from hindsched.instances.bags import Instance, Store
from hindsched.instances.bags.generate import TRACES, paper
from hindsched.online.bags import run_policy

__all__ = ["FALSE", "HITS", "OPTIONS", "PREDICTORS", "run_sweeps"]

#: Predictors: warnings of 1000 failures, and of 1000 other slots. A slot of a machine that is on fails with probability
#: 0.0055 by day, so 5 of 1000 false warnings are about as many as there are failures.
HITS, FALSE = (250, 500, 750, 1000), (0, 5, 20, 100)
#: Values of each reading other than the default, and the policies that it concerns.
_ALL = ("FCFS", "FCFS-AT", "FCFS-TR", "FCFS-PRDCT-DMD")
OPTIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "mix": (("interleaved",), _ALL),
    "handover": (("boundary",), _ALL),
    "max_copies": (("2", "4", "8"), _ALL[2:]),
    "day_tolerance": (("0.05", "0.2", "0.4", "1"), _ALL[1:]),
}
#: Named predictors.
PREDICTORS = ("hour", "past", "always", "oracle")
_CHECKPOINTS = (0, 1, 9)
_SLOTS, _TRAINING_SLOTS = 11 * 720, 14 * 720


def run_sweeps(seeds: Sequence[int], traces: Sequence[str] = TRACES) -> Iterator[dict[str, Any]]:
    """Yield a row for each trace, seed, bag, store, policy, option and value.

    ``change`` is the relative change of the mean turnaround over the starts, in the mean over 0, 1 and 9 checkpoints:
    against the default for a reading, against FCFS-TR for a predictor (``predictor``, or ``noisy`` with the value
    ``hits,false``).
    """
    for trace, seed, machines, store in product(traces, seeds, ("M01", "M04"), Store):
        training = paper("M01", slots=_TRAINING_SLOTS, seed=seed, trace=trace)
        pasts = [
            paper("M01", start=start - _TRAINING_SLOTS, slots=_TRAINING_SLOTS, seed=seed, trace=trace)
            for start in starts_of("weekday", seed)
        ]
        for tasks, reference_s in product((25, 75), (1800, 7200)):
            if machines == "M01":
                kept = {name: each for name, each in OPTIONS.items() if name != "mix"}  # equal machines have one order
            else:
                kept = dict(OPTIONS)
            head = {"trace": trace, "seed": seed, "machines": machines, "store": str(store), "tasks": tasks}
            head["reference_s"] = reference_s
            changes: dict[tuple[str, str, str], list[float]] = {}
            for checkpoints in _CHECKPOINTS:
                bag = {"tasks": tasks, "reference_s": reference_s, "checkpoints": checkpoints}
                drawn = {
                    mix: [
                        paper(machines, **bag, store=store, on_demand=True, slots=_SLOTS, start=start, seed=seed,
                              trace=trace, mix=mix)
                        for start in starts_of("weekday", seed)
                    ]
                    for mix in (("blocks", "interleaved") if machines == "M04" else ("blocks",))
                }  # fmt: skip
                for key, change in _changes(drawn, kept, training, pasts, seed):
                    changes.setdefault(key, []).append(change)
            for (option, value, policy), each in changes.items():
                yield head | {"option": option, "value": value, "policy": policy, "change": float(np.mean(each))}


def _changes(
    drawn: Mapping[str, Sequence[Instance]],
    kept: Mapping[str, Any],
    training: Instance,
    pasts: Sequence[Instance],
    seed: int,
) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Yield option, value and policy with the relative change on the instances of a bag."""
    usual = {policy: _mean(drawn["blocks"], policy, predictor="hour", training=training) for policy in _ALL}
    for option, (values, policies) in kept.items():
        for value, policy in product(values, policies):
            given = {} if option == "mix" else {option: value}
            instances = drawn[value if option == "mix" else "blocks"]
            changed = _mean(instances, policy, predictor="hour", training=training, **given)
            yield (option, value, policy), changed / usual[policy] - 1
    blocks = drawn["blocks"]
    for hits, false in product(HITS, FALSE):
        predicted = _mean(blocks, "FCFS-PRDCT-DMD", predictor=f"noisy:{hits},{false},{seed}")
        yield ("noisy", f"{hits},{false}", "FCFS-PRDCT-DMD"), predicted / usual["FCFS-TR"] - 1
    if blocks[0].is_shared:
        for name in PREDICTORS:
            predicted = float(
                np.mean(
                    [
                        _mean([one], "FCFS-PRDCT-DMD", predictor=name, **more)
                        for one, more in zip(blocks, _histories(name, pasts, training), strict=True)
                    ]
                )
            )
            yield ("predictor", name, "FCFS-PRDCT-DMD"), predicted / usual["FCFS-TR"] - 1


def _histories(name: str, pasts: Sequence[Instance], training: Instance) -> list[dict[str, Instance]]:
    """Return for each start what a predictor is trained on: the two weeks before it, or before all of them."""
    if name in ("always", "oracle"):
        return [{} for _ in pasts]
    return [{"training": past if name == "past" else training} for past in pasts]


def _mean(instances: Sequence[Instance], policy: str, **options: Any) -> float:
    """Return the mean turnaround; a run that the slots end counts with their length."""
    ends = [run_policy(one, policy, schedule=False, **options).turnaround or one.horizon for one in instances]
    return float(np.mean(ends))
