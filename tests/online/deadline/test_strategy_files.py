"""Strategy files of the public simulator run unchanged, each run in a process of its own."""

import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline import Instance, Kind, Zone
from hindsched.instances.deadline.generate import generate
from hindsched.instances.deadline.model import spot_from_text
from hindsched.online.deadline import make_policy, run_policy, strategy_files
from hindsched.online.deadline.strategy_files import is_strategy_file

HEAD = """
from sky_spot.strategies import strategy
from sky_spot.utils import ClusterType

"""
UNIFORM = (
    HEAD
    + """
import math

class UniformStrategy(strategy.Strategy):
    NAME = "uniform_again"

    def reset(self, env, task):
        super().reset(env, task)
        self.asked = 0

    def _step(self, last_cluster_type, has_spot):
        env, gap, d = self.env, self.env.gap_seconds, self.restart_overhead
        left = math.floor((self.deadline - env.elapsed_seconds) / gap) * gap
        todo = self.task_duration - sum(self.task_done_time)
        done = self.task_duration - todo
        running = env.cluster_type
        request = ClusterType.SPOT if has_spot else ClusterType.NONE
        if done * self.deadline < env.elapsed_seconds * self.task_duration and not has_spot:
            request = ClusterType.ON_DEMAND
        ahead = done * self.deadline > (env.elapsed_seconds + 2 * d) * self.task_duration
        if running == ClusterType.ON_DEMAND and (not has_spot or not ahead):
            request = ClusterType.ON_DEMAND
        if math.ceil((todo + 2 * d) / gap) * gap >= left and running != ClusterType.SPOT:
            request = ClusterType.ON_DEMAND
        if math.ceil((todo + d) / gap) * gap >= left:
            keeps = running == ClusterType.SPOT and self.remaining_restart_overhead < 1e-3
            request = ClusterType.SPOT if keeps else ClusterType.ON_DEMAND
            if d == 0 and has_spot:
                request = ClusterType.SPOT
        return request

    @classmethod
    def _from_args(cls, parser):
        group = parser.add_argument_group("Uniform")
        group.add_argument("--keep", action="store_true")
        args, _ = parser.parse_known_args()
        assert args.keep is False and args.restart_overhead_hours
        return cls(args)
"""
)
#: Writes what it reads in each slot.
NOTES = (
    HEAD
    + """
import json

class Solution(strategy.Strategy):
    NAME = "notes"

    def solve(self, path):
        with open(path) as file:
            self.spec = json.load(file)
        return self

    def _step(self, last_cluster_type, has_spot):
        env = self.env
        with open({out!r}, "a") as file:
            print(json.dumps([
                env.tick, env.elapsed_seconds, last_cluster_type.name, env.cluster_type.name, has_spot,
                env.spot_available(), list(self.task_done_time), self.remaining_restart_overhead,
                env.get_price()[ClusterType.SPOT], env.get_price()[ClusterType.ON_DEMAND], self.task_done,
                [self.deadline, self.task_duration, self.restart_overhead, env.gap_seconds], self.spec,
            ]), file=file)
        return ClusterType.SPOT if has_spot else ClusterType.ON_DEMAND if env.tick == 3 else ClusterType.NONE
"""
)


@pytest.fixture
def write(tmp_path):
    def written(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


def test_uniform_progress_as_the_public_simulator_has_it_runs_as_the_built_in_one(write):
    path = write(UNIFORM)
    for seed in range(4):
        job = generate(seed, slots=60, overhead_s=(0, 300, 700, 1300)[seed], work_s=21_600 + 100 * seed)
        run, twin = run_policy(job, path), run_policy(job, "uniform")
        assert (run.policy, run.cost, run.finish) == ("mine", twin.cost, twin.finish)
        assert run.schedule == twin.schedule


def test_a_file_reads_seconds_as_floats_and_the_slots_so_far(write, tmp_path):
    import json

    out = tmp_path / "notes"
    zone = Zone(spot_from_text("110010"), (1_000_000, 2_000_000, 3, 4, 5, 6), 9_000_000)
    job = Instance(slot_s=10, deadline_s=65, work_s=30, overhead_s=4, zones=[zone])
    run = run_policy(job, write(NOTES.replace("{out!r}", repr(str(out)))), guard="none")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row[0] for row in rows] == [0, 1, 2, 3, 4, 5][: len(rows)]
    assert rows[0] == [
        *(0, 0.0, "NONE", "NONE", True, True, [0.0], 0.0, 1.0, 9.0, False, [65.0, 30.0, 4.0, 10.0]),
        {"deadline": 65 / 3600, "duration": 30 / 3600, "overhead": 4 / 3600},
    ]
    # the spot instance is lost in slot 2: the last type is that before, the present one that after
    assert rows[2][1:8] == [20.0, "SPOT", "NONE", False, False, [0.0, 6.0, 10.0], 0.0]
    assert rows[4][6] == [0.0, 6.0, 10.0, 0.0, 6.0]
    assert [(r.first, r.end, r.kind) for r in run.schedule.runs] == [
        *((0, 2, Kind.SPOT), (3, 4, Kind.ON_DEMAND), (4, 5, Kind.SPOT)),
    ]
    assert run.finish is None
    assert run.done_s == 28


BROKEN = {
    "return 'spot'": "_step returned 'spot', expected a ClusterType",
    "return None": "_step returned None, expected a ClusterType",
    "raise RuntimeError('no idea')": "slot 0: _step raised RuntimeError: no idea",
    "return self.env.trace": "env.trace shows the future",
    "return self.env.get_trace_before_end(9)": "env.get_trace_before_end shows the future",
    "return self.env.next_wait_spot_length()": "env.next_wait_spot_length shows the future",
    "return self.env.colour": "env.colour is not known here",
    "import os; os._exit(3)": "ended its process with exit code 3",
}


@pytest.mark.parametrize("body", BROKEN, ids=lambda body: body[:20])
def test_what_ends_a_run_is_said_in_one_line(write, body):
    path = write(f"{HEAD}\nclass Solution(strategy.Strategy):\n    def _step(self, last, has):\n        {body}\n")
    with pytest.raises(InputError) as error:
        run_policy(generate(1, slots=6), path)
    assert BROKEN[body] in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_ends_after_the_time_limit(write, monkeypatch):
    monkeypatch.setattr("hindsched.online.deadline.runs.TIME_LIMIT_S", 2.5)
    path = write(
        f"{HEAD}\nclass Solution(strategy.Strategy):\n    def _step(self, last, has):\n        while True: pass\n"
    )
    with pytest.raises(InputError, match=r"has not finished after 2\.5 s"):
        run_policy(generate(1, slots=6), path)


def test_files_that_are_refused(write):
    job = generate(1, slots=6)
    two = write(f"{HEAD}\nclass A(strategy.Strategy):\n    pass\n\nclass B(strategy.Strategy):\n    pass\n", "two.py")
    for text, expected in {
        two: "the strategies A, B, expected",
        f"{two}:C": "no class C in it",
        write(f"{HEAD}\nx = 1\n", "none.py"): "no class derived from Strategy in it",
        write(f"{HEAD}\nraise ValueError('gone')\n", "bad.py"): "cannot be imported: ValueError: gone",
        write(f"{HEAD}\nclass A(strategy.Strategy):\n    def step(self):\n        pass\n", "step.py"): "a method step",
        write(f"{HEAD}\nfrom sky_spot import env\n", "env.py"): "cannot import name 'env'",
    }.items():
        with pytest.raises(InputError, match=expected):
            run_policy(job, text)
    several = write("from sky_spot.strategies.strategy import MultiRegionStrategy\n", "several.py")
    with pytest.raises(InputError, match="for several regions, expected one for one zone"):
        make_policy(several)
    with pytest.raises(InputError, match="is for one zone"):
        run_policy(generate(1, zones=2, slots=6), two)


def test_only_files_that_import_the_simulator_are_strategy_files(write):
    assert is_strategy_file(write(UNIFORM))
    assert is_strategy_file(write(UNIFORM) + ":UniformStrategy")
    assert not is_strategy_file(write("import numpy\n", "own.py"))
    assert not is_strategy_file("nowhere.py")
    assert not is_strategy_file("greedy")
    with pytest.raises(InputError, match=r"nowhere\.py: no such file"):
        make_policy("nowhere.py")
    with pytest.raises(InputError, match="expected the class as well"):
        make_policy(write("import numpy\n", "own.py"))


def test_a_strategy_of_the_same_folder_is_found(write):
    write(UNIFORM, "base.py")
    text = "from sky_spot.strategies import base\n\nclass Mine(base.UniformStrategy):\n    NAME = 'mine'\n"
    job = generate(2, slots=40)
    assert run_policy(job, write(text, "derived.py")).cost == run_policy(job, "uniform").cost


def test_the_process_holds_nothing_of_later_slots(write):
    """The file looks for the spot of later slots in every object of its process."""
    text = (
        HEAD
        + """
import gc
import numpy as np

class Solution(strategy.Strategy):
    def _step(self, last, has):
        t = self.env.tick
        for found in gc.get_objects():
            for each in list(getattr(found, "__dict__", {}).values()):
                if isinstance(each, np.ndarray) and each.dtype == bool and each.shape[-1:] == (24,):
                    assert not each[..., t + 1:].any(), "the future"
                    self.seen = True
        if t == 23:
            assert self.seen
        return ClusterType.SPOT
"""
    )
    zone = Zone(spot_from_text("1" * 24), 1, 3)
    job = Instance(10, 240, 1000, 0, [zone])
    run = run_policy(job, write(text), guard="none")
    assert run.spot_slots == 24


def test_stand_ins_are_only_in_the_process_of_the_file(write):
    import sys

    run_policy(generate(1, slots=6), write(UNIFORM))
    assert not any(name.split(".")[0] == "sky_spot" for name in sys.modules)
    assert strategy_files.TIME_LIMIT_S == 300
