"""Executes a notebook and fails where a cell does: python tools/notebook.py FILE [OUT]

The notebook with its outputs is written to OUT, if it is given. The file itself stays as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": path.parent}})
    return client.execute()


def main() -> None:
    path = Path(sys.argv[1])
    executed = execute(path)
    pictures = [
        output
        for cell in executed.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "image/png" in output.get("data", {}) or "image/svg+xml" in output.get("data", {})
    ]
    print(f"{path.name}: {len(executed.cells)} cells, {len(pictures)} pictures")
    if not pictures:
        sys.exit("it has drawn nothing")
    if len(sys.argv) > 2:
        nbformat.write(executed, sys.argv[2])


if __name__ == "__main__":
    main()
