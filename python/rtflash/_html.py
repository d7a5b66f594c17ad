"""Answers as HTML for notebooks. All that comes from input is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

# Rows and characters of a cell that are shown.
ROWS = 60
CELL = 200


def cell(value: Any) -> str:
    """A value as it is shown in a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        value = ", ".join(cell(one) if not isinstance(one, str) else one for one in value)
    elif isinstance(value, dict):
        value = ", ".join(f"{name} {cell(one)}" for name, one in value.items())
    text = str(value)
    return escape(text if len(text) <= CELL else f"{text[:CELL]}…")


def rows(all_rows: Sequence[dict[str, Any]]) -> str:
    """Objects as a table."""
    names = list(dict.fromkeys(name for row in all_rows for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell(row.get(name))}</td>" for name in names) + "</tr>"
        for row in all_rows[:ROWS]
    )
    more = len(all_rows) - ROWS
    note = f"<p>… and {more} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def fields(of: dict[str, Any]) -> str:
    """An object: its fields, and its lists of objects as tables."""
    plain = {name: value for name, value in of.items() if not _is_table(value)}
    lines = "".join(
        f"<tr><th>{escape(name)}</th><td>{cell(value)}</td></tr>" for name, value in plain.items()
    )
    parts = [f"<table><tbody>{lines}</tbody></table>"]
    for name, value in of.items():
        if _is_table(value):
            parts.append(f"<h4>{escape(name)}</h4>{rows(value)}")
    return "".join(parts)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def answer(name: str, of: dict[str, Any]) -> str:
    """An answer."""
    shown = {field: value for field, value in of.items() if field not in ("format", "meta")}
    return f'<div class="rtflash-{escape(name)}">{fields(shown)}</div>'


def task_set(of: dict[str, Any]) -> str:
    """A task set."""
    return f'<div class="rtflash-TaskSet">{fields(of)}</div>'
