"""One scenario in two places: in the guest kernel, and by rtflash.

A scenario is that of `rtflash host run`, as a dictionary. Here it becomes a case for the guest (init.c has the lines):
the device, the queue's files in sysfs, and a thread for each place of a job.
"""

import json
import math
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CLASSES = {"rt": 1, "be": 2, "idle": 3}
# A stretch of the device without a span.
WHOLE = "8GiB"
SYSFS = {
    "mq-deadline": {
        "read_expire": 1_000_000, "write_expire": 1_000_000, "prio_aging_expire": 1_000_000,
        "writes_starved": None, "fifo_batch": None, "async_depth": None,
    },
    "k2": {"max_inflight": None},
    "kyber": {"read_target": 1, "write_target": 1},
    "bfq": {"slice_idle": 1_000_000, "low_latency": None},
}
RENAMED = {"read_target": "read_lat_nsec", "write_target": "write_lat_nsec"}
TIMEOUT = 240


def number(text, units):
    """A number with a unit: nanoseconds, or bytes."""
    value, unit = re.fullmatch(r"([0-9.]+)([a-zA-Z]+)", str(text)).groups()
    return round(float(value) * units[unit])


def time(text):
    return number(text, NANOSECONDS)


def size(text):
    return number(text, BYTES)


def scheduler_of(scenario):
    """The scheduler as an object."""
    scheduler = scenario["scheduler"]
    return {"name": scheduler} if isinstance(scheduler, str) else scheduler


def is_card(scenario):
    return scenario["device"]["attach"] in ("mmc", "mmc-cqe")


def command_line(scenario):
    """Parameters of the driver, on the kernel's command line."""
    device = scenario["device"]
    module = "card" if is_card(scenario) else "serial"
    values = {"max_kib": size(scenario.get("host", {}).get("max_sectors", "1280KiB")) >> 10}
    for op in ("read", "write"):
        values[f"{op}_base"] = time(device[op]["first"])
        values[f"{op}_kib"] = time(device[op]["per_kib"])
    if is_card(scenario):
        values["on"] = 1
        values["queue"] = device["depth"] if device["attach"] == "mmc-cqe" else 0
    else:
        values["depth"] = device.get("depth", 1)
        values["budget"] = int(device["attach"] != "tags")
    return [f"{module}.{name}={value}" for name, value in values.items()]


def sysfs(scenario):
    """Files of the queue, and what is written to them, in order."""
    scheduler = scheduler_of(scenario)
    name = scheduler["name"]
    # The kernel chose a scheduler at the start and read the table of partitions by it, so that a batch has begun.
    yield "scheduler", "none"
    yield "scheduler", name
    requests = scenario.get("host", {}).get("requests", [])
    if name != "none":
        # The first value is that which the choice of the scheduler makes.
        for value in requests[1:]:
            yield "nr_requests", value
    for parameter, unit in SYSFS.get(name, {}).items():
        if parameter in scheduler:
            value = scheduler[parameter]
            value = int(value) if unit is None else time(value) // unit
            yield f"iosched/{RENAMED.get(parameter, parameter)}", value
    merge = scenario.get("host", {}).get("merge", False)
    yield "nomerges", 0 if merge else 2


def job_lines(position, job):
    """A line for each thread of a job."""
    is_async = job.get("submit") == "async"
    depth = job.get("depth", 1)
    fields = [
        position, job["op"], job.get("pattern", "sequential"), "async" if is_async else "sync",
        CLASSES[job.get("class", "be")], job.get("level", 4), size(job.get("from", "0B")), size(job.get("span", WHOLE)),
        size(job["size"]), depth, time(job.get("think", "0ns")), time(job.get("every", "0ns")),
        time(job.get("phase", "0ns")), job.get("count", 0),
    ]
    line = "job " + " ".join(map(str, fields))
    return [line] * (1 if is_async else depth)


def case(scenario, seed, probed):
    lines = ["device " + ("mmcblk0" if is_card(scenario) else "serial")]
    lines += [f"set {path} {value}" for path, value in sysfs(scenario)]
    lines += ["probe"] if probed else []
    lines += [f"seed {seed}"]
    lines += [f"run {time(scenario['duration'])}"]
    for position, job in enumerate(scenario["jobs"]):
        lines += job_lines(position, job)
    return "\n".join(lines) + "\n"


@dataclass
class Measured:
    """The times of a job's I/Os, in nanoseconds, and bytes a second."""

    completed: int
    p50: int
    p99: int
    longest: int
    bandwidth: float


def percentile(latencies, percent):
    """The least latency that so many percent do not exceed, of a sorted list."""
    return latencies[max(0, math.ceil(percent * len(latencies) / 100) - 1)]


class Places:
    """The places of the guest and rtflash, and a folder for cases."""

    def __init__(self, guest, rtflash, folder):
        self.guest, self.rtflash, self.folder = Path(guest), rtflash, Path(folder)

    def of(self, name):
        """The folder of a case. The kernel's command line has its name."""
        folder = self.folder / re.sub("[^a-z0-9_]+", "-", name.lower())
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def boot(self, name, scenario, seed=0, probed=False):
        """Runs a scenario in the guest. Returns the case's folder, with latencies.txt and log.txt."""
        folder = self.of(name)
        for old in folder.glob("*.txt"):
            old.unlink()
        (folder / "case.txt").write_text(case(scenario, seed, probed))
        command = [
            self.guest / "linux", "mem=320M", "root=/dev/root", "rootfstype=hostfs", f"rootflags={self.guest}/rootfs",
            "rw", "init=/init", "time-travel=inf-cpu", "con=null", "con0=null,fd:1", "ssl=null", "quiet", "loglevel=4",
            "random.trust_cpu=on", f"case={folder}", *command_line(scenario),
        ]
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             timeout=TIMEOUT)
        console = ran.stdout.decode(errors="replace")
        if "<-" in console or "done" not in console:
            raise RuntimeError(f"{name}: the guest says: {console[-600:]}")
        return folder

    def kernel(self, name, scenario, seed=0):
        """The times of each job's I/Os in the guest."""
        folder = self.boot(name, scenario, seed)
        warmup, duration = time(scenario.get("warmup", "0s")), time(scenario["duration"])
        latencies = [[] for _ in scenario["jobs"]]
        for line in (folder / "latencies.txt").read_text().splitlines():
            job, released, ended = map(int, line.split())
            if warmup <= ended <= duration:
                latencies[job].append(ended - released)
        measured = {}
        for job, took in zip(scenario["jobs"], latencies):
            took.sort()
            bandwidth = len(took) * size(job["size"]) * 1e9 / (duration - warmup)
            if took:
                measured[job["name"]] = Measured(len(took), percentile(took, 50), percentile(took, 99), took[-1], bandwidth)
        return measured

    def ask(self, command, name, document, more=()):
        """Runs `rtflash host COMMAND` on a document. Returns the lines it prints."""
        path = self.of(name) / f"{command}.json"
        path.write_text(json.dumps(document, indent=1))
        options = [] if command == "order" else ["--format", "json"]
        ran = subprocess.run([self.rtflash, "host", command, *options, *more, path], capture_output=True, text=True)
        if not ran.stdout:
            raise RuntimeError(f"{name}: rtflash host {command}: {ran.stderr[-600:]}")
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def model(self, name, scenario, seed=1):
        """The times of each job's I/Os by rtflash."""
        [answer] = self.ask("run", name, scenario, ["--seed", str(seed)])
        return {
            job["name"]: Measured(job["completed"], job["p50_ns"], job["p99_ns"], job["max_ns"], job["bytes_per_s"])
            for job in answer["jobs"] if job["completed"]
        }

    def bounds(self, name, scenario):
        """The bound of each real-time job that has one, in nanoseconds."""
        [answer] = self.ask("bound", name, scenario)
        return {job["name"]: job["bound_ns"] for job in answer["jobs"] if job["bound_ns"] is not None}
