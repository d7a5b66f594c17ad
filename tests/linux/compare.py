#!/usr/bin/env python3
"""Compares rtflash with a real Linux kernel, scenario by scenario.

    compare.py --guest DIR --rtflash PATH [--k2 DIR] [--out DIR] [--random N] [--only TEXT]

DIR is what build.sh made; that of --k2 has K2 in its kernel, too. It writes agreement.csv and agreement.md, and fails where the two differ by more than is
allowed: in an answer to an asking, by 5 % in a percentile or a bandwidth, by anything above a bound.
"""

import argparse
import copy
import csv
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import cases
import order
from guest import Places, scheduler_of, time

# Percent in the median and the 99th percentile of latencies, and in bandwidth.
ALLOWED = {"p50": 5, "p99": 5, "bandwidth": 5}
# The comparison judges no percentile of fewer I/Os in the guest.
ENOUGH = {"p50": 20, "p99": 200, "bandwidth": 100}
COUNTED = ("agrees", "unsteady", "few", "listed")
# A known difference of the model (docs/host.md): budgets of BFQ.
LISTED = ("bfq",)


@dataclass
class Row:
    """A line of the table. Times are milliseconds, bandwidths MiB/s."""

    part: str
    case: str
    job: str
    measure: str
    kernel: float
    rtflash: float
    verdict: str


def values(measured):
    return {"p50": measured.p50 / 1e6, "p99": measured.p99 / 1e6, "bandwidth": measured.bandwidth / 2**20}


def differs(kernel, rtflash, percent):
    return abs(rtflash - kernel) * 100 > percent * kernel


def moved(scenario, by):
    """The scenario with think times so many microseconds longer, and other phases."""
    scenario = copy.deepcopy(scenario)
    draw = random.Random(by)
    for job in scenario["jobs"]:
        job["phase"] = f"{draw.randint(0, 100_000)}us"
        job["think"] = f"{time(job['think']) + 1000 * by}ns"
    return scenario


class Table:
    def __init__(self, places):
        self.places = places

    def ordered(self, case, scenario):
        name = scheduler_of(scenario)["name"]
        asked, different = order.compare(self.places, f"order {name} {case}", scenario)
        verdict = "differs" if different or not asked else "agrees"
        return [Row("order", f"{name}, {case}", "all", "asks, different", asked, different, verdict)]

    def compared(self, part, case, scenario):
        name = f"{part} {case}"
        kernel, rtflash = self.places.kernel(name, scenario), self.places.model(name, scenario)
        rows, again = [], None
        for job, measured in kernel.items():
            ours = values(rtflash[job]) if job in rtflash else dict.fromkeys(ALLOWED, 0.0)
            for measure, theirs in values(measured).items():
                verdict = "agrees"
                if differs(theirs, ours[measure], ALLOWED[measure]):
                    # N processes are N queues of BFQ.
                    is_listed = part in LISTED or scheduler_of(scenario)["name"] == "bfq" and job == "bg"
                    verdict = "listed" if is_listed else "differs"
                    if measured.completed < ENOUGH[measure]:
                        verdict = "few"
                    elif verdict == "differs":
                        again = again or self.again(name, scenario)
                        if any(differs(values(one[job])[measure], values(other[job])[measure], ALLOWED[measure])
                               for runs in again for one in runs for other in runs if job in one and job in other):
                            verdict = "unsteady"
                rows.append(Row(part, case, job, measure, theirs, ours[measure], verdict))
        return rows + self.bounded(part, case, scenario, kernel)

    def again(self, name, scenario):
        """The kernel's runs of this scenario and of four with other phases and places, and rtflash's. Phases lock in
        closed loops: where they move a figure of either by itself, the two cannot be compared by it."""
        scenarios = [scenario, *(moved(scenario, by) for by in (1, 2, 3, 4))]
        kernel = [self.places.kernel(name, scenario, seed) for seed, scenario in enumerate(scenarios)]
        return kernel, [self.places.model(name, scenario, seed + 1) for seed, scenario in enumerate(scenarios)]

    def bounded(self, part, case, scenario, kernel=None):
        kernel = kernel or self.places.kernel(f"{part} {case}", scenario)
        rows = []
        # The kernel takes no time in the guest; an end and the next asking are one instant. Its clock counts in 256 ns
        # (TIMER_MULTIPLIER of arch/um/kernel/time.c): each command and each stamp can be late by one of these.
        device = scenario["device"]
        shortest = min(time(device[op]["first"]) for op in ("read", "write"))
        for job, bound in self.places.bounds(f"{part} {case}", scenario).items():
            if job in kernel:
                longest = kernel[job].longest
                verdict = "agrees" if longest <= bound + 256 * (2 + bound // shortest) else "exceeded"
                rows.append(Row(part, case, job, "longest, bound", longest / 1e6, bound / 1e6, verdict))
        return rows

    def counted(self, part, case, scenario):
        """I/Os of each job."""
        name = f"{part} {case}"
        kernel, rtflash = self.places.kernel(name, scenario), self.places.model(name, scenario)
        rows = []
        for job in (job["name"] for job in scenario["jobs"]):
            theirs, ours = (of[job].completed if job in of else 0 for of in (kernel, rtflash))
            verdict = "differs" if differs(theirs, ours, 5) else "agrees"
            rows.append(Row(part, case, job, "I/Os", theirs, ours, verdict))
        return rows

    def works(self, number):
        """A case to run: a name, and how."""
        for case, scenario in cases.orders():
            yield f"order {case}", lambda at=(case, scenario): self.ordered(*at)
        parts = [
            ("Koshiba", cases.koshiba()),
            ("attachment", cases.attachments()),
            ("together", cases.together()),
            ("waiters", cases.waiters()),
            ("bfq", cases.bfq()),
            ("random", cases.drawn(number, short=False)),
            ("short of tags", cases.drawn(number // 6, short=True)),
            ("cards", cases.cards(number // 2)),
        ]
        for part, scenarios in parts:
            for case, scenario in scenarios:
                yield f"{part} {case}", lambda at=(part, case, scenario): self.compared(*at)
        for case, scenario in cases.starved():
            yield f"starved {case}", lambda at=("starved", case, scenario): self.counted(*at)
        for case, scenario in cases.aged(2 * number):
            yield f"aged {case}", lambda at=("aged", case, scenario): self.bounded(*at)


def attempt(work):
    name, run = work
    try:
        return run()
    except Exception as problem:  # A guest that hangs is one failed line; the other lines are still wanted.
        return [Row("failed", name, "", " ".join(str(problem).split()), 0, 0, "failed")]


def shown(value):
    return f"{value:.0f}" if isinstance(value, int) else f"{value:.4g}"


def write(rows, out):
    names = [field.name for field in fields(Row)]
    with open(out / "agreement.csv", "w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(names)
        lines.writerows([shown(cell) if isinstance(cell, (int, float)) else cell for cell in astuple(row)] for row in rows)
    with open(out / "agreement.md", "w") as file:
        file.write("# rtflash beside Linux 6.12.117\n\n`tests/linux/compare.py` wrote this. Times are milliseconds, ")
        file.write("bandwidths MiB/s.\n")
        for part in dict.fromkeys(row.part for row in rows):
            file.write(f"\n## {part}\n\n| case | job | | kernel | rtflash | |\n|---|---|---|---|---|---|\n")
            for row in (row for row in rows if row.part == part):
                cells = [row.case, row.job, row.measure, shown(row.kernel), shown(row.rtflash), row.verdict]
                file.write("| " + " | ".join(cells) + " |\n")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--guest", required=True)
    options.add_argument("--rtflash", required=True)
    options.add_argument("--k2")
    options.add_argument("--out", default=".")
    options.add_argument("--random", type=int, default=40)
    options.add_argument("--only", default="")
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="rtflash-linux-") as folder:
        table = Table(Places(Path(options.guest).resolve(), options.rtflash, folder))
        works = list(table.works(options.random))
        if options.k2:
            k2 = Table(Places(Path(options.k2).resolve(), options.rtflash, folder))
            works += [(f"order {case}", lambda at=(case, scenario): k2.ordered(*at)) for case, scenario in cases.k2()]
        works = [work for work in works if options.only in work[0]]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            rows = [row for rows in pool.map(attempt, works) for row in rows]
    write(rows, Path(options.out))
    bad = [row for row in rows if row.verdict not in COUNTED]
    for row in bad:
        print(f"{row.verdict}: {row.part}, {row.case}, {row.job}: {row.measure}: {shown(row.kernel)} {shown(row.rtflash)}")
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in COUNTED}
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()) + f", {len(bad)} bad, of {len(works)} cases")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
