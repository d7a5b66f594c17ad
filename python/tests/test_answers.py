"""Answers as objects, and what goes wrong."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import re
import threading
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run

import rtflash

CASE = "tasksets/case-study.json"


def test_attributes() -> None:
    answer = rtflash.alloc(CASE)
    assert answer.schedulable is True
    assert [cluster.tasks for cluster in answer.clusters] == [["t1"], ["t2", "t3", "t4"], []]
    assert answer.clusters[0].gc[0].task == "t1"
    assert answer.unplaced is None and answer.data is None
    with pytest.raises(AttributeError):
        _ = answer.no_such_field
    assert "schedulable" in dir(answer)
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_a_call_does_not_wait_for_the_guarantee() -> None:
    """It takes at most 25 µs where a list of the same task set takes 14 µs."""

    def shortest(call: Callable[[], object]) -> float:
        return min(timeit.repeat(call, number=20, repeat=200))

    for one in [rtflash.TaskSet(CASE), *rtflash.gen(util=1.0, sets=1, tasks=8)]:
        ratio = shortest(lambda: rtflash.alloc(one)) / shortest(lambda: rtflash.alloc([one]))
        assert ratio < 25 / 14, ratio


def test_no_answer_is_an_exception() -> None:
    text = Path(CASE).read_text().replace('"period"', '"periodd"', 1)
    with pytest.raises(rtflash.InputError) as raised:
        rtflash.TaskSet(text)
    error = raised.value
    assert error.path.startswith("tasks[0]") and "periodd" in error.problem and error.expected
    assert text.splitlines()[(error.line or 0) - 1][(error.column or 0) - 1 :].startswith(
        '"periodd"'
    )
    assert "-->" in str(error) and "\x1b" not in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (again.path, again.line, str(again)) == (error.path, error.line, str(error))
    with pytest.raises(FileNotFoundError):
        rtflash.TaskSet("no-such-file.json")
    with pytest.raises(ValueError, match="--algorithm"):
        rtflash.alloc(CASE, algorithm="no-such")
    with pytest.raises(rtflash.InputError):
        rtflash.alloc("{}")
    with pytest.raises(rtflash.InputError, match="chips"):
        rtflash.alloc(CASE, set={"device.chips": 0})
    with pytest.raises(TypeError):
        rtflash.TaskSet([{"name": "a"}])
    with pytest.raises(rtflash.InputError):
        rtflash.check(CASE, "[1]")
    for text in ("[", "[" * 100_000, '[{"name": }]'):
        with pytest.raises(rtflash.InputError):
            rtflash.TaskSet(text, device="dgist-2021")


@pytest.mark.parametrize("source", [None, 1, 1.5, b"{}", object(), [1], [None], {"a": object()}])
def test_what_is_no_task_set_is_refused(source: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        rtflash.TaskSet(source)


def test_keywords_are_the_flags_of_the_command(rtflash_command: Run) -> None:
    own = {"--help", "--format", "--quiet", "--color", "--out", "--shard", "--no-figure"}
    # Results of other simulators and drives, and pages, are the command's alone.
    own |= {"--mqsim", "--fio", "--report"}
    functions: dict[str, Any] = {
        "alloc": rtflash.alloc,
        "check": rtflash.check,
        "explain": rtflash.explain,
        "size": rtflash.size,
        "exec": rtflash.exec,
        "gen": rtflash.gen,
        "soak": rtflash.soak,
        "experiment": rtflash.experiment,
    }
    for command, function in functions.items():
        text = rtflash_command(command, "--help").stdout
        named = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)) - own
        if command == "gen":
            named -= {"--threads"}
        words = {"--" + name.replace("_", "-") for name in inspect.signature(function).parameters}
        assert named - words - {"--no-guarantee"} == set(), command


def test_the_lock_is_released() -> None:
    """While an answer is made, other threads of Python run."""
    sets = rtflash.gen(util=2, sets=300, tasks=12)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before, begun = ticks, time.monotonic()
    rtflash.exec(sets[:40], duration="1s", jobs=1)
    took, after = time.monotonic() - begun, ticks
    done.set()
    thread.join()
    assert took > 0.05, "too short to tell"
    assert after - before > 5, (after - before, took)


def test_task_sets_are_values() -> None:
    one, other = rtflash.TaskSet(CASE), rtflash.TaskSet(Path(CASE).read_text())
    assert one == other and hash(one) == hash(other) and one.name != other.name
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.chips == 4 and len(one) == 4 and one.task_names == ["t1", "t2", "t3", "t4"]
    assert one != rtflash.TaskSet("tasksets/drone.json")


def test_notebooks_show_answers_and_escape_them() -> None:
    task = {"name": "<script>alert(1)</script>", "read": {"pages": 1, "period": "10ms"}}
    made = rtflash.TaskSet([task], device="dgist-2021")
    for shown in (made, rtflash.alloc(made), rtflash.size(made), rtflash.alloc([made, made])):
        html = shown._repr_html_()
        assert "<table>" in html and "<script>" not in html
    run = rtflash.exec(CASE, duration="100ms", gantt="0ms..40ms")
    assert run._repr_svg_().startswith("<svg") and "t1" in (run.drawing or "")
    assert rtflash.exec(CASE, duration="1ms")._repr_svg_() is None


def test_the_classes_are_those_of_the_schemas() -> None:
    """If this fails: python python/tools/answers.py"""
    spec = importlib.util.spec_from_file_location("tool", ROOT / "python" / "tools" / "answers.py")
    assert spec and spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.TARGET.read_text() == tool.main()


def test_packages_shared_with_the_command_have_its_versions() -> None:
    """Results are told apart by the sources they depend on: here and there the same."""

    depended_on = "alloc analysis dhara experiment ftl judge model plan run sim trace".split()

    def locked(path: Path) -> set[str]:
        packages = {}
        for text in path.read_text().split("[[package]]")[1:]:
            name, version = re.findall(r'^(?:name|version) = "(.+)"', text, re.MULTILINE)
            needs = re.search(r"^dependencies = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
            packages[f"{name} {version}"] = re.findall(r'"(.+?)"', needs[1]) if needs else []
        # If there is one version of a package, the lock does not say which.
        full = {of.split()[0]: of for of in packages}
        found, left = set(), [full[f"rtflash-{name}"] for name in depended_on]
        while left:
            of = left.pop()
            if of not in found:
                found.add(of)
                left += [need if " " in need else full[need] for need in packages[of]]
        return found

    root, ours = locked(ROOT / "Cargo.lock"), locked(ROOT / "python" / "Cargo.lock")
    # The command's lock knows what its tests need, too.
    assert len(ours) > 40
    assert sorted(ours - root) == []
