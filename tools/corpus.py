#!/usr/bin/env python3
"""Thousands of calls of rtflash and hashes of their answers.

A change that keeps behaviour is compared with the build before it:

    tools/corpus.py make target/release/rtflash corpus.txt
    tools/corpus.py compare target/release/rtflash corpus.txt

A line of the file is a call: the hash of its exit status, its output and the files it wrote, then
its arguments. `compare` lists the calls that answer otherwise, and ends with status 1 if there are
any. `--sets N` draws so many random sets, `--only WORD` keeps calls whose arguments have the word.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ANALYSES = [
    "thesis", "thesis-evaluated", "stripe", "superblock", "sound", "zoned", "chang", "gftl", "rftl", "lazy-rtgc",
    "stock",
]
DEMAND = ["stripe", "superblock", "sound", "zoned"]
ALGORITHMS = [
    "clustering-bfd", "best-fit", "clustering-search", "global", "full-isolation", "equal-split", "part-ftl", "exact",
]
# The options of a run of `exec`, one at a time.
RUNS = [
    [], ["--server", "background"], ["--dispatch", "parallel"], ["--victims", "worst"], ["--aging", "fresh"],
    ["--pattern", "sequential"], ["--pattern", "hot-cold"], ["--pattern", "fullest"], ["--waits", "worst"], ["--times", "random"], ["--phases", "random"],
    ["--arrivals", "sporadic"], ["--police"], ["--ties", "highest"], ["--ties", "random"], ["--no-backfill"],
    ["--faults", "20"], ["--seed", "7"], ["--arbitration", "round-robin"], ["--gantt", "0..20ms"],
]
HOST = ["none", "mq-deadline", "bfq", "kyber", "k2", "k2-split", "minimal-effort", "user-centric"]
SECONDS = 60


@dataclass
class Case:
    """Calls in a directory of their own, one after the other: later ones read what earlier ones wrote."""

    files: dict[str, str]
    calls: list[list[str]] = field(default_factory=list)

    def call(self, *words: str) -> None:
        """A call. `> FILE` at its end keeps its output."""
        self.calls.append(list(words))


def drawn_set(number: int) -> dict[str, object]:
    """A random set: each option of a device now and then, tasks that fit about half of the time."""
    rng = random.Random(number)

    def within(low: int, high: int) -> int:
        return low + int(rng.random() * (high - low + 1))

    def now_and_then() -> bool:
        return rng.random() < 0.1

    chips = within(1, 8)
    device: dict[str, object] = {
        "chips": chips, "chips_per_channel": within(1, chips), "blocks_per_chip": within(24, 96),
        "pages_per_block": [8, 16, 32, 64][within(0, 3)], "page_size": 4096, "logical_ratio": within(30, 85) / 100,
        "page_read": f"{within(10, 80)}us", "page_program": f"{within(100, 600)}us",
        "block_erase": f"{within(1, 5)}ms", "page_transfer": f"{within(2, 40)}us",
    }
    if now_and_then():
        device["page_read"] = f"{within(5, 9)}us..{device['page_read']}"
    if now_and_then():
        device |= {"erase_suspend": f"{within(10, 200)}us", "erase_resume": f"{within(10, 100)}us"}
    if now_and_then():
        device["page_registers"] = 2
    if now_and_then():
        device["command"] = f"{within(100, 900)}ns"
    if now_and_then():
        device |= {"program_failures": within(1, 2), "spare_blocks": within(2, 4)}
    if now_and_then():
        device |= {"wear_gap": within(4, 30), "erase_cycles": 3000}
    if now_and_then():
        device["times"] = "typical"
    if now_and_then():
        device |= {"page_read_includes_transfer": False, "page_program_includes_transfer": False}

    def request(pages: int, period_us: int) -> dict[str, object]:
        made: dict[str, object] = {"pages": pages, "period": f"{period_us}us"}
        if now_and_then():
            made["deadline"] = f"{period_us * within(50, 99) // 100}us"
        if now_and_then():
            made["jitter"] = f"{period_us * within(1, 10) // 100}us"
        if now_and_then():
            made["access"] = ["sequential", "stream"][within(0, 1)]
        return made

    tasks = []
    for position in range(within(1, 5)):
        task: dict[str, object] = {"name": f"t{position}"}
        if rng.random() < 0.7:
            task["read"] = request(within(1, 40), within(5_000, 60_000))
        if "read" not in task or rng.random() < 0.6:
            task["write"] = request(within(1, 24), within(20_000, 300_000))
        if now_and_then():
            task["data_pages"] = within(64, 800)
        tasks.append(task)
    whole: dict[str, object] = {"device": device, "tasks": tasks}
    if now_and_then():
        whole["jobs"] = [{"name": "log", "write_pages": within(1, 8), "arrivals": {"every": f"{within(20, 200)}ms"}}]
    return whole


def of_a_set(text: str, rng: random.Random, thorough: bool) -> Case:
    """The calls for one set: all of them, or a part that is drawn."""
    case = Case({"set.json": text})
    algorithms = ALGORITHMS if thorough else rng.sample(ALGORITHMS, 2)
    for analysis in ANALYSES if thorough else [*rng.sample(ANALYSES, 3), rng.choice(DEMAND)]:
        for algorithm in algorithms:
            how = ["set.json", "--analysis", analysis, "--algorithm", algorithm]
            case.call("alloc", *how)
            case.call("alloc", *how, "--format", "json", "> alloc.json")
            case.call("check", "set.json", "--allocation", "alloc.json", "--analysis", analysis, "--format", "json")
            case.call("explain", *how, "--format", "json")
        how = ["set.json", "--analysis", analysis]
        case.call("explain", *how)
        case.call("size", *how)
        case.call("size", *how, "--format", "json")
    for analysis in ["necessary", "necessary-with-zones"]:
        case.call("alloc", "set.json", "--analysis", analysis, "--format", "json")
    for analysis in DEMAND if thorough else [rng.choice(DEMAND)]:
        how = ["set.json", "--analysis", analysis]
        case.call("alloc", *how, "--format", "json", "> old.json")
        case.call("alloc", *how, "--rely-on", rng.choice(["nothing", "queue"]), "--format", "json")
        case.call("alloc", *how, "--spread", "--reserve-server", "no", "--format", "json")
        case.call("alloc", *how, "--algorithm", "equal-split", "--format", "json", "> new.json")
        case.call("admit", "old.json", *how, "--format", "json")
        case.call("migrate", "old.json", "new.json", *how, "--run", "--format", "json")
        case.call("size", *how, "--over", "chips,logical_ratio", "--format", "json")
    for analysis in ["thesis", "sound", "zoned"] if thorough else [rng.choice(["thesis", *DEMAND])]:
        how = ["set.json", "--analysis", analysis, "--duration", "500ms"]
        for run in RUNS if thorough else rng.sample(RUNS, 3):
            case.call("exec", *how, *run, "--format", "json")
        case.call("exec", *how)
        case.call("exec", *how, "--trace", "trace.jsonl", "--format", "json")
        case.call("check", *how, "--trace", "trace.jsonl", "--format", "json")
    return case


def others() -> list[Case]:
    """Commands that take no set, scenarios, and files of others."""
    apart = Case({})
    apart.call("profile")
    for path in sorted((ROOT / "schemas").glob("*.json")):
        apart.call("schema", path.stem)
    generators = ["uunifast", "uunifast-discard", "randfixedsum", "integer-shares", "heavy-writers"]
    for seed, generator in enumerate(generators):
        words = ["--util", "0.5..2", "--step", "0.5", "--sets", "3", "--generator", generator, "--seed", str(seed)]
        if generator == "heavy-writers":
            words += ["--write-heavy", "3"]
        apart.call("gen", *words)
        apart.call("experiment", "schedulability", *words, "--out", f"schedulability-{generator}", "--format", "json")
    apart.call(
        "experiment", "bandwidth", "--util", "0.5..1", "--step", "0.5", "--sets", "2", "--duration", "200ms",
        "--warmup", "0s", "--out", "bandwidth", "--format", "json",
    )
    for world in ["any", "sound"]:
        apart.call("soak", "--runs", "30", "--seed", "3", "--world", world, "--format", "json")
    cases = [apart]
    for path in sorted((ROOT / "scenarios").glob("*.json")):
        scenario = json.loads(path.read_text())
        if "jobs" not in scenario:
            continue
        scenario |= {"duration": "300ms", "warmup": "0s"}
        host = Case({"scenario.json": json.dumps(scenario)})
        for scheduler in HOST:
            host.call("host", "run", "scenario.json", "--scheduler", scheduler, "--format", "json")
            host.call("host", "bound", "scenario.json", "--scheduler", scheduler, "--format", "json")
        host.call("host", "run", "scenario.json", "--trace", "host-trace.json")
        cases.append(host)
    imports = Case({})
    data = ROOT / "crates" / "rtflash-exchange" / "tests" / "it"
    for path in sorted(data.rglob("*.xml")):
        imports.call("import", "mqsim", str(path.relative_to(ROOT)))
    cases.append(imports)
    for path in sorted((ROOT / "tasksets").glob("*.json")):
        exports = Case({"set.json": path.read_text()})
        for target in ["mqsim", "fio", "femu", "nvme", "firmware"]:
            exports.call("export", target, "set.json", "--out", f"out-{target}", "--format", "json")
        cases.append(exports)
    return cases


def answered(binary: Path, case: Case) -> list[tuple[str, str]]:
    """Each call, and the hash of what it answers."""
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, text in case.files.items():
            (place / name).write_text(text)
        (place / "crates").symlink_to(ROOT / "crates")
        # Exports name the command by which they were made.
        command = place / "bin" / "rtflash"
        command.parent.mkdir()
        command.symlink_to(binary)
        for words in case.calls:
            kept = words[-1].removeprefix("> ") if words[-1].startswith("> ") else None
            before = written(place)
            try:
                run = subprocess.run(
                    [command, *(words[:-1] if kept else words)], cwd=place, capture_output=True, check=False,
                    timeout=SECONDS, stdin=subprocess.DEVNULL,
                )
            except subprocess.TimeoutExpired:
                answers.append((" ".join(words), "no answer within a minute"))
                continue
            if kept:
                (place / kept).write_bytes(run.stdout)
            digest = hashlib.sha256(f"{run.returncode}\n".encode() + run.stdout + b"\0" + run.stderr)
            after = written(place)
            for name in sorted(after):
                if name != kept and after[name] != before.get(name):
                    digest.update(name.encode() + after[name].encode())
            answers.append((" ".join(words), digest.hexdigest()[:16]))
    return answers


# Which sources a command is built of, and what that makes of a checksum.
BUILD = re.compile(rb'"(?:build\\?|crc32)": ?\\?"[0-9a-f]+\\?"')


def written(place: Path) -> dict[str, str]:
    """The files of a directory, each with the hash of its content. Pictures carry no more than tables do."""
    return {
        str(path.relative_to(place)): hashlib.sha256(BUILD.sub(b"", path.read_bytes())).hexdigest()
        for folder, folders, names in os.walk(place)
        for path in (Path(folder) / name for name in names)
        if path.suffix not in {".png", ".pdf"}
    }


def cases(sets: int) -> list[tuple[str, Case]]:
    """All cases, each with a name that stays when others come."""
    named = [
        (path.stem, of_a_set(path.read_text(), random.Random(path.stem), path.stem in {"case-study", "motivation"}))
        for path in sorted((ROOT / "tasksets").glob("*.json"))
    ]
    named += [
        (f"drawn-{number}", of_a_set(json.dumps(drawn_set(number)), random.Random(f"asked {number}"), False))
        for number in range(sets)
    ]
    return named + [(f"other-{number}", case) for number, case in enumerate(others())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "compare"])
    parser.add_argument("binary", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    binary = options.binary.resolve()
    named = cases(options.sets)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        all_answers = pool.map(lambda of: answered(binary, of[1]), named)
        lines = [
            (f"{name}:{number} {words}", digest)
            for (name, _), answers in zip(named, all_answers)
            for number, (words, digest) in enumerate(answers)
            if options.only in words
        ]
    if options.what == "make":
        options.file.write_text("".join(f"{digest}\t{call}\n" for call, digest in lines))
        print(f"{len(lines)} calls")
        return 0
    before = dict(reversed(line.split("\t", 1)) for line in options.file.read_text().splitlines())
    now = dict(lines)
    # A machine with other work may take longer.
    late = "no answer within a minute"
    others_now = [
        call for call in before
        if options.only in call and now.get(call) != before[call] and late not in (now.get(call), before[call])
    ]
    for call in others_now:
        print(call if call in now else f"{call}: no longer asked")
    print(f"{len(before)} calls, {len(others_now)} answer otherwise")
    return 1 if others_now else 0


if __name__ == "__main__":
    sys.exit(main())
