"""The commands' answers, as a type checker knows them. Checked by mypy, never run."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from typing_extensions import assert_type

import rtflash
from rtflash import Answers, answers


def known(one: rtflash.TaskSet, several: list[rtflash.TaskSet], executor: Executor) -> None:
    assert_type(rtflash.alloc(one), answers.AllocAnswer)
    assert_type(rtflash.alloc(several), Answers[answers.AllocAnswer])
    assert_type(rtflash.check(one, "allocation.json"), answers.CheckAnswer)
    assert_type(rtflash.check(one, trace="trace.jsonl"), answers.ExecAnswer)
    assert_type(rtflash.exec(one, duration="1s", police=True), answers.ExecAnswer)
    assert_type(rtflash.exec(several, executor=executor, seed=2), Answers[answers.ExecAnswer])
    assert_type(rtflash.soak(runs=3), answers.SoakAnswer)
    assert_type(rtflash.soak(seed=[1, 2], executor=executor), list[answers.SoakAnswer])
    assert_type(rtflash.host("scenario.json"), answers.HostAnswer)
    assert_type(rtflash.host("s.json", scheduler=["k2", "none"]), list[answers.HostAnswer])
    assert_type(rtflash.host("s.json", "bound"), answers.BoundAnswer)
    assert_type(rtflash.host("s.json", "tune", objective="bandwidth"), answers.TuneAnswer)
    assert_type(rtflash.host("s.json", "order"), list[list[Any]])


def refused(one: rtflash.TaskSet, executor: Executor) -> None:
    rtflash.exec(one, executor=executor)  # type: ignore[call-overload]
    rtflash.exec(one, durations="1s")  # type: ignore[call-overload]
    rtflash.soak(seed=1, executor=executor)  # type: ignore[call-overload]
    rtflash.host("s.json", "walk")  # type: ignore[call-overload]
    rtflash.host("s.json", objective="deadline")  # type: ignore[call-overload]
    rtflash.host("s.json", "bound", seed=1)  # type: ignore[call-overload]
    rtflash.host("s.json", "order", scheduler="k2")  # type: ignore[call-overload]
    rtflash.check(one)  # type: ignore[call-overload]
