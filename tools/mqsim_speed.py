#!/usr/bin/env python3
"""Measures the executor, and MQSim on the same exported workloads.

    tools/mqsim_speed.py target/release/rtflash --mqsim PATH/TO/MQSim

Each workload is a set of readers and writers, small requests or large ones. `rtflash export mqsim`
writes it for MQSim. The table has the processor time of each program for the same simulated time,
the least of three runs. Without `--mqsim` the executor is measured alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 3
DEVICE = {"profile": "dgist-2021", "chips": 8, "chips_per_channel": 4, "blocks_per_chip": 256, "pages_per_block": 64}
# Pages a request, and the period of reads; writes come four times as rarely.
WORKLOADS = {"small requests": (4, 8), "large requests": (64, 120)}


def task_set(pages: int, period: int) -> dict[str, object]:
    """Four tasks that read and write."""
    request = lambda times: {"pages": pages, "period": f"{period * times}ms"}
    tasks = [{"name": f"t{number}", "read": request(1), "write": request(4)} for number in range(4)]
    return {"device": DEVICE, "tasks": tasks}


def seconds(command: list[str], folder: Path) -> float:
    """Processor time of a program, the least of some runs."""
    found = []
    for _ in range(RUNS):
        before = os.times()
        # MQSim waits for a key at its end.
        run = subprocess.run(command, cwd=folder, input="\n", capture_output=True, text=True)
        after = os.times()
        if run.returncode > 1:
            sys.exit(f"{' '.join(command)}: {run.stderr or run.stdout}")
        found.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(found)


def measured(rtflash: str, mqsim: str | None, duration: str, workload: dict[str, object], folder: Path) -> str:
    """A line of the table."""
    (folder / "set.json").write_text(json.dumps(workload))
    certified = ["--analysis", "sound", "--shape", "rectangles", "--format", "json"]
    alloc = subprocess.run([rtflash, "alloc", "set.json", *certified], cwd=folder, capture_output=True, text=True)
    if alloc.returncode:
        sys.exit(f"no allocation: {alloc.stdout}{alloc.stderr}")
    (folder / "alloc.json").write_text(alloc.stdout)
    given = ["set.json", "--allocation", "alloc.json", "--analysis", "sound", "--duration", duration]
    execute = [rtflash, "exec", *given, "--jobs", "1", "--format", "json"]
    ours = seconds(execute, folder)
    answer = json.loads(subprocess.run(execute, cwd=folder, capture_output=True).stdout)
    did = answer["operations"]
    operations = did["reads"] + did["programs"] + did["erases"]
    line = f"{operations:12,} {ours:10.2f} s {operations / ours / 1e6:8.2f} M/s"
    if mqsim is None:
        return line
    export = subprocess.run([rtflash, "export", "mqsim", *given, "--out", "mqsim"], cwd=folder, capture_output=True,
                            text=True)
    if export.returncode:
        sys.exit(f"no export: {export.stdout}{export.stderr}")
    theirs = seconds([mqsim, "-i", "ssd.xml", "-w", "workload.xml"], folder / "mqsim")
    return f"{line} {theirs:10.2f} s {theirs / ours:8.1f}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("rtflash")
    arguments.add_argument("--mqsim", help="the program MQSim")
    arguments.add_argument("--duration", default="600s", help="simulated time")
    options = arguments.parse_args()
    rtflash = str(Path(options.rtflash).resolve())
    mqsim = None if options.mqsim is None else str(Path(options.mqsim).resolve())
    if mqsim is None:
        print("MQSim is not measured: --mqsim names the program")
    print(f"{platform.machine()}, {options.duration} simulated")
    print(f"{'workload':16}{'operations':>12}{'rtflash':>12}{'':13}" + (f"{'MQSim':>12}{'ratio':>9}" if mqsim else ""))
    for name, (pages, period) in WORKLOADS.items():
        with tempfile.TemporaryDirectory() as folder:
            line = measured(rtflash, mqsim, options.duration, task_set(pages, period), Path(folder))
            print(f"{name:16}{line}", flush=True)


if __name__ == "__main__":
    main()
