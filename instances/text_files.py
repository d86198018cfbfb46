"""Strict reading of JSON files and atomic writing of files, with errors that name file, line and field."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isinf
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from hindsched.instances.compression import MOST_BYTES, unpack
from hindsched.instances.errors import InputError

__all__ = [
    "MOST_LINES",
    "as_unicode",
    "convert",
    "decode_json",
    "decode_text",
    "decode_toml",
    "encode",
    "encode_lines",
    "excerpt",
    "expect_format",
    "expect_integer",
    "expect_keys",
    "expect_portable",
    "format_document",
    "open_stream",
    "quoted",
    "read_ahead",
    "read_bytes",
    "read_json",
    "read_text",
    "resolved",
    "write_bytes",
    "write_text",
]

T = TypeVar("T")

#: Largest numbers of lines of a text, of values of a JSON text, and of characters of a TOML text.
MOST_LINES, MOST_VALUES, MOST_TOML = 1 << 23, 10_000_000, 1 << 20
_read_ahead: dict[str, bytes] = {}
_SURROGATE = re.compile("[\ud800-\udfff]")

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


def read_bytes(path: str | os.PathLike[str], *, most: int | None = MOST_BYTES) -> bytes:
    """Return the content of a file. A pipe can be read once.

    Parameters
    ----------
    path
        The file.
    most
        Largest number of bytes; None: any.

    Raises
    ------
    InputError
        If the file cannot be read, or is larger. The message names the file and the cause.
    """
    ahead = _read_ahead.pop(os.fspath(path), None)
    if ahead is not None:
        return ahead
    content = bytearray()
    try:
        with Path(path).open("rb") as file:
            while (block := file.read(1 << 20)) and (most is None or len(content) <= most):
                content += block
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("a directory, expected a file", file=path) from None
    except ValueError:  # a name that contains a zero byte
        raise InputError("no name of a file", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    if most is not None and len(content) > most:
        raise InputError(f"more than {most >> 20} MiB, expected at most this", file=path)
    return bytes(content)


def read_ahead(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file that is read once more: the next `read_bytes` returns what a pipe had.

    Raises
    ------
    InputError
        As in `read_bytes`.
    """
    content = read_bytes(path)
    if not os.path.isfile(path):
        _read_ahead[os.fspath(path)] = content
    return content


def read_text(
    path: str | os.PathLike[str], expected: str, *, is_lenient: bool = False, most_lines: int = MOST_LINES
) -> str:
    """Return the text of a file, whose lines end in a line feed; see `decode_text`.

    Raises
    ------
    InputError
        As in `read_bytes` and `decode_text`. The message names the file.
    """
    try:
        return decode_text(read_bytes(path), expected, is_lenient=is_lenient, most_lines=most_lines)
    except InputError as error:
        raise error.in_file(path) from None


def decode_text(raw: bytes, expected: str, *, is_lenient: bool = False, most_lines: int = MOST_LINES) -> str:
    """Return the text of a file's content, plain or packed, with or without a byte order mark.

    Lines may end in LF, CRLF or CR; in the text that is returned they end in LF.

    Parameters
    ----------
    raw
        The content of the file.
    expected
        What the text should be, for messages.
    is_lenient
        Whether bytes that are not UTF-8 are replaced by U+FFFD, for files with names of people in their comments.
    most_lines
        Largest number of lines.

    Raises
    ------
    InputError
        If the data cannot be unpacked (see `unpack`), is empty or not UTF-8, or has too many lines.
    """
    content = unpack(raw)
    lines = max(content.count(b"\n"), content.count(b"\r"))
    if lines > most_lines:
        raise InputError(f"{lines} lines, expected at most {most_lines}")
    try:
        text = content.decode("utf-8-sig", errors="replace" if is_lenient else "strict")
    except UnicodeDecodeError as error:
        line = _with_line_feeds(content[: error.start].decode(errors="replace")).count("\n") + 1
        raise InputError(f"not UTF-8, expected the text of {expected}", place=f"line {line}") from None
    text = _with_line_feeds(text)
    if not text or text.isspace():
        raise InputError(f"empty, expected {expected}")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"a zero byte, expected the text of {expected}", place=f"line {line}")
    return text


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON object that a file contains; see `decode_json`.

    Raises
    ------
    InputError
        If the text is not a JSON object. The message names the file and the place.
    """
    text = read_text(path, "a JSON object")
    try:
        document = decode_json(text)
    except InputError as error:
        raise error.in_file(path) from None
    if not isinstance(document, dict):
        raise InputError(f"{_JSON_NAMES.get(type(document), 'a truth value')}, expected a JSON object", file=path)
    return document


def decode_json(text: str) -> Any:
    """Return the value of a JSON text.

    Reading is stricter than in the standard library: a key may occur only once in an object, numbers are finite,
    integers have at most 64 bits, and texts are Unicode without lone surrogates. So every value can be written again.

    Raises
    ------
    InputError
        If the text is not such JSON. The message names the line, or the place in the document.
    """
    values = text.count(",") + text.count("[") + text.count("{")
    if values > MOST_VALUES:
        raise InputError(f"{values} values, expected at most {MOST_VALUES}")
    try:
        try:
            document = json.loads(
                text, object_pairs_hook=_distinct_keys, parse_constant=_refuse_number, parse_float=_finite_number
            )
            msgspec.msgpack.encode(document)  # fails for integers of more than 64 bits and for lone surrogates
        except (ValueError, OverflowError):  # found again with its place
            document = json.loads(
                text,
                object_pairs_hook=_keys_or_defect,
                parse_constant=lambda name: _Defect(f"not JSON: {name}, expected a finite number"),
                parse_float=_finite_or_defect,
                parse_int=_integer_or_defect,
            )
            expect_portable(document)
    except json.JSONDecodeError as error:
        problem = error.msg[0].lower() + error.msg[1:]
        place = f"line {error.lineno}, column {error.colno}"
        if error.pos >= len(error.doc.rstrip()) or problem.startswith("unterminated"):
            problem = f"ends too early: {problem}"
        raise InputError(f"not JSON: {problem}", place=place) from None
    except RecursionError:
        raise InputError("not JSON: nested too deeply") from None
    return document


def decode_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text, with integers of at most 64 bits as TOML demands.

    Raises
    ------
    InputError
        If the text is not TOML. The message names the line, or the place in the document.
    """
    if len(text) > MOST_TOML:
        raise InputError(f"{len(text)} characters, expected at most {MOST_TOML}")
    try:
        document: dict[str, Any] = tomllib.loads(text)
        expect_portable(document)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}") from None
    except InputError:
        raise
    except RecursionError:
        raise InputError("not TOML: nested too deeply") from None
    except ValueError:  # the only other error of the standard library
        digits = re.search("[0-9_]{4000}", text)
        place = None if digits is None else f"line {text.count(chr(10), 0, digits.start()) + 1}"
        raise InputError("an integer of thousands of digits, expected at most 64 bits", place=place) from None
    return document


def expect_portable(document: object) -> None:
    """Raise `InputError` for the first value of a decoded document that cannot be written again."""
    stack: list[Iterator[tuple[str, object]]] = [iter([("", document)])]
    while stack:
        place, value = next(stack[-1], (None, None))
        if place is None:
            stack.pop()
            continue
        defect = _defect_of(value)
        if defect:
            raise InputError(defect, place=place.lstrip(".") or None)
        if isinstance(value, dict | list):
            stack.append(_members(place, value))


def _members(place: str, value: dict[str, object] | list[object]) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        return ((f"{place}.{_cut(key)}", member) for key, member in value.items())
    return ((f"{place}[{i}]", member) for i, member in enumerate(value))


class _Defect(str):
    """A message in the place of a value that is refused."""


def _defect_of(value: object) -> str:
    if isinstance(value, _Defect):
        return value
    texts = value if isinstance(value, dict) else [value]
    for text in texts:
        if isinstance(text, str) and _SURROGATE.search(text):
            return f"{excerpt(text)}, expected Unicode text without a lone surrogate"
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return f"an integer of {value.bit_length()} bits, expected at most 64"
    return ""


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _keys_or_defect(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Defect:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            return _Defect(f"key {excerpt(key)} occurs twice in an object, expected once")
        members[key] = value
    return members


def _refuse_number(name: str) -> NoReturn:
    raise ValueError(name)


def _finite_number(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError
    return number


def _finite_or_defect(digits: str) -> float | _Defect:
    return _Defect(f"{_cut(digits)}, expected a finite number") if isinf(float(digits)) else float(digits)


def _integer_or_defect(digits: str) -> int | _Defect:
    return int(digits) if len(digits) <= 20 else _Defect(f"{_cut(digits)}, expected an integer of at most 64 bits")


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


def expect_keys(document: Mapping[str, Any], keys: Sequence[str], of_list: str) -> None:
    """Raise `InputError` unless a decoded object has these keys and no other, and a list under ``of_list``."""
    for key in keys:
        if key not in document:
            raise InputError(f"missing key {key}")
    for key in document:
        if key not in keys:
            raise InputError(f"unknown key {excerpt(key)}")
    if not isinstance(document[of_list], list):
        raise InputError(f"{quoted(document[of_list])}, expected a list", place=of_list)


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
    """Return compact JSON. Floats have the shortest form that reads back equal.

    Raises
    ------
    InputError
        If a text has a lone surrogate, which no file of UTF-8 can have.
    """
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError as error:
        raise InputError(f"{excerpt(error.object)}, expected Unicode text without a lone surrogate") from None


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
    except (OverflowError, RecursionError, InputError):  # an integer beyond 64 bits, a lone surrogate
        return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file completely or not at all; see `write_bytes`."""
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
            _write_beside(resolved(path), content)
    except FileNotFoundError:
        raise InputError("cannot be written: no such directory", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=path) from None


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the path of the file to which links lead; raise `InputError` for links in a circle."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise InputError(f"cannot be written: {os.strerror(errno.ELOOP)}", file=path)
    return Path(target)


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
