"""The parts of every answer: records that are read by attribute."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

from rtflash import _html
from rtflash._errors import InputError
from rtflash._rtflash import AnswerText, AnswerTexts, Table

A = TypeVar("A", bound="Answer")


class Record:
    """An object of an answer. Its fields are attributes; a field that is left out is `None`."""

    _names: ClassVar[frozenset[str]] = frozenset()
    _kinds: ClassVar[dict[str, str]] = {}
    _records: ClassVar[dict[str, str]] = {}

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        # A field that is a word of Python's has an underscore behind it.
        field = name[:-1] if name.endswith("_") else name
        if name.startswith("_") or field not in type(self)._names:
            raise AttributeError(f"{type(self).__name__} has no field `{name}`")
        value = self._field(field)
        record = type(self)._records.get(field)
        if record is None or value is None:
            return value
        from rtflash import answers

        found: type[Record] = getattr(answers, record)
        if isinstance(value, list):
            return [found(one) for one in value]
        return found(value)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *type(self)._names]

    def _field(self, name: str) -> Any:
        return self._fields().get(name)

    def _fields(self) -> dict[str, Any]:
        return self._data

    def to_dict(self) -> dict[str, Any]:
        """The fields as the JSON has them."""
        return dict(self._fields())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return type(self) is type(other) and self._fields() == other._fields()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_short(value)}" for name, value in self._fields().items())
        return f"{type(self).__name__}({fields})"

    def _repr_html_(self) -> str:
        return _html.fields(self._fields())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# Fields of `alloc` that say what is guaranteed, which takes longest to find.
GUARANTEE = frozenset(("guarantee", "guaranteed", "guaranteed_as_placed", "relies_on"))


class Answer(Record):
    """An answer of a command."""

    def __init__(self, text: AnswerText | str) -> None:
        self._text = text
        self._read: dict[str, Any] | None = None
        self._begun: dict[str, Any] | None = None

    def _field(self, name: str) -> Any:
        if self._begun is None:
            begun = None if isinstance(self._text, str) else self._text.begun
            self._begun = {} if begun is None else json.loads(begun)
        whole = not self._begun or name in GUARANTEE
        return super()._field(name) if whole else self._begun.get(name)

    def _fields(self) -> dict[str, Any]:
        error = self.error
        if error is not None:
            raise error
        return self._parsed()

    def _parsed(self) -> dict[str, Any]:
        if self._read is None:
            self._read = json.loads(self.to_json())
        return self._read

    def to_json(self) -> str:
        """The output of the command with `--format json`: a line."""
        return self._text if isinstance(self._text, str) else self._text.json

    @property
    def error(self) -> Exception | None:
        """In a stream, what is wrong with this task set; `None` where there is an answer."""
        if isinstance(self._text, AnswerText):
            return self._text.error()
        fault = self._parsed().get("error")
        if fault is None:
            return None
        return InputError(
            fault["message"],
            path=fault["path"],
            problem=fault["message"],
            line=fault["line"],
            column=fault["column"],
        )

    @property
    def drawing(self) -> str | None:
        """The stretch of a run that was asked for (`gantt`), for a terminal."""
        return None if isinstance(self._text, str) else self._text.drawing

    def __repr__(self) -> str:
        error = self.error
        return super().__repr__() if error is None else f"<{type(self).__name__}: {error!r}>"

    def table(self, field: str | None = None) -> Table:
        """A list of records in this answer as a table for data frames, a row each.

        `field` is its name: `clusters`, `requests`, `tasks`, … The first one if it is left out.
        """
        lists = [name for name, of in type(self)._records.items() if _is_list(self, name, of)]
        chosen = field if field is not None else (lists[0] if lists else "")
        if chosen not in lists:
            raise ValueError(f"no list of records `{chosen}`; there are {', '.join(lists)}")
        return table_of(type(self)._records[chosen], self._fields().get(chosen) or [])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.to_json(),))

    def _repr_html_(self) -> str:
        return _html.answer(type(self).__name__, self._fields())

    def _repr_svg_(self) -> str | None:
        return None if isinstance(self._text, str) else self._text.svg


class Lines:
    """The lines of a stream of answers, as a worker of an executor sends them."""

    def __init__(self, lines: list[str], statuses: list[int], warnings: str) -> None:
        self._lines = lines
        self._statuses = statuses
        self._warnings = warnings

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, position: int) -> str:
        return self._lines[position]

    def json(self) -> str:
        """All lines."""
        return "".join(self._lines)

    def statuses(self) -> list[int]:
        """The exit status of each."""
        return self._statuses

    def warnings(self) -> str:
        """The warnings of the command."""
        return self._warnings


def _is_list(answer: Answer, name: str, record: str) -> bool:
    # A class of its own answers has the fields of the one that it is made of.
    annotated = [getattr(of, "__annotations__", {}) for of in type(answer).__mro__]
    annotation = next((of[name] for of in annotated if name in of), "")
    return str(annotation).startswith("list[") and record in str(annotation)


def table_of(record: str, rows: Sequence[dict[str, Any]]) -> Table:
    """Objects of an answer as a table: all fields that hold numbers, words or lists of these."""
    from rtflash import answers

    kinds: dict[str, str] = getattr(answers, record)._kinds
    return Table([(name, kind, [row.get(name) for row in rows]) for name, kind in kinds.items()])


class Answers(Generic[A]):
    """The answers to a stream of task sets, in order: a sequence, and a table for data frames.

    If a task set is wrong, its answer has an `error`, and raises it when a field is read.
    """

    def __init__(self, kind: type[A], parts: Sequence[AnswerTexts | Lines]) -> None:
        self._kind = kind
        self._parts = parts
        self._length = sum(len(part) for part in parts)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, position: int) -> A: ...

    @overload
    def __getitem__(self, position: slice) -> list[A]: ...

    def __getitem__(self, position: int | slice) -> A | list[A]:
        if isinstance(position, slice):
            return [self[at] for at in range(*position.indices(len(self)))]
        at = position + self._length if position < 0 else position
        for part in self._parts:
            if 0 <= at < len(part):
                return self._kind(part[at])
            at -= len(part)
        raise IndexError(position)

    def __iter__(self) -> Iterator[A]:
        for part in self._parts:
            for at in range(len(part)):
                yield self._kind(part[at])

    def to_json(self) -> str:
        """The output of the command with `--format json`: a line for each task set."""
        return "".join(part.json() for part in self._parts)

    def statuses(self) -> list[int]:
        """The exit status of each: 0 yes, 1 no, 2 wrong input, 3 cannot tell."""
        return [status for part in self._parts for status in part.statuses()]

    def table(self) -> Table:
        """A row for each task set, with the fields that are numbers or words."""
        rows = [{} if answer.error else answer._fields() for answer in self]
        errors = [None if answer.error is None else str(answer.error) for answer in self]
        kinds = self._kind._kinds
        columns: list[tuple[str, str, list[Any]]]
        columns = [("line", "int", list(range(1, len(rows) + 1)))]
        columns += [(name, kind, [row.get(name) for row in rows]) for name, kind in kinds.items()]
        return Table([*columns, ("error", "str", errors)])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<{len(self)} answers: {self._kind.__name__}>"

    def _repr_html_(self) -> str:
        return _html.rows(self.table().to_pylist())
