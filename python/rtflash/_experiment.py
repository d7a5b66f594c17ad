"""Experiments: in one call, in parts, on the workers of an executor."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, as_completed
from pathlib import Path
from typing import Any, Protocol, Union

from rtflash import _rtflash
from rtflash._commands import warned
from rtflash._options import words, written
from rtflash._own import Allocator, ClusterTest
from rtflash._rtflash import Study, StudyResults, Table, TaskSet
from rtflash._sources import device_of, is_json
from rtflash.answers import ExperimentAnswer

# Columns of the tables that are words, and those that are whole numbers; others are numbers.
WORDS = ("algorithm", "analysis", "server", "job")
WHOLE = ("sets", "schedulable", "both", "first_only", "second_only", "deadline_misses")


class Bar(Protocol):
    """A display of progress, such as `tqdm.tqdm()`."""

    total: Any

    def update(self, n: int) -> object:
        """`n` more sets are done."""


Progress = Union[Bar, Callable[[int, int], object]]
"""A bar with `total` and `update`, or a function of the sets done and of all sets."""


class ExperimentPlan:
    """An experiment to be done, the same on every machine. It can be pickled.

    The options are those of `experiment`.
    """

    def __init__(
        self,
        kind: str,
        *,
        algorithms: Sequence[str | Allocator] | str = (),
        analyses: Sequence[str | ClusterTest] | str = (),
        analysis: str | ClusterTest | None = None,
        device: Any = None,
        task_sets: Iterable[Any] | None = None,
        **options: Any,
    ) -> None:
        found = {"device": _inline(device), **options}
        unknown = set(found) - OPTIONS
        if unknown:
            raise TypeError(f"experiment() has no option {', '.join(sorted(unknown))}")
        given = {name for name, value in found.items() if value is not None}
        if task_sets is not None and given & DRAWN:
            names = ", ".join(sorted(given & DRAWN))
            raise TypeError(f"task_sets are what they are, and {names} says what is drawn")
        self.task_sets = None if task_sets is None else [_set(one) for one in task_sets]
        self.words = words(["experiment", kind], found)
        self.algorithms = _listed(algorithms)
        self.analyses = _listed(analyses)
        self.analysis = analysis
        # Made when it is asked for: an error in the options is to be told here.
        self._study: Study | None = None
        self._planned()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_study": None}

    def _planned(self) -> Study:
        if self._study is None:
            every = [*self.algorithms, *self.analyses, self.analysis]
            own_algorithms = _once(own for own in every if isinstance(own, Allocator))
            own_tests = _once(own for own in every if isinstance(own, ClusterTest))
            self._study = Study(
                self.words,
                [_name(one) for one in self.algorithms],
                [_name(one) for one in self.analyses],
                None if self.analysis is None else _name(self.analysis),
                [own._made() for own in own_algorithms],
                [own._made() for own in own_tests],
                self.task_sets,
            )
        return self._study

    def sets(self, i: int = 0, n: int = 1) -> int:
        """Task sets of part `i` of `n`; of all of it."""
        return self._planned().sets(i, n)

    def __repr__(self) -> str:
        every = [*self.algorithms, *self.analyses]
        return f"<ExperimentPlan: {' '.join(self.words)} {' '.join(map(_name, every))}>"


OPTIONS = frozenset(
    [
        "util",
        "step",
        "sets",
        "tasks",
        "generator",
        "device",
        "write_heavy",
        "write_share",
        "access",
        "deadline",
        "period",
        "period_distribution",
        "pages",
        "seed",
        "assume",
        "rely_on",
        "sweep",
        "warmup",
        "duration",
        "read_pages",
        "write_pages",
        "gap",
        "dispatch",
        "victims",
        "aging",
        "pattern",
        "threads",
        "jobs",
    ]
)

# The options that say which sets are drawn.
DRAWN = OPTIONS & frozenset(
    [
        "util",
        "sets",
        "tasks",
        "generator",
        "device",
        "write_heavy",
        "write_share",
        "access",
        "deadline",
        "period",
        "period_distribution",
        "pages",
        "sweep",
    ]
)


def _set(one: Any) -> TaskSet:
    return one if isinstance(one, TaskSet) else TaskSet(one)


def _inline(device: Any) -> Any:
    """A device that needs no file: a worker may have other ones."""
    if isinstance(device, str) and not is_json(device) and Path(device).is_file():
        return Path(device).read_text()
    found = device_of(device)
    return written(found) if found is not None else None


def _listed(of: Any) -> list[Any]:
    if isinstance(of, str):
        return [part.strip() for part in of.split(",")]
    return [of] if isinstance(of, (Allocator, ClusterTest)) else list(of)


def _name(one: Any) -> str:
    return one if isinstance(one, str) else one.name


def _once(own: Iterable[Any]) -> list[Any]:
    return list({id(one): one for one in own}.values())


class Experiment(ExperimentAnswer):
    """The results of an experiment: a summary, tables and files."""

    def __init__(self, found: StudyResults | tuple[str, dict[str, bytes]]) -> None:
        if isinstance(found, tuple):
            line, self._files = found
        else:
            line = found.json
            self._files = {name: found.file(name) or b"" for name in found.names}
        super().__init__(line)

    @property
    def files(self) -> dict[str, bytes]:
        """The files that the command writes, byte for byte, by name; pictures are SVG alone."""
        return dict(self._files)

    @property
    def results(self) -> Table:
        """`results.csv`: a row for each point and contender."""
        return _table(self._files["results.csv"])

    @property
    def paired(self) -> Table:
        """`paired.csv`: a row for each point and pair of contenders."""
        return _table(self._files["paired.csv"])

    def table(self, field: str | None = None) -> Table:
        """`results`, or a list of records of the summary, such as `contenders`."""
        return self.results if field is None else super().table(field)

    def write(self, directory: str | Path) -> list[Path]:
        """Writes the files into a directory, which is made if it is not there."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / name for name in self._files]
        for path in paths:
            path.write_bytes(self._files[path.name])
        return paths

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), ((self.to_json(), self._files),))

    def _repr_svg_(self) -> str | None:
        figure = self._files.get("figure.svg")
        first = next((name for name in self._files if name.endswith(".svg")), None)
        if figure is None and first is not None:
            figure = self._files[first]
        return None if figure is None else figure.decode()


def _table(text: bytes) -> Table:
    names, *rows = csv.reader(io.StringIO(text.decode()))
    columns: list[tuple[str, str, list[Any]]] = []
    for at, name in enumerate(names):
        cells = [row[at] for row in rows]
        last = name.rsplit("_", 1)[-1]
        if last in WORDS:
            columns.append((name, "str", [cell or None for cell in cells]))
        elif name in WHOLE:
            columns.append((name, "int", [int(cell) if cell else None for cell in cells]))
        else:
            columns.append(_numbers(name, cells))
    return Table(columns)


def _numbers(name: str, cells: list[str]) -> tuple[str, str, list[Any]]:
    try:
        return name, "float", [float(cell) if cell else None for cell in cells]
    except ValueError:
        # The values of a sweep may have units.
        return name, "str", [cell or None for cell in cells]


class _Shown:
    """Progress, told to whatever was given."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._done = 0
        self._total = total
        update = getattr(progress, "update", None)
        if update is not None:
            bar: Any = progress
            bar.total = total
            if hasattr(bar, "refresh"):
                bar.refresh()
        self._tell: Callable[[int], object] | None = update
        if update is None and progress is not None:
            told: Any = progress
            self._tell = lambda sets: told(self._done, self._total)

    def __call__(self, sets: int) -> None:
        self._done += sets
        if self._tell is not None:
            self._tell(sets)


def run_shard(
    plan: ExperimentPlan, i: int, n: int, *, progress: Callable[[int], object] | None = None
) -> bytes:
    """Does part `i` of `n`, `i` from 0: bytes for `merge`, those of the command's `tallies.json`.

    No file is read or written. `progress` is called with numbers of sets that were done.
    """
    return plan._planned().part(i, n, progress)


def merge(parts: Iterable[bytes], *, plan: ExperimentPlan | None = None) -> Experiment:
    """Joins all parts of an experiment to the bytes of a straight run.

    The parts say which experiment they are of. Where one's own tests or algorithms took part, the
    `plan` has to be given. So it has for task sets of one's own.
    """
    all_parts = list(parts)
    names = [f"part {position}" for position in range(len(all_parts))]
    if plan is None:
        found = _rtflash.join_parts(names, all_parts)
    else:
        found = plan._planned().join(names, all_parts)
    warned(found.warnings)
    return Experiment(found)


# Parts for each worker that an executor says it has; parts where it does not say.
PARTS_OF_A_WORKER = 4
PARTS = 32


def experiment(
    kind: str = "schedulability",
    *,
    progress: Progress | None = None,
    executor: Executor | None = None,
    parts: int | None = None,
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
    analysis: str | ClusterTest | None = None,
    algorithms: Sequence[str | Allocator] | str = (),
    analyses: Sequence[str | ClusterTest] | str = (),
    task_sets: Iterable[Any] | None = None,
    assume: str | None = None,
    rely_on: str | None = None,
    sweep: str | None = None,
    warmup: str | None = None,
    duration: str | None = None,
    read_pages: int | None = None,
    write_pages: int | None = None,
    gap: str | None = None,
    dispatch: str | None = None,
    victims: str | None = None,
    aging: str | None = None,
    pattern: str | None = None,
    threads: int | None = None,
    jobs: int | None = None,
) -> Experiment:
    """Compares algorithms and analyses on random task sets: `schedulability`, `write-heavy` or
    `bandwidth`.

    `algorithms` and `analyses` take names, and objects of `Allocator` and `ClusterTest`.
    `task_sets` are compared on instead of random ones: anything that a `TaskSet` is made of. Each
    is counted at the multiple of `step` that is nearest to its utilization. The
    results do not depend on `threads`, on the `executor` whose workers do it, on how many
    `parts` it is cut into for them, nor on workers that are lost on the way.
    """
    options = {name: value for name, value in locals().items() if name in OPTIONS}
    if executor is not None and threads is None and jobs is None:
        options["threads"] = 1
    plan = ExperimentPlan(
        kind,
        algorithms=algorithms,
        analyses=analyses,
        analysis=analysis,
        task_sets=task_sets,
        **options,
    )
    shown = _Shown(progress, plan.sets())
    if executor is None:
        return merge([run_shard(plan, 0, 1, progress=shown)], plan=plan)
    count = parts if parts is not None else _parts(executor, plan.sets())
    futures = {executor.submit(run_shard, plan, i, count): i for i in range(count)}
    found: list[bytes] = [b""] * count
    try:
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            shown(plan.sets(futures[future], count))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return merge(found, plan=plan)


def _parts(executor: Executor, sets: int) -> int:
    workers = getattr(executor, "_max_workers", None)
    wanted = PARTS_OF_A_WORKER * workers if isinstance(workers, int) else PARTS
    return max(1, min(wanted, sets))
