"""Strict reading of JSON files and atomic writing of files, with errors that name file, line and field."""

from __future__ import annotations

import codecs
import json
import os
import re
import secrets
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from hindsched.instances.errors import InputError

__all__ = [
    "as_unicode",
    "convert",
    "encode",
    "encode_lines",
    "excerpt",
    "expect_format",
    "expect_integer",
    "format_document",
    "open_stream",
    "quoted",
    "read_bytes",
    "read_json",
    "write_bytes",
    "write_text",
]

T = TypeVar("T")

#: Names of Python types as JSON values, for messages.
_JSON_NAMES = {dict: "an object", list: "a list", str: "a text", type(None): "null", float: "a number", int: "a number"}
#: Words of msgspec's messages and the words that replace them.
_WORDS = {
    "object": "an object",
    "array": "a list",
    "str": "a text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "|": "or",
}
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file.

    Raises
    ------
    InputError
        If the file cannot be read. The message names the file and the cause.
    """
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("a directory, expected a file", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON object that a file contains.

    Reading is stricter than in the standard library: a key may occur only once in an object, and ``NaN`` and
    ``Infinity`` are not numbers.

    Raises
    ------
    InputError
        If the text is not a JSON object. The message names the file and the line.
    """
    raw = read_bytes(path)
    if not raw.strip():
        raise InputError("empty, expected a JSON object", file=path)
    try:
        if raw.startswith(codecs.BOM_UTF8):
            raise InputError("begins with a byte order mark, expected UTF-8 without one")
        document = json.loads(raw.decode(), object_pairs_hook=_distinct_keys, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError("not UTF-8, expected JSON text", place=f"line {line}", file=path) from None
    except json.JSONDecodeError as error:
        problem = error.msg[0].lower() + error.msg[1:]
        place = f"line {error.lineno}, column {error.colno}"
        if error.pos >= len(error.doc.rstrip()) or problem.startswith("unterminated"):
            problem = f"ends too early: {problem}"
        raise InputError(f"not JSON: {problem}", place=place, file=path) from None
    except InputError as error:
        raise error.in_file(path) from None
    except (RecursionError, ValueError):  # brackets by the thousand, or digits by the thousand
        raise InputError("not JSON: nested too deeply, or a number with too many digits", file=path) from None
    if not isinstance(document, dict):
        raise InputError(f"{_JSON_NAMES.get(type(document), 'a truth value')}, expected a JSON object", file=path)
    return document


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise InputError(f"key {twice!r} occurs twice in an object, expected once")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise InputError(f"not JSON: {name}, expected a finite number")


def convert(value: object, kind: type[T], place: str = "") -> T:
    """Convert a decoded JSON value to ``kind`` strictly: no unknown key, no text for a number, no 1.0 for 1.

    Raises
    ------
    InputError
        If the value does not fit. The message names the field below ``place``, its value and what was expected.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        path = path.rstrip("`")
        field = (place + path).lstrip(".")
        raise InputError(_plain(message, value, path), place=field or None) from None


def expect_format(document: Mapping[str, Any], formats: Sequence[str]) -> str:
    """Return the format of a decoded file.

    Raises
    ------
    InputError
        If the key ``format`` is missing or is none of ``formats``.
    """
    expected = " or ".join(f'"{name}"' for name in formats)
    if "format" not in document:
        raise InputError(f"missing key format, expected {expected}")
    if document["format"] not in formats:
        raise InputError(f"{quoted(document['format'])}, expected {expected}", place="format")
    return str(document["format"])


def expect_integer(value: object, place: str, expected: str = "an integer") -> int:
    """Return a decoded JSON value that is an integer; ``true`` and ``1.0`` are not.

    Raises
    ------
    InputError
        If the value is not an integer. The message names ``place`` and ``expected``.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{quoted(value)}, expected {expected}", place=place)
    return value


def encode(value: Any) -> str:
    """Return compact JSON. Floats have the shortest form that reads back equal."""
    return msgspec.json.encode(value).decode()


def encode_lines(values: Iterable[Any]) -> str:
    """Return a JSON list with one value per line."""
    lines = ",\n".join(map(encode, values))
    return f"[\n{lines}\n]" if lines else "[]"


def format_document(document: Mapping[str, Any], one_per_line: Collection[str]) -> str:
    """Return the text of a JSON file: long lists with one value per line, the rest on the lines between them.

    Parameters
    ----------
    document
        The members of the JSON object, in order.
    one_per_line
        Keys of the long lists; their values may be any iterable.

    Examples
    --------
    >>> print(format_document({"format": "some/1", "rows": [[0, 1], [2, 3]]}, ["rows"]), end="")
    {"format":"some/1","rows":[
    [0,1],
    [2,3]
    ]}
    """
    members = (
        f"{encode(key)}:{encode_lines(value) if key in one_per_line else encode(value)}"
        for key, value in document.items()
    )
    return "{" + ",".join(members) + "}\n"


def as_unicode(name: str) -> str:
    r"""Return a file name as valid Unicode for rows and JSON; undecodable bytes are escaped.

    Examples
    --------
    >>> as_unicode("caf\udce9.json")
    'caf\\udce9.json'
    """
    return name.encode(errors="backslashreplace").decode()


def excerpt(value: object) -> str:
    """Return a value quoted for a message, on one line and shortened to 40 characters.

    Examples
    --------
    >>> excerpt("a b"), excerpt(3)
    ("'a b'", '3')
    """
    return repr(_cut(str(value))) if isinstance(value, str) else _cut(repr(value))


def quoted(value: object) -> str:
    """Return a decoded JSON value as JSON text for a message, shortened to 40 characters.

    Examples
    --------
    >>> quoted(None), quoted("a b"), quoted(list(range(99)))
    ('null', '"a b"', '[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,1...')
    """
    try:
        return _cut(encode(value))
    except (OverflowError, UnicodeEncodeError):  # an integer beyond 64 bits, an unpaired surrogate
        return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file whole or not at all; see `write_bytes`."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all: write a new file in the same folder, then rename it.

    A link stays a link. A terminal, a pipe, or a stream that is already open (``/dev/stdout``) is written to directly.

    Raises
    ------
    InputError
        If the file cannot be written. The message names the file and the cause; earlier content is unchanged.
    """
    try:
        target = Path(path)
        if target.is_dir():
            raise InputError("a directory, expected a file to write to", file=path)
        stream = open_stream(path)
        if stream is not None:
            sys.stdout.flush()
            with open(stream, "wb", closefd=False) as out:
                out.write(content)
        elif target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _write_beside(Path(os.path.realpath(path)), content)
    except FileNotFoundError:
        raise InputError("cannot be written: no such directory", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=path) from None


def open_stream(path: str | os.PathLike[str]) -> int | None:
    """Return the descriptor that ``/dev/stdout``, ``/dev/fd/3`` or a link to one names; None for any other path."""
    if not os.path.exists(path):
        return None
    place = os.fspath(path)
    while True:
        folder = os.path.realpath(os.path.dirname(place))
        if folder == os.path.realpath("/dev/fd") and os.path.basename(place).isdecimal():
            return int(os.path.basename(place))
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))


def _write_beside(target: Path, content: bytes) -> None:
    draft = target.with_name(f".hindsched-{secrets.token_hex(8)}")
    try:
        with draft.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _plain(message: str, value: object, path: str) -> str:
    """Rephrase a message of msgspec: the value found, then what was expected."""
    plain = message.replace("Object contains unknown field", "unknown key")
    plain = plain.replace("Object missing required field", "missing key").replace("`", "")
    plain = plain[0].lower() + plain[1:]
    if not plain.startswith("expected"):
        return plain
    words = plain.partition(", got")[0].removeprefix("expected ").split(" ")
    plain = "expected " + " ".join(_WORDS.get(word, word) for word in words)
    if "[...]" in path:  # a member of a mapping, whose key msgspec does not report
        return plain
    for key, position in _STEP.findall(path):
        value = value[int(position) if position else key]  # type: ignore[index]
    if isinstance(value, list):
        return f"a list of {len(value)}, {plain}"
    return f"{_JSON_NAMES[dict] if isinstance(value, dict) else quoted(value)}, {plain}"
