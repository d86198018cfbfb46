"""A small run of the experiment on grids."""

import pytest

from hindsched.bench.grid import experiment
from hindsched.instances.grid.packaged_log import kth_sp2


def small_experiment(folder):
    """Return the rows of a small run of the experiment; a second run reads them from the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "_NODES", 100)
        patch.setattr(experiment, "_SIZES", (40, 80))
        patch.setattr(experiment, "_COMPRESS", ("1", "3/5"))
        patch.setattr(experiment, "kth_sp2", lambda slot_s: kth_sp2(slot_s=slot_s, count=40))
        patch.setattr(experiment, "MIXES", {name: (mix, 300) for name, (mix, _) in experiment.MIXES.items()})
        setup = experiment.Setup(seeds=(0, 1), scale=0.5, overlay_seeds=(1, 2, 3))
        first = experiment.run_experiment(setup, folder, num_processes=1, dask=None)
        assert experiment.run_experiment(setup, folder, num_processes=1, dask=None) == first
        lines = (folder / "runs.jsonl").read_text().splitlines()
        assert len(lines) == len(experiment.experiment(setup)) == len(first)  # no run was repeated
    return first
