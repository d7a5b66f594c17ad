"""Experiments: progress, parts, executors, tests and algorithms of one's own."""

from __future__ import annotations

import inspect
import multiprocessing
import signal
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest

import rtflash
from rtflash._experiment import OPTIONS

SMALL: dict[str, Any] = {"sets": 8, "util": "0.5..3.5", "step": "0.5", "seed": 7}


class Theorem1(rtflash.UtilizationTest):
    """The thesis's test, written in Python."""

    name = "theorem-1"

    def utilization(self, device: Any, task: Any, chips: int) -> Fraction:
        per_channel = device.chips_per_channel
        delay = device.page_transfer_ns * max(per_channel - -(-chips // per_channel) - 1, 0)
        total = Fraction(0)
        if task.read:
            cost = task.read.pages * (device.page_read_ns + delay)
            total += Fraction(cost, task.read.period_ns)
        if task.write:
            cost = task.write.pages * (device.page_program_ns + delay)
            total += Fraction(cost, task.write.period_ns)
            total += device.gc_pass_ns / rtflash.gc_period_ns(device, task.write, chips)
        return total


class OneChipEach(rtflash.ClusterTest):
    """No more tasks than chips."""

    name = "a-chip-each"

    def verdict(self, device: Any, tasks: Any, chips: int) -> tuple[bool, Fraction]:
        return len(tasks) <= chips, Fraction(len(tasks), chips)


class Halves(rtflash.Allocator):
    """Two clusters: every other task."""

    name = "halves"

    def divide(self, device: Any, tasks: Any, test: Any) -> Any:
        chips, middle = list(range(device.chips)), device.chips // 2
        order = test.decreasing_order()
        return [(chips[:middle], order[::2]), (chips[middle:], order[1::2])]


class Broken(rtflash.ClusterTest):
    """A test that fails."""

    name = "broken"

    def verdict(self, device: Any, tasks: Any, chips: int) -> bool:
        raise KeyError("by intent")


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    rtflash.experiment(**SMALL, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (56, 56) and all(done <= total for done, total in seen)
    tqdm = pytest.importorskip("tqdm")
    with tqdm.tqdm(disable=False, file=open("/dev/null", "w")) as bar:
        rtflash.experiment(**SMALL, progress=bar)
    assert bar.n == bar.total == 56


def test_an_exception_in_progress_ends_the_experiment() -> None:
    class Enough(Exception):
        pass

    def progress(done: int, total: int) -> None:
        raise Enough

    begun = time.monotonic()
    with pytest.raises(Enough):
        rtflash.experiment(sets=100_000, progress=progress)
    assert time.monotonic() - begun < 20


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals")
def test_interrupts_end_the_experiment() -> None:
    main = threading.main_thread().ident
    assert main is not None
    # If the tests were started in the background, interrupts are ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            rtflash.experiment(sets=10_000_000)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < 20


def test_parts_make_the_whole() -> None:
    whole = rtflash.experiment(**SMALL)
    plan = rtflash.ExperimentPlan("schedulability", **SMALL)
    parts = [rtflash.run_shard(plan, i, 5) for i in range(5)]
    for joined in (rtflash.merge(reversed(parts)), rtflash.merge(parts, plan=plan)):
        assert joined.files == whole.files and joined.to_json() == whole.to_json()
    with pytest.raises(ValueError, match="missing"):
        rtflash.merge(parts[:-1])
    with pytest.raises(ValueError, match="twice"):
        rtflash.merge([*parts[:-1], parts[0]])
    damaged = parts[0].replace(b"0", b"1", 1)
    with pytest.raises(ValueError, match="part 0"):
        rtflash.merge([damaged, *parts[1:]])
    with pytest.raises(ValueError, match="counted from 0"):
        rtflash.run_shard(plan, 5, 5)
    with pytest.raises(ValueError, match="no parts"):
        rtflash.merge([])
    with pytest.raises(TypeError, match="no option"):
        rtflash.ExperimentPlan("schedulability", no_such=1)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_process_pool(method: str) -> None:
    whole = rtflash.experiment(**SMALL)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        assert rtflash.experiment(**SMALL, executor=executor).files == whole.files
        assert rtflash.experiment(**SMALL, executor=executor, parts=3).files == whole.files


def test_sweeps_of_runs_and_seeds() -> None:
    sets: list[Any] = [*rtflash.gen(util=1, sets=5), "{}"]
    straight = rtflash.exec(sets, duration="10ms")
    seeds = [rtflash.soak(runs=10, seed=seed).to_json() for seed in (1, 2, 3)]
    for made in (ThreadPoolExecutor, ProcessPoolExecutor):
        with made(2) as executor:
            run = rtflash.exec(sets, duration="10ms", executor=executor)
            assert run.to_json() == straight.to_json()
            assert run.statuses() == straight.statuses()
            assert isinstance(run[5].error, rtflash.InputError)
            found = rtflash.soak(runs=10, seed=[1, 2, 3], executor=executor)
            assert [one.to_json() for one in found] == seeds


def test_a_failing_worker_ends_the_experiment() -> None:
    class Failing(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            if args[1] == 1:
                return super().submit(lambda: 1 // 0)
            return super().submit(fn, *args, **kwargs)

    with Failing(2) as executor, pytest.raises(ZeroDivisionError):
        rtflash.experiment(**SMALL, executor=executor, parts=4)


def test_a_utilization_test_of_ones_own() -> None:
    """The thesis's test in Python counts what the thesis's test in Rust counts."""
    options = {**SMALL, "algorithms": ["clustering-bfd", "equal-split"], "analysis": "thesis"}
    found = rtflash.experiment(**options, analyses=["thesis", Theorem1()])
    counts: dict[str, list[tuple[Any, int]]] = {}
    for row in found.results.to_pylist():
        counts.setdefault(row["analysis"], []).append((row["algorithm"], row["schedulable"]))
    assert counts["thesis"] == counts["theorem-1"]
    assert {count for _, count in counts["thesis"]} - {0, 8}, "sets at the limit, too"


def test_an_algorithm_of_ones_own() -> None:
    options = {**SMALL, "algorithms": [Halves(), "exact"], "analyses": ["thesis"]}
    found = rtflash.experiment(**options, tasks=4)
    by = {of.algorithm: of.schedulable for of in found.contenders}
    assert 0 < by["halves"] <= by["exact"]
    own = rtflash.experiment(**{**SMALL, "algorithms": [Halves()], "analyses": [OneChipEach()]})
    assert [of.algorithm for of in own.contenders] == ["halves"]
    with ProcessPoolExecutor(2) as executor:
        assert rtflash.experiment(**options, tasks=4, executor=executor).files == found.files


def test_exceptions_of_ones_own_tests_are_raised() -> None:
    with pytest.raises(KeyError, match="by intent"):
        rtflash.experiment(**SMALL, analyses=[Broken()])


@pytest.mark.parametrize(
    ("clusters", "problem"),
    [
        ([([10_000], [0])], "there is no chip 10000"),
        ([([0, 1], [0, 1, 2, 3, 4, 5, 6, 7]), ([1], [])], "chip 1 is used twice"),
        ([([0, 1], [0]), ([1], [])], "chip 1 is used twice"),
        ([([], [0, 1, 2, 3, 4, 5, 6, 7]), ([1], [])], "cluster 0 has no chips"),
        ([([0], [0, 0])], "task 0 is placed twice"),
        ([([0], [8])], "there is no task 8"),
    ],
)
def test_clusters_that_are_no_division_are_refused(clusters: Any, problem: str) -> None:
    class NoDivision(rtflash.Allocator):
        name = "no-division"

        def divide(self, device: Any, tasks: Any, test: Any) -> Any:
            return clusters

    with pytest.raises(ValueError, match=f"no-division: .*: {problem}"):
        rtflash.experiment(**SMALL, algorithms=[NoDivision()])


def test_own_task_sets_algorithms_and_tests() -> None:
    drawn = rtflash.gen(util="1.0..2.0", step="0.5", sets=5, tasks=4)
    own = rtflash.TaskSet(
        [{"name": "log", "write": {"pages": 24, "period": "30ms"}}],
        device={"profile": "dgist-2021", "chips": 4},
    )
    options: dict[str, Any] = {
        "algorithms": [Halves(), "clustering-bfd"],
        "analyses": ["thesis", Theorem1()],
        "analysis": "thesis",
    }
    found = rtflash.experiment(**options, task_sets=[*drawn, own.to_dict()], step="0.5")
    rows = [row for row in found.results.to_pylist() if row["algorithm"] == "clustering-bfd"]
    at = [(row["utilization"], row["sets"]) for row in rows if row["analysis"] == "thesis"]
    assert at == [(0.5, 1), (1.0, 5), (1.5, 5), (2.0, 5)]
    straight = rtflash.experiment(
        algorithms="clustering-bfd", util="1.0..2.0", step="0.5", sets=5, tasks=4
    )
    counts = [row["schedulable"] for row in rows if row["analysis"] == "thesis"]
    assert counts[1:] == [row["schedulable"] for row in straight.results.to_pylist()]
    assert counts == [row["schedulable"] for row in rows if row["analysis"] == "theorem-1"]
    plan = rtflash.ExperimentPlan("schedulability", **options, task_sets=[*drawn, own], step="0.5")
    parts = [rtflash.run_shard(plan, i, 3) for i in range(3)]
    assert rtflash.merge(parts, plan=plan).files == found.files
    with pytest.raises(ValueError, match="does not say which experiment"):
        rtflash.merge(parts)
    with ProcessPoolExecutor(2) as executor:
        again = rtflash.experiment(
            **options, task_sets=[*drawn, own], step="0.5", executor=executor
        )
    assert again.files == found.files
    with pytest.raises(TypeError, match="sets, util says what is drawn"):
        rtflash.experiment(task_sets=drawn, util=1, sets=3)
    with pytest.raises(ValueError, match="no task set"):
        rtflash.experiment(task_sets=[])
    with pytest.raises(rtflash.InputError, match="zero pages"):
        rtflash.experiment(task_sets=[own.to_json().replace('"pages":24', '"pages":0')])


def test_lists_of_a_summary_are_tables() -> None:
    found = rtflash.experiment(**SMALL)
    rows = found.table("contenders").to_pylist()
    assert [row["algorithm"] for row in rows] == [of.algorithm for of in found.contenders]
    assert rows[0]["sets"] == 56
    assert found.table("gains").to_pylist()
    with pytest.raises(ValueError, match="contenders, gains"):
        found.table("clusters")


def test_generators_and_periods() -> None:
    for generator in ("uunifast-discard", "randfixedsum"):
        options: dict[str, Any] = {
            "generator": generator,
            "period": "1ms..1s",
            "period_distribution": "log-uniform",
        }
        sets = rtflash.gen(util=1, sets=3, **options)
        meta = sets[0].meta
        assert meta is not None
        assert (meta["generator"], meta["period_distribution"]) == (generator, "log-uniform")
        assert rtflash.experiment(**SMALL, **options).sets == 56


def test_every_option_is_passed_on() -> None:
    own = {"kind", "progress", "executor", "parts", "analysis", "algorithms", "analyses", "task_sets"}
    assert set(inspect.signature(rtflash.experiment).parameters) - own == OPTIONS


def test_names_of_rtflash_are_not_ones_own() -> None:
    class Thesis(OneChipEach):
        name = "thesis"

    class Exact(Halves):
        name = "exact"

    with pytest.raises(ValueError, match="thesis is an analysis"):
        rtflash.experiment(**SMALL, analyses=[Thesis()])
    with pytest.raises(ValueError, match="exact is an algorithm"):
        rtflash.experiment(**SMALL, algorithms=[Exact()])


def test_loads_are_kept_exactly_where_they_can_be() -> None:
    from rtflash._own import LIMIT, fraction

    assert fraction(Fraction(3, 7)) == (3, 7) and fraction(0.5) == (1, 2)
    for load in (1 + 2**-52, 1e-300, 1e300, Fraction(10**60 + 1, 10**60)):
        top, bottom = fraction(load)
        assert top < LIMIT and bottom < LIMIT and (Fraction(top, bottom) > 1) == (load > 1)
