"""The scenarios that the guest and rtflash both run."""

import random

# The eMMC of Koshiba et al. over USB, as scenarios/emmc-2023.json has it but for pieces.
KOSHIBA = {
    "read": {"first": "234us", "next": "234us", "per_kib": "10400ns"},
    "write": {"first": "680us", "next": "680us", "per_kib": "14300ns"},
}
PLAIN = {
    "read": {"first": "200us", "next": "200us", "per_kib": "10us"},
    "write": {"first": "500us", "next": "500us", "per_kib": "15us"},
}
# With one tag, the choice of a scheduler makes `nr_requests` 2.
DEADLINE_256 = {"name": "mq-deadline", "async_depth": 256}
BFQ = {"name": "bfq", "slice_idle": "0ms", "low_latency": False}


def scenario(device, scheduler, jobs, duration="6s", requests=(2, 256), **host):
    """A scenario. Think times of 20 us at least keep submitters from racing for a freed tag."""
    return {
        "device": {"kind": "emmc", **device},
        "host": {"kernel": "6.12", "hz": 1000, "requests": list(requests), **host},
        "scheduler": scheduler,
        "jobs": jobs,
        "duration": duration,
        "warmup": "1s",
    }


def job(name, op, size, of_class, **more):
    """A job with random places in a stretch of 1 GiB of its own."""
    begin = sum(map(ord, name)) % 7
    return {
        "name": name, "op": op, "pattern": "random", "from": f"{begin}GiB", "span": "1GiB", "size": size,
        "class": of_class, "think": "20us", **more,
    }


# All classes, sizes and directions.
MIXED = [
    job("rt", "read", "64KiB", "rt", level=0, think="3ms"),
    job("rt-write", "write", "8KiB", "rt", level=3, think="7ms"),
    job("be", "read", "32KiB", "be", level=2, depth=4),
    job("be-write", "write", "16KiB", "be", depth=24),
    job("idle", "read", "4KiB", "idle", depth=16),
    job("idle-write", "write", "4KiB", "idle", depth=8),
]


def orders():
    """Scenarios for the order: four classes and sizes of jobs, random places."""
    usb = {"attach": "usb", "depth": 1, **PLAIN}
    deep = {"attach": "ufs", "depth": 4, **PLAIN}
    without_rt = MIXED[2:4]
    deadline = lambda **parameters: {"name": "mq-deadline", **parameters}
    yield "defaults", scenario(usb, deadline(async_depth=256), MIXED)
    yield "batches of 4", scenario(usb, deadline(fifo_batch=4, writes_starved=1, async_depth=256), without_rt)
    yield "expiring", scenario(usb, deadline(read_expire="20ms", write_expire="40ms", async_depth=256), without_rt)
    yield "ageing", scenario(usb, deadline(prio_aging_expire="50ms", async_depth=256), MIXED)
    yield "as left", scenario(usb, deadline(), MIXED)
    yield "4 inside", scenario(deep, deadline(async_depth=256), MIXED, requests=(8, 256))
    yield "defaults", scenario(usb, {"name": "kyber"}, MIXED)
    yield "4 inside", scenario(deep, {"name": "kyber"}, MIXED, requests=(8, 256))


def k2():
    """The published K2 for the order; its real-time levels are one (docs/host.md)."""
    for attach, depth in (("usb", 1), ("ufs", 4)):
        scheduler = {"name": "k2", "max_inflight": 2, "levels": "one"}
        yield f"k2, {depth} inside", scenario({"attach": attach, "depth": depth, **PLAIN}, scheduler, MIXED, requests=(2 * depth, 256))


def koshiba():
    """Fig. 2 of Koshiba et al.: one real-time job beside N processes of class idle. Name, N, scenario."""
    settings = [
        ("none", "none", (2,)),
        ("mq-deadline, 2 tags", "mq-deadline", (2,)),
        ("mq-deadline, 256 written once", "mq-deadline", (2, 256)),
        ("mq-deadline, async_depth 256", DEADLINE_256, (2, 256)),
        ("mq-deadline, 255 and 256 written", "mq-deadline", (2, 255, 256)),
        ("kyber", "kyber", (2, 256)),
        ("bfq", BFQ, (2, 256)),
    ]
    usb = {"attach": "usb", "depth": 1, **KOSHIBA}
    for op in ("read", "write"):
        for name, scheduler, requests in settings:
            for outstanding in (1, 8, 128):
                jobs = [job("rt", op, "64KiB", "rt"), job("bg", op, "4KiB", "idle", depth=outstanding)]
                yield f"{name}: {op}, N = {outstanding}", scenario(usb, scheduler, jobs, requests=requests)


ATTACHMENTS = [("usb", 1), ("ufs", 4), ("tags", 1), ("tags", 4)]
# Behind the kernel's own mmc core: without command queueing, and with a queue in the card.
CARDS = [("mmc", 64), ("mmc-cqe", 4), ("mmc-cqe", 16)]


def attachments():
    """Real-time reads beside long writes and short reads, on each attachment."""
    jobs = [
        job("rt", "read", "64KiB", "rt", think="2ms", phase="5ms"),
        job("long", "write", "512KiB", "idle", depth=4),
        job("short", "read", "4KiB", "idle", depth=4),
    ]
    for attach, depth in ATTACHMENTS + CARDS:
        for scheduler in ("none", DEADLINE_256, "kyber"):
            device = {"attach": attach, "depth": depth, **PLAIN}
            name = scheduler if isinstance(scheduler, str) else scheduler["name"]
            yield f"{attach} {depth}, {name}", scenario(device, scheduler, jobs, "8s", (2 * depth, 256))


def bfq():
    """Shares of BFQ by level, and its class idle. A process has one queue, so each job is one process."""
    usb = {"attach": "usb", "depth": 1, **PLAIN}
    asynchronous = {"depth": 8, "submit": "async"}
    equal = [job("reader", "read", "64KiB", "be", **asynchronous), job("writer", "write", "64KiB", "be", **asynchronous)]
    levels = [job(f"level {level}", "read", "32KiB", "be", level=level, **asynchronous) for level in (0, 4, 7)]
    single = [job(f"sync {number}", op, "32KiB", "be") for number, op in enumerate(["read", "read", "write", "write"])]
    idle = [job("be", "read", "64KiB", "be", **asynchronous), job("idle", "read", "4KiB", "idle", **asynchronous)]
    for name, jobs in (("equal", equal), ("levels 0, 4, 7", levels), ("one at a time", single), ("idle", idle)):
        yield name, scenario(usb, BFQ, jobs, requests=(2, 256))


def drawn(number, short):
    """Random scenarios of three to six jobs, the first one real-time; `short` of tags or not."""
    for seed in range(number):
        draw = random.Random(seed)
        scheduler = draw.choice(["none", "mq-deadline"] if short else ["none", DEADLINE_256, "kyber"])
        attach, depth = draw.choice(ATTACHMENTS)
        if scheduler == "none" and not short:
            attach, depth = "ufs", 128
        jobs = []
        for at in range(draw.randint(3, 6)):
            of_class = "rt" if at == 0 else draw.choice(["rt", "be", "idle", "idle"])
            op, size = draw.choice(["read", "write"]), draw.choice([4, 16, 64, 256, 512])
            think, depth_of_job = draw.randint(20, 5_000), 1 if of_class == "rt" else draw.choice([1, 2, 4, 16])
            jobs.append(job(f"job {at}", op, f"{size}KiB", of_class, think=f"{think}us", depth=depth_of_job))
        device = {"attach": attach, "depth": depth, **draw.choice([PLAIN, KOSHIBA])}
        requests = (2 * depth,) if scheduler == "none" else (2 * depth, 256)
        yield f"{attach} {depth}, {seed}", scenario(device, scheduler, jobs, "8s", requests)


def cards(number):
    """Random scenarios on cards, with asynchronous jobs of more I/Os than a plug has among them."""
    for seed in range(number):
        draw = random.Random(7000 + seed)
        scheduler, (attach, depth) = draw.choice(["none", DEADLINE_256, "kyber"]), draw.choice(CARDS[:2])
        jobs = []
        for at in range(draw.randint(3, 6)):
            of_class = "rt" if at == 0 else draw.choice(["rt", "be", "idle", "idle"])
            op, size = draw.choice(["read", "write"]), draw.choice([4, 16, 64, 256, 512])
            think, depth_of_job = draw.randint(20, 5_000), 1 if of_class == "rt" else draw.choice([1, 2, 4, 16, 40])
            is_async = depth_of_job > 1 and draw.random() < 0.4
            more = {"submit": "async"} if is_async else {}
            jobs.append(job(f"job {at}", op, f"{size}KiB", of_class, think=f"{think}us", depth=depth_of_job, **more))
        device = {"attach": attach, "depth": depth, **draw.choice([PLAIN, KOSHIBA])}
        requests = (2 * depth,) if scheduler == "none" else (2 * depth, 256)
        yield f"{attach} {depth}, {seed}", scenario(device, scheduler, jobs, "8s", requests)


def aged(number):
    """Random scenarios of mq-deadline with a bound: one to four real-time jobs beside up to three others, which wait
    for longer than `prio_aging_expire` in half of them."""
    for seed in range(number):
        draw = random.Random(1000 + seed)
        attach, depth = draw.choice(ATTACHMENTS)
        scheduler = {
            **DEADLINE_256, "prio_aging_expire": draw.choice(["20ms", "100ms", "30s", "30s"]),
            "fifo_batch": draw.choice([1, 4, 16]), "read_expire": draw.choice(["5ms", "500ms"]),
            "writes_starved": draw.choice([0, 2]),
        }
        jobs = []
        for at in range(draw.randint(2, 7)):
            of_class = "rt" if at == 0 else draw.choice(["rt", "be", "idle"])
            is_urgent = of_class == "rt"
            op, size = draw.choice(["read", "write"]), draw.choice([4, 16, 64] if is_urgent else [4, 64, 512])
            # Places of one I/O or few, and all of a stretch.
            span = draw.choice([1, 4, 1024])
            more = {"depth": draw.choice([1, 1, 2]) if is_urgent else draw.choice([1, 4, 16])}
            more["think"] = f"{draw.choice([20, 1_000, 5_000, 20_000])}us"
            phase = f"{draw.randint(0, 50_000)}us"
            jobs.append(job(f"job {at}", op, f"{size}KiB", of_class, span=f"{size * span}KiB", phase=phase, **more))
            if is_urgent and draw.random() < 0.5:
                jobs[-1] = {**{key: value for key, value in jobs[-1].items() if key not in ("think", "depth")},
                            "every": f"{draw.randint(20_000, 200_000)}us"}
        device = {"attach": attach, "depth": depth, **draw.choice([PLAIN, KOSHIBA])}
        yield f"{attach} {depth}, {seed}", scenario(device, scheduler, jobs, "4s", (2 * depth, 256))


def starved():
    """A real-time job that reads one place with two I/Os outstanding, and a real-time read of a lower place: alone, and
    beside a lower class, whose requests end no batch but its count."""
    usb = {"attach": "usb", "depth": 1, **PLAIN}
    two = job("two", "read", "4KiB", "rt", depth=2, **{"from": "1GiB", "span": "4KiB"})
    one = job("one", "read", "4KiB", "rt", think="1ms", phase="100ms", **{"from": "0GiB", "span": "4KiB"})
    idle = job("idle", "read", "4KiB", "idle", phase="50ms")
    for name, jobs in (("alone", [two, one]), ("beside class idle", [two, one, idle])):
        yield name, scenario(usb, DEADLINE_256, jobs, "9s")


def together():
    """Requests that one process submits together, one behind the other: they merge in front of any scheduler."""
    for attach, depth in ATTACHMENTS[:2]:
        for scheduler in ("none", DEADLINE_256, "kyber"):
            for op in ("read", "write"):
                jobs = [
                    job("rt", "read", "64KiB", "rt", think="2013us", phase="5ms"),
                    job("together", op, "4KiB", "be", pattern="sequential", depth=16, submit="async"),
                    job("alone", op, "4KiB", "be", pattern="sequential", think="307us"),
                ]
                device = {"attach": attach, "depth": depth, **PLAIN}
                requests = (2 * depth,) if scheduler == "none" else (2 * depth, 256)
                name = scheduler if isinstance(scheduler, str) else scheduler["name"]
                yield f"{attach} {depth}, {name}, {op}", scenario(device, scheduler, jobs, "4s", requests, merge=True)


def waiters():
    """Jobs that submit asynchronously, where tags run out: each is one process in line. Think times differ: one end lets
    two processes go on, and the one that comes first is no matter of tags."""
    usb = {"attach": "usb", "depth": 1, **PLAIN}
    for scheduler, requests in (("none", (2,)), ("mq-deadline", (2, 256))):
        for outstanding in (4, 32):
            jobs = [
                job("one", "write", "16KiB", "be", think="1ms"),
                job("async", "write", "4KiB", "be", depth=outstanding, submit="async", think="35us"),
                job("threads", "write", "4KiB", "be", depth=3),
            ]
            yield f"{scheduler}, {outstanding} outstanding", scenario(usb, scheduler, jobs, requests=requests)
