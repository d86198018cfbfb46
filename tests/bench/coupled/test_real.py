"""Instances on real machines: the packaged spot zones."""

from hindsched.bench.coupled.real import SPOT_SLOTS, SPOT_WINDOWS, spot_sources
from hindsched.instances.states import DOWN, UP


def test_spot_instances_need_only_the_toolkit(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HINDSCHED_TRACES", raising=False)
    sources = spot_sources()
    assert len({source.name for source in sources}) == len({source.identity for source in sources}) == SPOT_WINDOWS
    for source in sources:
        instance = source.load()
        assert (instance.num_workers, instance.slots) == (9, SPOT_SLOTS)
        assert all(chain is not None for chain in instance.chains)
        assert set(instance.states.ravel().tolist()) == {UP, DOWN}
