"""The records of Fathom, as `--json` writes them. Made by python/generate.py from docs/json-schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

CodePath = Literal['cpu', 'waits']
Confidence = Literal['likely', 'certain']
DifferenceBy = Literal['category', 'child', 'call', 'function', 'together']
DriftSource = Literal['same_revision', 'successive', 'assumed', 'noise_floor', 'waits', 'none']
Exit = dict[str, int] | Literal['timed_out']
FindingId = Literal['allocator-churn', 'busy-polling', 'clock-calls', 'cold-files', 'cpu-starved', 'delayed-ack-stall', 'dynamic-linking', 'growing-work', 'idle-cores', 'kernel-bound', 'library-work', 'line-buffered-output', 'lock-contention', 'missing-file-lookups', 'page-fault-heavy', 'process-spawning', 'rereading', 'rewriting', 'serial-requests', 'sleeping', 'small-file-io', 'startup-dominated', 'sync-writes', 'thread-spawning', 'unbuffered-input', 'unbuffered-output', 'unoptimised-build', 'waiting-for-child', 'waiting-for-disk', 'waiting-for-input', 'waiting-for-network', 'waiting-for-output', 'wakeup-storm']
InputFrom = Literal['null'] | dict[str, str]
Metric = Literal['wall', 'cpu_wait_free', 'cpu', 'user', 'system', 'run_queue_wait', 'peak_memory', 'minor_faults', 'major_faults', 'voluntary_switches', 'involuntary_switches', 'read_bytes', 'written_bytes', 'read_calls', 'write_calls']
MoreRounds = int
OutputTo = Literal['null'] | Literal['pipe'] | dict[str, str] | Literal['inherit']
ProofVerdict = Literal['proved', 'refuted', 'undecided', 'void', 'not_possible']
RunOrder = Literal['random', 'fixed']
StopReason = Literal['run_count', 'decided', 'precise', 'time_budget', 'maximum_rounds', 'interrupted', 'failed']
ThreadRole = Literal['collector', 'compiler', 'pool', 'idle', 'service']
TimeCategory = Literal['user_code', 'kernel_io', 'kernel_files', 'kernel_memory', 'kernel_processes', 'kernel_waiting', 'kernel_other', 'page_faults', 'kernel_outside', 'kernel', 'waiting_for_input', 'waiting_for_output', 'waiting_for_pipe', 'waiting_for_disk', 'waiting_for_network', 'waiting_for_locks', 'sleeping', 'waiting_for_child', 'waiting_for_events', 'waiting_for_signal', 'other_waits', 'waiting_for_cpu', 'throttled', 'cpu_steal', 'unaccounted']
Verdict = Literal['faster', 'slower', 'same', 'undecided']


@dataclass(frozen=True)
class AccountPart:
    """One part of an account."""

    # What the time was spent on.
    category: TimeCategory
    # Nanoseconds.
    ns: int


@dataclass(frozen=True)
class AskedMetric:
    """A metric whose comparison was requested."""

    # Differences up to this share count as no difference (0.01 is 1 %).
    margin: float
    # The metric.
    metric: Metric


@dataclass(frozen=True)
class BenchRecord:
    """The complete record of a session. In the JSON file, the runs precede the outcome, so the file can be valid
    after every run."""

    # The benchmarks, in the order in which they were given.
    benchmarks: list[Benchmark]
    # False while measuring is in progress, or if it was cut short.
    complete: bool
    # The conditions of all benchmarks.
    conditions: Conditions
    # The environment of the measurement.
    environment: Environment
    # The version of Fathom that measured.
    fathom_version: str
    # Always `bench`.
    kind: Literal['bench']
    # The conclusions; absent while measuring is in progress.
    outcome: Outcome | None
    # All runs, in the order in which they were executed.
    runs: list[Run]
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # The start of the session, RFC 3339, UTC.
    started_at: str
    # The job in which this record was made, with `--on`.
    jobs: list[JobRun] | None = None


@dataclass(frozen=True)
class Benchmark:
    """One named command with its input and conditions."""

    # The arguments as executed, starting with the program (lossy if they aren't UTF-8).
    arguments: list[str]
    # The command as given, for display (bytes that aren't UTF-8 are written as `\xff`).
    command: str
    # Variables added to the environment. A secret, recognized by its name, is replaced by `redacted-` and a
    # hash under the user's key.
    environment_variables: list[tuple[str, str]]
    # The source of standard input.
    input: InputFrom
    # The display name: from `-n`, otherwise the command as given.
    name: str
    # The destination of standard output.
    output: OutputTo
    # The parameters of a scan, in order of definition.
    parameters: list[tuple[str, str]]
    # The shell that interprets the command, if any.
    shell: str | None
    # The working directory, if set.
    working_directory: str | None
    # The same arguments as bytes, only if `arguments` is lossy.
    arguments_bytes: list[list[int]] | None = None


@dataclass(frozen=True)
class BenchmarkResult:
    """The results of one benchmark."""

    # Index of the benchmark.
    benchmark: int
    # The number of runs that failed and were kept under `--ignore-failure`.
    failures: int
    # One summary for each metric that has values.
    summaries: list[Summary]


@dataclass(frozen=True)
class CallRow:
    """A system call and its cost, over all threads."""

    # The part of `total_ns` spent asleep.
    blocked_ns: int | None
    # The number of bytes moved.
    bytes: int
    # The number of calls, including those that didn't return.
    calls: int
    # The number of calls that returned an error.
    errors: int
    # The name.
    name: str
    # The time from entry to return, without waits for a CPU. Absent if the observer can't determine it.
    total_ns: int | None


@dataclass(frozen=True)
class CodePaths:
    """A tree of callers, and what the time was spent on."""

    # The total in nanoseconds of an untraced run, along the critical path.
    ns: int
    # The kind of time.
    of: CodePath
    # The steps, callers first, at most 1,000. Steps below 0.1 % are included in their caller's time.
    steps: list[PathStep]


@dataclass(frozen=True)
class CodePlace:
    """A location in a program's code. Not trustworthy: escape its texts."""

    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code generated at run
    # time.
    binary: str | None
    # The function in the notation of its language; null if no symbol is known.
    function: str | None
    # The line of the source file, from 1: for a function, the line with most of its time; for a caller, the
    # line of the call.
    line: int | None
    # The source file, as recorded by the compiler.
    source_file: str | None
    # If there is no function: the last exported function that begins before the location.
    after: str | None = None
    # If there is no function: the byte offset in the binary.
    offset: int | None = None
    # The text of that line, if it is in the program's own source and the file could be read.
    source_text: str | None = None
    # If there is no function: the package with the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class CompareRecord:
    """A comparison of two sides that were measured at different times, as written by `fathom compare --json`."""

    # The side to compare with.
    base: CompareSide
    # One comparison for each series that both sides have.
    comparisons: list[StoredComparison]
    # The version of Fathom that compared.
    fathom_version: str
    # The side that is compared.
    head: CompareSide
    # Always `compare`.
    kind: Literal['compare']
    # What was not compared, and why.
    left_out: list[NotCompared]
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # Warnings about how far the verdicts can be trusted, one sentence each.
    warnings: list[str]


@dataclass(frozen=True)
class CompareSide:
    """One side of a comparison."""

    # As requested.
    asked: str
    # The file, if it is one.
    file: str | None
    # The ids of its records; empty for a file.
    records: list[str]
    # The revision, if all its measurements have the same one.
    revision: str | None


@dataclass(frozen=True)
class Comparison:
    """One metric of two benchmarks, compared round by round."""

    # The level (0 to 1) at which `faster` and `slower` are claimed, higher than that of the interval: the
    # p-value must be at most 1 minus this. It allows for multiple comparisons and interim analyses.
    claim_level: float
    # The margin within which two programs count as the same, as a share (0.01 is 1 %).
    margin: float
    # The metric.
    metric: Metric
    # For an undecided comparison: how many more rounds would decide it.
    more_rounds: MoreRounds | None
    # The two-sided p-value of 'no difference' (Wilcoxon signed-rank on the paired log ratios), before the
    # correction for multiple comparisons and interim analyses.
    p_value: float
    # The Hodges-Lehmann estimate of the ratio subject / reference, with its interval.
    ratio: Estimate
    # The index of the reference benchmark.
    reference: int
    # The number of rounds in which both have a value.
    rounds: int
    # Ratios at p10, p50 and p90.
    shift: Shift
    # The index of the subject benchmark.
    subject: int
    # The verdict.
    verdict: Verdict


@dataclass(frozen=True)
class Conditions:
    """The conditions of all benchmarks of a session."""

    # Whether the size of the environment was varied from run to run.
    environment_size_randomised: bool
    # The margin of the verdicts, as a share.
    margin: float
    # The order of the runs within a round. Older records without this field used a random order.
    order: RunOrder
    # The CPUs to which the commands were pinned, if any.
    pinned_cpus: list[int] | None
    # The seed of the run order, and of all other random choices.
    seed: int
    # The time limit of a run, in seconds.
    timeout_seconds: float | None
    # The number of uncounted warm-up runs of each benchmark.
    warmup_runs: int
    # The requested metrics; the first one determines the answer. If empty, the clock that carries verdicts.
    metrics: list[AskedMetric] | None = None


@dataclass(frozen=True)
class Difference:
    """The explanation of the difference between two medians."""

    # A description of how the rows' intervals were computed.
    intervals: str
    # The milliseconds of the difference that are in no row of the wall time.
    not_explained: float
    # The unexplained part as a share of the longer median, 0 to 1.
    not_explained_share: float
    # Its parts, largest first, each followed by the rows it is divided into.
    rows: list[DifferenceRow]
    # The difference itself.
    wall: WallDifference


@dataclass(frozen=True)
class DifferenceCommand:
    """One of the two commands."""

    # Where the median wall time went: the mean over the observed runs.
    account: TimeAccount
    # Its arguments, starting with the program.
    arguments: list[str]
    # The command as given.
    command: str
    # A description of how its observed run ended; empty for success.
    end: str
    # How the last observed run was made.
    observation: Explaining
    # The number of observed runs.
    observed_runs: int
    # The timed runs.
    timed: TimedRuns


@dataclass(frozen=True)
class DifferenceCount:
    """How often something happened in a run of A and of B."""

    # In a run of A.
    a: int
    # In a run of B.
    b: int
    # `calls`, `page faults`, `processes`.
    what: Literal['calls', 'page faults', 'processes']


@dataclass(frozen=True)
class DifferenceRecord:
    """The complete record of `fathom why 'A' 'B'`."""

    # A and B.
    commands: list[DifferenceCommand]
    # The difference between B's time and A's, by part.
    difference: Difference
    # The environment.
    environment: Environment
    # Version of Fathom.
    fathom_version: str
    # Findings that only one of them has, ordered by the time that could be saved, most first.
    findings: list[OnlyFinding]
    # Always `difference`.
    kind: Literal['difference']
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # The start, RFC 3339, UTC.
    started_at: str
    # Warnings about how far the numbers can be trusted.
    warnings: list[str]
    # The call paths of both; empty if no stacks are known.
    paths: list[PathsDifference] | None = None


@dataclass(frozen=True)
class DifferenceRow:
    """A part of the difference in time, B minus A; negative if B takes less."""

    # The kind of part.
    by: DifferenceBy
    # For a function: the nearest function of the program's own code that called it; empty if unknown.
    callers: list[CodePlace]
    # What the time was spent on; null for a child.
    category: TimeCategory | None
    # How often it happened, if known.
    count: DifferenceCount | None
    # The file on which most of it was spent, or that contains the function; not trustworthy: escape it.
    file: str | None
    # The upper end of its interval.
    high: float
    # The lower end of its interval, which never contains 0. If the times alone don't exclude 0, the interval
    # is based on counts: the additional calls of one command, each taking as long as the shortest or the
    # longest of any observed run.
    low: float
    # B's time minus A's.
    milliseconds: float
    # `wall`: these rows and the unexplained rest add up to the difference of the wall times. Otherwise the
    # `part` of the row that contains it.
    of: str
    # A `TimeCategory` by its name in the JSON, or the name of a program, a call or a function; not
    # trustworthy: escape it.
    part: str


@dataclass(frozen=True)
class Drift:
    """How much separate measurements of the same thing differ."""

    # The number of earlier measurements of the series in this environment.
    measurements: int
    # The share by which two measurements of the same thing may differ, in 95 of 100 cases (0.05 is 5 %).
    share: float
    # The basis of that share.
    source: DriftSource


@dataclass(frozen=True)
class Environment:
    """The environment of a measurement. Fields that the system doesn't report are absent."""

    # The processor architecture, as named by the kernel.
    architecture: str
    # Processor model name.
    cpu_model: str | None
    # The number of CPUs that this process may use.
    cpus: int
    # Frequency governor of CPU 0.
    governor: str | None
    # Name of the machine.
    host: str | None
    # Operating system and kernel release.
    kernel: str
    # One-minute load average at the start.
    load_average: float | None
    # The memory of the machine in bytes.
    memory_bytes: int | None
    # Whether the processor reports that it runs under a hypervisor.
    virtual_machine: bool | None
    # The measured capabilities of the machine; absent if no profile of it is stored.
    fingerprint: Fingerprint | None = None


@dataclass(frozen=True)
class Estimate:
    """A value with its interval."""

    # The upper end of the interval.
    high: float
    # The confidence level of the interval, 0 to 1. It is what the sample supports: five runs can't give 95 %,
    # so their actual level is stored.
    level: float
    # The lower end of the interval.
    low: float
    # The point estimate.
    value: float


@dataclass(frozen=True)
class Evidence:
    """A number that supports a finding."""

    # What it counts or measures, such as `write calls`.
    name: str
    # The unit: `calls`, `bytes`, `bytes/call`, `ns`, `files`, `1` for a plain ratio.
    unit: str
    # The value.
    value: float


@dataclass(frozen=True)
class Explaining:
    """How the observed run was made, and how far it can be trusted."""

    # Descriptions of observed events that could not be stored; empty if nothing was lost.
    lost: list[str]
    # What this tier could not see, one sentence each.
    not_visible: list[str]
    # Its wall time divided by the median wall time of the timed runs, including waits for a CPU in both.
    slowdown: float
    # `kernel`, `perf`, `sample` or `stops`.
    tier: str
    # False if `slowdown` is over 1.1: then observed times are only quoted as modelled, and shares are those
    # of an untraced run.
    times_are_measured: bool
    # The wall time of the observed run in nanoseconds.
    wall_ns: int
    # Options that the observed run was given in addition to those of the timed runs, to name the code that
    # its runtime generates; absent if there were none. Not trustworthy: escape it.
    added: str | None = None
    # A command that would give names to functions of generated code, if they have none here; absent if they
    # have names, or if no command would help. Not trustworthy: escape it.
    names_by: str | None = None


@dataclass(frozen=True)
class Finding:
    """A named cause with its evidence, its share of the time, and what to do."""

    # What to change, in terms of the program's language if that is known.
    advice: str
    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code generated at run
    # time.
    binary: str | None
    # The callers of that function, nearest first.
    callers: list[CodePlace]
    # How certain it is.
    confidence: Confidence
    # The modelled CPU time that fixing the cause could save, in nanoseconds of an untraced run, if it differs
    # from the wall time: a loop that burns an otherwise idle CPU costs no wall time. 0 if it is the same.
    cpu_saving_ns: int
    # The numbers behind the statement.
    evidence: list[Evidence]
    # The function in the notation of its language; null if no symbol is known.
    function: str | None
    # The cause.
    id: FindingId
    # The modelled time by which each of many pieces of work could finish sooner while the whole takes as long
    # as before (too many threads), in nanoseconds of an untraced run; 0 for other findings.
    latency_saving_ns: int
    # The limit of this machine with which it is compared, if one applies.
    limit: str | None
    # The line of the source file, from 1: for a function, the line with most of its time; for a caller, the
    # line of the call.
    line: int | None
    # The object on which most of its time is spent: a file, folder, pipe, peer, lock or command; null if
    # unknown. Not trustworthy: escape it.
    object: str | None
    # The parts of the account that `saving_ns` would reduce, largest first. They add up to `saving_ns`; over
    # all findings, they add up to at most what the account has of each part.
    parts: list[AccountPart]
    # Where in the process tree it applies.
    place: Place
    # The saving with its interval; null if no saving is known, and in records of versions without intervals.
    saving: Saving | None
    # The modelled wall time that fixing the cause could save, in nanoseconds of an untraced run. 0 if the
    # time limit ended the command, because its full duration is unknown.
    saving_ns: int
    # The share of the untraced runs' median wall time that is due to this cause, 0 to 1. If the runs had to
    # wait for a CPU, that wait is part of the total.
    share: float
    # The source file, as recorded by the compiler.
    source_file: str | None
    # One sentence with the numbers.
    statement: str
    # If there is no function: the last exported function that begins before the location.
    after: str | None = None
    # If there is no function: the byte offset in the binary.
    offset: int | None = None
    # The result of running the command without this cause; absent if that wasn't requested.
    proof: Proof | None = None
    # The text of that line, if it is in the program's own source and the file could be read.
    source_text: str | None = None
    # If there is no function: the package with the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class Fingerprint:
    """Measurements of the machine itself: once as a profile, and partly repeated before this measurement."""

    # Five of the same probes right before this measurement; those without a result are omitted.
    canaries: list[MachineFigure]
    # Probes whose canary differs from the profile by more than it does on an unchanged machine.
    changed: list[str]
    # The number of seconds between the profile and this measurement.
    measured_seconds_ago: int
    # The stored quick profile.
    profile: list[MachineFigure]
    # Canaries without a result: the machine was too busy, or lacks something they need.
    skipped: list[str] | None = None


@dataclass(frozen=True)
class Floor:
    """The cost of running nothing: an empty static program, run in the same way and in the same rounds."""

    # Number of runs of the empty program.
    runs: int
    # The median wall time in seconds, without waits for a CPU if those are known.
    wall: Estimate


@dataclass(frozen=True)
class FunctionShare:
    """A function of the program's own code or of a library."""

    # The file it is from: a path, `[vdso]`, `//anon` and the like for code generated at run time, or empty if
    # unknown. Not trustworthy: escape it.
    file: str
    # Its name in the notation of its language; null if its file has no symbol for it. Not trustworthy: escape
    # it.
    function: str | None
    # The number of samples in it.
    samples: int
    # The part of all own code, 0 to 1.
    share: float


@dataclass(frozen=True)
class IoCounts:
    """What the process and the children it waited for read and wrote. Source: `/proc/PID/io`. Counts `read`,
    `pread`, `readv`, `write` and related calls, also on sockets; not `send`/`recv`, `splice`, `mmap` access
    or io_uring."""

    # Bytes fetched from the storage device (`read_bytes`).
    device_read_bytes: int
    # Bytes of dirtied pages that must be written to the storage device (`write_bytes`).
    device_written_bytes: int
    # Bytes that read calls returned (`rchar`).
    read_bytes: int
    # Number of read calls (`syscr`).
    read_calls: int
    # Number of write calls (`syscw`).
    write_calls: int
    # Bytes that were passed to write calls (`wchar`).
    written_bytes: int


@dataclass(frozen=True)
class IoRow:
    """A descriptor or path, and the traffic through it."""

    # The part of `total_ns` spent asleep.
    blocked_ns: int | None
    # The number of calls that returned an error.
    errors: int
    # The descriptor; absent if several calls on a path are summed.
    fd: int | None
    # The path, or `pipe`, `socket` and the like; not trustworthy: escape it.
    name: str
    # The process id.
    pid: int
    # Bytes read.
    read_bytes: int
    # The number of read calls.
    reads: int
    # The number of seeks.
    seeks: int
    # The time in all calls on it, over all threads: on a CPU and asleep, without waits for a CPU. Absent if
    # the observer can't determine it.
    total_ns: int | None
    # The number of write calls.
    writes: int
    # Bytes written.
    written_bytes: int


@dataclass(frozen=True)
class JobRun:
    """A job of an engine such as Slurm (`--on`)."""

    # The number of the attempt that made the record, from 1.
    attempts: int
    # The engine's id.
    id: str
    # The node on which it ran, as named by the engine.
    node: str
    # Always `completed`: jobs in other states make no record.
    state: str


@dataclass(frozen=True)
class MachineFigure:
    """One figure of the machine."""

    # The name of the probe, such as `memory_latency`.
    id: str
    # The unit, such as `ns` or `GB/s`.
    unit: str
    # The figure.
    value: float


@dataclass(frozen=True)
class NotCompared:
    """A series that was not compared."""

    # The name of the benchmark.
    benchmark: str
    # The name of the metric.
    metric: str
    # Its parameters.
    parameters: list[tuple[str, str]]
    # The reason, as a sentence.
    why: str


@dataclass(frozen=True)
class ObservedProcess:
    """A process that was already running: the explanation covers the time in which it was observed."""

    # Whether it ended during the observation.
    ended: bool
    # Whether it, or a process it created, listens for connections.
    listens: bool
    # The name, at most 15 bytes. Not trustworthy: escape it.
    name: str
    # The process id.
    pid: int


@dataclass(frozen=True)
class OnlyFinding:
    """A finding that only one of the commands has."""

    # 0 for A, 1 for B.
    command: int
    # The finding that the other command doesn't have.
    finding: Finding


@dataclass(frozen=True)
class Outcome:
    """The conclusions drawn from the runs."""

    # The comparisons that carry the verdict, one for each benchmark except the reference; for several
    # requested metrics, one after the other.
    comparisons: list[Comparison]
    # The same pairs compared on the other clock (wall against undisturbed time), if available.
    cross_checks: list[Comparison]
    # The empty program.
    floor: Floor | None
    # The results, one for each benchmark.
    results: list[BenchmarkResult]
    # Why measuring ended.
    stop: StopReason
    # Warnings about how far the numbers can be trusted, which change what to believe or what to do.
    warnings: list[Warning]
    # If no metric was requested: the same pairs in metrics other than time that differ clearly.
    also_differ: list[Comparison] | None = None
    # Additional observations, which change neither what to believe nor what to do.
    notes: list[Warning] | None = None
    # If the benchmarks are one command with several delays: how much of the delays appeared in the total
    # time.
    slope: Slope | None = None
    # The warm-up runs, which don't count. In the last warm-up round, standard output goes to a pipe if it
    # goes to `/dev/null` in all other rounds.
    warmups: list[Run] | None = None


@dataclass(frozen=True)
class OwnCode:
    """The functions in which the time of the program's own code was spent, over all threads, from samples at
    equal intervals of CPU time."""

    # The innermost functions, most samples first, at most 60.
    functions: list[FunctionShare]
    # The CPU time between two samples in nanoseconds.
    period_ns: int
    # The number of samples in own code.
    samples: int


@dataclass(frozen=True)
class PathStep:
    """A function below its callers or, at the end of a path, what the last function called or waited for."""

    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code generated at run
    # time.
    binary: str | None
    # The function in the notation of its language; null if no symbol is known.
    function: str | None
    # The line of the source file, from 1: for a function, the line with most of its time; for a caller, the
    # line of the call.
    line: int | None
    # The time in nanoseconds, including everything it called.
    ns: int
    # The index of its caller's step, which is smaller than its own; null for the outermost.
    parent: int | None
    # The source file, as recorded by the compiler.
    source_file: str | None
    # If there is no function: the last exported function that begins before the location.
    after: str | None = None
    # At the end of a path: the system call.
    call: str | None = None
    # At the end of a path: the part of the account.
    kind: TimeCategory | None = None
    # At the end of a path: the file, pipe, peer, lock or command. Not trustworthy: escape it.
    object: str | None = None
    # If there is no function: the byte offset in the binary.
    offset: int | None = None
    # At the end of a path: what the runtime did there.
    role: ThreadRole | None = None
    # The text of that line, if it is in the program's own source and the file could be read.
    source_text: str | None = None
    # If there is no function: the package with the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class PathsDifference:
    """The overlaid call trees of two commands, and what each spent on the steps."""

    # The total of A in nanoseconds of an untraced run: the mean over its observed runs.
    a_ns: int
    # The total of B.
    b_ns: int
    # The kind of time.
    of: CodePath
    # Steps of A or B, callers first, at most 1,000. Functions of A and B become one step if their names and
    # file names are equal, or if no other functions have that name.
    steps: list[StepDifference]


@dataclass(frozen=True)
class Phase:
    """A milestone in the start of the command, relative to the start of the run."""

    # When it was reached, in nanoseconds.
    at_ns: int
    # Whether it was estimated rather than observed. The estimate is the time at which the observed run had
    # computed as much as a second run had at the milestone; the second run was stopped at its calls.
    modelled: bool
    # `exec`, `loader_done` (both followed by the program's name if there were several), `first_output`,
    # `exit`.
    name: str


@dataclass(frozen=True)
class Place:
    """Where in the process tree a finding applies."""

    # The descriptor.
    fd: int | None
    # The path, or what else the descriptor is; not trustworthy: escape it.
    path: str | None
    # The process id.
    pid: int | None
    # The thread id.
    tid: int | None


@dataclass(frozen=True)
class ProcessRow:
    """A process of the tree."""

    # A description of how it ended.
    end: str
    # When it began, in nanoseconds from the start of the run.
    from_ns: int
    # The process id of its parent in the tree.
    parent: int | None
    # The process id.
    pid: int
    # The programs it executed, in order, with arguments; not trustworthy: escape them.
    programs: list[list[str]]
    # The number of its threads.
    threads: int
    # When it ended, in nanoseconds from the start of the run.
    to_ns: int


@dataclass(frozen=True)
class Proof:
    """A test in which the command was run with and without a cause, in randomly ordered rounds."""

    # The result.
    verdict: ProofVerdict
    # The intervention that removed the cause, as accepted by `fathom bench --try`.
    intervention: str | None = None
    # The metric of these values, if it isn't the time: `cpu`.
    metric: Metric | None = None
    # Why it is undecided, void or not possible.
    reason: str | None = None
    # The saving, from the paired rounds.
    saves_ms: SavedMilliseconds | None = None
    # The result of delaying the cause, if it can't be removed.
    slope: Slope | None = None
    # The median time of the command as it is, in milliseconds.
    with_ms: float | None = None
    # The median time without the cause, in milliseconds.
    without_ms: float | None = None


@dataclass(frozen=True)
class Run:
    """One complete execution. Times are in nanoseconds."""

    # The index of the benchmark, from 0.
    benchmark: int
    # CPU time, user and kernel, of the process and the children it waited for.
    cpu_ns: int
    # `wall_ns` minus both waits. Present only if it is exact: one thread, no children.
    cpu_wait_free_ns: int | None
    # How it ended.
    exit: Exit
    # How often the program was preempted.
    involuntary_switches: int
    # Bytes and calls read and written; absent if the kernel doesn't permit reading them.
    io: IoCounts | None
    # The time between the program's exit and the moment at which Fathom's launcher got a CPU to notice it.
    launcher_wait_ns: int | None
    # The number of processes that the command left running when it ended.
    left_behind: int
    # Page faults that had to read from the storage device.
    major_faults: int
    # Page faults served without the storage device.
    minor_faults: int
    # The peak resident memory of the process or of one of the children that it waited for, whichever is
    # larger.
    peak_memory_bytes: int
    # The position of this run in the order of all runs, from 0.
    position: int
    # The number of the round, from 0; warm-up runs are not recorded here.
    round: int
    # The time that the main thread was ready to run but had no CPU.
    run_queue_wait_ns: int | None
    # The part of `wall_ns` before the program was executed: creating the process.
    spawn_ns: int
    # The start, relative to the start of the session.
    started_ns: int
    # The steal time around this run, over all CPUs (10 ms steps).
    steal_ns: int | None
    # The kernel part of `cpu_ns`, as the kernel's tick sampling divides it.
    system_ns: int
    # The user part of `cpu_ns`, as the kernel's tick sampling divides it.
    user_ns: int
    # How often the program gave up the CPU to wait for something.
    voluntary_switches: int
    # The time from just before the process is created to its exit as the parent sees it.
    wall_ns: int
    # The sum of the delays that were added to calls or threads of the run. The share of it that appears in
    # `wall_ns` lies on the critical path. Absent if no delay was requested.
    delayed_ns: int | None = None
    # How long the CPU limit of Fathom's own control group, or of one above it, kept threads from a CPU during
    # this run, summed over all CPUs. Absent if there is no such limit.
    throttled_ns: int | None = None


@dataclass(frozen=True)
class SavedMilliseconds:
    """The time saved, in milliseconds, with its 95 % interval; negative if the command takes longer."""

    # The upper end.
    high: float
    # The lower end.
    low: float
    # The estimate.
    value: float


@dataclass(frozen=True)
class Saving:
    """The saving from fixing a cause, as a prediction with its interval, in nanoseconds of an untraced run."""

    # See `low_ns`. At most the wall time.
    high_ns: int
    # Nine of ten repaired programs of the corpus saved between this and `high_ns`. The value is lower if a
    # part of the saving is a guess.
    low_ns: int
    # The prediction, the same as `saving_ns`.
    ns: int


@dataclass(frozen=True)
class Shift:
    """Ratios subject / reference at three quantiles: shows whether the whole distribution moved or only a tail."""

    # The ratio of the 10th percentiles.
    p10: float
    # The ratio of the medians.
    p50: float
    # The ratio of the 90th percentiles.
    p90: float


@dataclass(frozen=True)
class Slope:
    """How much of a known delay of calls or of a thread appears in the total time. It is measured in randomly
    ordered rounds, with the command as it is and with three sizes of the delay."""

    # The average delay of a run of each command, in milliseconds.
    added_ms: list[float]
    # The upper end.
    high: float
    # The lower end.
    low: float
    # What was delayed, as accepted by `fathom bench --try`.
    of: str
    # The number of rounds from which it was computed.
    rounds: int
    # The additional time of the command per unit of delay: the share of what was delayed that lies on the
    # critical path. Its 95 % interval is from `low` to `high`.
    value: float


@dataclass(frozen=True)
class StepDifference:
    """A step of A, of B or of both."""

    # Nanoseconds of A, including everything that the step called.
    a_ns: int
    # Nanoseconds of B.
    b_ns: int
    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code generated at run
    # time.
    binary: str | None
    # The function in the notation of its language; null if no symbol is known.
    function: str | None
    # Whether the two differ by more than the observed runs of one command vary; null if one of them was
    # observed only once.
    is_clear: bool | None
    # The line of the source file, from 1: for a function, the line with most of its time; for a caller, the
    # line of the call.
    line: int | None
    # The time in nanoseconds, including everything it called.
    ns: int
    # The index of its caller's step, which is smaller than its own; null for the outermost.
    parent: int | None
    # The source file, as recorded by the compiler.
    source_file: str | None
    # If there is no function: the last exported function that begins before the location.
    after: str | None = None
    # At the end of a path: the system call.
    call: str | None = None
    # At the end of a path: the part of the account.
    kind: TimeCategory | None = None
    # At the end of a path: the file, pipe, peer, lock or command. Not trustworthy: escape it.
    object: str | None = None
    # If there is no function: the byte offset in the binary.
    offset: int | None = None
    # At the end of a path: what the runtime did there.
    role: ThreadRole | None = None
    # The text of that line, if it is in the program's own source and the file could be read.
    source_text: str | None = None
    # If there is no function: the package with the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class StoredComparison:
    """One metric of one benchmark on both sides."""

    # Whether the sides were measured in different environments.
    across_environments: bool
    # The measurements of the base.
    base: StoredValue
    # The name of the benchmark.
    benchmark: str
    # The assumed drift.
    drift: Drift
    # The measurements of the head.
    head: StoredValue
    # Whether higher values are better, if known.
    higher_is_better: bool | None
    # Differences up to this share count as no difference.
    margin: float
    # The name of the metric.
    metric: str
    # The two-sided p-value of 'no difference', including the drift.
    p_value: float
    # Its parameters.
    parameters: list[tuple[str, str]]
    # Head / base with its interval, which includes the drift between measurements.
    ratio: Estimate
    # A command that measures both sides together, and so decides without the drift; absent if it is unknown.
    together: str | None
    # The unit of the values.
    unit: str
    # The verdict; if the direction is unknown, `Verdict::Faster` means less and `Verdict::Slower` more.
    verdict: Verdict


@dataclass(frozen=True)
class StoredValue:
    """The values of one side of a stored comparison."""

    # The upper end of the interval.
    high: float
    # The lower end of the interval.
    low: float
    # The number of separate measurements.
    measurements: int
    # The number of runs of all its measurements.
    runs: int
    # The median with its interval, excluding the drift.
    value: float
    # For a load test: the share of requests without a good response, if known.
    failed_share: float | None = None


@dataclass(frozen=True)
class Stretch:
    """One interval of a thread's life, for the chart."""

    # What the time was spent on.
    category: TimeCategory
    # A description of the call and its descriptor, if it was in one; not trustworthy: escape it.
    detail: str | None
    # The start, in nanoseconds.
    from_ns: int
    # The process id.
    pid: int
    # The thread id.
    tid: int
    # The end, in nanoseconds.
    to_ns: int


@dataclass(frozen=True)
class Summary:
    """The summary of one metric of one benchmark, in the metric's unit."""

    # Largest value.
    max: float
    # Arithmetic mean: for exports, never shown alone.
    mean: float
    # Median with its distribution-free interval.
    median: Estimate
    # The metric.
    metric: Metric
    # Smallest value.
    min: float
    # 10th percentile.
    p10: float
    # 90th percentile.
    p90: float
    # 99th percentile.
    p99: float
    # The number of runs that had a value.
    runs: int
    # Sample standard deviation (n - 1): for exports, never shown alone.
    standard_deviation: float


@dataclass(frozen=True)
class ThreadAccount:
    """The account of one thread, for `--threads` and `--processes`."""

    # Where its time went; the total is the time from its start to its end.
    account: TimeAccount
    # When it began, in nanoseconds from the start of the run.
    from_ns: int
    # The name, not trustworthy: escape it.
    name: str
    # The process id.
    pid: int
    # The thread id.
    tid: int
    # When it ended, in nanoseconds from the start of the run.
    to_ns: int


@dataclass(frozen=True)
class TimeAccount:
    """Parts that add up to a wall time, largest first. In `Explanation::account`, this is the median wall time
    of the untraced runs; in `ThreadAccount`, the time from start to end of a thread of the observed run."""

    # The parts, whose sum is `wall_ns`; empty if the observed times describe only the observer itself.
    parts: list[AccountPart]
    # The total in nanoseconds.
    wall_ns: int


@dataclass(frozen=True)
class TimedRuns:
    """The runs that were timed and not traced; all reported times are from these runs."""

    # The median CPU time in seconds.
    cpu: Estimate
    # The median wall time of the empty program in seconds.
    floor: Estimate | None
    # The median peak memory in bytes.
    peak_memory: Estimate
    # The number of runs.
    runs: int
    # The median wall time in seconds.
    wall: Estimate


@dataclass(frozen=True)
class WallDifference:
    """By how much the wall times differ."""

    # The upper end of the interval.
    high: float
    # The confidence level of both intervals, 0 to 1.
    level: float
    # The lower end of the interval of the difference, by rounds.
    low: float
    # B's median wall time minus A's.
    milliseconds: float
    # The ratio of B's wall time to A's, by rounds.
    ratio: Estimate
    # The number of rounds in which both were timed.
    rounds: int


@dataclass(frozen=True)
class Warning:
    """A warning about how far the numbers can be trusted."""

    # The benchmark it concerns, if any.
    benchmark: int | None
    # A stable identifier, such as `two_modes`.
    id: str
    # A sentence for display.
    message: str


@dataclass(frozen=True)
class WhereRow:
    """A part of the wall time with its object and its location in the code. The rows of one kind add up to at
    most that part of the account."""

    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code generated at run
    # time.
    binary: str | None
    # The system call; null outside of calls, or if unknown.
    call: str | None
    # The callers, nearest first.
    callers: list[CodePlace]
    # The number of calls, waits or page faults; null if unknown.
    count: int | None
    # The function in the notation of its language; null if no symbol is known.
    function: str | None
    # The part of the account it belongs to.
    kind: TimeCategory
    # The line of the source file, from 1: for a function, the line with most of its time; for a caller, the
    # line of the call.
    line: int | None
    # Nanoseconds of an untraced run.
    ns: int
    # The object on which the time was spent: a file, folder, pipe, peer or lock; the memory that page faults
    # accessed (a file by its path, `data of libc.so.6`, `heap`, `stack`, `anonymous mapping`); or the command
    # line of the child that spent it. Null for the command's own code, or if unknown. Not trustworthy: escape
    # it.
    object: str | None
    # The purpose of the runtime's thread, or of the runtime's work on a program thread; null for the
    # program's own work.
    role: ThreadRole | None
    # The share of the account's wall time, 0 to 1.
    share: float
    # The source file, as recorded by the compiler.
    source_file: str | None
    # If there is no function: the last exported function that begins before the location.
    after: str | None = None
    # Environment variables, options and calls that change the amount of the runtime's work.
    changed_by: list[str] | None = None
    # The common purpose of several library functions below one caller, such as `allocation` or `functions of
    # libcrypto.so.3`: the row covers all of them, and `function` is the one with most of the time. Null if
    # the row covers a single function.
    group: str | None = None
    # If there is no function: the byte offset in the binary.
    offset: int | None = None
    # The text of that line, if it is in the program's own source and the file could be read.
    source_text: str | None = None
    # If there is no function: the package with the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class WhyRecord:
    """The complete record of `fathom why`."""

    # Where the median wall time of the untraced runs went, along the critical path of the observed run: waits
    # as observed, and CPU time without what tracing added.
    account: TimeAccount
    # Its arguments, starting with the program.
    arguments: list[str]
    # System calls, most time first.
    calls: list[CallRow]
    # The command as given.
    command: str
    # A description of how the observed run ended; empty for success.
    end: str
    # The environment.
    environment: Environment
    # Version of Fathom.
    fathom_version: str
    # Causes, ordered by the time that could be saved, most first.
    findings: list[Finding]
    # Input and output by descriptor and path, most time first.
    io: list[IoRow]
    # Always `why`.
    kind: Literal['why']
    # How it was observed.
    observation: Explaining
    # The functions in which the time of the program's own code was spent; null if the tier doesn't sample, or
    # if there were none.
    own_code: OwnCode | None
    # The milestones in the start of the command.
    phases: list[Phase]
    # The observed process, if it was already running; null for a command.
    process: ObservedProcess | None
    # The process tree, parents first.
    processes: list[ProcessRow]
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # The start, RFC 3339, UTC.
    started_at: str
    # The account of each thread.
    threads: list[ThreadAccount]
    # The timed runs.
    timed: TimedRuns
    # What the threads did over time, for the chart.
    timeline: list[Stretch]
    # Warnings about how far the numbers can be trusted.
    warnings: list[str]
    # The largest pieces of the account, each with its object and its location in the code, most time first,
    # at most 100.
    where: list[WhereRow]
    # The call paths in which the time was spent; empty if no stacks are known.
    paths: list[CodePaths] | None = None
