"""rtflash: will real-time I/O meet its deadlines on a NAND flash device?

The answers of the command `rtflash`, byte for byte, as Python objects. `docs/python.md` in the
repository is the manual.

>>> import rtflash
>>> tasks = [{"name": "camera", "write": {"pages": 24, "period": "30ms"}}]
>>> answer = rtflash.alloc(rtflash.TaskSet(tasks, device="dgist-2021"))
>>> answer.schedulable
True
"""

from rtflash import answers
from rtflash._commands import (
    alloc,
    check,
    exec,
    explain,
    gen,
    host,
    size,
    soak,
    task_sets,
)
from rtflash._errors import CannotTellError, InputError, RtflashWarning
from rtflash._experiment import Experiment, ExperimentPlan, experiment, merge, run_shard
from rtflash._own import Allocator, ClusterTest, UtilizationTest, gc_period_ns
from rtflash._records import Answer, Answers, Record
from rtflash._rtflash import BUILD, Table, TaskSet, __version__

__all__ = [
    "BUILD",
    "Allocator",
    "Answer",
    "Answers",
    "CannotTellError",
    "ClusterTest",
    "Experiment",
    "ExperimentPlan",
    "InputError",
    "Record",
    "RtflashWarning",
    "Table",
    "TaskSet",
    "UtilizationTest",
    "__version__",
    "alloc",
    "answers",
    "check",
    "exec",
    "experiment",
    "explain",
    "gc_period_ns",
    "gen",
    "host",
    "merge",
    "run_shard",
    "size",
    "soak",
    "task_sets",
]
