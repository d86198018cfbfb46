"""Errors that all packages raise.

A solver that runs out of time, or proves that no schedule exists, returns a *result*. Exceptions are for broken input,
misuse, and a broken solver or campaign.
"""

from __future__ import annotations

__all__ = ["HindschedError", "InputError", "SelfCheckError", "printable"]


#: Largest number of characters of a message that is not shortened.
_LONGEST = 800


class HindschedError(Exception):
    """Base class of the toolkit's errors."""


class InputError(HindschedError, ValueError):
    """Invalid or ambiguous input. The message is one line with the place and what was expected.

    Parameters
    ----------
    expected
        What was found and what was expected, in one line.
    place
        Where in the input: a field path such as ``workers[2].states``, or ``line 7``.
    file
        The file, if the input came from one.
    """

    def __init__(self, expected: str, *, place: str | None = None, file: object = None) -> None:
        self.expected = expected
        self.place = place
        self.file = None if file is None else str(file) or "''"
        parts = [part for part in (self.file, place, expected) if part]
        super().__init__(_shortened(printable(": ".join(parts))))

    def in_file(self, file: object) -> InputError:
        """Return the same error with the file's name, unless it already names a file."""
        return InputError(self.expected, place=self.place, file=self.file or file)

    def at(self, place: str | None) -> InputError:
        """Return the same error with another place."""
        return InputError(self.expected, place=place, file=self.file)


def _shortened(text: str) -> str:
    """Return a text without its middle if it is long, because keys and names may have any length."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


def printable(text: str) -> str:
    r"""Return a text with control characters escaped, because names of files and keys may contain any.

    Examples
    --------
    >>> printable("red\x1b[31m.json")
    'red\\x1b[31m.json'
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "backslashreplace").decode()
        for letter in text
    )


class SelfCheckError(HindschedError):
    """A contradiction within the toolkit: its own schedule is refused, or a ratio is below 1."""
