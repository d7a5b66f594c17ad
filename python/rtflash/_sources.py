"""The sources of task sets, allocations and scenarios: text, files, dicts, tables."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rtflash._rtflash import TaskSet, rows

STRING = "<string>"
# Fields of a task that are objects; a table may have a column for each of their fields.
REQUESTS = ("read", "write")


def is_json(text: str) -> bool:
    """Whether a `str` is JSON, and not the name of a file."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def read_text(source: str | os.PathLike[str]) -> tuple[str, str]:
    """The name and the text of a `str` or of a file."""
    if isinstance(source, str) and is_json(source):
        return STRING, source
    path = os.fspath(source)
    return path, Path(path).read_bytes().decode("utf-8", "surrogateescape")


def text_of(source: Any) -> tuple[str, str]:
    """The name and the text of what may also be an answer or a dict."""
    if hasattr(source, "to_json"):
        return STRING, source.to_json()
    if isinstance(source, Mapping):
        return STRING, dumped(source)
    return read_text(source)


def written(source: Any, device: Any, jobs: Any) -> tuple[str, bytes]:
    """The name and the JSON of a task set in any of its forms."""
    if isinstance(source, TaskSet):
        return source.name, source.source.encode()
    if isinstance(source, Mapping):
        fields = dict(source)
    elif isinstance(source, (str, os.PathLike)):
        if not (isinstance(source, str) and is_json(source)):
            if device is not None or jobs is not None:
                raise TypeError("a file has its own device and jobs")
            path = os.fspath(source)
            return path, Path(path).read_bytes()
        try:
            fields = json.loads(source)
        except (ValueError, RecursionError):
            # Its reader says what is wrong, and where.
            return STRING, source.encode()
        if isinstance(fields, list):
            fields = {"tasks": fields}
    else:
        fields = {"tasks": tasks_of(source)}
    if device is not None:
        fields["device"] = device_of(device)
    if jobs is not None:
        fields["jobs"] = list(jobs)
    if "device" not in fields and "tasks" in fields and not isinstance(source, Mapping):
        raise TypeError("tasks without a device: TaskSet(tasks, device=…)")
    return STRING, dumped(fields).encode()


def dumped(fields: Any) -> str:
    """Fields as JSON, as rtflash writes it."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def device_of(device: Any) -> Any:
    """A device as JSON has it: a profile's name or an object."""
    if isinstance(device, str) and is_json(device):
        return json.loads(device)
    if isinstance(device, os.PathLike):
        return json.loads(Path(device).read_bytes())
    return device


def tasks_of(source: Any) -> list[dict[str, Any]]:
    """Tasks of a list of dicts or of a table with a row for each.

    The columns are fields of a task: `name`, `read`, `write` (structs), `data_pages`. A request's
    fields may be columns of their own: `read_pages`, `read_period`, `write_size`, and so on. A null
    is a field that is left out.
    """
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "to_dict"):
        found: Iterable[Any] = rows(source)
    elif hasattr(source, "to_dicts"):
        found = source.to_dicts()
    elif hasattr(source, "to_dict") and hasattr(source, "columns"):
        found = source.to_dict("records")
    elif hasattr(source, "__arrow_c_stream__"):
        found = rows(source)
    else:
        found = source
    return [task_of(row) for row in found]


def task_of(row: Any) -> dict[str, Any]:
    """A task of a row."""
    if not isinstance(row, Mapping):
        raise TypeError(f"a task is a dict or a row of a table, and this is {type(row).__name__}")
    task: dict[str, Any] = {}
    for name, value in row.items():
        if is_null(value):
            continue
        request, _, field = str(name).partition("_")
        if request in REQUESTS and field:
            task.setdefault(request, {})[field] = plain(value)
        else:
            task[str(name)] = plain(value)
    return task


def is_null(value: Any) -> bool:
    """Whether a cell is empty: `None`, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    if isinstance(value, (str, Mapping, list)):
        return False
    try:
        return bool(value != value)
    except TypeError:
        return True


def plain(value: Any) -> Any:
    """A value as JSON has it: numbers of numpy are Python's, whole ones are whole."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items() if not is_null(one)}
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def named(name: str, text: str) -> TaskSet:
    """A task set of its text, for pickle."""
    return TaskSet(text, name=name)
