"""Fixtures of the tests of the command line."""

import pytest

from hindsched.bench.cli import main


@pytest.fixture
def hindsched(monkeypatch, capfd):
    """Call the command line; return exit code, standard output and standard error, also of its child processes."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["hindsched", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return stop.value.code, captured.out, captured.err

    return call
