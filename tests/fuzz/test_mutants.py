"""A sample of what ``python -m tests.fuzz`` does."""

from random import Random

from tests.fuzz.mutants import defects, mutate
from tests.fuzz.readers import files


def test_the_files_are_valid(tmp_path):
    for name, content, reader in files():
        path = tmp_path / (name if name.startswith("x.") else "file")
        path.write_bytes(content)
        reader(path)


def test_mutants_depend_on_the_seed_only():
    assert mutate(b"1,2,3\n", Random("0 1")) == mutate(b"1,2,3\n", Random("0 1"))


def test_a_sample_of_mutants_is_read_or_refused_in_one_line():
    assert [(name, defect) for name, _, defect in defects(400, seed=1)] == []
