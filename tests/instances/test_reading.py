"""What every reader has in common: packed files, byte order marks, ends of lines, pipes, and strict JSON and TOML."""

import bz2
import gzip
import io
import lzma
import os
import threading
import zipfile

import pytest

from hindsched import instances
from hindsched.instances import InputError, compression, text_files
from hindsched.instances.coupled import Instance
from hindsched.instances.grid.workloads import import_log
from hindsched.instances.text_files import decode_json, decode_text, decode_toml, read_json, read_text
from hindsched.instances.traces import read
from hindsched.reductions import graph_files
from hindsched.reductions.graph_files import read_graph

SAMPLES = "date,availability\n0,1\n600,1\n1200,0\n1800,1\n2400,1\n"


def zipped(**files: str) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return raw.getvalue()


HALVES = SAMPLES[:40].encode(), SAMPLES[40:].encode()
PACKED = {
    "plain": SAMPLES.encode(),
    "gzip": gzip.compress(SAMPLES.encode()),
    "gzip members": gzip.compress(HALVES[0]) + gzip.compress(HALVES[1]),
    "gzip padding": gzip.compress(SAMPLES.encode()) + bytes(7),
    "xz": lzma.compress(SAMPLES.encode()),
    "xz streams": lzma.compress(HALVES[0]) + lzma.compress(HALVES[1]),
    "xz empty stream": lzma.compress(SAMPLES.encode()) + lzma.compress(b""),
    "xz padding": lzma.compress(SAMPLES.encode()) + bytes(4),
    "xz padding between streams": lzma.compress(HALVES[0]) + bytes(8) + lzma.compress(HALVES[1]),
    "lzma": lzma.compress(SAMPLES.encode(), lzma.FORMAT_ALONE),
    "bzip2": bz2.compress(SAMPLES.encode()),
    "bzip2 streams": bz2.compress(HALVES[0]) + bz2.compress(HALVES[1]),
    "zip": zipped(samples=SAMPLES),
    "zip of a Mac": zipped(samples=SAMPLES, **{"__MACOSX/._samples": "rubbish"}),
    "byte order mark": SAMPLES.encode("utf-8-sig"),
    "packed byte order mark": gzip.compress(SAMPLES.encode("utf-8-sig")),
    "CRLF": SAMPLES.replace("\n", "\r\n").encode(),
    "CR": SAMPLES.replace("\n", "\r").encode(),
}


@pytest.mark.parametrize("raw", PACKED.values(), ids=PACKED)
def test_the_same_text_in_other_encodings(raw):
    assert decode_text(raw, "a trace") == SAMPLES


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\x28\xb5\x2f\xfd\x04\x00", "zstd data, expected plain text, gzip, xz, bzip2 or a zip archive of one file"),
        (b"\x50\x2a\x4d\x18\x04\0\0\0", "zstd data, expected plain text"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive, expected plain text"),
        (b"PAR1\x15\4", "a Parquet table, expected plain text"),
        (b"\x1f\x9d\x90", r"data of compress \(\.Z\), expected plain text"),
        (gzip.compress(b"data" + bytes(253) + b"ustar\0"), "a tar archive, expected plain text"),
        (gzip.compress(gzip.compress(b"0")), "packed twice, expected plain text after unpacking once"),
        (zipped(a="1", b="2"), "a zip archive of 2 files, expected one file"),
        (zipped(), "a zip archive of 0 files, expected one file"),
        (zipped(a=SAMPLES)[:60], "damaged zip data: "),
        (bz2.compress(b"0")[:-4], "truncated bzip2 data, expected a whole file"),
        (bz2.compress(b"0") + b"rubbish", "damaged bzip2 data: bytes follow its end"),
        (lzma.compress(b"0") + bytes(3), "damaged xz data: 3 zero bytes follow its end"),
        (lzma.compress(b"0") + lzma.compress(b"0")[:-4], "truncated xz data"),
        ("date".encode("utf-16"), "UTF-16 text, expected UTF-8"),
        (b"a\nb\r\nc\rd\xff", "line 4: not UTF-8, expected the text of a trace"),
        (b"a\nb\0", "line 2: a zero byte, expected the text of a trace"),
        (b"\xef\xbb\xbf \n", "empty, expected a trace"),
    ],
    ids=lambda value: "raw" if isinstance(value, bytes) else None,  # packed bytes hold the time
)
@pytest.mark.parametrize("is_lenient", [False, True])
def test_other_content_is_refused_by_its_name(raw, message, is_lenient):
    if is_lenient and "UTF-8" in message and "16" not in message:
        return
    with pytest.raises(InputError, match="^" + message):
        decode_text(raw, "a trace", is_lenient=is_lenient)


def test_sizes_are_limited(monkeypatch, tmp_path):
    monkeypatch.setattr(compression, "MOST_BYTES", 1000)
    monkeypatch.setattr(text_files, "MOST_VALUES", 10)
    for pack in (gzip.compress, lzma.compress, bz2.compress, lambda raw: zipped(a=raw.decode())):
        with pytest.raises(InputError, match="more than 0 MiB when unpacked"):
            decode_text(pack(b"0" * 1001), "a trace")
    for raw in (b"0\n" * 5, b"0\r" * 5, b"0\r\n" * 5):
        with pytest.raises(InputError, match="5 lines, expected at most 4"):
            decode_text(raw, "a trace", most_lines=4)
    with pytest.raises(InputError, match="11 values, expected at most 10"):
        decode_json("[0,1,2,3,4,5,6,7,8,9,10]")
    monkeypatch.setattr(text_files, "MOST_TOML", 5)
    with pytest.raises(InputError, match="6 characters, expected at most 5"):
        decode_toml("a = 10")
    monkeypatch.setattr(graph_files, "MOST_EDGES", 5)
    monkeypatch.setattr(graph_files, "MOST_NODES", 6)
    for name, text, message in (
        ("a.txt", "111\n111\n", "line 2: more than 5 edges, expected at most this"),
        ("b.txt", "100\n" * 4, "line 4: more than 6 nodes, expected at most this"),
        ("c.txt", "1000000\n", "line 1: more than 6 nodes, expected at most this"),
        ("a.edgelist", "a b\na c\na d\na e\na f\na g\n", "6 lines, expected at most 5"),
        ("b.edgelist", "a b\nc d\ne f\ng h\ni j\n", "line 4: more than 6 nodes, expected at most this"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=f"{name}: {message}"):
            read_graph(tmp_path / name)
    (tmp_path / "long").write_bytes(bytes(2000))
    with pytest.raises(InputError, match="long: more than 0 MiB, expected at most this"):
        text_files.read_bytes(tmp_path / "long", most=1000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": {"b": [0, {"c": 1, "c": 2}]}}', "a.b[1]: key 'c' occurs twice in an object, expected once"),
        ('{"a": 1, "a": 1}', "key 'a' occurs twice in an object, expected once"),
        ('{"a": [1, 1e999]}', "a[1]: 1e999, expected a finite number"),
        ('{"a": [1, -1e400, 2e400]}', "a[1]: -1e400, expected a finite number"),
        ("[NaN]", "[0]: not JSON: NaN, expected a finite number"),
        (f'{{"data": [1, {"9" * 5000}]}}', f"data[1]: {'9' * 40}..., expected an integer of at most 64 bits"),
        ("[18446744073709551616]", "[0]: an integer of 65 bits, expected at most 64"),
        ("[-9223372036854775809]", "[0]: an integer of 64 bits, expected at most 64"),
        ('{"name": "\\ud800"}', "name: '\\ud800', expected Unicode text without a lone surrogate"),
        ('{"a": {"x\\udfff": 1}}', "a: 'x\\udfff', expected Unicode text without a lone surrogate"),
        ("[" * 100_000, "not JSON: nested too deeply"),
        ('{"a":' * 100_000, "not JSON: nested too deeply"),
        ('{"a": 1, "a": 2', "line 1, column 16: not JSON: ends too early"),
        ('{"a": 1} x', "line 1, column 10: not JSON: extra data"),
    ],
)
def test_json_is_strict_and_names_the_place(text, message):
    with pytest.raises(InputError) as refused:
        decode_json(text)
    assert str(refused.value).startswith(message.replace("\ud800", "\\ud800"))
    assert len(str(refused.value)) < 160


def test_json_that_can_be_written_again_is_read():
    text = '{"a": [18446744073709551615, -9223372036854775808, 1e308, "\\ud83d\\ude00", "\u20ac", null, true, {}]}'
    found = decode_json(text)
    assert found == {"a": [2**64 - 1, -(2**63), 1e308, "\U0001f600", "\u20ac", None, True, {}]}
    assert decode_json(text_files.encode(found)) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = " + "9" * 5000, "line 1: an integer of thousands of digits, expected at most 64 bits"),
        ("a.b = [1, 18446744073709551616]", "a.b[1]: an integer of 65 bits, expected at most 64"),
        ("a = 0x" + "f" * 9000, "a: an integer of 36000 bits, expected at most 64"),
        ("a = " + "[" * 5000, "not TOML: nested too deeply"),
        ("a = 1\na = 2", "not TOML: Cannot overwrite a value (at end of document)"),
        ("a = 2020-99-99", "not TOML: "),
    ],
)
def test_toml_is_strict(text, message):
    with pytest.raises(InputError) as refused:
        decode_toml(text)
    assert str(refused.value).startswith(message)


@pytest.fixture
def pipe(tmp_path):
    """Return a function that writes a text to a new named pipe, once."""
    writers: list[threading.Thread] = []

    def write(text: str):
        path = tmp_path / f"pipe{len(writers)}"
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_text, args=(text,), daemon=True))
        writers[-1].start()
        return path

    yield write
    for writer in writers:
        writer.join(timeout=10)
        assert not writer.is_alive()


LOG = "; comment\r1 0 -1 300 4 -1 -1 4\r2 60 -1 100 2 -1 -1 2\r"


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        (SAMPLES, lambda path: read(path).states(slot_s=600).tolist() == [[0, 0, 2, 0, 0]]),
        ('{"gap": 5, "data": [1, 0, 1]}', lambda path: read(path).states(slot_s=5).tolist() == [[0, 2, 0]]),
        ("0,add,a\n5000,remove,a\n9000,add,b\n", lambda path: read(path).states(slot_s=1).shape == (1, 9)),
        ("0 0 1 1 n 1 0 60 0\n", lambda path: read(path).nodes == ("n",)),
        (LOG, lambda path: list(import_log(path, nodes=8, slot_s=1).instance.rows()) == [(0, 4, 300), (60, 2, 100)]),
        ("x 1\ny 2\n", lambda path: sorted(read_graph(path).to_networkx().nodes) == ["1", "2", "x", "y"]),
        ("101\n010\n", lambda path: read_graph(path).num_edges == 3),
        ('{"a": 1}', lambda path: read_json(path) == {"a": 1}),
    ],
    ids=["samples", "JSON samples", "log of nodes", "event table", "log of jobs", "edges", "matrix", "JSON"],
)
def test_a_pipe_is_read_once(pipe, text, reader):
    assert reader(pipe(text))


def test_a_graph_from_a_pipe_is_not_guessed(pipe):
    with pytest.raises(InputError, match=r"pipe0: an edge list or a matrix, expected a file that ends in \.edgelist"):
        read_graph(pipe("0 1\n1 0\n"))


def test_an_instance_may_be_packed(tmp_path):
    lone = Instance.from_letters(["udu"], w=[1], tasks=1, iterations=1, n_com=None, t_prog=0, t_data=0)
    instances.write(lone, tmp_path / "a.json")
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + (tmp_path / "a.json").read_bytes()))
    assert instances.read(tmp_path / "a.json.gz") == lone
    (tmp_path / "bits.txt.bz2").write_bytes(bz2.compress(b"10\r01\r"))
    assert sorted(read_graph(tmp_path / "bits.txt.bz2").to_networkx().edges) == [(0, 2), (1, 3)]


def test_an_endless_file_is_refused():
    with pytest.raises(InputError, match="/dev/zero: more than 256 MiB, expected at most this"):
        read_text("/dev/zero", "a trace")
