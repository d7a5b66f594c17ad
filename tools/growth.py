#!/usr/bin/env python3
"""Counts the instructions of commands on ever more tasks.

    tools/growth.py target/release/rtflash --tasks 1000,2000,4000,8000

Needs valgrind. The sets are drawn on `dgist-2021` with 4,096 chips, 200 tasks for each unit of
utilization, in parts of at most 10,000 tasks, and allocated by `alloc --analysis sound`. Ends with
status 1 if twice the tasks take more than 2.3 times the instructions, in the mean of all doublings.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 2.3
DEVICE = json.dumps({"profile": "dgist-2021", "chips": 4096, "chips_per_channel": 4})
# The most tasks that `gen` draws, and sets of a call that is counted: some are drawn again.
PART = 10_000
SETS = 20


def drawing(rtflash: str, tasks: int, seed: int, sets: int) -> list[str]:
    return [rtflash, "gen", "--tasks", str(tasks), "--util", str(tasks / 200), "--seed", str(seed), "--sets",
            str(sets), "--device", DEVICE]


def drawn(rtflash: str, tasks: int) -> dict[str, object]:
    """A set of so many tasks."""
    found, all_tasks = {}, []
    for seed, first in enumerate(range(0, tasks, PART), 1):
        call = drawing(rtflash, min(PART, tasks - first), seed, 1)
        found = json.loads(subprocess.run(call, check=True, capture_output=True).stdout)
        all_tasks += [{**task, "name": f"{seed}-{task['name']}"} for task in found["tasks"]]
    return {"device": found["device"], "tasks": all_tasks}


def instructions(call: list[str]) -> int:
    """Those of a call that is answered."""
    count = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    run = subprocess.run([*count, *call], capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
    if run.returncode > 1 or found is None:
        sys.exit(f"{' '.join(call)}: {run.stderr}")
    return int(found[1].replace(",", ""))


def calls(rtflash: str, tasks: int, folder: Path) -> dict[str, list[str]]:
    """The calls on so many tasks, by name."""
    whole = drawn(rtflash, tasks)
    given, more, allocation = folder / "set.json", folder / "more.json", folder / "alloc.json"
    given.write_text(json.dumps(whole))
    added = {"name": "added", "read": {"pages": 4, "period": "100ms"}}
    more.write_text(json.dumps({**whole, "tasks": [*whole["tasks"], added]}))
    alloc = [rtflash, "alloc", str(given), "--analysis", "sound", "--format", "json"]
    allocation.write_bytes(subprocess.run(alloc, check=True, capture_output=True).stdout)
    beside = [str(given), "--allocation", str(allocation), "--analysis", "sound"]
    found = {"alloc": alloc, "check": [rtflash, "check", *beside], "explain": [rtflash, "explain", *beside],
             "admit": [rtflash, "admit", str(allocation), str(more)]}
    return found if tasks > PART else {"gen": drawing(rtflash, tasks, 1, SETS), **found}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("rtflash")
    arguments.add_argument("--tasks", default="1000,2000,4000,8000", help="numbers of tasks, each twice the one before")
    options = arguments.parse_args()
    counts: dict[str, list[int]] = {}
    for tasks in map(int, options.tasks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            for name, call in calls(options.rtflash, tasks, Path(folder)).items():
                counts.setdefault(name, []).append(instructions(call))
                print(f"{name:8}{tasks:8} tasks{counts[name][-1] / 1e6:12.1f} million", flush=True)
    # Sets differ: the mean of all doublings counts.
    growth = {name: (found[-1] / found[0]) ** (1 / max(1, len(found) - 1)) for name, found in counts.items()}
    print("twice the tasks take:", ", ".join(f"{name} {factor:.2f}" for name, factor in growth.items()))
    sys.exit(any(factor > MOST for factor in growth.values()))


if __name__ == "__main__":
    main()
