"""The commands on task sets. Keyword options have the names of the command's flags."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, overload

from rtflash import answers
from rtflash import _rtflash
from rtflash._errors import InputError, RtflashWarning
from rtflash._options import words
from rtflash._records import Answer, Answers, Lines
from rtflash._rtflash import Question, TaskSet, split
from rtflash._sources import device_of, is_json, read_text, text_of, written

A = TypeVar("A", bound=Answer)
Source = Union[TaskSet, str, "os.PathLike[str]", Mapping[str, Any]]
"""One task set: read, as JSON, in a file, or as a dict."""
Given = Union[Answer, str, "os.PathLike[str]", Mapping[str, Any]]
"""An allocation: an answer of `alloc`, as JSON, in a file, or as a dict."""
Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""The host in front of a device: JSON, a file, a dict, or a job file of fio."""
Changes = Union[str, Mapping[str, Any], Sequence[str]]
"""Changes of fields before a task set is read: `{"device.chips": 8}`."""

# Task sets that are answered at once.
CHUNK = 4096


def warned(text: str) -> None:
    """Passes on what the command says beside an answer."""
    for line in text.splitlines():
        if line.strip():
            warnings.warn(line.removeprefix("warning: "), RtflashWarning, stacklevel=4)


def is_one(source: object) -> bool:
    """Whether this is one task set, not several."""
    return isinstance(source, (TaskSet, str, os.PathLike, Mapping))


def sources(sets: Iterable[Any]) -> Iterator[list[tuple[int, Any]]]:
    """Task sets in handfuls, each with its number from 1. Empty lines have a number and no set."""
    handful: list[tuple[int, Any]] = []
    for number, one in enumerate(sets, 1):
        if isinstance(one, str):
            if not one.strip():
                continue
            given: Any = one if is_json(one) else _file(one)
        elif isinstance(one, (TaskSet, tuple)):
            given = one
        else:
            name, text = written(one, None, None)
            given = (name, text.decode("utf-8", "surrogateescape"))
        if handful and (len(handful) == CHUNK or handful[-1][0] + 1 != number):
            yield handful
            handful = []
        handful.append((number, given))
    if handful:
        yield handful


def _file(path: str) -> tuple[str, str]:
    return path, Path(path).read_bytes().decode("utf-8", "replace")


def task_sets(source: str | os.PathLike[str]) -> list[TaskSet]:
    """The task sets of a stream of JSON values, such as JSON Lines: a `str` or a file.

    Raises `InputError` at the first that is wrong.
    """
    name, text = read_text(source)
    return [TaskSet(one, name=name) for one in split(text.encode("utf-8", "surrogateescape"))]


@lru_cache(maxsize=64)
def _kept(*typed: str) -> Question:
    return Question(list(typed))


def _question(typed: list[str]) -> Question:
    # To parse words takes longer than to allocate. The options of these commands name no file, which might change.
    return _kept(*typed) if typed[0] in ("alloc", "explain", "size") else Question(typed)


def _ask(
    kind: type[A],
    command: list[str],
    source: Any,
    options: Mapping[str, Any],
    allocation: Any = None,
    executor: Executor | None = None,
) -> A | Answers[A]:
    given = {} if allocation is None else {"allocation": "-"}
    typed = words(command, {**given, **options})
    if is_one(source):
        if executor is not None:
            raise TypeError("an executor runs several task sets: give a list of them")
        one = source if isinstance(source, TaskSet) else TaskSet(source)
        beside = None if allocation is None else text_of(allocation)
        answer = _question(typed).answer(one, beside)
        warned(answer.warnings)
        return kind(answer)
    beside_all = None if allocation is None else [text_of(one) for one in allocation]
    handfuls = _handfuls(source, beside_all)
    if executor is not None:
        parts: list[Any] = _spread(executor, typed, handfuls)
    else:
        question = _question(typed)
        parts = [question.stream(sets, beside, first) for sets, beside, first in handfuls]
    for part in parts:
        warned(part.warnings())
    return Answers(kind, parts)


Handful = tuple[list[Any], Union[list[tuple[str, str]], None], int]


def _handfuls(source: Any, allocations: list[tuple[str, str]] | None) -> Iterator[Handful]:
    taken = 0
    for numbered in sources(source):
        sets = [given for _, given in numbered]
        beside = None if allocations is None else allocations[taken : taken + len(sets)]
        taken += len(sets)
        yield sets, beside, numbered[0][0]
    if allocations is not None and taken < len(allocations):
        raise ValueError(f"there are {len(allocations)} allocations for {taken} task sets")


# Task sets that a worker of an executor answers at once.
SHARE = 64


def _spread(executor: Executor, typed: list[str], handfuls: Iterable[Handful]) -> list[Lines]:
    futures = []
    for sets, beside, first in handfuls:
        for at in range(0, len(sets), SHARE):
            share = [_portable(one) for one in sets[at : at + SHARE]]
            given = None if beside is None else beside[at : at + SHARE]
            futures.append(executor.submit(answer_share, typed, share, given, first + at))
    return [Lines(*future.result()) for future in futures]


def _portable(one: Any) -> Any:
    return (one.name, one.source) if isinstance(one, TaskSet) else one


def answer_share(
    typed: list[str], sets: list[Any], allocations: list[tuple[str, str]] | None, first: int
) -> tuple[list[str], list[int], str]:
    """The work of an executor's worker: lines, exit statuses and warnings."""
    found = Question(typed).stream(sets, allocations, first)
    lines = [found[at].json for at in range(len(found))]
    return lines, found.statuses(), found.warnings()


@overload
def alloc(  # type: ignore[overload-overlap]
    source: Source,
    *,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    guarantee: bool | None = ...,
    reserve_server: str | None = ...,
    spread: bool = ...,
    shape: str | None = ...,
    set: Changes | None = ...,
) -> answers.AllocAnswer: ...


@overload
def alloc(
    source: Iterable[Source],
    *,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    guarantee: bool | None = ...,
    reserve_server: str | None = ...,
    spread: bool = ...,
    shape: str | None = ...,
    set: Changes | None = ...,
) -> Answers[answers.AllocAnswer]: ...


def alloc(
    source: Source | Iterable[Source],
    *,
    algorithm: str | None = None,
    analysis: str | None = None,
    assume: str | None = None,
    rely_on: str | None = None,
    guarantee: bool | None = None,
    reserve_server: str | None = None,
    spread: bool = False,
    shape: str | None = None,
    set: Changes | None = None,
) -> answers.AllocAnswer | Answers[answers.AllocAnswer]:
    """Divides the device's chips among the tasks, so that every deadline is met.

    One task set has one answer; an iterable of them has a sequence of answers, made on all cores.
    """
    options = {
        "algorithm": algorithm,
        "analysis": analysis,
        "assume": assume,
        "rely_on": rely_on,
        "guarantee": guarantee or None,
        "no_guarantee": guarantee is False,
        "reserve_server": reserve_server,
        "spread": spread,
        "shape": shape,
        "set": set,
    }
    return _ask(answers.AllocAnswer, ["alloc"], source, options)


@overload
def check(
    source: Source,
    allocation: Given | None = ...,
    *,
    trace: str | os.PathLike[str],
    algorithm: str | None = ...,
    dispatch: str | None = ...,
    duration: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    set: Changes | None = ...,
) -> answers.ExecAnswer: ...


@overload
def check(  # type: ignore[overload-overlap]
    source: Source,
    allocation: Given,
    *,
    trace: None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    set: Changes | None = ...,
) -> answers.CheckAnswer: ...


@overload
def check(
    source: Iterable[Source],
    allocation: Iterable[Given],
    *,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    set: Changes | None = ...,
) -> Answers[answers.CheckAnswer]: ...


def check(
    source: Source | Iterable[Source],
    allocation: Given | Iterable[Given] | None = None,
    *,
    trace: str | os.PathLike[str] | None = None,
    algorithm: str | None = None,
    dispatch: str | None = None,
    duration: str | None = None,
    analysis: str | None = None,
    assume: str | None = None,
    rely_on: str | None = None,
    set: Changes | None = None,
) -> answers.CheckAnswer | answers.ExecAnswer | Answers[answers.CheckAnswer]:
    """Tests a given allocation in exact arithmetic, or judges a recorded trace.

    With `trace` the answer is that of `exec`, and its class is `ExecAnswer`.
    """
    options = {
        "trace": trace,
        "algorithm": algorithm,
        "dispatch": dispatch,
        "duration": duration,
        "analysis": analysis,
        "assume": assume,
        "rely_on": rely_on,
        "set": set,
    }
    if trace is None and allocation is None:
        raise TypeError("check() takes an allocation or a trace")
    kind: Any = answers.CheckAnswer if trace is None else answers.ExecAnswer
    found: answers.CheckAnswer | answers.ExecAnswer | Answers[answers.CheckAnswer]
    found = _ask(kind, ["check"], source, options, allocation)
    return found


@overload
def explain(  # type: ignore[overload-overlap]
    source: Source,
    *,
    allocation: Given | None = ...,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    set: Changes | None = ...,
) -> answers.ExplainAnswer: ...


@overload
def explain(
    source: Iterable[Source],
    *,
    allocation: Iterable[Given] | None = ...,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    set: Changes | None = ...,
) -> Answers[answers.ExplainAnswer]: ...


def explain(
    source: Source | Iterable[Source],
    *,
    allocation: Given | Iterable[Given] | None = None,
    algorithm: str | None = None,
    analysis: str | None = None,
    assume: str | None = None,
    rely_on: str | None = None,
    set: Changes | None = None,
) -> answers.ExplainAnswer | Answers[answers.ExplainAnswer]:
    """Every term of every equation, with its number."""
    options = {"algorithm": algorithm, "analysis": analysis, "assume": assume, "rely_on": rely_on, "set": set}
    return _ask(answers.ExplainAnswer, ["explain"], source, options, allocation)


@overload
def size(  # type: ignore[overload-overlap]
    source: Source,
    *,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    spread: bool = ...,
    over: Sequence[str] | None = ...,
    set: Changes | None = ...,
) -> answers.SizeAnswer: ...


@overload
def size(
    source: Iterable[Source],
    *,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    spread: bool = ...,
    over: Sequence[str] | None = ...,
    set: Changes | None = ...,
) -> Answers[answers.SizeAnswer]: ...


def size(
    source: Source | Iterable[Source],
    *,
    algorithm: str | None = None,
    analysis: str | None = None,
    assume: str | None = None,
    rely_on: str | None = None,
    spread: bool = False,
    over: Sequence[str] | None = None,
    set: Changes | None = None,
) -> answers.SizeAnswer | Answers[answers.SizeAnswer]:
    """How large the device has to be, how much more it could carry, and how long it lasts."""
    options = {
        "algorithm": algorithm,
        "analysis": analysis,
        "assume": assume,
        "rely_on": rely_on,
        "spread": spread,
        "over": over,
        "set": set,
    }
    return _ask(answers.SizeAnswer, ["size"], source, options)


@overload
def exec(  # type: ignore[overload-overlap]  # noqa: A001
    source: Source,
    *,
    allocation: Given | None = ...,
    executor: None = ...,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    spread: bool = ...,
    duration: str | None = ...,
    server: str | None = ...,
    dispatch: str | None = ...,
    victims: str | None = ...,
    aging: str | None = ...,
    pattern: str | None = ...,
    waits: str | None = ...,
    times: str | None = ...,
    phases: str | os.PathLike[str] | None = ...,
    releases: Mapping[str, Any] | str | os.PathLike[str] | None = ...,
    arrivals: str | None = ...,
    police: bool = ...,
    trim: str | Iterable[str] | None = ...,
    arbitration: str | None = ...,
    ties: str | None = ...,
    no_backfill: bool = ...,
    faults: int | None = ...,
    threads: int | None = ...,
    jobs: int | None = ...,
    memory: str | None = ...,
    seed: int | None = ...,
    trace: str | os.PathLike[str] | None = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    checkpoint_every: str | None = ...,
    gantt: str | None = ...,
    gantt_out: str | os.PathLike[str] | None = ...,
    set: Changes | None = ...,
) -> answers.ExecAnswer: ...


@overload
def exec(  # noqa: A001
    source: Iterable[Source],
    *,
    allocation: Iterable[Given] | None = ...,
    executor: Executor | None = ...,
    algorithm: str | None = ...,
    analysis: str | None = ...,
    assume: str | None = ...,
    rely_on: str | None = ...,
    spread: bool = ...,
    duration: str | None = ...,
    server: str | None = ...,
    dispatch: str | None = ...,
    victims: str | None = ...,
    aging: str | None = ...,
    pattern: str | None = ...,
    waits: str | None = ...,
    times: str | None = ...,
    phases: str | os.PathLike[str] | None = ...,
    releases: Mapping[str, Any] | str | os.PathLike[str] | None = ...,
    arrivals: str | None = ...,
    police: bool = ...,
    trim: str | Iterable[str] | None = ...,
    arbitration: str | None = ...,
    ties: str | None = ...,
    no_backfill: bool = ...,
    faults: int | None = ...,
    threads: int | None = ...,
    jobs: int | None = ...,
    memory: str | None = ...,
    seed: int | None = ...,
    trace: str | os.PathLike[str] | None = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    checkpoint_every: str | None = ...,
    gantt: str | None = ...,
    gantt_out: str | os.PathLike[str] | None = ...,
    set: Changes | None = ...,
) -> Answers[answers.ExecAnswer]: ...


def exec(  # noqa: A001
    source: Source | Iterable[Source],
    *,
    allocation: Given | Iterable[Given] | None = None,
    algorithm: str | None = None,
    analysis: str | None = None,
    assume: str | None = None,
    rely_on: str | None = None,
    spread: bool = False,
    duration: str | None = None,
    server: str | None = None,
    dispatch: str | None = None,
    victims: str | None = None,
    aging: str | None = None,
    pattern: str | None = None,
    waits: str | None = None,
    times: str | None = None,
    phases: str | os.PathLike[str] | None = None,
    releases: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    arrivals: str | None = None,
    police: bool = False,
    trim: str | Iterable[str] | None = None,
    arbitration: str | None = None,
    ties: str | None = None,
    no_backfill: bool = False,
    faults: int | None = None,
    threads: int | None = None,
    jobs: int | None = None,
    memory: str | None = None,
    seed: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: str | None = None,
    gantt: str | None = None,
    gantt_out: str | os.PathLike[str] | None = None,
    set: Changes | None = None,
    executor: Executor | None = None,
) -> answers.ExecAnswer | Answers[answers.ExecAnswer]:
    """Runs the allocation on a simulated flash device, and checks every assumption.

    One task set has an `ExecAnswer`; an iterable of them has a sequence of answers, run by that
    number of `threads`, or by the workers of an `executor`. `gantt` draws a stretch of the run: the answer's
    `drawing`, and its picture in a notebook.
    """
    options = {name: value for name, value in locals().items() if name not in _OF_EXEC}
    return _ask(answers.ExecAnswer, ["exec"], source, options, allocation, executor)


_OF_EXEC = ("source", "allocation", "executor")


def gen(
    *,
    util: str | float | None = None,
    step: str | float | None = None,
    sets: int | None = None,
    tasks: int | None = None,
    generator: str | None = None,
    device: Any = None,
    write_heavy: int | None = None,
    write_share: str | float | None = None,
    access: str | None = None,
    deadline: str | None = None,
    period: str | None = None,
    period_distribution: str | None = None,
    pages: str | None = None,
    seed: int | None = None,
    analysis: str | None = None,
) -> list[TaskSet]:
    """Draws random task sets: the same for the same seed, on every machine."""
    options = {
        "util": util,
        "step": step,
        "sets": sets,
        "tasks": tasks,
        "generator": generator,
        "device": None if device is None else device_of(device),
        "write_heavy": write_heavy,
        "write_share": write_share,
        "access": access,
        "deadline": deadline,
        "period": period,
        "period_distribution": period_distribution,
        "pages": pages,
        "seed": seed,
        "analysis": analysis,
    }
    lines = _rtflash.draw(words(["gen"], options))
    return [TaskSet(line, name=f"<gen {number}>") for number, line in enumerate(lines)]


@overload
def host(  # type: ignore[overload-overlap]
    scenario: Scenario,
    command: Literal["run"] = ...,
    *,
    scheduler: str | None = ...,
    device: Any = ...,
    seed: int | None = ...,
    trace: str | os.PathLike[str] | None = ...,
    figures: str | os.PathLike[str] | None = ...,
) -> answers.HostAnswer: ...


@overload
def host(
    scenario: Scenario,
    command: Literal["run"] = ...,
    *,
    scheduler: Sequence[str],
    device: Any = ...,
    seed: int | None = ...,
    trace: str | os.PathLike[str] | None = ...,
    figures: str | os.PathLike[str] | None = ...,
) -> list[answers.HostAnswer]: ...


@overload
def host(  # type: ignore[overload-overlap]
    scenario: Scenario,
    command: Literal["bound"],
    *,
    scheduler: str | None = ...,
    device: Any = ...,
) -> answers.BoundAnswer: ...


@overload
def host(
    scenario: Scenario,
    command: Literal["bound"],
    *,
    scheduler: Sequence[str],
    device: Any = ...,
) -> list[answers.BoundAnswer]: ...


@overload
def host(
    scenario: Scenario,
    command: Literal["tune"],
    *,
    scheduler: str | Sequence[str] | None = ...,
    device: Any = ...,
    objective: str | None = ...,
    seed: int | None = ...,
    figures: str | os.PathLike[str] | None = ...,
) -> answers.TuneAnswer: ...


@overload
def host(scenario: Scenario, command: Literal["order"]) -> list[list[Any]]: ...


def host(
    scenario: Scenario,
    command: str = "run",
    *,
    device: Any = None,
    scheduler: str | Sequence[str] | None = None,
    objective: str | None = None,
    seed: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> Answer | list[Any]:
    """Puts a Linux I/O scheduler in front of the device: `run`, `bound`, `tune` or `order`.

    `scenario` is JSON, a file, a dict, or a job file of fio, which has a `device`. With several
    schedulers there is a list of answers; `order` gives a list of lists of ids.
    """
    options = {
        "scheduler": scheduler,
        "objective": objective,
        "seed": seed,
        "trace": trace,
        "figures": figures,
    }
    name, text = _scenario(scenario)
    folder = Path(name).parent if name != "<string>" else None
    on = None if device is None else _scenario(device)
    kinds: dict[str, Any] = {
        "run": answers.HostAnswer,
        "bound": answers.BoundAnswer,
        "tune": answers.TuneAnswer,
    }
    found = _rtflash.host(words(["host", command], options), (name, text), on, folder)
    warned(found.warnings)
    lines = found.json.splitlines(keepends=True)
    if command == "order":
        return [_loads(line) for line in lines]
    several = scheduler is not None and not isinstance(scheduler, str)
    made: list[Answer] = [kinds[command](line) for line in lines]
    return made if several and command != "tune" else made[0]


def _loads(line: str) -> Any:
    import json

    return json.loads(line)


def _scenario(source: Any) -> tuple[str, str]:
    if isinstance(source, str) and "\n" in source:
        return "<string>", source
    return text_of(source)


@overload
def soak(
    *,
    seed: int | None = ...,
    runs: int | None = ...,
    world: str | None = ...,
    threads: int | None = ...,
    jobs: int | None = ...,
    executor: None = ...,
) -> answers.SoakAnswer: ...


@overload
def soak(
    *,
    seed: Sequence[int],
    runs: int | None = ...,
    world: str | None = ...,
    threads: int | None = ...,
    jobs: int | None = ...,
    executor: Executor | None = ...,
) -> list[answers.SoakAnswer]: ...


def soak(
    *,
    seed: int | Sequence[int] | None = None,
    runs: int | None = None,
    world: str | None = None,
    threads: int | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
) -> answers.SoakAnswer | list[answers.SoakAnswer]:
    """Runs random cases until an assumption breaks, and shows the smallest case found.

    One `seed` has one answer; several have a list of them, by the workers of an `executor`
    where one is given.
    """
    options = {
        "runs": runs,
        "world": world,
        "threads": threads,
        "jobs": 1 if executor is not None and threads is None and jobs is None else jobs,
    }
    if seed is None or isinstance(seed, int):
        if executor is not None:
            raise TypeError("an executor runs several seeds: give a list of them")
        return answers.SoakAnswer(soak_seed(words(["soak"], {"seed": seed, **options})))
    typed = [words(["soak"], {"seed": one, **options}) for one in seed]
    found = map(soak_seed, typed) if executor is None else executor.map(soak_seed, typed)
    return [answers.SoakAnswer(line) for line in found]


def soak_seed(typed: list[str]) -> str:
    """The work of an executor's worker: the answer as JSON."""
    return _rtflash.soak(typed).json


__all__ = [
    "Changes",
    "Given",
    "InputError",
    "Source",
    "alloc",
    "check",
    "exec",
    "explain",
    "gen",
    "host",
    "size",
    "soak",
    "task_sets",
]
