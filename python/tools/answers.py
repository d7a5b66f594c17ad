"""Writes rtflash/answers.py: a class for each object in an answer, from the schemas.

Run it in the repository: python python/tools/answers.py
A test compares the file with what this writes.
"""

from __future__ import annotations

import json
import textwrap
from keyword import iskeyword
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent.parent / "schemas"
TARGET = HERE.parent / "rtflash" / "answers.py"

# The schema of each command's answer.
COMMANDS = [
    "alloc",
    "check",
    "explain",
    "size",
    "exec",
    "soak",
    "experiment",
    "host-run",
    "host-bound",
    "host-tune",
]
# The substitute for an answer is an exception in Python.
LEFT_OUT = {"ErrorLine", "Fault"}
SCALARS = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}
HEAD = '''"""The answers of rtflash: what each field means, and its unit.

Times are numbers of nanoseconds, their names end in `_ns`; utilizations are shares of one. Made by
tools/answers.py from the JSON Schemas of the command.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rtflash._records import Answer, Record

'''


def kind(schema: dict, defs: dict) -> tuple[str, str | None]:
    """A field's type in Python, and the class of the records in it."""
    if "anyOf" in schema:
        parts = [part for part in schema["anyOf"] if part != {"type": "null"}]
        written, record = kind(parts[0], defs)
        return f"{written} | None", record
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        found = defs[name]
        if found.get("type") == "object":
            return name, name
        if "enum" in found or "oneOf" in found:
            return "str", None
        return kind(found, defs)
    types = schema.get("type")
    if types is None:
        return "Any", None
    several = types if isinstance(types, list) else [types]
    rest = [one for one in several if one != "null"]
    if "array" in rest:
        written, record = kind(schema["items"], defs)
        written = f"list[{written}]"
    elif len(rest) == 1 and rest[0] in SCALARS:
        written, record = SCALARS[rest[0]], None
    elif set(rest) <= {"integer", "number"}:
        written, record = "float", None
    else:
        return "Any", None
    return (f"{written} | None" if "null" in several else written), record


def description(text: str, indent: str) -> list[str]:
    """A docstring."""
    text = text.replace("\\", "\\\\").replace("[`", "`").replace("`]", "`")
    paragraphs = text.split("\n\n")
    wide = 99 - len(indent)
    if len(paragraphs) == 1 and len(paragraphs[0]) <= wide - 6:
        return [f'{indent}"""{paragraphs[0]}"""']
    lines = []
    for paragraph in paragraphs:
        lines += textwrap.wrap(paragraph, wide - 3, break_on_hyphens=False) + [""]
    lines = [f'{indent}"""{lines[0]}'] + [(indent + line).rstrip() for line in lines[1:-1]]
    return lines + [f'{indent}"""']


def written(name: str, schema: dict, defs: dict, base: str, required: set[str]) -> list[str]:
    """A class."""
    lines = [f"class {name}({base}):", *description(schema.get("description", name), "    "), ""]
    kinds, records, fields = {}, {}, []
    for field, of in schema["properties"].items():
        if field in ("format", "line") and base == "Answer":
            continue
        found, record = kind(of, defs)
        if field not in required and not found.endswith("None") and found != "Any":
            found += " | None"
        plain = found.removesuffix(" | None")
        if plain in ("int", "float", "bool", "str", "list[int]", "list[str]"):
            kinds[field] = plain
        if record:
            records[field] = record
        fields += [f"    {field}_: {found}" if iskeyword(field) else f"    {field}: {found}"]
        if of.get("description"):
            fields += description(of["description"], "    ")
    names = sorted(set(schema["properties"]) - {"format", "line"})
    lines += table("_names", "frozenset[str]", "frozenset({", [f'"{n}"' for n in names], "})")
    lines += table(
        "_kinds", "dict[str, str]", "{", [f'"{f}": "{k}"' for f, k in kinds.items()], "}"
    )
    lines += table(
        "_records", "dict[str, str]", "{", [f'"{f}": "{r}"' for f, r in records.items()], "}"
    )
    return lines + [""] + fields + ["", ""]


def table(name: str, of: str, begin: str, items: list[str], end: str) -> list[str]:
    """A class variable with many items."""
    head = f"    {name}: ClassVar[{of}] = {begin}"
    if not items:
        return [f"    {name}: ClassVar[{of}] = {'frozenset()' if 'frozenset' in of else '{}'}"]
    return [head, *(f"        {item}," for item in items), f"    {end}"]


def main() -> str:
    """The text of the module."""
    classes: dict[str, list[str]] = {}
    for command in COMMANDS:
        schema = json.loads((SCHEMAS / f"{command}.json").read_text())
        defs = dict(schema.get("$defs", {}))
        title = schema["title"]
        answers = [part["$ref"].rsplit("/", 1)[1] for part in schema.get("anyOf", [])]
        answers = [name for name in answers if name not in LEFT_OUT]
        if not answers:
            defs[title] = schema
            answers = [title]
        # A command with two forms of answer has one class, with the fields of both.
        merged = {"description": defs[answers[0]].get("description", title), "properties": {}}
        required = set.intersection(*(set(defs[name].get("required", [])) for name in answers))
        for name in answers:
            for field, of in defs[name]["properties"].items():
                merged["properties"].setdefault(field, of)
        name = {"Summary": "ExperimentAnswer", "Explanation": "ExplainAnswer"}.get(title, title)
        classes[name] = written(name, merged, defs, "Answer", required)
        for part, of in defs.items():
            if part not in answers and part not in LEFT_OUT and of.get("type") == "object":
                found = written(part, of, defs, "Record", set(of.get("required", [])))
                assert classes.setdefault(part, found) == found, part
    names = sorted(classes)
    exported = ["__all__ = [", *(f'    "{name}",' for name in names), "]", "", ""]
    text = HEAD + "\n".join(exported + [line for name in names for line in classes[name]])
    return text.rstrip() + "\n"


if __name__ == "__main__":
    TARGET.write_text(main())
