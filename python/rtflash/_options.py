"""Keyword options as the words of a command line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any


def words(command: list[str], options: Mapping[str, Any]) -> list[str]:
    """The words of a command: an option `assume="fifo-bus"` is `--assume=fifo-bus`.

    `None` and `False` leave an option out, `True` is a flag, a list has commas between its items,
    but for `set` and `trim`, which are given several times.
    """
    found = list(command)
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if name == "guarantee" and not value:
            flag = "--no-guarantee"
        if name in ("set", "trim"):
            found += [f"{flag}={one}" for one in changes(value)]
        elif value is True:
            found.append(flag)
        else:
            found.append(f"{flag}={written(value)}")
    return found


def changes(of: Any) -> list[str]:
    """Changes of fields: a dict from paths to values, or texts `FIELD=VALUE`."""
    if isinstance(of, str):
        return [of]
    if isinstance(of, Mapping):
        return [f"{path}={json.dumps(value)}" for path, value in of.items()]
    return [str(change) for change in of]


def written(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return json.dumps(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (list, tuple)):
        return ",".join(written(one) for one in value)
    return str(value)
