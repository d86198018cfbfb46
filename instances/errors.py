"""The errors every package of the toolkit raises.

A solver that runs out of time, or proves that no schedule exists, returns a *result*; exceptions are for broken
input, misuse, and a broken solver or campaign.
"""

from __future__ import annotations

__all__ = ["HindschedError", "InputError", "SelfCheckError", "printable"]


class HindschedError(Exception):
    """Root of every error the toolkit raises on purpose."""


class InputError(HindschedError, ValueError):
    """Input that cannot be meant: the message is one line naming the place and what was expected.

    Parameters
    ----------
    expected
        What stands there and what was expected instead, in one line.
    place
        Where in the input: a field path such as ``workers[2].states``, or ``line 7``.
    file
        The file, where the input came from one.
    """

    def __init__(self, expected: str, *, place: str | None = None, file: object = None) -> None:
        self.expected = expected
        self.place = place
        self.file = None if file is None else str(file) or "''"
        parts = [part for part in (self.file, place, expected) if part]
        super().__init__(printable(": ".join(parts)))

    def in_file(self, file: object) -> InputError:
        """Return the same error, told to lie in ``file`` (kept if a file is already named)."""
        return InputError(self.expected, place=self.place, file=self.file or file)

    def at(self, place: str | None) -> InputError:
        """Return the same error, told to lie at another place."""
        return InputError(self.expected, place=place, file=self.file)


def printable(text: str) -> str:
    r"""Return text in which nothing commands a terminal: names of files and keys may hold anything.

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
    """The toolkit caught itself in a contradiction: a refused schedule, or a ratio below 1."""
