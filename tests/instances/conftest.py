"""Fixtures of the tests of instances."""

import pytest


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file with a name and a content and returns its path."""

    def _write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write
