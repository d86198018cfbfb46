"""Tables in a terminal: nothing is broken into pieces, nothing that stands in them commands the terminal."""

import re
import sys

import pytest

from bench.output import Table

ROW = {"file": "red\x1b[31m[bold]x.json", "value": 12, "mean": 1.25, "more": "a" * 30}
COLUMNS = {name: name for name in ROW}


@pytest.fixture
def terminal(monkeypatch):
    """Make standard output a terminal of some columns."""

    def make(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    return make


def shown(capsys, **options):
    table = Table(COLUMNS, as_json=False, **options)
    table.add(ROW)
    table.show()
    return capsys.readouterr().out


def test_names_are_shown_as_they_are_and_command_nothing(capsys):
    text = shown(capsys)
    assert r"red\x1b[31m[bold]x.json" in text
    assert "\x1b" not in text


def test_a_pipe_gets_every_column(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = shown(capsys, spare=("more",))
    assert "a" * 30 in text
    assert "Left out" not in text


def test_a_narrow_terminal_does_without_what_is_spare(capsys, terminal):
    terminal(60)
    text = shown(capsys, spare=("more", "mean"))
    assert "Left out on this narrow terminal: more." in text
    assert "1.250" in text
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines())) <= 60
    terminal(120)
    assert "a" * 30 in shown(capsys, spare=("more", "mean"))
