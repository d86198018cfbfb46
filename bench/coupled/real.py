"""Instances on real machines: the nine spot zones of the packaged trace."""

from __future__ import annotations

from hindsched.bench.campaign.sources import Given, Source
from hindsched.instances.coupled.from_trace import from_trace
from hindsched.instances.traces import read_packaged

__all__ = ["spot_sources"]

#: Nine zones sampled every 195 s. Chains are fitted on a week, instances are two days long and a week apart.
SPOT_SLOT_S, SPOT_TRAIN, SPOT_SLOTS, SPOT_WINDOWS = 195, 3_100, 900, 4
SPOT = "spot m=4 n_com=2 K=10 (9 AWS zones, one slot = 195 s)"


def spot_sources() -> list[Source]:
    """Return instances on real spot machines. A lost spot machine loses what it held: it is DOWN."""
    trace = read_packaged("spot_aws_v100")
    begin = trace.window(slot_s=SPOT_SLOT_S).start
    return [
        Given(
            f"spot window {window}",
            SPOT,
            from_trace(
                trace,
                tasks=4,
                slot_s=SPOT_SLOT_S,
                iterations=10,
                n_com=2,
                t_prog=3,
                t_data=1,
                w=6,
                start=begin + (window + 1) * SPOT_TRAIN * SPOT_SLOT_S,
                slots=SPOT_SLOTS,
                train_slots=SPOT_TRAIN,
            ),
        )
        for window in range(SPOT_WINDOWS)
    ]
