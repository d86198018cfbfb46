"""Packaged traces: complete, unchanged, small, and readable from a wheel."""

import hashlib
import lzma
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.states import UP
from hindsched.instances.traces import packaged_traces, read, read_packaged, read_samples

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "instances" / "data"
SPOT = DATA / "spot_aws_v100"


def test_every_packaged_trace_names_its_source_and_can_be_read():
    assert set(packaged_traces()) == {folder.name for folder in DATA.iterdir() if list(folder.glob("*.csv.xz"))}
    for name in packaged_traces():
        assert {"LICENSE", "README.md"} <= {file.name for file in (DATA / name).iterdir()}
        assert "Licence" in (DATA / name / "README.md").read_text(encoding="utf-8")
        assert len(read_packaged(name).nodes) == len(list((DATA / name).glob("*.csv.xz")))
    assert sum(file.stat().st_size for file in DATA.rglob("*")) < 1_000_000


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match="'lanl', expected one of spot_aws_v100"):
        read_packaged("lanl")


def test_numbers_of_spot_zones():
    trace = read_packaged("spot_aws_v100")
    assert len(trace.nodes) == 9
    assert trace.nodes == tuple(sorted(trace.nodes))
    assert all(len(spans) == 1 for spans in trace.spans)  # the longest step is 280 s, the median 195 s
    states = trace.states(slot_s=195)
    assert states.shape == (9, 20_193)
    shares = (states == UP).mean(axis=1)
    assert shares.min() == pytest.approx(0.16, abs=0.01)
    assert shares.max() == pytest.approx(0.90, abs=0.01)


def test_the_readers_of_files_give_the_same_trace():
    paths = sorted(SPOT.glob("*.csv.xz"))
    assert read(*paths[:2]).intervals == read_packaged("spot_aws_v100").intervals[:2]
    assert read_samples(*paths[:2], nodes=["a", "b"]).nodes == ("a", "b")
    with pytest.raises(InputError, match="1 names of 2 files"):
        read_samples(*paths[:2], nodes=["a"])
    with pytest.raises(InputError, match="a second file of node 'a'"):
        read_samples(*paths[:2], nodes=["a", "a"])


def test_the_table_of_the_readme_agrees_with_the_files():
    text = (SPOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \| `([0-9a-f]{64})` \| (\S+) % \| (\S+) \| (\S+) \|$", text, re.MULTILINE)
    assert [row[0] for row in rows] == sorted(path.name for path in SPOT.glob("*.csv.xz"))
    for name, digest, share, lost, longest in rows:
        raw = lzma.decompress((SPOT / name).read_bytes())
        assert hashlib.sha256(raw).hexdigest() == digest
        header, *lines = raw.decode().splitlines()
        assert header == "date,availability"
        assert len(lines) == 20_158
        values = "".join(line.partition(",")[2] for line in lines)
        assert f"{100 * values.count('1') / len(values):.1f}" == share
        assert f"{values.count('10'):,}" == lost
        assert f"{max(map(len, values.split('1'))):,}" == longest


def test_packaged_traces_are_found_inside_an_archive(tmp_path):
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in [*sorted((ROOT / "instances").rglob("*")), *sorted((ROOT / "hindsched").glob("*.py"))]:
            if file.suffix == ".py" or DATA in file.parents:
                inside = file.relative_to(ROOT).as_posix().removeprefix("hindsched/")
                out.write(file, f"hindsched/{inside}")
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "from hindsched import instances; assert 'packages.zip' in instances.__file__\n"
        "from hindsched.instances.traces import *; t = read_packaged(*packaged_traces());"
        "print(*t.nodes, len(t.intervals[0]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    trace = read_packaged("spot_aws_v100")
    assert done.stdout.split() == [*trace.nodes, str(len(trace.intervals[0]))], done.stderr


def test_a_packaged_trace_is_read_by_its_name_alone():
    assert read("spot_aws_v100") is read_packaged("spot_aws_v100")
    with pytest.raises(InputError, match="no such file"):
        read("spot_aws_v100", "spot_aws_v100")
