"""Experiments and runs on Dask, with a worker killed in mid-run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import rtflash

distributed = pytest.importorskip("distributed")

# At each of 40 points: some seconds of work, so that a worker is killed in the middle of it.
SETS = int(os.environ.get("RTFLASH_TEST_SETS", "4000"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


def kill_a_busy_worker(cluster: Any, client: Any) -> tuple[int, int]:
    """Kills the process of a worker that is at work: its number, and how many tasks it had."""
    busy = {address: len(tasks) for address, tasks in client.processing().items()}
    nannies = {nanny.worker_address: nanny for nanny in cluster.workers.values()}
    address = max(busy, key=lambda of: busy[of])
    process: int = nannies[address].pid
    os.kill(process, signal.SIGKILL)
    return process, busy[address]


def test_a_killed_worker_changes_no_byte(cluster: Any) -> None:
    options: dict[str, Any] = {"sets": SETS, "seed": 3}
    whole = rtflash.experiment(**options)
    with distributed.Client(cluster) as client:
        killed: list[tuple[int, int]] = []

        def progress(done: int, total: int) -> None:
            if not killed and done < total:
                killed.append(kill_a_busy_worker(cluster, client))

        executor = client.get_executor(retries=3)
        found = rtflash.experiment(**options, executor=executor, parts=12, progress=progress)
        assert killed and killed[0][1] > 0, "the worker had nothing to do"
        client.wait_for_workers(2)
        assert killed[0][0] not in [nanny.pid for nanny in cluster.workers.values()]
    assert found.files == whole.files and found.to_json() == whole.to_json()


def test_runs_and_seeds(cluster: Any) -> None:
    sets = rtflash.gen(util=1, sets=70)
    with distributed.Client(cluster) as client, client.get_executor() as executor:
        run = rtflash.exec(sets, duration="2ms", executor=executor)
        assert run.to_json() == rtflash.exec(sets, duration="2ms", jobs=2).to_json()
        found = rtflash.soak(runs=3, seed=[1, 2, 3], executor=executor)
        seeds = [rtflash.soak(runs=3, seed=seed) for seed in (1, 2, 3)]
        assert [one.to_json() for one in found] == [one.to_json() for one in seeds]
