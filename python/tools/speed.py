"""Compares `alloc` of many sets from Python with the command: python tools/speed.py RTFLASH [SETS]

Both read the same JSON Lines and make all answers as JSON. Fails where Python does less than 60 %
of the command's sets a second, each at its best of five runs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import rtflash

SHARE = 0.6
RUNS = 5


def best(run: Callable[[], object]) -> float:
    """Seconds of the shortest run."""
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    command, sets = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        lines, printed = Path(folder, "sets.jsonl"), Path(folder, "answers.jsonl")
        points = ["--util", "0.04..4.0", "--step", "0.04", "--sets", str(sets // 100)]
        subprocess.run([command, "gen", *points, "--out", lines], check=True)

        def by_command() -> None:
            with printed.open("wb") as out:
                subprocess.run([command, "alloc", lines, "--format", "json"], stdout=out)

        def by_python() -> str:
            with lines.open() as file:
                return rtflash.alloc(file).to_json()

        there, here = best(by_command), best(by_python)
        assert by_python() == printed.read_text(), "other bytes"
    print(f"command: {sets / there:,.0f} sets a second; Python: {sets / here:,.0f}")
    if there / here < SHARE:
        sys.exit(f"{there / here:.0%} of the command's sets a second; {SHARE:.0%} are asked for")


if __name__ == "__main__":
    main()
