"""Faults and failures."""

from __future__ import annotations


class InputError(ValueError):
    """An input is wrong. Its text shows the line and a caret, as the command does."""

    path: str
    """The value at fault, such as `tasks[3].read.period`; empty for the whole."""
    problem: str
    """The fault, a clause."""
    expected: str
    """The expected value, a clause; empty where the problem says it."""
    line: int | None
    """Its line in the input, from 1; `None` where it has no place there."""
    column: int | None
    """Its column, from 1, in characters; `None` where it has no place there."""

    def __init__(
        self,
        text: str,
        *,
        path: str = "",
        problem: str = "",
        expected: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(text)
        self.path = path
        self.problem = problem or text
        self.expected = expected
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (str(self), self.path, self.problem, self.expected, self.line, self.column))


def _again(
    text: str, path: str, problem: str, expected: str, line: int | None, column: int | None
) -> InputError:
    return InputError(text, path=path, problem=problem, expected=expected, line=line, column=column)


class CannotTellError(RuntimeError):
    """A limit was reached, or nothing can be said: exit status 3 of the command, and no answer."""


class RtflashWarning(UserWarning):
    """The command's words on standard error beside an answer."""
