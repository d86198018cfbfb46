"""Messages about invalid files quote only the beginning of long texts."""

import json

import pytest

from hindsched import instances
from hindsched.instances import InputError

LONG = "x" * 5000


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"format": LONG}, 'format: "xxx'),
        ({"format": f"coupled/{LONG}"}, 'format: "coupled/xxx'),
        ({"format": 10**30}, "format: 1000000000000000000000000000000, expected an integer of at most 64 bits"),
        ({"format": "\ud800"}, "format: '\\ud800', expected Unicode text without a lone surrogate"),
        ({"format": "bags/1", "store": LONG}, "store: 'xxx"),
        ({"format": "batches/1", "compute": LONG}, "compute: 'xxx"),
        ({"format": "coupled/1", "tasks": LONG}, 'tasks: "xxx'),
        ({"format": "grid/1", "nodes": LONG}, 'nodes: "xxx'),
        ({"format": "deadline/1", "work_s": LONG}, 'work_s: "xxx'),
    ],
)
def test_messages_quote_only_the_beginning_of_a_long_text(tmp_path, document, message):
    known = {
        "coupled": {"iterations": 1, "n_com": 1, "t_prog": 0, "t_data": 0, "workers": []},
        "bags": {"tick_ms": 1, "slot": 2, "tasks": 1, "segments": 1, "machines": [{"segment": 1, "states": "u"}]},
        "batches": {"tasks": 1, "batches": [[0, 4]], "workers": [{"c": 1, "up": [[0, 4]]}]},
        "grid": {"slot_s": 1, "jobs": []},
        "deadline": {"slot_s": 1, "deadline_s": 1, "overhead_s": 0, "zones": []},
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(known.get(str(document["format"]).partition("/")[0], {}) | document))
    with pytest.raises(InputError) as caught:
        instances.read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert len(str(caught.value)) < len(str(path)) + 160


def test_a_long_rung_is_shortened(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"format": "batches-run/1", "instance": "", "contacts": [], "rung": LONG}))
    with pytest.raises(InputError, match=r"run\.json: rung: 'x{40}\.\.\.', expected free, traffic, stream$"):
        instances.read_schedule(path)
