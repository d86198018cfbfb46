"""Tables in a terminal are not broken into pieces, and their content does not control the terminal."""

import json
import re
import sys

import pytest

from hindsched.bench.output import Refusals, Table
from hindsched.instances.errors import InputError

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


def test_a_pipe_gets_complete_headings_and_wide_letters(capsys):
    table = Table({f"{letter * 30}": f"{letter * 30}" for letter in "abcdefgh"}, as_json=False, spare=("a" * 30,))
    table.add(dict.fromkeys(table.columns, 1) | {"h" * 30: "\u96f2" * 40})
    table.show()
    out = capsys.readouterr().out
    assert all(heading in out for heading in table.columns)
    assert "\u96f2" * 40 in out
    assert "Left out" not in out


def test_json_escapes_invalid_unicode_as_messages_do(capsys):
    table = Table(None, as_json=True)
    table.add({"file": "caf\udce9.json", "nodes": ["\udce9", 1], "names": {"\u00e9": None}})
    row = {"file": "caf\\udce9.json", "nodes": ["\\udce9", 1], "names": {"\u00e9": None}}
    assert json.loads(capsys.readouterr().out) == row


def test_the_same_refusal_is_reported_once(capsys):
    refusals = Refusals()
    assert refusals.code == 0
    for file in ("a.json", "a.json", "b.json"):
        with refusals.of(file):
            raise InputError("1, expected 2", place="m")
    assert refusals.code == 2
    assert capsys.readouterr().err == "hindsched: a.json: m: 1, expected 2\nhindsched: b.json: m: 1, expected 2\n"


def test_a_narrow_terminal_omits_optional_columns(capsys, terminal):
    terminal(60)
    text = shown(capsys, spare=("more", "mean"))
    assert "Omitted on this narrow terminal: more." in text
    assert "1.250" in text
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines())) <= 60
    terminal(120)
    assert "a" * 30 in shown(capsys, spare=("more", "mean"))
