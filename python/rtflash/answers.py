"""The answers of rtflash: what each field means, and its unit.

Times are numbers of nanoseconds, their names end in `_ns`; utilizations are shares of one. Made by
tools/answers.py from the JSON Schemas of the command.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rtflash._records import Answer, Record

__all__ = [
    "AdviceAnswer",
    "AllocAnswer",
    "AssumptionText",
    "BandwidthSummary",
    "BoundAnswer",
    "BoundTerms",
    "BrokenLine",
    "CertificateAnswer",
    "ChannelLine",
    "CheckAnswer",
    "CheckLine",
    "CheckedCluster",
    "ChipLine",
    "ChipsAnswer",
    "ClusterAnswer",
    "ClusterCostAnswer",
    "ClusterLine",
    "ClusterTerms",
    "ContenderSummary",
    "CostAnswer",
    "DataAnswer",
    "ExecAnswer",
    "ExpectedAnswer",
    "ExperimentAnswer",
    "ExplainAnswer",
    "FrontAnswer",
    "FrontPointAnswer",
    "GainSummary",
    "GcAnswer",
    "GcTerms",
    "Ground",
    "HostAnswer",
    "HostAssumption",
    "HostJob",
    "HostQueue",
    "HostQueues",
    "HostStep",
    "ImpossibleAnswer",
    "Interval",
    "JobBound",
    "JobsLine",
    "LoadAnswer",
    "NotTaken",
    "OperationCounts",
    "Proof",
    "Range",
    "RatioAnswer",
    "RequestAnswer",
    "RequestTimeAnswer",
    "Scheme",
    "SchemeRoom",
    "SchemeTerm",
    "ServedByAnswer",
    "SizeAnswer",
    "SoakAnswer",
    "StepLatency",
    "StreamTerms",
    "SupposedAnswer",
    "TaskAnswer",
    "TaskDataAnswer",
    "TaskTerms",
    "TuneAnswer",
    "TuneSetting",
    "UnitCosts",
    "UnplacedAnswer",
    "Verdict",
    "WearAnswer",
    "WearLine",
    "WorstLine",
]


class AdviceAnswer(Record):
    """Changes each of which alone makes the set schedulable, in an `AllocAnswer`; null where none
    was found.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "algorithm",
        "channels",
        "chips",
        "chips_fewest",
        "chips_whole_channels",
        "data",
        "data_pages",
        "load",
        "logical_ratio",
        "logical_ratio_resolution",
        "program_failures",
        "served",
        "supposes",
        "together",
        "together_complete",
        "together_resolution",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "algorithm": "str",
        "channels": "int",
        "chips": "int",
        "chips_fewest": "bool",
        "chips_whole_channels": "int",
        "data": "float",
        "data_pages": "int",
        "load": "float",
        "logical_ratio": "float",
        "logical_ratio_resolution": "float",
        "program_failures": "int",
        "together_complete": "bool",
        "together_resolution": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "served": "ServedByAnswer",
        "supposes": "SupposedAnswer",
        "together": "FrontPointAnswer",
    }

    algorithm: str | None
    """Another algorithm that finds an allocation."""
    channels: int | None
    """A number of channels that is enough, with as many chips."""
    chips: int | None
    """A number of chips that is enough."""
    chips_fewest: bool | None
    """Whether every number of chips between was tried and fails; null without such a number."""
    chips_whole_channels: int | None
    """The next number of chips that fills whole channels and is enough, where `chips` does not."""
    data: float | None
    """For data that do not fit: the share of each task's data that would."""
    data_pages: int | None
    """All data then, in pages."""
    load: float | None
    """The share of the load that can be carried: every period divided by it."""
    logical_ratio: float | None
    """The largest λ that passes; where data do not fit, one that is large enough."""
    logical_ratio_resolution: float | None
    """The steps of λ that were tried for `logical_ratio`: 0.001, or coarser ones if these would
    take too long. Null without `logical_ratio`.
    """
    program_failures: int | None
    """For programs that can fail: a `program_failures` of the device that is few enough."""
    served: list[ServedByAnswer] | None
    """Tasks with requests that no number of chips serves in time, and what lets them be served."""
    supposes: SupposedAnswer | None
    """Beside such tasks: the assumption of the other changes; left out if nothing was found that
    serves all of them.
    """
    together: list[FrontPointAnswer] | None
    """Chips and λ together, perhaps by another algorithm: none of these is better than another in
    both. Chips ascending.
    """
    together_complete: bool | None
    """Whether each number of chips up to the last one of `together` was tried; false if that would
    take too long. Left out without `together`.
    """
    together_resolution: float | None
    """The steps of λ that were tried for `together`: 0.001, or coarser ones if these would take
    too long. Left out without `together`.
    """


class AllocAnswer(Answer):
    """The answer of `rtflash alloc --format json` for one task set, on one line."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "advice",
        "algorithm",
        "analysis",
        "clusters",
        "data",
        "guarantee",
        "guaranteed",
        "guaranteed_as_placed",
        "impossible",
        "meta",
        "note",
        "read_utilization",
        "reason",
        "relies_on",
        "schedulable",
        "theorem",
        "unplaced",
        "write_utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "algorithm": "str",
        "analysis": "str",
        "guaranteed": "bool",
        "guaranteed_as_placed": "bool",
        "note": "str",
        "read_utilization": "float",
        "reason": "str",
        "relies_on": "str",
        "schedulable": "bool",
        "write_utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "advice": "AdviceAnswer",
        "clusters": "ClusterAnswer",
        "data": "DataAnswer",
        "guarantee": "Verdict",
        "impossible": "ImpossibleAnswer",
        "theorem": "Verdict",
        "unplaced": "UnplacedAnswer",
    }

    advice: AdviceAnswer | None
    """Changes that make the set schedulable: for a single set that is not, null otherwise."""
    algorithm: str
    """The algorithm that divided the chips."""
    analysis: str
    """The analysis that decided."""
    clusters: list[ClusterAnswer]
    """The clusters, in order; those without tasks serve jobs that are not real-time. Empty where
    there is no complete allocation.
    """
    data: DataAnswer | None
    """For tasks that declare their data: the data of all tasks beside the logical pages of the
    whole device (with `part-ftl`, of its data chips). Data that fit there need not fit the
    clusters.
    """
    guarantee: Verdict
    """Whether every deadline is guaranteed on the device: with the clusters printed here (`yes`),
    or `with other clusters`.
    """
    guaranteed: bool | None
    """Whether the set is guaranteed on the device: `--analysis sound` accepts it, with these
    clusters or with others, and the device's times are maxima. Null if that was not asked
    (`--guarantee`, `--no-guarantee`), is not decided, or the set has no tasks.
    """
    guaranteed_as_placed: bool | None
    """Whether the clusters printed here are; null as above, and where none are printed."""
    impossible: ImpossibleAnswer | None
    """Beside any other answer than yes: a proof that no allocation meets every deadline, whatever
    the algorithm and the analysis, if one was found.
    """
    meta: Any
    """The task set's own `meta`, as it was written."""
    note: str | None
    """For a drive whose firmware is fixed: which command bounds what such a drive does."""
    read_utilization: float | None
    """U_R of PaRT-FTL (only with `part-ftl`)."""
    reason: str | None
    """Why the algorithm cannot tell."""
    relies_on: str | None
    """The reliance of the promise: `nothing`, `neighbours` or `queue`, the most that any of the
    clusters needs; null if nothing is promised.
    """
    schedulable: bool | None
    """Whether every deadline is met, and the declared data fit: true, false, or null where the
    algorithm cannot tell.
    """
    theorem: Verdict
    """The verdict of Theorem 1 (Kim 2021) on the set: `not asked` if another analysis than
    `thesis` or `thesis-evaluated` was asked for.
    """
    unplaced: UnplacedAnswer | None
    """The task that could not be placed, and why."""
    write_utilization: float | None
    """U_W of PaRT-FTL (only with `part-ftl`)."""


class AssumptionText(Record):
    """An assumption of an analysis."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "name",
        "statement",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "name": "str",
        "statement": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    name: str
    """Its name."""
    statement: str
    """Its words."""


class BandwidthSummary(Record):
    """The bandwidth at a point."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "algorithm",
        "analysis",
        "at",
        "deadline_misses",
        "job",
        "pages_per_second",
        "server",
        "sets",
        "utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "algorithm": "str",
        "analysis": "str",
        "at": "str",
        "deadline_misses": "int",
        "job": "str",
        "server": "str",
        "sets": "int",
        "utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "pages_per_second": "Interval",
    }

    algorithm: str
    """The algorithm."""
    analysis: str
    """The analysis."""
    at: str | None
    """The value of the sweep, if there is one."""
    deadline_misses: int
    """Deadlines of real-time requests missed, in all runs."""
    job: str
    """`read` or `write`."""
    pages_per_second: Interval | None
    """Pages a second; null of no sets."""
    server: str
    """How jobs are served."""
    sets: int
    """Sets run: all that every contender schedules."""
    utilization: float
    """The total utilization."""


class BoundAnswer(Answer):
    """The answer of `rtflash host bound --format json` for each scheduler, a line each."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "jobs",
        "measured",
        "rests_on",
        "scheduler",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "measured": "list[str]",
        "rests_on": "list[str]",
        "scheduler": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "jobs": "JobBound",
    }

    jobs: list[JobBound]
    """The real-time jobs, in the scenario's order."""
    measured: list[str] | None
    """The claims of a device that was fitted to measurements, a sentence each; null for other
    devices.
    """
    rests_on: list[str]
    """The grounds of the bounds, a clause each: first the name by which docs/host.md calls it."""
    scheduler: str
    """The scheduler."""


class BoundTerms(Record):
    """The terms of a bound, in nanoseconds."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "ahead_ns",
        "inside_ns",
        "own_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "ahead_ns": "int",
        "inside_ns": "int",
        "own_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    ahead_ns: int
    """The requests that other real-time jobs send ahead."""
    inside_ns: int
    """The requests that can be inside the device."""
    own_ns: int
    """The I/O itself."""


class BrokenLine(Record):
    """An assumption that broke."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "bound",
        "command",
        "first_run",
        "name",
        "observed",
        "runs",
        "task_set",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "bound": "int",
        "command": "str",
        "first_run": "int",
        "name": "str",
        "observed": "int",
        "runs": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    bound: int | None
    command: str
    """The command that runs the smallest case found, with the task set on standard input."""
    first_run: int
    name: str
    observed: int | None
    runs: int
    task_set: Any
    """The smallest case found."""


class CertificateAnswer(Record):
    """A cluster's certificate: docs/analysis.md."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "backfill",
        "gc_deadline_ns",
        "kind",
        "open_blocks",
        "reclaimed_pages",
        "reserve_pages",
        "server_thousandths",
        "slack_ns",
        "tightest_ns",
        "victim_pages",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "backfill": "bool",
        "gc_deadline_ns": "int",
        "kind": "str",
        "open_blocks": "int",
        "reclaimed_pages": "int",
        "reserve_pages": "int",
        "server_thousandths": "int",
        "slack_ns": "int",
        "tightest_ns": "int",
        "victim_pages": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    backfill: bool | None
    """False where a superblock may not backfill, so that what is promised holds; else left out."""
    gc_deadline_ns: int | None
    """D_g: relative deadline of a GC job; null where no real-time task writes."""
    kind: str
    """How pages are placed: `stripe`, `cached-stripe`, `superblock`, `cached-superblock` or
    `zoned`.
    """
    open_blocks: int | None
    """F: blocks that cannot be victims, at most."""
    reclaimed_pages: int | None
    """α: pages that a pass reclaims, at least; null, as the next three, where nothing is ever
    written.
    """
    reserve_pages: int | None
    """H: free pages kept in reserve."""
    server_thousandths: int
    """U_s in thousandths, of each chip of a stripe."""
    slack_ns: int | None
    """The rest of it beside demand, blocking and the server, rounded down. It is below zero if the
    test fails.
    """
    tightest_ns: int | None
    """The tightest interval L; null without tasks."""
    victim_pages: int | None
    """v: valid pages of a victim, at most."""


class ChannelLine(Record):
    """A channel in an `ExecAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "channel",
        "transfers",
        "use",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "channel": "int",
        "transfers": "int",
        "use": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    channel: int
    """Its number."""
    transfers: int
    """Pages moved."""
    use: float
    """The share of time in which its bus was occupied."""


class CheckAnswer(Answer):
    """The answer of `rtflash check --format json` for one task set and its allocation, on one
    line.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "analysis",
        "clusters",
        "guarantee",
        "meta",
        "note",
        "reason",
        "schedulable",
        "theorem",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "analysis": "str",
        "note": "str",
        "reason": "str",
        "schedulable": "bool",
    }
    _records: ClassVar[dict[str, str]] = {
        "clusters": "CheckedCluster",
        "guarantee": "Verdict",
        "theorem": "Verdict",
    }

    analysis: str
    """The analysis that was tested with."""
    clusters: list[CheckedCluster]
    """The clusters, in order; none where there is no allocation."""
    guarantee: Verdict
    """Whether every deadline is guaranteed on the device: with the clusters printed here (`yes`),
    or `with other clusters`.
    """
    meta: Any
    """The task set's own `meta`, as it was written."""
    note: str | None
    """For a drive whose firmware is fixed: which command bounds what such a drive does."""
    reason: str | None
    """Why there is no allocation to test."""
    schedulable: bool | None
    """Whether every cluster passes; null if that is not decided."""
    theorem: Verdict
    """The verdict of Theorem 1 (Kim 2021) on the set: `not asked` if another analysis than
    `thesis` or `thesis-evaluated` was asked for.
    """


class CheckLine(Record):
    """A check in an `ExecAnswer`. Bound and observation are those of the worst observation: bounds
    differ from task to task.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "assumption",
        "bound",
        "holds",
        "name",
        "observed",
        "unit",
        "violations",
        "worst",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "assumption": "str",
        "bound": "int",
        "holds": "bool",
        "name": "str",
        "observed": "int",
        "unit": "str",
        "violations": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "worst": "WorstLine",
    }

    assumption: str
    """The assumption in a sentence."""
    bound: int | None
    """The promised value; null if nothing was observed."""
    holds: bool | None
    """Whether no observation was above its bound; null where nothing of the kind was observed."""
    name: str
    """The assumption's name."""
    observed: int | None
    """The worst that was observed."""
    unit: str
    """The unit of bound and observation: `ns`, `pages` or `times`."""
    violations: int
    """How many were."""
    worst: WorstLine | None
    """When and where the worst happened."""


class CheckedCluster(Record):
    """A cluster in a `CheckAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "blocking",
        "chips",
        "complaints",
        "data",
        "demand_share",
        "in_time",
        "notes",
        "relies_on",
        "schedulable",
        "tasks",
        "utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "blocking": "float",
        "chips": "list[int]",
        "complaints": "list[str]",
        "demand_share": "float",
        "in_time": "bool",
        "notes": "list[str]",
        "relies_on": "str",
        "schedulable": "bool",
        "tasks": "list[str]",
        "utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "data": "DataAnswer",
    }

    blocking: float
    """t_e / min(T); under a sound analysis the share of that interval that is blocking."""
    chips: list[int]
    """Its chips."""
    complaints: list[str]
    """Under a sound analysis: what is stated that promises more than is so, or less than is
    needed, and what is relied on that is not granted. Under one of the field's schemes: what
    forbids the cluster whatever its utilization.
    """
    data: DataAnswer | None
    """For tasks of the cluster that declare their data: these beside its logical pages. If they do
    not fit, `schedulable` is false under every analysis.
    """
    demand_share: float | None
    """Under a sound analysis: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L.
    """
    in_time: bool | None
    """Whether its test of time passes, whatever space the data take. Null if that is not decided.
    """
    notes: list[str]
    """Statements that no longer hold and do not change the verdict: numbers that another load had,
    tasks that are gone.
    """
    relies_on: str | None
    """Under a sound analysis the least that the cluster relies on to hold, whether it is granted
    or not: `nothing`, `neighbours` or `queue`, as in what `alloc` prints. Null where it does
    not hold, and under other analyses.
    """
    schedulable: bool | None
    """Whether it passes, exactly: U ≤ 1, and the declared data fit; under a sound analysis,
    whether demand and blocking fit into every interval, relying on no more than is granted, the
    data fit, and the certificate states no less than the load needs. Null if that is not
    decided.
    """
    tasks: list[str]
    """The names of its tasks."""
    utilization: float
    """U, Eq. (IV.9), to the nearest double. Under a sound analysis the same as `demand_share`,
    which is no utilization.
    """


class ChipLine(Record):
    """A chip in an `ExecAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "chip",
        "erases",
        "programs",
        "reads",
        "use",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "chip": "int",
        "erases": "int",
        "programs": "int",
        "reads": "int",
        "use": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    chip: int
    """Its number."""
    erases: int
    """Blocks erased."""
    programs: int
    """Pages programmed."""
    reads: int
    """Pages read."""
    use: float
    """The share of time in which it was occupied."""


class ChipsAnswer(Record):
    """Chips, in a `SizeAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "at_least",
        "every_smaller_tried",
        "fewest",
        "now",
        "reason",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "at_least": "int",
        "every_smaller_tried": "bool",
        "fewest": "int",
        "now": "int",
        "reason": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    at_least: int | None
    """Fewer chips than this have no allocation that meets every deadline, whatever the algorithm
    and the analysis, if all logical pages are in use (docs/analysis.md, Section 12); null if no
    number would do.
    """
    every_smaller_tried: bool
    """Whether every smaller number was tried and fails; otherwise found by bisection."""
    fewest: int | None
    """The fewest that pass; null where none was found."""
    now: int
    """Those of the device."""
    reason: str | None
    """Why there is no number."""


class ClusterAnswer(Record):
    """A cluster in an `AllocAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "blocking",
        "certificate",
        "chips",
        "data",
        "demand_share",
        "gc",
        "gc_utilization",
        "min_period_ns",
        "read_utilization",
        "relies_on",
        "server_utilization",
        "tasks",
        "utilization",
        "write_utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "blocking": "float",
        "chips": "list[int]",
        "demand_share": "float",
        "gc_utilization": "float",
        "min_period_ns": "float",
        "read_utilization": "float",
        "relies_on": "str",
        "server_utilization": "float",
        "tasks": "list[str]",
        "utilization": "float",
        "write_utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "certificate": "CertificateAnswer",
        "data": "DataAnswer",
        "gc": "GcAnswer",
    }

    blocking: float
    """The share lost to blocking, t_e / min(T)."""
    certificate: CertificateAnswer | None
    """The certificate: the promise of a sound analysis to the cluster, by which the device runs.
    Under such an analysis the shares above are those of the tightest interval.
    """
    chips: list[int]
    """Its chips, ascending."""
    data: DataAnswer | None
    """For tasks of the cluster that declare their data: these beside its logical pages."""
    demand_share: float | None
    """Under a certificate: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L."""
    gc: list[GcAnswer]
    """The GC task of each writing task."""
    gc_utilization: float
    """The share of garbage collection."""
    min_period_ns: float | None
    """min(T); null without tasks."""
    read_utilization: float
    """The share of reads."""
    relies_on: str | None
    """Under a certificate that holds: `nothing`, it holds whatever other clusters do;
    `neighbours`, because the clusters on its channels move no more than their tasks; `queue`,
    because moreover the bus serves first come, first served, transfers take exactly as long as
    the device says, and reads sense for no longer, and for less than a transfer shorter.
    """
    server_utilization: float
    """U_s = 1 − U, the share of the server for jobs that are not real-time, Eq. (IV.10); 0 where U
    is above 1.
    """
    tasks: list[str]
    """The names of its tasks, in the order of the task set."""
    utilization: float
    """U of the cluster, blocking included, Eq. (IV.9). Under a certificate it equals
    `demand_share`, which is no utilization.
    """
    write_utilization: float
    """The share of writes."""


class ClusterCostAnswer(Record):
    """The cost of a cluster, in a `CostAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "anywhere",
        "chips",
        "erases_per_chip_per_day",
        "gc_pages_per_day",
        "in_rings",
        "lifetime_years",
        "pages_per_day",
        "tasks",
        "with_jobs",
        "write_amplification",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "chips": "list[int]",
        "erases_per_chip_per_day": "float",
        "gc_pages_per_day": "float",
        "lifetime_years": "float",
        "pages_per_day": "float",
        "tasks": "list[str]",
        "write_amplification": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "anywhere": "ExpectedAnswer",
        "in_rings": "ExpectedAnswer",
        "with_jobs": "WearAnswer",
    }

    anywhere: ExpectedAnswer | None
    """An estimate of its tasks where each overwrites any of its pages; null where none writes."""
    chips: list[int]
    """Its chips, ascending."""
    erases_per_chip_per_day: float
    """Block erases a day and chip that this makes, if all blocks of a cluster are worn evenly: in
    a stripe, addresses may spread wear unevenly.
    """
    gc_pages_per_day: float
    """Pages that garbage collection copies a day, at most."""
    in_rings: ExpectedAnswer | None
    """An estimate of its tasks where each overwrites its data in order, round and round; null
    where none writes.
    """
    lifetime_years: float | None
    """Years of 365.25 days until blocks have been erased as often as they endure, all blocks of a
    cluster being worn evenly; null where the device has no `erase_cycles`, or nothing is
    written.
    """
    pages_per_day: float
    """Pages written a day."""
    tasks: list[str]
    """The names of its tasks, in the order of the task set."""
    with_jobs: WearAnswer | None
    """The wear by its tasks and by its part of the jobs that are not real-time; null if it serves
    none.
    """
    write_amplification: float | None
    """Pages programmed for each page written, at most: 1 + v/α by the certificate of a sound
    analysis, 1 + ⌈λP⌉/α under the others; null where nothing is ever written.
    """


class ClusterLine(Record):
    """A cluster in an `ExecAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "chips",
        "gc_passes",
        "non_rt_pages_per_s",
        "pages_copied",
        "pages_trimmed",
        "pages_written",
        "tasks",
        "use",
        "wear",
        "write_amplification",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "chips": "list[int]",
        "gc_passes": "int",
        "non_rt_pages_per_s": "float",
        "pages_copied": "int",
        "pages_trimmed": "int",
        "pages_written": "int",
        "tasks": "list[str]",
        "use": "float",
        "write_amplification": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "wear": "WearLine",
    }

    chips: list[int]
    """Its chips."""
    gc_passes: int
    """GC passes."""
    non_rt_pages_per_s: float
    """Pages a second that were read and written for jobs that are not real-time."""
    pages_copied: int
    """Pages that GC copied."""
    pages_trimmed: int | None
    """Pages that tasks trimmed, each time that one was; left out where none was."""
    pages_written: int
    """Pages that tasks and jobs wrote."""
    tasks: list[str]
    """The names of its tasks."""
    use: float
    """The mean share of time in which its chips were occupied."""
    wear: WearLine | None
    """The chip of the cluster that was erased most often."""
    write_amplification: float | None
    """Pages programmed over pages written; null where none was."""


class ClusterTerms(Record):
    """The terms of one cluster."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "blocking",
        "certificate",
        "chips",
        "complaints",
        "costs",
        "data",
        "demand_share",
        "in_time",
        "min_period_ns",
        "notes",
        "page_delay_ns",
        "relies_on",
        "rests_on",
        "schedulable",
        "scheme",
        "server_utilization",
        "tasks",
        "utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "blocking": "float",
        "chips": "list[int]",
        "complaints": "list[str]",
        "demand_share": "float",
        "in_time": "bool",
        "min_period_ns": "float",
        "notes": "list[str]",
        "page_delay_ns": "int",
        "relies_on": "str",
        "schedulable": "bool",
        "server_utilization": "float",
        "utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "certificate": "CertificateAnswer",
        "costs": "UnitCosts",
        "data": "DataAnswer",
        "rests_on": "Ground",
        "scheme": "Scheme",
        "tasks": "TaskTerms",
    }

    blocking: float
    """t_e / min(T)."""
    certificate: CertificateAnswer | None
    """The certificate of a sound analysis, its tightest interval as it is."""
    chips: list[int]
    """Its chips."""
    complaints: list[str] | None
    """Under a sound analysis what `check` has against the verdict."""
    costs: UnitCosts | None
    """Under a certificate: c_r and c_w, the charge of a page that is read or programmed (a row, in
    a superblock), and C_g, the longest time of a GC pass.
    """
    data: DataAnswer | None
    """If tasks of the cluster declare their data: these beside its logical pages."""
    demand_share: float | None
    """Under a certificate: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L."""
    in_time: bool | None
    """Whether its test of time passes, exactly, whatever space the data take: U ≤ 1, or what its
    certificate says. Null if that is not decided.
    """
    min_period_ns: float | None
    """min(T); null without tasks."""
    notes: list[str] | None
    """Statements that are wrong, and of no consequence for the verdict."""
    page_delay_ns: int | None
    """D(s): transfer delay of a page, Eqs. (IV.5) and (IV.6); null under an analysis that does not
    have it.
    """
    relies_on: str | None
    """Under a certificate that passes its test of time: its reliance, as `check` says it."""
    rests_on: list[Ground] | None
    """Under a certificate that holds: the grounds of each step, in the order of the argument."""
    schedulable: bool | None
    """Whether it passes, exactly, as `check` says it: in time, and the declared data fit. Null if
    that is not decided.
    """
    scheme: Scheme | None
    """Under one of the field's own schemes (docs/baselines.md): its terms."""
    server_utilization: float
    """U_s, Eq. (IV.10); 0 where U is above 1."""
    tasks: list[TaskTerms]
    """Its tasks, by the equations of the thesis; empty under another analysis."""
    utilization: float
    """U, Eq. (IV.9). Under a certificate it equals `demand_share`, which is no utilization."""


class ContenderSummary(Record):
    """The share that a contender schedules."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "algorithm",
        "analysis",
        "at",
        "of_possible",
        "ratio",
        "schedulable",
        "sets",
        "weighted",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "algorithm": "str",
        "analysis": "str",
        "at": "str",
        "of_possible": "float",
        "schedulable": "int",
        "sets": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "ratio": "Interval",
        "weighted": "Interval",
    }

    algorithm: str
    """The algorithm."""
    analysis: str
    """The analysis."""
    at: str | None
    """The value of the sweep; absent for all together. Times in the table's unit, nanoseconds."""
    of_possible: float | None
    """Its reach over that of the necessary tests: sets that it schedules, of those that may have
    an allocation at all; absent where these are no contender, and of an analysis that promises
    nothing. For `zoned`, the share over that of `necessary-with-zones`, the tests that hold
    there.
    """
    ratio: Interval | None
    """Their ratio; null of no sets."""
    schedulable: int
    """Sets that it schedules."""
    sets: int
    """Sets of which it can tell."""
    weighted: Interval | None
    """Weighted schedulability: the ratios at all utilizations, weighted by utilization."""


class CostAnswer(Record):
    """The cost of an allocation, in a `SizeAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "anywhere",
        "chips",
        "clusters",
        "erases_per_chip_per_day",
        "gc_pages_per_day",
        "in_rings",
        "jobs_left_out",
        "lifetime_years",
        "pages_per_day",
        "with_jobs",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "chips": "int",
        "erases_per_chip_per_day": "float",
        "gc_pages_per_day": "float",
        "jobs_left_out": "list[str]",
        "lifetime_years": "float",
        "pages_per_day": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "anywhere": "ExpectedAnswer",
        "clusters": "ClusterCostAnswer",
        "in_rings": "ExpectedAnswer",
        "with_jobs": "WearAnswer",
    }

    anywhere: ExpectedAnswer | None
    """An estimate where each task overwrites any of its pages; null where none writes."""
    chips: int
    """Chips that the allocation is for: the device's, or the fewest where the set fails on them.
    """
    clusters: list[ClusterCostAnswer]
    """The clusters, in order."""
    erases_per_chip_per_day: float
    """Block erases a day and chip that this makes, if all blocks of a cluster are worn evenly: in
    a stripe, addresses may spread wear unevenly.
    """
    gc_pages_per_day: float
    """Pages that garbage collection copies a day, at most."""
    in_rings: ExpectedAnswer | None
    """An estimate of the real-time tasks where each overwrites its data in order, round and round
    (docs/lifetime.md says how far off it was); null where none writes.
    """
    jobs_left_out: list[str]
    """Names of jobs that write and are left out: they arrive at single times and have no rate."""
    lifetime_years: float | None
    """Years of 365.25 days until blocks have been erased as often as they endure, all blocks of a
    cluster being worn evenly; null where the device has no `erase_cycles`, or nothing is
    written.
    """
    pages_per_day: float
    """Pages written a day."""
    with_jobs: WearAnswer | None
    """The whole device with jobs that are not real-time, too, their pages spread evenly over the
    chips of clusters with a server, as if all of them could be served; null where none writes
    at a known rate, or no cluster serves them.
    """


class DataAnswer(Record):
    """The data of tasks beside the logical pages that there are for them, in an answer."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "data_bytes",
        "data_pages",
        "fits",
        "logical_bytes",
        "logical_pages",
        "needed_bytes",
        "needed_pages",
        "tasks",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "data_bytes": "int",
        "data_pages": "int",
        "fits": "bool",
        "logical_bytes": "int",
        "logical_pages": "int",
        "needed_bytes": "int",
        "needed_pages": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "tasks": "TaskDataAnswer",
    }

    data_bytes: int
    """`data_pages` in bytes."""
    data_pages: int
    """Pages of data: what each task declares, and one for each task beside them that declares
    nothing.
    """
    fits: bool
    """Whether they fit: `needed_pages` ≤ `logical_pages`."""
    logical_bytes: int
    """`logical_pages` in bytes."""
    logical_pages: int
    """Logical pages of the cluster, or of the device."""
    needed_bytes: int
    """`needed_pages` in bytes."""
    needed_pages: int
    """Logical pages that they take: as many, or in a stripe each task's rounded up to whole rows
    of its chips.
    """
    tasks: list[TaskDataAnswer] | None
    """The tasks that declare their data."""


class ExecAnswer(Answer):
    """The answer of `rtflash exec --format json` for one task set, on one line."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "aging",
        "algorithm",
        "analysis",
        "arbitration",
        "arrivals",
        "backfill",
        "channels",
        "checks",
        "chips",
        "clusters",
        "disobeys",
        "dispatch",
        "duration_ns",
        "faults",
        "gc",
        "guarantee",
        "jobs",
        "meta",
        "non_rt_pages_per_s",
        "note",
        "notes",
        "operations",
        "pattern",
        "phases",
        "police",
        "predicted_schedulable",
        "reason",
        "releases",
        "relies_on",
        "requests",
        "seed",
        "server",
        "stopped_before_ns",
        "theorem",
        "ties",
        "times",
        "trims",
        "verdict",
        "victims",
        "waits",
        "wear",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "aging": "str",
        "algorithm": "str",
        "analysis": "str",
        "arbitration": "str",
        "arrivals": "str",
        "backfill": "bool",
        "disobeys": "str",
        "dispatch": "str",
        "duration_ns": "int",
        "faults": "int",
        "non_rt_pages_per_s": "float",
        "note": "str",
        "notes": "list[str]",
        "pattern": "str",
        "phases": "str",
        "police": "bool",
        "predicted_schedulable": "bool",
        "reason": "str",
        "releases": "bool",
        "relies_on": "str",
        "seed": "int",
        "server": "str",
        "stopped_before_ns": "int",
        "ties": "str",
        "times": "str",
        "trims": "list[str]",
        "verdict": "str",
        "victims": "str",
        "waits": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "channels": "ChannelLine",
        "checks": "CheckLine",
        "chips": "ChipLine",
        "clusters": "ClusterLine",
        "gc": "JobsLine",
        "guarantee": "Verdict",
        "jobs": "JobsLine",
        "operations": "OperationCounts",
        "requests": "JobsLine",
        "theorem": "Verdict",
        "wear": "WearLine",
    }

    aging: str | None
    """`worst`, `random` or `fresh`."""
    algorithm: str | None
    """The algorithm that divided the chips; null for an allocation that was given."""
    analysis: str
    """The analysis whose costs, delays, periods and shares were obeyed."""
    arbitration: str | None
    """`round-robin` where the bus is not first come, first served; else left out."""
    arrivals: str | None
    """`sporadic` where requests come later than a period after each other; else left out."""
    backfill: bool | None
    """Whether idle chips of a superblock take pages of other requests, with certificates."""
    channels: list[ChannelLine]
    """The channels, in order."""
    checks: list[CheckLine]
    """The finding of every checker."""
    chips: list[ChipLine]
    """The chips, in order."""
    clusters: list[ClusterLine]
    """The clusters, in order."""
    disobeys: str | None
    """The part of that reliance that the run does not obey, if any: its late requests break no
    promise.
    """
    dispatch: str
    """`serial` or `parallel`."""
    duration_ns: int
    """How long, in simulated time."""
    faults: int | None
    """Failures in a thousand programs and erases that can fail; left out if none do."""
    gc: list[JobsLine]
    """GC jobs."""
    guarantee: Verdict
    """Whether every deadline is guaranteed on the device: with the clusters printed here (`yes`),
    or `with other clusters`.
    """
    jobs: list[JobsLine]
    """Jobs that are not real-time."""
    meta: Any
    """The task set's own `meta`, as it was written."""
    non_rt_pages_per_s: float
    """Pages a second that were read and written for jobs that are not real-time."""
    note: str | None
    """For a drive whose firmware is fixed: which command bounds what such a drive does."""
    notes: list[str] | None
    """Notes for the reader: on jobs that get nothing, erases that are not suspended, and the trace
    of a run that was stopped.
    """
    operations: OperationCounts
    """All operations that were begun."""
    pattern: str | None
    """`uniform`, `sequential`, `hot-cold` or `one-chip`."""
    phases: str | None
    """`periodic`, `at-erases`, `random` or `file`: when the first requests are released."""
    police: bool | None
    """True where requests that come early are held, and larger ones cut; else left out."""
    predicted_schedulable: bool | None
    """Whether the analysis accepts the allocation."""
    reason: str | None
    """Why nothing could be run; or what the allocation relies on beyond what was granted, which
    makes the exit status 1.
    """
    releases: bool | None
    """True where `--releases` states releases, which goes before `phases`, `arrivals` and `times`;
    else left out.
    """
    relies_on: str | None
    """The reliance of clusters with certificates that hold: `nothing`, `neighbours` or `queue`."""
    requests: list[JobsLine]
    """Real-time reads and writes."""
    seed: int | None
    """The seed of the randomness."""
    server: str | None
    """`tbs` or `background`."""
    stopped_before_ns: int | None
    """How long it was to be, where a signal ended it early; else left out."""
    theorem: Verdict
    """The verdict of Theorem 1 (Kim 2021) on the set: `not asked` if another analysis than
    `thesis` or `thesis-evaluated` was asked for.
    """
    ties: str | None
    """`highest` or `random` where ties are not broken as usual; else left out."""
    times: str | None
    """`worst`, `best` or `random`: how long operations take where the device states ranges."""
    trims: list[str] | None
    """The trims of tasks, as `--trim` says it; left out if nothing is trimmed."""
    verdict: str | None
    """"pass" where no check fails, "fail" where one does, null where nothing could be run."""
    victims: str | None
    """`actual` or `worst`."""
    waits: str | None
    """`actual` or `worst`: what a page waits for its bus, with certificates."""
    wear: WearLine | None
    """The chip of the device that was erased most often; null where nothing was run."""


class ExpectedAnswer(Record):
    """An estimate for the long run, from the least (a start in order, data that are never
    overwritten in blocks of their own) to the most (a start with strewn data, as `exec` begins
    by default).
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "erases_per_chip_per_day",
        "lifetime_years",
        "write_amplification",
        "write_amplification_in_order",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "write_amplification_in_order": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "erases_per_chip_per_day": "Range",
        "lifetime_years": "Range",
        "write_amplification": "Range",
    }

    erases_per_chip_per_day: Range
    """Block erases a day and chip; of the device, of the chip with most."""
    lifetime_years: Range | None
    """Years of 365.25 days until blocks have been erased as often as they endure, all blocks of a
    cluster being worn evenly; null where the device has no `erase_cycles`.
    """
    write_amplification: Range
    """Pages programmed for each page written."""
    write_amplification_in_order: float
    """The most of them from a start in order (`--aging fresh`)."""


class ExperimentAnswer(Answer):
    """`summary.json`: what an experiment comes to. Intervals are of 95 %."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "bandwidth",
        "contenders",
        "exhausted",
        "experiment",
        "gains",
        "not_run",
        "points",
        "sets",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "exhausted": "int",
        "experiment": "str",
        "not_run": "int",
        "points": "int",
        "sets": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "bandwidth": "BandwidthSummary",
        "contenders": "ContenderSummary",
        "gains": "GainSummary",
    }

    bandwidth: list[BandwidthSummary] | None
    """Bandwidth of jobs that are not real-time."""
    contenders: list[ContenderSummary]
    """The share that each contender schedules; with a sweep, at each value of it and at all
    together.
    """
    exhausted: int
    """Sets that could not be drawn."""
    experiment: str
    """`schedulability`, `write-heavy` or `bandwidth`."""
    gains: list[GainSummary]
    """How each pair of contenders that are given the same sets differs on them, at all points
    together; without `necessary`, which schedules nothing.
    """
    not_run: int
    """Sets that every contender schedules and the executor cannot run."""
    points: int
    """Points: utilizations times values of the sweep."""
    sets: int
    """Sets drawn, at all points together."""


class ExplainAnswer(Answer):
    """The terms of one task set, on one line."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "analysis",
        "assumes",
        "block_erase_ns",
        "clusters",
        "command_ns",
        "data",
        "gc_pass_ns",
        "guarantee",
        "meta",
        "note",
        "page_program_ns",
        "page_read_ns",
        "page_transfer_ns",
        "reason",
        "reclaimed_per_chip",
        "schedulable",
        "theorem",
        "transfer_included",
        "valid_pages_bound",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "analysis": "str",
        "block_erase_ns": "int",
        "command_ns": "int",
        "gc_pass_ns": "int",
        "note": "str",
        "page_program_ns": "int",
        "page_read_ns": "int",
        "page_transfer_ns": "int",
        "reason": "str",
        "reclaimed_per_chip": "int",
        "schedulable": "bool",
        "transfer_included": "bool",
        "valid_pages_bound": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "assumes": "AssumptionText",
        "clusters": "ClusterTerms",
        "data": "DataAnswer",
        "guarantee": "Verdict",
        "theorem": "Verdict",
    }

    analysis: str
    """The analysis."""
    assumes: list[AssumptionText] | None
    """The assumptions of the analysis."""
    block_erase_ns: int | None
    """t_e."""
    clusters: list[ClusterTerms] | None
    """The clusters, in order."""
    command_ns: int | None
    """t_c: the time that the commands of an operation hold the bus; 0 where they are not counted.
    """
    data: DataAnswer | None
    """If tasks declare their data: those of all tasks beside the logical pages of the whole
    device. That they fit there does not say that they fit the clusters.
    """
    gc_pass_ns: int | None
    """C^g, Eq. (IV.3)."""
    guarantee: Verdict
    """Whether every deadline is guaranteed on the device: with the clusters printed here (`yes`),
    or `with other clusters`.
    """
    meta: Any
    """The task set's own `meta`, as it was written."""
    note: str | None
    """For a drive whose firmware is fixed: which command bounds what such a drive does."""
    page_program_ns: int | None
    """t_w."""
    page_read_ns: int | None
    """t_r. Under the thesis's analyses a page's transfer is in it, and in t_w; under the sound
    ones it comes on top. If the device says what its times contain, this is the time with the
    transfer under the ones, and without it under the others; `gc_pass_ns` has the latter.
    """
    page_transfer_ns: int | None
    """t_d."""
    reason: str | None
    """Why an allocation that would hold is refused: it relies on more than was granted, and the
    flag that would do is named.
    """
    reclaimed_per_chip: int | None
    """α: pages that a GC pass frees on a chip, at least."""
    schedulable: bool | None
    """Whether every cluster passes, and the declared data fit, as `check` says it; false where
    there is no allocation, null if that is not decided.
    """
    theorem: Verdict
    """The verdict of Theorem 1 (Kim 2021) on the set: `not asked` if another analysis than
    `thesis` or `thesis-evaluated` was asked for.
    """
    transfer_included: bool | None
    """Whether t_r and t_w contain the transfer under this analysis."""
    valid_pages_bound: int | None
    """⌈λP⌉: valid pages of a victim block, at most; null, as the next two, under a sound analysis,
    which has a bound for each cluster.
    """


class FrontAnswer(Record):
    """A Pareto front, in a `SizeAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "complete",
        "over",
        "points",
        "resolution",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "complete": "bool",
        "over": "list[str]",
        "resolution": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "points": "FrontPointAnswer",
    }

    complete: bool
    """Whether every number of chips up to the front's end was tried; false if that takes too long.
    """
    over: list[str]
    """The axes of the front: `chips`, `channels`, `logical_ratio`, `algorithm`."""
    points: list[FrontPointAnswer]
    """Its points: chips ascending, then channels."""
    resolution: float
    """The steps of λ that were tried: 0.001, or coarser ones if these would take too long."""


class FrontPointAnswer(Record):
    """A device on which the set passes, in a front."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "algorithm",
        "channels",
        "chips",
        "logical_ratio",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "algorithm": "str",
        "channels": "int",
        "chips": "int",
        "logical_ratio": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    algorithm: str
    """The algorithm that finds an allocation."""
    channels: int
    """Its channels."""
    chips: int
    """Its chips."""
    logical_ratio: float
    """Its λ: the largest step that passes there, or the device's own."""


class GainSummary(Record):
    """How two contenders differ on the sets of which both can tell."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "algorithm",
        "analysis",
        "both",
        "first_only",
        "gain",
        "neither",
        "over_algorithm",
        "over_analysis",
        "second_only",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "algorithm": "str",
        "analysis": "str",
        "both": "int",
        "first_only": "int",
        "neither": "int",
        "over_algorithm": "str",
        "over_analysis": "str",
        "second_only": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "gain": "Interval",
    }

    algorithm: str
    """The first algorithm."""
    analysis: str
    """Its analysis."""
    both: int
    """Sets that both schedule."""
    first_only: int
    """Sets that only the first schedules."""
    gain: Interval | None
    """How many times as many sets the first schedules, less one: 0.43 is 43 % more. Null where the
    second schedules none.
    """
    neither: int
    """Sets that neither schedules."""
    over_algorithm: str
    """The second algorithm."""
    over_analysis: str
    """Its analysis."""
    second_only: int
    """Sets that only the second schedules."""


class GcAnswer(Record):
    """A GC task in a `ClusterAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "cost_ns",
        "period_ns",
        "task",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "cost_ns": "int",
        "period_ns": "float",
        "task": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    cost_ns: int
    """C^g, Eq. (IV.3)."""
    period_ns: float
    """T^g, Eq. (IV.4)."""
    task: str
    """The writing task."""


class GcTerms(Record):
    """The terms of a GC task."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "cost_ns",
        "period_ns",
        "utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "cost_ns": "int",
        "period_ns": "float",
        "utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    cost_ns: int
    """C^g, Eq. (IV.3)."""
    period_ns: float
    """T^g, Eq. (IV.4)."""
    utilization: float
    """C^g / T^g."""


class Ground(Record):
    """The grounds of a step of a promise."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "claim",
        "machine_checked",
        "proof",
        "theorem",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "claim": "str",
        "machine_checked": "bool",
        "theorem": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "proof": "Proof",
    }

    claim: str
    """Its statement."""
    machine_checked: bool
    """Whether a machine has checked the proof."""
    proof: Proof | None
    """The theorem that the machine has checked, and its file in proofs/."""
    theorem: str
    """The place in docs/analysis.md that proves it."""


class HostAnswer(Answer):
    """The answer of `rtflash host run --format json` for each scheduler, a line each."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "assumptions",
        "jobs",
        "queues",
        "scheduler",
        "stands_for",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "scheduler": "str",
        "stands_for": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "assumptions": "HostAssumption",
        "jobs": "HostJob",
        "queues": "HostQueues",
    }

    assumptions: list[HostAssumption]
    """The assumptions of `host bound`, as they were seen in the run."""
    jobs: list[HostJob]
    """The jobs, in the scenario's order."""
    queues: HostQueues
    """The lengths of the queues, from the warm-up to the duration."""
    scheduler: str
    """The scheduler."""
    stands_for: str | None
    """Parameters of a kernel's scheduler of this name that are fixed here, with their values; null
    where there are none.
    """


class HostAssumption(Record):
    """Something that bounds suppose, in a `HostAnswer`: docs/host.md has the list."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "broken_at_ns",
        "holds",
        "name",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "broken_at_ns": "int",
        "holds": "bool",
        "name": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    broken_at_ns: int | None
    """When it first did not, in nanoseconds; null where it held."""
    holds: bool | None
    """Whether it held; null where there was nothing to be looked at."""
    name: str
    """Its name."""


class HostJob(Record):
    """A job in a `HostAnswer`: its I/Os that ended from the warm-up to the duration, both
    included. Latencies, from release to the end of the last request, are in nanoseconds; null
    where no I/O counts.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "bytes_per_s",
        "completed",
        "deadline_ns",
        "iops",
        "late",
        "max_ns",
        "mean_ns",
        "name",
        "oldest_open_ns",
        "open",
        "p50_ns",
        "p9999_ns",
        "p999_ns",
        "p99_ns",
        "steps",
        "sum_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "bytes_per_s": "int",
        "completed": "int",
        "deadline_ns": "int",
        "iops": "float",
        "late": "int",
        "max_ns": "int",
        "mean_ns": "int",
        "name": "str",
        "oldest_open_ns": "int",
        "open": "int",
        "p50_ns": "int",
        "p9999_ns": "int",
        "p999_ns": "int",
        "p99_ns": "int",
        "sum_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "steps": "HostStep",
    }

    bytes_per_s: int
    """Bytes of these I/Os for each second of the job's time between warm-up and duration, rounded
    down.
    """
    completed: int
    """I/Os that count."""
    deadline_ns: int | None
    """The job's `deadline`, in nanoseconds; null if the scenario states none."""
    iops: float
    """These I/Os for each second of the job's time between warm-up and duration."""
    late: int | None
    """I/Os that took longer than the deadline, and open ones that are older; null without a
    deadline.
    """
    max_ns: int | None
    """The longest."""
    mean_ns: int | None
    """Their mean latency, rounded down."""
    name: str
    """Its name."""
    oldest_open_ns: int | None
    """How long before the end the first of them was released, in nanoseconds; null where there are
    none.
    """
    open: int
    """I/Os that have not ended at the end of the run."""
    p50_ns: int | None
    """The least latency that half of them do not exceed."""
    p9999_ns: int | None
    """The least latency that 99.99 % of them do not exceed."""
    p999_ns: int | None
    """The least latency that 99.9 % of them do not exceed."""
    p99_ns: int | None
    """The least latency that 99 % of them do not exceed."""
    steps: list[HostStep] | None
    """The steps of a chain, in order, or the flushes of a job with `fsync`; null for other jobs.
    The I/Os of a chain's job are chains, from their begin to the end of their last step.
    """
    sum_ns: int
    """All together."""


class HostQueue(Record):
    """A queue in `HostQueues`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "max",
        "mean",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "max": "int",
        "mean": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    max: int
    """The longest that it was for any time at all."""
    mean: float
    """Its mean length over time."""


class HostQueues(Record):
    """Queues in a `HostAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "inside",
        "waiting",
    })
    _kinds: ClassVar[dict[str, str]] = {}
    _records: ClassVar[dict[str, str]] = {
        "inside": "HostQueue",
        "waiting": "HostQueue",
    }

    inside: HostQueue
    """Requests and pieces that the device has."""
    waiting: HostQueue
    """Requests and pieces that wait at the scheduler."""


class HostStep(Record):
    """A step of a `HostJob`: each of its I/Os from its own release on. Latencies are in
    nanoseconds; null where no I/O counts.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "completed",
        "max_ns",
        "mean_ns",
        "op",
        "p50_ns",
        "p9999_ns",
        "p999_ns",
        "p99_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "completed": "int",
        "max_ns": "int",
        "mean_ns": "int",
        "op": "str",
        "p50_ns": "int",
        "p9999_ns": "int",
        "p999_ns": "int",
        "p99_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    completed: int
    """I/Os that count."""
    max_ns: int | None
    """The longest."""
    mean_ns: int | None
    """Their mean latency, rounded down."""
    op: str
    """Its operation."""
    p50_ns: int | None
    """The least latency that half of them do not exceed."""
    p9999_ns: int | None
    """The least latency that 99.99 % of them do not exceed."""
    p999_ns: int | None
    """The least latency that 99.9 % of them do not exceed."""
    p99_ns: int | None
    """The least latency that 99 % of them do not exceed."""


class ImpossibleAnswer(Record):
    """A proof that no allocation meets every deadline (docs/analysis.md, Section 12), in an
    answer.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "available_ns",
        "data_pages",
        "demand_ns",
        "gc_load",
        "if_full",
        "interval_ns",
        "load",
        "logical_pages",
        "of",
        "pages_on_one_chip",
        "reason",
        "request",
        "request_ns",
        "request_pages",
        "task",
        "window_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "available_ns": "int",
        "data_pages": "int",
        "demand_ns": "int",
        "gc_load": "float",
        "if_full": "bool",
        "interval_ns": "int",
        "load": "float",
        "logical_pages": "int",
        "of": "str",
        "pages_on_one_chip": "int",
        "reason": "str",
        "request": "str",
        "request_ns": "int",
        "request_pages": "int",
        "task": "str",
        "window_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    available_ns: int | None
    """`window`: what all of them can do in it."""
    data_pages: int | None
    """`data`: pages that tasks declare."""
    demand_ns: int | None
    """`window`: the work in it, of all channels or chips together."""
    gc_load: float | None
    """`chips`: the part of the load that is garbage collection."""
    if_full: bool | None
    """`request`, `chips`: whether it supposes that all logical pages are in use, as no task
    declares `data_pages`.
    """
    interval_ns: int | None
    """`window`: the length of the interval."""
    load: float | None
    """`bus`, `chips`: the share of its time that each channel, or chip, would have to be busy, on
    average. Above 1.
    """
    logical_pages: int | None
    """`data`: logical pages of the device."""
    of: str | None
    """`window`: `bus` or `chips`."""
    pages_on_one_chip: int | None
    """`request`: those that one chip may have to serve."""
    reason: str
    """Why: `data`, more is declared than the device has logical pages; `request`, one request
    takes longer than it has; `bus` or `chips`, the channels or chips would have to be busy for
    more than all of their time; `window`, in an interval more is due than all of them can do.
    """
    request: str | None
    """`request`: `read` or `write`."""
    request_ns: int | None
    """`request`: the least time that it takes, on all chips and by itself."""
    request_pages: int | None
    """`request`: its pages."""
    task: str | None
    """`request`: the task."""
    window_ns: int | None
    """`request`: the least time from its release to its deadline, which is shorter."""


class Interval(Record):
    """An estimate with its interval."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "ci_high",
        "ci_low",
        "value",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "ci_high": "float",
        "ci_low": "float",
        "value": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    ci_high: float | None
    """The upper end; null where there is none."""
    ci_low: float | None
    """The lower end."""
    value: float
    """The estimate."""


class JobBound(Record):
    """A real-time job in a `BoundAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "bound_ns",
        "deadline_ns",
        "in_time",
        "name",
        "rule",
        "steps",
        "terms",
        "why",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "bound_ns": "int",
        "deadline_ns": "int",
        "in_time": "bool",
        "name": "str",
        "rule": "str",
        "why": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "steps": "StepLatency",
        "terms": "BoundTerms",
    }

    bound_ns: int | None
    """No I/O of it takes longer, from its release to the end of its last request, in nanoseconds;
    null where there is no bound.
    """
    deadline_ns: int | None
    """The job's `deadline`, in nanoseconds; null if the scenario states none."""
    in_time: bool | None
    """Whether the bound is within the deadline; null without a bound or a deadline."""
    name: str
    """Its name."""
    rule: str
    """The rule of docs/host.md by which a bound was looked for."""
    steps: list[StepLatency] | None
    """Bounds of the steps of a chain with I/Os; null for a job without `steps`, or without a
    bound. The bound above is one of the whole chain, and can be less than their sum.
    """
    terms: BoundTerms | None
    """The terms of the bound; null if there is none."""
    why: str | None
    """Why there is no bound; null where there is one."""


class JobsLine(Record):
    """The jobs of one source."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "completed",
        "deadline_ns",
        "job",
        "kind",
        "max_response_ns",
        "misses",
        "not_taken",
        "overdue",
        "p50_ns",
        "p999_ns",
        "p99_ns",
        "pending",
        "released",
        "task",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "completed": "int",
        "deadline_ns": "float",
        "job": "str",
        "kind": "str",
        "max_response_ns": "int",
        "misses": "int",
        "overdue": "int",
        "p50_ns": "int",
        "p999_ns": "int",
        "p99_ns": "int",
        "pending": "int",
        "released": "int",
        "task": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "not_taken": "NotTaken",
    }

    completed: int
    """Jobs complete."""
    deadline_ns: float | None
    """The relative deadline; null for jobs that are not real-time: each has its own, or none."""
    job: str | None
    """The stream's name, for jobs that are not real-time."""
    kind: str
    """`read`, `write`, `gc` or `server`."""
    max_response_ns: int | None
    """The longest response time; null where no job is complete."""
    misses: int
    """Complete jobs that were late."""
    not_taken: NotTaken | None
    """Pending jobs that found the queue full; absent where there is none."""
    overdue: int
    """Pending jobs that are late."""
    p50_ns: int | None
    """Half of all response times are not longer."""
    p999_ns: int | None
    """999 of 1000 are not longer."""
    p99_ns: int | None
    """99 of 100 are not longer."""
    pending: int
    """Jobs released and not complete."""
    released: int
    """Jobs released."""
    task: str
    """The task's name; for jobs that are not real-time, the stream's."""


class LoadAnswer(Record):
    """The load, in a `SizeAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "largest_factor",
        "reason",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "largest_factor": "float",
        "reason": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    largest_factor: float | None
    """A factor that all periods can be divided by, in steps of 0.001, the next of which fails:
    above 1 where there is room, below where the set fails. Found by bisection; 1000 at most.
    """
    reason: str | None
    """Why there is none."""


class NotTaken(Record):
    """Jobs of a stream that outgrows its server."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "jobs",
        "since_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "jobs": "int",
        "since_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    jobs: int
    """How many found the queue full."""
    since_ns: int
    """When the first of them came."""


class OperationCounts(Record):
    """Operations that were begun."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "erases",
        "programs",
        "reads",
        "transfers",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "erases": "int",
        "programs": "int",
        "reads": "int",
        "transfers": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    erases: int
    """Blocks erased."""
    programs: int
    """Pages programmed, GC included."""
    reads: int
    """Pages read, GC included."""
    transfers: int
    """Pages moved over buses."""


class Proof(Record):
    """The place of a proof that a machine has checked."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "file",
        "name",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "file": "str",
        "name": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    file: str
    """Its file in proofs/."""
    name: str
    """The theorem's name."""


class Range(Record):
    """From the least to the most."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "least",
        "most",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "least": "float",
        "most": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    least: float
    """The least."""
    most: float
    """The most."""


class RatioAnswer(Record):
    """λ, in a `SizeAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "largest",
        "now",
        "reason",
        "resolution",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "largest": "float",
        "now": "float",
        "reason": "str",
        "resolution": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    largest: float | None
    """The largest that passes, or the device's own: every larger step of the resolution was tried
    and fails.
    """
    now: float
    """That of the device."""
    reason: str | None
    """Why there is none."""
    resolution: float
    """The steps that were tried: 0.001, or coarser ones if these would take too long."""


class RequestAnswer(Record):
    """A request, in a `TaskAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "more_pages",
        "pages",
        "period_ns",
        "reason",
        "shortest_period_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "more_pages": "int",
        "pages": "int",
        "period_ns": "int",
        "reason": "str",
        "shortest_period_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    more_pages: int | None
    """How many more pages pass, while one more fails; below zero where the set fails as it is.
    Found by bisection.
    """
    pages: int
    """Its pages."""
    period_ns: int
    """Its period."""
    reason: str | None
    """Why there is no such number of pages, or no such period."""
    shortest_period_ns: int | None
    """A period that passes, the next below which fails: its own, or one of four significant
    digits; above its own where the set fails as it is, up to a thousand times. Found by
    bisection.
    """


class RequestTimeAnswer(Record):
    """A time of one request, in an `AdviceAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "kind",
        "task",
        "time_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "kind": "str",
        "task": "str",
        "time_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    kind: str
    """`read` or `write`."""
    task: str
    """The name of its task."""
    time_ns: int
    """The time."""


class Scheme(Record):
    """The sums of a scheme in a cluster, each with its limit."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "rooms",
        "terms",
    })
    _kinds: ClassVar[dict[str, str]] = {}
    _records: ClassVar[dict[str, str]] = {
        "rooms": "SchemeRoom",
        "terms": "SchemeTerm",
    }

    rooms: list[SchemeRoom]
    """The quantities that have to fit, or to be in time."""
    terms: list[SchemeTerm]
    """The terms, whose sum is at most one in a cluster that is in time."""


class SchemeRoom(Record):
    """Pages that have to go somewhere, or a response that has to be in time."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "fits",
        "needed",
        "there",
        "unit",
        "what",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "fits": "bool",
        "needed": "int",
        "there": "int",
        "unit": "str",
        "what": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    fits: bool
    """Whether they fit."""
    needed: int
    """The number that has to fit."""
    there: int
    """The room for them."""
    unit: str
    """The unit: `pages` or `ns`."""
    what: str
    """Which pages, or whose response."""


class SchemeTerm(Record):
    """A term: times · cost / period."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "cost_ns",
        "period_ns",
        "task",
        "term",
        "times",
        "utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "cost_ns": "float",
        "period_ns": "float",
        "task": "str",
        "term": "str",
        "times": "int",
        "utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    cost_ns: float
    """The cost of each of them."""
    period_ns: float
    """In this time."""
    task: str | None
    """Whose it is; null of blocking."""
    term: str
    """The kind of work: `read`, `write`, `gc` or `blocking`."""
    times: int
    """Pages, or passes."""
    utilization: float
    """times · cost / period."""


class ServedByAnswer(Record):
    """A task with requests that take longer than they have, in an `AdviceAnswer`: changes with
    each of which it passes alone on the device.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "deadlines",
        "kinds",
        "longest_erase_suspend_ns",
        "periods",
        "task",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "kinds": "list[str]",
        "longest_erase_suspend_ns": "int",
        "task": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "deadlines": "RequestTimeAnswer",
        "periods": "RequestTimeAnswer",
    }

    deadlines: list[RequestTimeAnswer]
    """Later relative deadlines of those requests, together: the first steps with which it passes.
    Empty if none up to their periods do.
    """
    kinds: list[str]
    """Those requests: `read`, `write`."""
    longest_erase_suspend_ns: int | None
    """An `erase_suspend` and `erase_resume` of the device, equally long, with which it passes: the
    longest step; null where these do not help, or the device states them.
    """
    periods: list[RequestTimeAnswer] | None
    """If no such deadlines are found: longer periods of those requests, which are the deadlines
    too, together: the first steps with which it passes, up to 16 times their own.
    """
    task: str
    """Its name."""


class SizeAnswer(Answer):
    """The answer of `rtflash size --format json` for one task set, on one line.

    Every limit was found by allocating again: it passes, and the next step beyond it fails. If
    not every step was tried, the limit was found by bisection, and a step further out can pass
    again.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "algorithm",
        "analysis",
        "chips",
        "cost",
        "data",
        "front",
        "guarantee",
        "impossible",
        "load",
        "logical_ratio",
        "meta",
        "note",
        "reason",
        "schedulable",
        "tasks",
        "theorem",
        "unplaced",
        "with_spread",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "algorithm": "str",
        "analysis": "str",
        "note": "str",
        "reason": "str",
        "schedulable": "bool",
    }
    _records: ClassVar[dict[str, str]] = {
        "chips": "ChipsAnswer",
        "cost": "CostAnswer",
        "data": "DataAnswer",
        "front": "FrontAnswer",
        "guarantee": "Verdict",
        "impossible": "ImpossibleAnswer",
        "load": "LoadAnswer",
        "logical_ratio": "RatioAnswer",
        "tasks": "TaskAnswer",
        "theorem": "Verdict",
        "unplaced": "UnplacedAnswer",
        "with_spread": "CostAnswer",
    }

    algorithm: str
    """The algorithm that divided the chips."""
    analysis: str
    """The analysis that decided."""
    chips: ChipsAnswer
    """The fewest chips, everything else as it is."""
    cost: CostAnswer | None
    """The cost of the allocation at most, every request arriving as often as it may; if the set
    fails as it is, of the allocation to the fewest chips. Null if there is none. By `--spread`,
    of the allocation that uses free chips, if that is a gain.
    """
    data: DataAnswer | None
    """For tasks that declare their data: the data of all tasks beside the logical pages of the
    whole device (with `part-ftl`, of its data chips). Limits at which data do not fit are no
    limits.
    """
    front: FrontAnswer | None
    """By `--over`: devices on which the set passes, none better than another in every respect."""
    guarantee: Verdict
    """Whether every deadline is guaranteed on the device: with the clusters printed here (`yes`),
    or `with other clusters`.
    """
    impossible: ImpossibleAnswer | None
    """If the set fails: a proof that no allocation meets every deadline, if one was found."""
    load: LoadAnswer
    """The load that passes: all periods divided by a factor."""
    logical_ratio: RatioAnswer
    """The largest λ, everything else as it is."""
    meta: Any
    """The task set's own `meta`, as it was written."""
    note: str | None
    """For a drive whose firmware is fixed: which command bounds what such a drive does."""
    reason: str | None
    """Why the algorithm cannot tell."""
    schedulable: bool | None
    """Whether the set passes as it is: true, false, or null where the algorithm cannot tell."""
    tasks: list[TaskAnswer]
    """The limits of each request, everything else as it is; in the order of the task set."""
    theorem: Verdict
    """The verdict of Theorem 1 (Kim 2021) on the set: `not asked` if another analysis than
    `thesis` or `thesis-evaluated` was asked for.
    """
    unplaced: UnplacedAnswer | None
    """For a set that fails as it is: the task that could not be placed, and why."""
    with_spread: CostAnswer | None
    """The cost of the allocation with `--spread`, which gives free chips to the clusters that wear
    fastest; null if the option is given, or would gain nothing.
    """


class SoakAnswer(Answer):
    """The answer of `rtflash soak --format json`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "broken",
        "judged",
        "mean_load",
        "runs",
        "seed",
        "stopped_after",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "judged": "int",
        "mean_load": "float",
        "runs": "int",
        "seed": "int",
        "stopped_after": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "broken": "BrokenLine",
    }

    broken: list[BrokenLine]
    """The assumption or promise that broke."""
    judged: int
    """Cases that the analysis accepts and that were run."""
    mean_load: float | None
    """The mean real-time load of the fullest cluster of each case, garbage collection included
    (world `sound`).
    """
    runs: int
    """Cases that were asked for."""
    seed: int
    """The seed that repeats the search."""
    stopped_after: int | None
    """Cases that were over when a signal ended the search; left out where it ended by itself."""


class StepLatency(Record):
    """A step of a `JobBound`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "bound_ns",
        "op",
        "step",
        "times",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "bound_ns": "int",
        "op": "str",
        "step": "int",
        "times": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    bound_ns: int
    """No I/O of it takes longer, from its release to the end of its last request, in nanoseconds.
    """
    op: str
    """Its operation."""
    step: int
    """Its number in the chain, from 1."""
    times: int
    """Its I/Os in each chain."""


class StreamTerms(Record):
    """The terms of a read or write request."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "delay_ns",
        "pages",
        "period_ns",
        "service_ns",
        "utilization",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "delay_ns": "int",
        "pages": "int",
        "period_ns": "int",
        "service_ns": "int",
        "utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    delay_ns: int
    """D^r or D^w, Eqs. (IV.5) and (IV.6)."""
    pages: int
    """r or w."""
    period_ns: int
    """T^r or T^w."""
    service_ns: int
    """C^r or C^w, Eqs. (IV.1) and (IV.2)."""
    utilization: float
    """(C + D) / T."""


class SupposedAnswer(Record):
    """Changes with which every request can be served, in an `AdviceAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "deadlines",
        "enough",
        "erase_suspend_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "enough": "bool",
        "erase_suspend_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {
        "deadlines": "RequestTimeAnswer",
    }

    deadlines: list[RequestTimeAnswer]
    """Later relative deadlines of requests that cannot be served otherwise."""
    enough: bool
    """Whether nothing else is needed then."""
    erase_suspend_ns: int | None
    """The `erase_suspend` and the `erase_resume` of the device: the time of reading a page, or the
    least `longest_erase_suspend_ns`. Null without.
    """


class TaskAnswer(Record):
    """A task, in a `SizeAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "read",
        "task",
        "write",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "task": "str",
    }
    _records: ClassVar[dict[str, str]] = {
        "read": "RequestAnswer",
        "write": "RequestAnswer",
    }

    read: RequestAnswer | None
    """Its read requests; null where it reads nothing."""
    task: str
    """Its name."""
    write: RequestAnswer | None
    """Its write requests; null where it writes nothing."""


class TaskDataAnswer(Record):
    """The data of one task, in a `DataAnswer`."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "data_bytes",
        "data_pages",
        "task",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "data_bytes": "int",
        "data_pages": "int",
        "task": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    data_bytes: int
    """The size of these pages in bytes."""
    data_pages: int
    """The pages that it declares."""
    task: str
    """Its name."""


class TaskTerms(Record):
    """The terms of one task."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "gc",
        "read",
        "task",
        "utilization",
        "write",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "task": "str",
        "utilization": "float",
    }
    _records: ClassVar[dict[str, str]] = {
        "gc": "GcTerms",
        "read": "StreamTerms",
        "write": "StreamTerms",
    }

    gc: GcTerms | None
    """The terms of its GC task."""
    read: StreamTerms | None
    """The terms of its read request."""
    task: str
    """Its name."""
    utilization: float
    """U_i(s), Eq. (IV.7)."""
    write: StreamTerms | None
    """The terms of its write request."""


class TuneAnswer(Answer):
    """The answer of `rtflash host tune --format json`: one line."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "chosen",
        "cuts_rest",
        "deadline_ns",
        "jobs",
        "none",
        "objective",
        "rivals",
        "run_ns",
        "runs",
        "settings",
        "sysfs",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "cuts_rest": "bool",
        "jobs": "list[str]",
        "objective": "str",
        "run_ns": "int",
        "runs": "int",
        "sysfs": "list[str]",
    }
    _records: ClassVar[dict[str, str]] = {
        "chosen": "TuneSetting",
        "none": "TuneSetting",
        "rivals": "TuneSetting",
        "settings": "TuneSetting",
    }

    chosen: TuneSetting | None
    """The best of those that are as wanted in every run; null if there is none."""
    cuts_rest: bool
    """Whether what was chosen cuts all that is not real-time; the published K2-split cuts class
    idle alone.
    """
    deadline_ns: list[int | None]
    """The `deadline` of each, in nanoseconds; null if the scenario states none."""
    jobs: list[str]
    """The real-time jobs, in the scenario's order."""
    none: TuneSetting
    """The scheduler `none`, beside which shares are."""
    objective: str
    """The objective: `latency-share`, `bandwidth-share` or `deadline`."""
    rivals: list[TuneSetting]
    """Settings that can be better, so far as the runs tell: in some run each of these was as
    wanted, and better than what was chosen.
    """
    run_ns: int
    """How long each run was, in nanoseconds, warm-up included: at least the scenario's `duration`.
    """
    runs: int
    """Runs of each setting, each of a seed of its own."""
    settings: list[TuneSetting]
    """All settings that were tried."""
    sysfs: list[str] | None
    """The lines that make a Linux host do so; null where nothing was chosen, or no kernel has the
    scheduler.
    """


class TuneSetting(Record):
    """A setting in a `TuneAnswer`, and what came of it."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "background_bytes_per_s",
        "bandwidth_share",
        "bound_ns",
        "bytes_per_s",
        "fifo_batch",
        "late",
        "latency_share",
        "max_inflight",
        "max_sectors",
        "p999_ns",
        "samples",
        "scheduler",
        "wanted_in",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "background_bytes_per_s": "int",
        "bandwidth_share": "float",
        "bytes_per_s": "int",
        "fifo_batch": "int",
        "late": "int",
        "latency_share": "float",
        "max_inflight": "int",
        "max_sectors": "int",
        "samples": "list[int]",
        "scheduler": "str",
        "wanted_in": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    background_bytes_per_s: int
    """Bytes a second of the jobs that are not real-time, in the same way."""
    bandwidth_share: float | None
    """Bytes a second as a share of those with `none`."""
    bound_ns: list[int | None]
    """The bound on each real-time job's latency, in nanoseconds; null where there is none."""
    bytes_per_s: int
    """Bytes a second of all jobs together, the mean over the runs."""
    fifo_batch: int | None
    """Requests of one direction in a row, of mq-deadline; null for other schedulers."""
    late: int
    """I/Os of real-time jobs that took longer than their deadline, in all runs together."""
    latency_share: float | None
    """The worst of these beside `none`'s."""
    max_inflight: int | None
    """Commands that may be inside; null for any number."""
    max_sectors: int | None
    """Bytes of a piece; null where nothing is cut."""
    p999_ns: list[int | None]
    """The 99.9th percentile of each real-time job's latency, in nanoseconds, over these; null
    where no I/O counts.
    """
    samples: list[int]
    """I/Os of each real-time job that count in all runs together."""
    scheduler: str
    """The scheduler."""
    wanted_in: int
    """In how many runs it is as wanted."""


class UnitCosts(Record):
    """The costs of operations in a cluster with a certificate: docs/analysis.md."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "gc_pass_ns",
        "read_ns",
        "write_ns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "gc_pass_ns": "int",
        "read_ns": "int",
        "write_ns": "int",
    }
    _records: ClassVar[dict[str, str]] = {}

    gc_pass_ns: int | None
    """C_g; null where nothing is ever written."""
    read_ns: int
    """c_r; waits for chips whose load is known come on top."""
    write_ns: int
    """c_w; waits come on top, too."""


class UnplacedAnswer(Record):
    """The task that could not be placed, in an answer."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "best_utilization",
        "blocking_ns",
        "blocks",
        "chips",
        "cluster",
        "data_bytes",
        "data_pages",
        "demand_ns",
        "excess_ns",
        "interval_ns",
        "logical_bytes",
        "logical_pages",
        "needed_blocks",
        "needed_bytes",
        "needed_pages",
        "period_ns",
        "reason",
        "request",
        "request_ns",
        "request_pages",
        "task",
        "window_ns",
        "with",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "best_utilization": "float",
        "blocking_ns": "int",
        "blocks": "int",
        "chips": "int",
        "cluster": "int",
        "data_bytes": "int",
        "data_pages": "int",
        "demand_ns": "int",
        "excess_ns": "int",
        "interval_ns": "int",
        "logical_bytes": "int",
        "logical_pages": "int",
        "needed_blocks": "int",
        "needed_bytes": "int",
        "needed_pages": "int",
        "period_ns": "int",
        "reason": "str",
        "request": "str",
        "request_ns": "int",
        "request_pages": "int",
        "task": "str",
        "window_ns": "int",
        "with": "list[str]",
    }
    _records: ClassVar[dict[str, str]] = {}

    best_utilization: float | None
    """The lowest U that a cluster would have reached with it; where its cluster was given, or left
    overloaded by a merge, U of that cluster with all its tasks. Under the sound analyses the
    long-run load. Null where it was no utilization that was too much.
    """
    blocking_ns: int | None
    """`request`, where it takes too long: what nothing interrupts and can have begun before it,
    such as an erase that garbage collection needs.
    """
    blocks: int | None
    """`request`, where the write requests are too large: blocks of a chip."""
    chips: int
    """Its number of chips."""
    cluster: int
    """That cluster's position when the algorithm gave up; with `part-ftl`, 0 for its data chips.
    """
    data_bytes: int | None
    """`data`: `data_pages` in bytes."""
    data_pages: int | None
    """`data`: pages of data of the cluster's tasks, this one's included."""
    demand_ns: int | None
    """`demand`: dbf(L) + B(L), what there is to do in it, blocking included."""
    excess_ns: int | None
    """`demand`: dbf(L) + B(L) − L."""
    interval_ns: int | None
    """`demand`: L, the length of an interval that is too short."""
    logical_bytes: int | None
    """`data`: `logical_pages` in bytes."""
    logical_pages: int | None
    """`data`: logical pages of the cluster."""
    needed_blocks: int | None
    """`request`, where the write requests are too large: blocks that they and the data need of
    each chip, at least.
    """
    needed_bytes: int | None
    """`data`: `needed_pages` in bytes."""
    needed_pages: int | None
    """`data`: logical pages that they take: as many, or in a stripe each task's rounded up to
    whole rows.
    """
    period_ns: int | None
    """`request`, where it takes too long: its period, which is not longer, or `window_ns` is
    shorter.
    """
    reason: str
    """Why: `load`, utilizations sum to too much; `demand`, demand and blocking exceed an interval;
    `data`, the declared data do not fit; `request`, one request can never be served: it takes
    longer than its period, or the write requests are too large for the blocks that there are.
    """
    request: str | None
    """`request`, where it takes too long: `read` or `write`."""
    request_ns: int | None
    """`request`, where it takes too long: the least time that it takes on any cluster of the
    device.
    """
    request_pages: int | None
    """`request`, where it takes too long: its pages."""
    task: str
    """Its name."""
    window_ns: int | None
    """`request`, where it takes too long and has a deadline or a jitter: the least time from its
    release to its deadline, which is shorter.
    """
    with_: list[str]
    """The other tasks in it."""


class Verdict(Record):
    """A verdict and its reason."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "reason",
        "verdict",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "reason": "str",
        "verdict": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    reason: str | None
    """Why, in a clause: of every `no` and `cannot tell`; with other clusters, which command prints
    them. `typical times` where the device states no maxima.
    """
    verdict: str
    """The verdict."""


class WearAnswer(Record):
    """The effects of writes on chips."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "erases_per_chip_per_day",
        "gc_pages_per_day",
        "lifetime_years",
        "pages_per_day",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "erases_per_chip_per_day": "float",
        "gc_pages_per_day": "float",
        "lifetime_years": "float",
        "pages_per_day": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    erases_per_chip_per_day: float
    """Block erases a day and chip that this makes, if all blocks of a cluster are worn evenly: in
    a stripe, addresses may spread wear unevenly.
    """
    gc_pages_per_day: float
    """Pages that garbage collection copies a day, at most."""
    lifetime_years: float | None
    """Years of 365.25 days until blocks have been erased as often as they endure, all blocks of a
    cluster being worn evenly; null where the device has no `erase_cycles`, or nothing is
    written.
    """
    pages_per_day: float
    """Pages written a day."""


class WearLine(Record):
    """The chip that was erased most often, the lowest among equals, as measured from the start of
    the run to its end.
    """

    _names: ClassVar[frozenset[str]] = frozenset({
        "chip",
        "erases",
        "erases_per_day",
        "lifetime_years",
        "measured_ns",
        "turns",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "chip": "int",
        "erases": "int",
        "erases_per_day": "float",
        "lifetime_years": "float",
        "measured_ns": "int",
        "turns": "float",
    }
    _records: ClassVar[dict[str, str]] = {}

    chip: int
    """The chip."""
    erases: int
    """Its erases."""
    erases_per_day: float
    """As many a day."""
    lifetime_years: float | None
    """Years of 365.25 days until its blocks have been erased as often as they endure, all alike,
    if it goes on so; null where it was not erased, or the device has no `erase_cycles`.
    """
    measured_ns: int
    """The span that was measured: the whole run."""
    turns: float
    """How often each of its blocks was erased, in the mean. Below one, what was on the device at
    the start is still at work.
    """


class WorstLine(Record):
    """When and where the worst happened."""

    _names: ClassVar[frozenset[str]] = frozenset({
        "at_ns",
        "chip",
        "cluster",
        "job",
    })
    _kinds: ClassVar[dict[str, str]] = {
        "at_ns": "int",
        "chip": "int",
        "cluster": "int",
        "job": "str",
    }
    _records: ClassVar[dict[str, str]] = {}

    at_ns: int
    """When."""
    chip: int | None
    """On which chip."""
    cluster: int | None
    """In which cluster."""
    job: str | None
    """For which job."""
