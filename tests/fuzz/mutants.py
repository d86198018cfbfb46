"""Change files at random, and read what comes of it."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
import resource
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from hindsched.instances import InputError
from tests.fuzz.readers import Reader, files

__all__ = ["LONGEST_S", "MOST_MEMORY", "defects", "mutate"]

#: Largest time of a reader in seconds, and largest memory of the process in bytes.
LONGEST_S, MOST_MEMORY = 5, 1 << 30

_VALUES = (
    *("1e999", "-1e999", "NaN", "Infinity", "9" * 5000, "18446744073709551616", "9223372036854775808", "-1", "0"),
    *(
        "1.5",
        "9007199254740993",
        "2147483648",
        "1000000000",
        "1e5",
        "1e-300",
        "true",
        "null",
        "[]",
        "{}",
        '""',
        '"\\ud800"',
    ),
    *(
        "2147483648",
        '"a"',
        '"1/0"',
        "[" * 3000,
        '{"a":' * 3000,
        "[" * 300 + "]" * 300,
        '"' + "x" * 5000 + '"',
        "0x" + "f" * 5000,
    ),
)
_TEXTS = (
    *(
        "\0",
        "\r",
        "\r\n",
        "\n",
        "\ufeff",
        "\u2028",
        "\x85",
        "\x1b[31m",
        '"',
        "'",
        ",",
        ";",
        "\t",
        "#",
        ":",
        "=",
        "{",
        "]",
    ),
    *("\ud7ff", "\U0001f600", "\u0663", " ", "  ", "-", "+", "e9", ".", "/", "x" * 200_000, "," * 5000, '"a', "1e400"),
)
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")


def mutate(content: bytes, draw: Random) -> bytes:
    """Return a changed content; a few changes at random places, or a packed and maybe damaged one."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        content = draw.choice(_CHANGES)(content, draw)
    return content


def _replace_value(content: bytes, draw: Random) -> bytes:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return _replace_number(content, draw)
    places: list[tuple[dict | list, object]] = []
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            places += [(value, key) for key in (value if isinstance(value, dict) else range(len(value)))]
            waiting += value.values() if isinstance(value, dict) else value
    if not places:
        return content
    held, key = draw.choice(places)
    what = draw.randrange(4)
    if what == 0:
        del held[key]  # type: ignore[arg-type]
    elif what == 1 and isinstance(held, dict):
        text = json.dumps(document).replace(json.dumps(key) + ":", f"{json.dumps(key)}: 1, {json.dumps(key)}:", 1)
        return text.encode()
    else:
        held[key] = "@@"  # type: ignore[index,call-overload]
    return json.dumps(document).replace('"@@"', draw.choice(_VALUES)).encode()


def _replace_number(content: bytes, draw: Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = draw.choice(found)
    return content[: match.start()] + draw.choice(_VALUES).encode() + content[match.end() :]


def _insert(content: bytes, draw: Random) -> bytes:
    at = draw.randint(0, len(content))
    text = draw.choice(_TEXTS) if draw.random() < 0.5 else draw.choice(_VALUES)
    return content[:at] + text.encode() + content[at:]


def _change_byte(content: bytes, draw: Random) -> bytes:
    at = draw.randrange(len(content) or 1)
    return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]


def _cut(content: bytes, draw: Random) -> bytes:
    low, high = sorted(draw.randint(0, len(content)) for _ in range(2))
    return content[:low] + content[high:] if draw.random() < 0.5 else content[:low]


def _repeat(content: bytes, draw: Random) -> bytes:
    low, high = sorted(draw.randint(0, len(content)) for _ in range(2))
    return content[:high] + content[low:high] * draw.choice((1, 1, 50)) + content[high:]


def _change_lines(content: bytes, draw: Random) -> bytes:
    lines = content.split(b"\n")
    kind = draw.randrange(4)
    if kind == 0:
        draw.shuffle(lines)
    elif kind == 1:
        lines.insert(draw.randint(0, len(lines)), draw.choice(lines))
    elif kind == 2:
        del lines[draw.randrange(len(lines))]
    return draw.choice((b"\n", b"\r", b"\r\n") if kind == 3 else (b"\n",)).join(lines)


def _pack(content: bytes, draw: Random) -> bytes:
    packed = draw.choice((gzip.compress, lzma.compress, bz2.compress))(content)
    return packed + bytes(draw.randrange(9)) if draw.random() < 0.5 else packed


def _recode(content: bytes, draw: Random) -> bytes:
    text = content.decode(errors="replace")
    return text.encode(draw.choice(("utf-16", "utf-8-sig", "utf-32", "latin-1")), errors="replace")


_CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_replace_value, _replace_value, _replace_value, _replace_number, _insert, _insert),
    *(_change_byte, _cut, _repeat, _change_lines, _pack, _recode),
)


class _TooLongError(BaseException):
    """A reader takes more than `LONGEST_S`."""


def defects(mutants: int, seed: int) -> Iterator[tuple[str, bytes, str]]:
    """Read mutants of every form in turn; yield the form, the content and the defect of each that shows one."""
    forms = list(files())
    before = signal.signal(signal.SIGALRM, _stop)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, content, reader in forms:  # compiles, and shows that the files are valid
                path = Path(folder) / (name if name.startswith("x.") else "valid")
                path.write_bytes(content)
                reader(path)
            for number in range(mutants):
                name, content, reader = forms[number % len(forms)]
                mutant = mutate(content, Random(f"{seed} {number}"))
                path = Path(folder) / (name if name.startswith("x.") else "mutant")
                path.write_bytes(mutant)
                defect = _defect(reader, path)
                if defect:
                    yield name, mutant, defect
    finally:
        signal.signal(signal.SIGALRM, before)


def _defect(reader: Reader, path: Path) -> str:
    most = _memory()
    signal.alarm(LONGEST_S)
    try:
        reader(path)
    except InputError as error:
        if "\n" in str(error) or len(str(error)) > 1000:
            return f"not one short line: {str(error)[:2000]}"
    except _TooLongError:
        return f"more than {LONGEST_S} s\n{traceback.format_exc()}"
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    return f"{_memory() >> 20} MiB" if _memory() > max(most, MOST_MEMORY) else ""


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _stop(number: int, frame: object) -> None:
    raise _TooLongError
