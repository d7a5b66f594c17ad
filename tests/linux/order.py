"""Whether a scheduler answers each asking as the kernel's does."""

from guest import scheduler_of

OPERATIONS = {0: "read", 1: "write", 3: "discard"}
NAMES = {1: "rt", 2: "be", 3: "idle", 0: "be"}
TICK = 1_000_000


def entries(folder):
    """The probe's log: time, type, id, sector, bytes, operation, priority, process, tick."""
    for line in (folder / "log.txt").read_text().splitlines():
        time, kind, *numbers = line.split()
        yield int(time), kind, *map(int, numbers)


def script(log, in_ticks):
    """A script for `rtflash host order`, and the id that the kernel's scheduler gave to each asking."""
    steps, answers, queued, out = [], [], set(), set()
    first = last = None
    for time, kind, number, sector, size, operation, priority, process, tick in log:
        # mq-deadline's times are ticks; the clock begins with the log.
        at = tick * TICK if in_ticks else time
        first = at if first is None else first
        last = max(at - first, last or 0)
        step = {"at": f"{last}ns"}
        if kind == "I":
            queued.add(number)
            step["insert"] = [{
                "id": str(number), "op": OPERATIONS.get(operation, "other"), "from": f"{sector * 512}B",
                "size": f"{size}B", "class": NAMES[priority >> 13], "level": priority & 7 if priority >> 13 else 4,
                "job": str(process),
            }]
        elif kind == "D":
            if number and number not in queued:
                continue
            out.add(number)
            step["ask"] = 1
            answers.append([str(number)] if number else [])
        elif number in out:
            out.discard(number)
            step["complete"] = [str(number)]
        else:
            continue
        steps.append(step)
    return steps, answers


def compare(places, name, scenario):
    """Askings, and those that rtflash answers otherwise."""
    folder = places.boot(name, scenario, probed=True)
    scheduler = scheduler_of(scenario)
    steps, answers = script(entries(folder), scheduler["name"] == "mq-deadline")
    # Tags are no matter of the order.
    scheduler = {key: value for key, value in scheduler.items() if key != "async_depth"}
    given = places.ask("order", name, {"scheduler": scheduler, "script": steps})
    return len(answers), sum(one != other for one, other in zip(answers, given)) + abs(len(answers) - len(given))
