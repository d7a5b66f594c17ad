"""Each function gives the command's bytes, for all that is shipped."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import SCENARIOS, TASK_SETS, Run

import rtflash
from rtflash._records import GUARANTEE

OPTIONS: list[dict[str, Any]] = [
    {},
    {"analysis": "sound"},
    {"analysis": "stripe", "rely_on": "nothing"},
    {"algorithm": "global"},
]


def flags(options: dict[str, Any]) -> list[str]:
    return [
        word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)
    ]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rtflash.RtflashWarning)
        yield


def same(
    run: Run, command: str, path: str, options: dict[str, Any], answer: Any, *more: str
) -> None:
    printed = run(command, path, *more, *flags(options), "--format", "json")
    assert printed.stdout, printed.stderr
    assert answer.to_json() == printed.stdout


@pytest.mark.parametrize("path", TASK_SETS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_of_task_sets(
    rtflash_command: Run, path: str, options: dict[str, Any], tmp_path: Path
) -> None:
    allocation = rtflash.alloc(path, **options)
    # Fields that are read before the guarantee is looked for are those of the whole answer.
    early = {name: getattr(allocation, name) for name in allocation._names - GUARANTEE}
    same(rtflash_command, "alloc", path, options, allocation)
    whole = rtflash.answers.AllocAnswer(allocation.to_json())
    assert early == {name: getattr(whole, name) for name in early}
    assert rtflash.alloc(path, **options).guarantee == whole.guarantee
    same(rtflash_command, "explain", path, options, rtflash.explain(path, **options))
    same(rtflash_command, "size", path, options, rtflash.size(path, **options))
    run = rtflash.exec(path, duration="20ms", **options)
    same(rtflash_command, "exec", path, {"duration": "20ms", **options}, run)
    judged = {name: value for name, value in options.items() if name != "algorithm"}
    file = tmp_path / "allocation.json"
    file.write_text(allocation.to_json())
    checked = rtflash.check(path, allocation, **judged)
    same(rtflash_command, "check", path, judged, checked, "--allocation", str(file))


def test_every_form_of_a_task_set_is_the_same() -> None:
    path = "tasksets/case-study.json"
    text = Path(path).read_text()
    fields = json.loads(text)
    fields.pop("meta", None)
    text = json.dumps(fields)
    sources: list[Any] = [
        text,
        fields,
        rtflash.TaskSet(fields["tasks"], device=fields["device"], jobs=fields.get("jobs", [])),
        rtflash.TaskSet(
            json.dumps(fields["tasks"]), device=fields["device"], jobs=fields.get("jobs", [])
        ),
    ]
    answers = {rtflash.alloc(source).to_json() for source in sources}
    assert len(answers) == 1
    assert rtflash.alloc(Path(path)).to_json() == rtflash.alloc(path).to_json()


def test_of_random_sets(rtflash_command: Run) -> None:
    printed = rtflash_command("gen", "--util", "0.5..3.5", "--step", "0.5", "--sets", "40").stdout
    sets = rtflash.gen(util="0.5..3.5", step=0.5, sets=40)
    assert "".join(one.to_json() for one in sets) == printed
    stream = rtflash_command("alloc", "-", "--format", "json", stdin=printed).stdout
    assert rtflash.alloc(sets).to_json() == stream
    assert rtflash.alloc(printed.splitlines()).to_json() == stream
    assert rtflash.alloc(one.to_dict() for one in sets).to_json() == stream


def test_a_stream_with_wrong_sets(rtflash_command: Run) -> None:
    lines = [one.to_json() for one in rtflash.gen(util=1, sets=5)]
    lines[1] = lines[1].replace('"pages":', '"page":', 1)
    lines[3] = "{ nonsense\n"
    printed = rtflash_command("alloc", "-", "--format", "json", stdin="".join(lines)).stdout
    answers = rtflash.alloc(lines)
    assert answers.to_json() == printed
    assert answers.statuses()[1::2] == [2, 2]
    assert [answer.error is None for answer in answers] == [True, False, True, False, True]
    with pytest.raises(rtflash.InputError) as raised:
        _ = answers[1].schedulable
    assert raised.value.path and raised.value.problem and raised.value.line == 2


def test_a_long_stream_with_empty_lines(rtflash_command: Run) -> None:
    lines = [one.to_json() for one in rtflash.gen(util=0.5, sets=4200, tasks=2)]
    lines.insert(10, "\n")
    lines.insert(4150, "\n")
    printed = rtflash_command("alloc", "-", "--format", "json", stdin="".join(lines)).stdout
    assert rtflash.alloc(lines).to_json() == printed


def test_of_the_host(rtflash_command: Run) -> None:
    for path in SCENARIOS:
        if "duration" not in json.loads(Path(path).read_text()):
            continue
        printed = rtflash_command("host", "bound", path, "--format", "json").stdout
        assert rtflash.host(path, "bound").to_json() == printed, path
    path = "scenarios/large-reads.json"
    printed = rtflash_command(
        "host", "run", path, "--scheduler", "none,k2", "--format", "json"
    ).stdout
    answers = rtflash.host(path, "run", scheduler=["none", "k2"])
    assert "".join(answer.to_json() for answer in answers) == printed
    fio = "scenarios/large-reads.fio"
    printed = rtflash_command("host", "run", fio, "--device", path, "--format", "json").stdout
    if printed:
        assert rtflash.host(fio, "run", device=path).to_json() == printed


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "schedulability", "sets": 5, "analyses": ["thesis", "sound"]},
        {"kind": "write-heavy", "sets": 5},
        {"kind": "bandwidth", "sets": 2, "util": "1.0..1.2", "warmup": "0s", "duration": "20ms"},
        {"kind": "schedulability", "sets": 3, "sweep": "chips=4,8", "util": "1..2", "step": "0.5"},
    ],
    ids=lambda options: options["kind"],
)
def test_of_experiments(rtflash_command: Run, options: dict[str, Any], tmp_path: Path) -> None:
    kind = options["kind"]
    rest = {name: value for name, value in options.items() if name != "kind"}
    typed = [
        word
        for name, value in rest.items()
        for word in (f"--{name}", ",".join(value) if isinstance(value, list) else str(value))
    ]
    printed = rtflash_command(
        "experiment", kind, *typed, "--out", str(tmp_path), "--format", "json"
    )
    found = rtflash.experiment(kind, **rest)
    assert found.to_json() == printed.stdout
    for name, content in found.files.items():
        assert (tmp_path / name).read_bytes() == content, name
    missing = {path.name for path in tmp_path.iterdir()} - set(found.files)
    assert all(name.endswith((".png", ".pdf")) or name == ".rtflash-lock" for name in missing), (
        missing
    )


def test_of_soak(rtflash_command: Run) -> None:
    printed = rtflash_command("soak", "--runs", "20", "--seed", "3", "--format", "json").stdout
    assert rtflash.soak(runs=20, seed=3).to_json() == printed


def test_of_a_trace(rtflash_command: Run, tmp_path: Path) -> None:
    path, trace = "tasksets/case-study.json", tmp_path / "run.jsonl"
    rtflash.exec(path, duration="20ms", trace=trace)
    printed = rtflash_command("check", path, "--trace", str(trace), "--format", "json").stdout
    assert rtflash.check(path, trace=trace).to_json() == printed


def test_changes_are_those_of_the_command(rtflash_command: Run) -> None:
    path = "tasksets/case-study.json"
    printed = rtflash_command("alloc", path, "--set", "device.chips=8", "--format", "json").stdout
    assert rtflash.alloc(path, set={"device.chips": 8}).to_json() == printed
    assert rtflash.alloc(path, set="device.chips=8").to_json() == printed
