#!/usr/bin/env python3
"""Runs random task sets through rtflash's executor and through MQSim, and explains where they differ.

    python3 examples/mqsim.py --mqsim PATH/TO/MQSim --rtflash target/release/rtflash --sets 200

Each set that an analysis accepts is laid out in rectangles and run four times for the same time: by
`rtflash exec`; in MQSim with preemptible and with default garbage collection; and in MQSim on a
device with so many blocks that no garbage is collected at all. A set that the analysis accepts and
that is late in MQSim is a contradiction to be explained.
- Late without any collection: MQSim serves what comes first, reads before writes, and knows no
  deadline. For each request there is a bound of how late this order makes it (`bound`). Where the
  deadline is below the bound, the order of service explains it. Where a request is late and its
  deadline is not below the bound, nothing does: the table says so.
- Late with collection only: a collection is done as a whole, or is done while requests wait.
- Never served: a write that meets a page which collection is moving waits behind it, and is deleted
  there when the page has moved (`Remove_barrier_for_accessing_lpa` of MQSim): the request that it
  is a part of never ends. `check --mqsim` counts those apart from those that are late.

A set is counted for the first of these that is so of one of its streams.

Prints a line of JSON for each set, and a table at the end. Exit status 1 where the executor is late,
or MQSim is and nothing explains it. Needs nothing but Python and MQSim.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DEVICE = {"profile": "dgist-2021", "chips": 8, "chips_per_channel": 4, "blocks_per_chip": 256, "pages_per_block": 64,
          "erase_cycles": 3000}
# The profile's times of a page, in ns: read, programmed, over the bus.
READ, PROGRAM, TRANSFER = 50_000, 500_000, 40_000
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
ORDER = "late without collection: order of service"
PREEMPTIBLE = "late with collection only, though preemptible"
WHOLE = "late with collection as a whole only"
DROPPED = "what is served is in time, but some writes that met a collection are never served"
IN_TIME = "no contradiction: in time everywhere"
EXPLAINED = (ORDER, PREEMPTIBLE, WHOLE, DROPPED, IN_TIME)
NO_COLLECTION = ["--set", "device.blocks_per_chip=3072"]


def call(command, folder=None, text=None, seconds=600):
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=seconds)


def nanoseconds(span):
    value, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", span).groups()
    return round(float(value) * UNITS[unit])


def bound(task_set, clusters, cluster, operation):
    """The longest that a request may take where reads go first, and else what came first, in ns.

    A column of pages is supposed to take the chip's time, and a page over the bus for each chip of
    the channel that has tasks. (MQSim sends data out before commands, so that one page may wait
    longer; over a request the bus does no more than that.) All that comes in a time t, and what
    there is at its beginning, takes at most the sum of C + t C / T. As long as that grows no faster
    than t, a read, which waits for the other reads of its cluster and for a page that is being
    programmed, takes at most the sum of their C. A write that comes at t ends R later, when all of
    t and the reads of R are done: with U the utilization of all and V that of reads,
    t + R <= sum of C + t U + R V, so R <= sum of C / (1 - V).
    """
    channel = lambda chip: chip // DEVICE["chips_per_channel"]
    busy = [channel(chip) for other in clusters if other["tasks"] for chip in other["chips"]]
    column = max(busy.count(channel(chip)) for chip in cluster["chips"]) * TRANSFER
    chips = len(cluster["chips"])
    tasks = [task for task in task_set["tasks"] if task["name"] in cluster["tasks"]]
    of = lambda kind, chip: [(-(-task[kind]["pages"] // chips) * (chip + column), nanoseconds(task[kind]["period"]))
                             for task in tasks if kind in task]
    reads, writes = of("read", READ), of("write", PROGRAM)
    together = lambda requests: sum(cost for cost, _ in requests)
    utilization = lambda requests: sum(cost / period for cost, period in requests)
    if operation == "read":
        return together(reads) + PROGRAM + column if utilization(reads) <= 1 else math.inf
    if utilization(reads + writes) > 1 or utilization(reads) >= 1:
        return math.inf
    return together(reads + writes) / (1 - utilization(reads))


def place(stream):
    return {key: stream[key] for key in ("task", "operation", "deadline_ns", "longest_ns")}


def in_mqsim(options, folder, files, gc, changes):
    """What MQSim makes of a set: the answer of `check --mqsim`."""
    out = folder / gc
    export = [options.rtflash, "export", "mqsim", files["set"], "--allocation", files["allocation"], "--analysis",
              options.analysis, "--duration", options.duration, "--out", str(out), *changes]
    made = call([*export, "--gc", "preemptible" if gc == "none" else gc])
    if made.returncode:
        return None, made.stderr.strip()
    # MQSim waits for a key at its end.
    run = call([options.mqsim, "-i", "ssd.xml", "-w", "workload.xml"], out, "\n")
    result = out / "workload_scenario_1.xml"
    if run.returncode or not result.exists():
        return None, f"MQSim ended with {run.returncode}"
    erases = sum(int(part.split('"')[0]) for part in result.read_text().split('Issued_Flash_Erase_CMD="')[1:])
    checked = call([options.rtflash, "check", files["set"], "--mqsim", str(result), "--format", "json", *changes])
    if checked.returncode not in (0, 1, 3):
        return None, checked.stderr.strip()
    streams = json.loads(checked.stdout)["streams"]
    return {
        "late": [place(stream) for stream in streams if stream["in_time"] is False],
        "longest": [place(stream) for stream in streams] if gc == "none" else None,
        "unsure": sum(stream["in_time"] is None for stream in streams),
        "not_served": sum(stream["requests"] - stream["served"] for stream in streams),
        "reads_not_served": sum(stream["requests"] - stream["served"] for stream in streams
                                if stream["operation"] == "read"),
        "requests": sum(stream["requests"] for stream in streams),
        "erases": erases,
        "worst": max((stream["longest_ns"] or 0) / stream["deadline_ns"] for stream in streams),
    }, None


def one(options, text, folder):
    """One set; `None` where the analysis does not accept it."""
    files = {"set": str(folder / "set.json"), "allocation": str(folder / "allocation.json")}
    Path(files["set"]).write_text(text)
    found = call([options.rtflash, "alloc", files["set"], "--analysis", options.analysis, "--shape", "rectangles",
                  "--format", "json", "--no-guarantee"])
    if found.returncode:
        return None
    Path(files["allocation"]).write_text(found.stdout)
    ran = call([options.rtflash, "exec", files["set"], "--allocation", files["allocation"], "--analysis",
                options.analysis, "--duration", options.duration, "--format", "json"])
    if ran.returncode not in (0, 1):
        sys.exit(f"exec: {ran.stderr.strip()}")
    row = {"utilization": json.loads(text).get("meta", {}).get("utilization"), "executor": ran.returncode == 0}
    for gc, changes in (("default", []), ("preemptible", []), ("none", NO_COLLECTION)):
        row[gc], why = in_mqsim(options, folder, files, gc, changes)
        if why:
            return {**row, "refused": why}
    row["explanation"] = explained(row, json.loads(text), json.loads(found.stdout)["clusters"])
    return row


def explained(row, task_set, clusters):
    """Why MQSim is late where the executor is not."""
    if not row["executor"]:
        return "the executor is late"
    runs = [row[gc] for gc in ("none", "preemptible", "default")]
    if row["none"]["erases"] or row["none"]["not_served"] or any(run["unsure"] for run in runs):
        return "NOT EXPLAINED: something is collected, not served or not certain where it should not be"
    if any(run["reads_not_served"] or run["not_served"] and not run["erases"] for run in runs):
        return "NOT EXPLAINED: reads are not served, or writes without a collection"
    for stream in row["none"]["longest"]:
        cluster = next(cluster for cluster in clusters if stream["task"] in cluster["tasks"])
        limit = bound(task_set, clusters, cluster, stream["operation"])
        if limit == math.inf:
            return "NOT EXPLAINED: nothing bounds what waits for reads"
        stream["bound_ns"] = round(limit)
        if (stream["longest_ns"] or 0) > limit:
            return f"NOT EXPLAINED: {stream['operation']} of {stream['task']} takes too long without collection"
    if row["none"]["late"]:
        return ORDER
    if row["preemptible"]["late"]:
        return PREEMPTIBLE
    if row["default"]["late"]:
        return WHOLE
    return DROPPED if any(run["not_served"] for run in runs) else IN_TIME


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--mqsim", required=True, help="the program MQSim")
    arguments.add_argument("--rtflash", default="rtflash", help="the command rtflash")
    arguments.add_argument("--analysis", default="sound")
    arguments.add_argument("--sets", type=int, default=200, help="accepted sets that are wanted")
    arguments.add_argument("--tasks", default="4", help="tasks of a set; MQSim has eight streams")
    arguments.add_argument("--util", default="0.2..2.4")
    arguments.add_argument("--duration", default="60s")
    arguments.add_argument("--seed", default="1")
    arguments.add_argument("--device", default="{}", help="fields of the device that are other ones, as JSON")
    options = arguments.parse_args()
    options.rtflash = str(Path(options.rtflash).resolve()) if "/" in options.rtflash else options.rtflash
    changes = json.loads(options.device)
    if "profile" in changes or any(field.startswith("page_") for field in changes):
        arguments.error("--device: the times and the size of a page are those of the profile")
    DEVICE.update(changes)
    options.mqsim = str(Path(options.mqsim).resolve())
    drawn = call([options.rtflash, "gen", "--util", options.util, "--step", "0.2", "--sets", str(options.sets), "--tasks",
                  options.tasks, "--seed", options.seed, "--device", json.dumps(DEVICE)])
    if drawn.returncode:
        sys.exit(drawn.stderr.strip())
    lines = drawn.stdout.splitlines()
    # Loads in turn: the first of each, the second of each, …
    loads = len(lines) // options.sets
    lines = [lines[load * options.sets + number] for number in range(options.sets) for load in range(loads)]
    rows, tried = [], 0
    for text in lines:
        if len(rows) == options.sets:
            break
        tried += 1
        with tempfile.TemporaryDirectory() as folder:
            row = one(options, text, Path(folder))
        if row is None:
            continue
        rows.append(row)
        print(json.dumps({"number": tried, **row}), flush=True)
    table(rows, tried)
    if any("refused" not in row and row["explanation"] not in EXPLAINED for row in rows):
        sys.exit(1)


def table(rows, tried):
    ran = [row for row in rows if "refused" not in row]
    count = lambda of: sum(1 for row in ran if of(row))
    print(f"\n{tried} sets drawn, {len(rows)} accepted, {len(ran)} of them run in MQSim")
    print(f"executor: {count(lambda row: row['executor'])} in time")
    for gc in ("none", "preemptible", "default"):
        late, lost = count(lambda row: row[gc]["late"]), count(lambda row: row[gc]["not_served"])
        print(f"MQSim, {gc} collection: {late} late; {lost} with requests that were never served "
              f"({sum(row[gc]['not_served'] for row in ran)} of {sum(row[gc]['requests'] for row in ran)})")
    for why in sorted({row["explanation"] for row in ran}):
        print(f"{count(lambda row: row['explanation'] == why):>5}  {why}")


if __name__ == "__main__":
    main()
