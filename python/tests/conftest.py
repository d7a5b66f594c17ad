"""The fixtures that the tests share: the repository and the command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TASK_SETS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tasksets").glob("*.json"))
SCENARIOS = sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / "scenarios").glob("*.json")
)


def _command() -> Path:
    """The command: RTFLASH, or what was built in the repository."""
    if "RTFLASH" in os.environ:
        return Path(os.environ["RTFLASH"])
    built = [
        ROOT / "target" / "release" / "rtflash",
        ROOT / "target" / "debug" / "rtflash",
        ROOT / "python" / "target" / "release" / "rtflash",
        ROOT / "python" / "target" / "debug" / "rtflash",
    ]
    found = [path for path in built if path.is_file()]
    assert found, "no rtflash: build it, or name it in RTFLASH"
    return max(found, key=lambda path: path.stat().st_mtime)


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def rtflash_command() -> Run:
    """Runs the command in the repository, and gives what it printed."""
    command = _command()

    def run(*words: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command, *words], cwd=ROOT, input=stdin, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
