"""The records of Fathom, as `--json` writes them. Made by python/generate.py from docs/json-schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

CodePath = Literal['cpu', 'waits']
Confidence = Literal['likely', 'certain']
DifferenceBy = Literal['category', 'child', 'call', 'function', 'together']
DriftSource = Literal['same_revision', 'successive', 'assumed', 'noise_floor', 'waits', 'none']
Exit = dict[str, int] | Literal['timed_out']
FindingId = Literal['allocator-churn', 'busy-polling', 'clock-calls', 'cold-files', 'cpu-starved', 'delayed-ack-stall', 'dynamic-linking', 'idle-cores', 'kernel-bound', 'line-buffered-output', 'lock-contention', 'missing-file-lookups', 'page-fault-heavy', 'process-spawning', 'rereading', 'rewriting', 'sleeping', 'small-file-io', 'startup-dominated', 'sync-writes', 'thread-spawning', 'unbuffered-input', 'unbuffered-output', 'unoptimised-build', 'waiting-for-child', 'waiting-for-disk', 'waiting-for-input', 'waiting-for-network', 'waiting-for-output', 'wakeup-storm']
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

    # On what.
    category: TimeCategory
    # Nanoseconds.
    ns: int


@dataclass(frozen=True)
class AskedMetric:
    """A metric whose comparison was asked for."""

    # Differences up to this share count as none (0.01 is 1 %).
    margin: float
    # Which.
    metric: Metric


@dataclass(frozen=True)
class BenchRecord:
    """Everything about a session. In the JSON file the runs come before the outcome, so that the file is whole
    after every run."""

    # The benchmarks, in the order in which they were given.
    benchmarks: list[Benchmark]
    # False while measuring is going on, or when it was cut short.
    complete: bool
    # What holds for all benchmarks.
    conditions: Conditions
    # Where it was measured.
    environment: Environment
    # Version of Fathom that measured.
    fathom_version: str
    # Always `bench`.
    kind: Literal['bench']
    # What follows; absent while measuring is going on.
    outcome: Outcome | None
    # Every run, in the order in which they were done.
    runs: list[Run]
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # Start of the session, RFC 3339, UTC.
    started_at: str
    # The job that it was made in, with `--on`.
    jobs: list[JobRun] | None = None


@dataclass(frozen=True)
class Benchmark:
    """One named command with its input and conditions."""

    # The arguments as they are executed, program first (lossy where they aren't UTF-8).
    arguments: list[str]
    # The command as it was given, for people (where it isn't UTF-8, bytes are written as `\xff`).
    command: str
    # Variables added to the environment. A secret, known by its name, is `redacted-` and a hash under the
    # user's key.
    environment_variables: list[tuple[str, str]]
    # Standard input.
    input: InputFrom
    # Name under which it is shown: `-n`, else the command as it was given.
    name: str
    # Standard output.
    output: OutputTo
    # Parameters of a scan, in the order of definition.
    parameters: list[tuple[str, str]]
    # The shell that interprets the command, if any.
    shell: str | None
    # Working directory, if it was set.
    working_directory: str | None
    # The same arguments as bytes, only where `arguments` is lossy.
    arguments_bytes: list[list[int]] | None = None


@dataclass(frozen=True)
class BenchmarkResult:
    """What is said of one benchmark."""

    # Index of the benchmark.
    benchmark: int
    # Runs that ended with something other than success and were kept under `--ignore-failure`.
    failures: int
    # One summary for each metric that has values.
    summaries: list[Summary]


@dataclass(frozen=True)
class CallRow:
    """A system call and what it cost, over all threads."""

    # Of `total_ns`: asleep.
    blocked_ns: int | None
    # Bytes moved.
    bytes: int
    # Calls that were made, also those that didn't return.
    calls: int
    # Calls that returned an error.
    errors: int
    # Name.
    name: str
    # Time from entry to return, without waiting for a CPU. Absent where the observer can't tell it.
    total_ns: int | None


@dataclass(frozen=True)
class CodePaths:
    """A tree of callers, and what the time was spent on."""

    # All of it in nanoseconds of an untraced run, along the critical path.
    ns: int
    # Of which time.
    of: CodePath
    # Its steps, callers first, at most 1,000: what is below 0.1 % is in its caller's time.
    steps: list[PathStep]


@dataclass(frozen=True)
class CodePlace:
    """A place in a program's code. Not trustworthy: escape its texts."""

    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code that was made at run
    # time.
    binary: str | None
    # The function in the words of its language; null where no symbol is known.
    function: str | None
    # Line of the source file, from 1: of a function the line that most of its time is in, of a caller the
    # line of the call.
    line: int | None
    # Source file, as the compiler recorded it.
    source_file: str | None
    # Without a function: the exported function that begins before the place.
    after: str | None = None
    # Without a function: the byte of the binary.
    offset: int | None = None
    # Without a function: the package that has the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class CompareRecord:
    """Two sides compared that were measured at different times: what `fathom compare --json` writes."""

    # What is compared with.
    base: CompareSide
    # One for each series that both sides have.
    comparisons: list[StoredComparison]
    # Version of Fathom that compared.
    fathom_version: str
    # What is compared.
    head: CompareSide
    # Always `compare`.
    kind: Literal['compare']
    # What was not compared, and why.
    left_out: list[NotCompared]
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # What must be known to trust the verdicts, a sentence each.
    warnings: list[str]


@dataclass(frozen=True)
class CompareSide:
    """One side of a comparison."""

    # As it was asked for.
    asked: str
    # The file, if it is one.
    file: str | None
    # Ids of its records; empty for a file.
    records: list[str]
    # The revision, if all its measurements are of one.
    revision: str | None


@dataclass(frozen=True)
class Comparison:
    """One metric of two benchmarks, compared round by round."""

    # Level (0 to 1) at which `faster` and `slower` are claimed, higher than that of the interval: the p-value
    # must be at most 1 less this. Several comparisons and interim analyses are allowed for.
    claim_level: float
    # The margin within which two programs count as the same, as a share (0.01 is 1 %).
    margin: float
    # Which metric.
    metric: Metric
    # For an undecided comparison: how many more rounds would decide it.
    more_rounds: MoreRounds | None
    # Two-sided p-value of 'no difference' (Wilcoxon signed-rank on the paired log ratios), before the
    # correction for several comparisons and interim analyses.
    p_value: float
    # Hodges-Lehmann estimate of the ratio subject / reference with its interval.
    ratio: Estimate
    # Index of the benchmark that is compared with.
    reference: int
    # Number of rounds in which both have a value.
    rounds: int
    # Ratios at p10, p50 and p90.
    shift: Shift
    # Index of the benchmark that is compared.
    subject: int
    # What follows.
    verdict: Verdict


@dataclass(frozen=True)
class Conditions:
    """What holds for all benchmarks of a session."""

    # Whether the size of the environment was varied from run to run.
    environment_size_randomised: bool
    # Margin of the verdicts as a share.
    margin: float
    # In which order the runs of a round were made. Records of before this was written down: at random.
    order: RunOrder
    # CPUs that the commands were pinned to, if any.
    pinned_cpus: list[int] | None
    # Seed of the order of runs, and of what else is left to chance.
    seed: int
    # Longest time a run may take, in seconds.
    timeout_seconds: float | None
    # Warm-up runs of each benchmark that were done and not counted.
    warmup_runs: int
    # The metrics that were asked for, the first of which is the one of the answer. Empty: the clock that
    # carries verdicts.
    metrics: list[AskedMetric] | None = None


@dataclass(frozen=True)
class Difference:
    """Where the difference of two medians is."""

    # How the rows' intervals came about, in words.
    intervals: str
    # Milliseconds of the difference that are in no row of the wall time.
    not_explained: float
    # The same as a share of the longer median, 0 to 1.
    not_explained_share: float
    # Its parts, the largest first, each followed by the rows that it is divided into.
    rows: list[DifferenceRow]
    # The difference itself.
    wall: WallDifference


@dataclass(frozen=True)
class DifferenceCommand:
    """One of the two commands."""

    # Where the median wall time went: the mean over the observed runs.
    account: TimeAccount
    # Its arguments, program first.
    arguments: list[str]
    # The command as it was given.
    command: str
    # How its observed run ended, in words; empty for success.
    end: str
    # How the last of them was observed.
    observation: Explaining
    # Runs that were observed.
    observed_runs: int
    # The runs that were timed.
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
    """Everything that `fathom why 'A' 'B'` says."""

    # A and B.
    commands: list[DifferenceCommand]
    # What B takes more.
    difference: Difference
    # Where.
    environment: Environment
    # Version of Fathom.
    fathom_version: str
    # Findings that only one of them has, by the time that could be saved, most first.
    findings: list[OnlyFinding]
    # Always `difference`.
    kind: Literal['difference']
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # Start, RFC 3339, UTC.
    started_at: str
    # What must be known to trust the numbers.
    warnings: list[str]
    # The ways through the code of both; none where no stacks are known.
    paths: list[PathsDifference] | None = None


@dataclass(frozen=True)
class DifferenceRow:
    """A part of what B takes more than A; less than nothing where B takes less."""

    # What the row divides by.
    by: DifferenceBy
    # Of a function: the nearest function of the program's own code that it was called from; empty where that
    # isn't known.
    callers: list[CodePlace]
    # On what the time was spent; null for a child.
    category: TimeCategory | None
    # How often it happened, where that is known.
    count: DifferenceCount | None
    # The file that most of it is on, or that the function is from; not trustworthy: escape it.
    file: str | None
    # Upper end of its interval.
    high: float
    # Lower end of its interval, which never holds 0. Where times alone don't say that much, it is by counts:
    # as many calls as one command makes more, each as long as the shortest and as the longest of any observed
    # run.
    low: float
    # B's time less A's.
    milliseconds: float
    # `wall`: these rows and what is not explained add up to the difference of the wall times. Else the `part`
    # of the row that it is a part of.
    of: str
    # A `TimeCategory` by its name in the JSON, or the name of a program, of a call or of a function; not
    # trustworthy: escape it.
    part: str


@dataclass(frozen=True)
class Drift:
    """How far separate measurements of the same thing lie from each other."""

    # Earlier measurements of the series in this environment.
    measurements: int
    # By so much two measurements of the same may differ, in 95 of 100 cases (0.05 is 5 %).
    share: float
    # What that rests on.
    source: DriftSource


@dataclass(frozen=True)
class Environment:
    """Where a measurement was made. Fields that the system does not report are absent."""

    # Processor architecture as the kernel names it.
    architecture: str
    # Processor model name.
    cpu_model: str | None
    # CPUs that this process may use.
    cpus: int
    # Frequency governor of CPU 0.
    governor: str | None
    # Name of the machine.
    host: str | None
    # Operating system and kernel release.
    kernel: str
    # One-minute load average at the start.
    load_average: float | None
    # Memory of the machine in bytes.
    memory_bytes: int | None
    # Whether the processor says that it runs under a hypervisor.
    virtual_machine: bool | None
    # What the machine can do, measured; absent if no profile of it is remembered.
    fingerprint: Fingerprint | None = None


@dataclass(frozen=True)
class Estimate:
    """A value with its interval."""

    # Upper end of the interval.
    high: float
    # Confidence that the interval has, 0 to 1. What a sample can't support is not claimed: five runs can't
    # give 95 %, so the level that they do give stands here.
    level: float
    # Lower end of the interval.
    low: float
    # The point estimate.
    value: float


@dataclass(frozen=True)
class Evidence:
    """A number that supports a finding."""

    # What it counts or measures, such as `write calls`.
    name: str
    # Its unit: `calls`, `bytes`, `bytes/call`, `ns`, `files`, `1` for a plain ratio.
    unit: str
    # The value.
    value: float


@dataclass(frozen=True)
class Explaining:
    """How the observed run was done, and what it may be trusted for."""

    # What was observed and could not be kept, in words; empty if nothing was lost.
    lost: list[str]
    # What this tier could not see, one sentence each.
    not_visible: list[str]
    # Its wall time divided by the median wall time of the timed runs, waiting for a CPU included in both.
    slowdown: float
    # `kernel`, `perf`, `sample` or `stops`.
    tier: str
    # False when `slowdown` is over 1.1: then its times are only quoted as modelled, and shares are those of
    # an untraced run.
    times_are_measured: bool
    # Wall time of the observed run in nanoseconds.
    wall_ns: int
    # Options that the observed run was given beside what the timed runs were, to name the code that its
    # runtime makes; absent where there were none. Not trustworthy: escape it.
    added: str | None = None
    # The command that gives names to functions where code that a runtime makes has none here; absent where it
    # has, or nothing would. Not trustworthy: escape it.
    names_by: str | None = None


@dataclass(frozen=True)
class Finding:
    """A named cause with its evidence, its share of the time, and what to do."""

    # What to change, in the words of the program's language where it is known.
    advice: str
    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code that was made at run
    # time.
    binary: str | None
    # What called that function, the nearest first.
    callers: list[CodePlace]
    # How sure it is.
    confidence: Confidence
    # CPU time that it could save, in nanoseconds of an untraced run, where that is another figure than wall
    # time: a loop that burns a CPU which nobody else wants saves no wall time. Modelled; 0 where it is the
    # same.
    cpu_saving_ns: int
    # The numbers.
    evidence: list[Evidence]
    # The function in the words of its language; null where no symbol is known.
    function: str | None
    # Which cause.
    id: FindingId
    # Time by which each of many pieces of work could be done sooner, where the whole takes as long as before:
    # too many threads. In nanoseconds of an untraced run, modelled; 0 elsewhere.
    latency_saving_ns: int
    # The limit of this machine that it is measured against, if one applies.
    limit: str | None
    # Line of the source file, from 1: of a function the line that most of its time is in, of a caller the
    # line of the call.
    line: int | None
    # What most of its time is on: a file, folder, pipe, peer, lock or command; null where nothing is known.
    # Not trustworthy: escape it.
    object: str | None
    # From which parts of the account `saving_ns` would go, most first. They add up to it, and those of all
    # findings to no more than the account has.
    parts: list[AccountPart]
    # Where.
    place: Place
    # The same with its interval; null in records of versions that had none, and where nothing is known to be
    # saved.
    saving: Saving | None
    # Wall time that mending it could save, in nanoseconds of an untraced run. Modelled. 0 where the command
    # was ended by the time limit: nobody knows how long it would have taken.
    saving_ns: int
    # Share of the median wall time of the untraced runs that goes to this cause, 0 to 1. Where they had to
    # wait for a CPU, that wait is part of the whole.
    share: float
    # Source file, as the compiler recorded it.
    source_file: str | None
    # One sentence with the numbers.
    statement: str
    # Without a function: the exported function that begins before the place.
    after: str | None = None
    # Without a function: the byte of the binary.
    offset: int | None = None
    # What came of running the command without this cause; absent where that was not asked for.
    proof: Proof | None = None
    # Without a function: the package that has the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class Fingerprint:
    """What was measured of the machine itself: once as a profile, and in part again before this measurement."""

    # Five of the same probes right before this measurement; those without an answer are left out.
    canaries: list[MachineFigure]
    # Probes whose canary lies farther from the profile than on a machine that did not change.
    changed: list[str]
    # Seconds between the profile and this measurement.
    measured_seconds_ago: int
    # The quick profile, as it is remembered.
    profile: list[MachineFigure]
    # Canaries without an answer: the machine was too busy for them, or lacks what they need.
    skipped: list[str] | None = None


@dataclass(frozen=True)
class Floor:
    """The cost of running nothing: an empty static program, run the same way in the same rounds."""

    # Number of runs of the empty program.
    runs: int
    # Median wall time in seconds, less waits for a CPU where they are known.
    wall: Estimate


@dataclass(frozen=True)
class FunctionShare:
    """A function of the program's own code or of a library."""

    # The file that it is from: a path, `[vdso]`, `//anon` and the like for code that was generated at run
    # time, or nothing where it isn't known. Not trustworthy: escape it.
    file: str
    # Its name in the words of its language; null where its file has no symbol for it. Not trustworthy: escape
    # it.
    function: str | None
    # Samples in it.
    samples: int
    # Part of all own code, 0 to 1.
    share: float


@dataclass(frozen=True)
class IoCounts:
    """What the process and the children that it waited for read and wrote. Source: `/proc/PID/io`. Counts
    `read`, `pread`, `readv`, `write` and their kin, also on sockets; not `send`/`recv`, `splice`, `mmap`
    access or io_uring."""

    # Bytes fetched from the storage device (`read_bytes`).
    device_read_bytes: int
    # Bytes of pages made dirty that the storage device must take (`write_bytes`).
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
    """A descriptor or path and what went through it."""

    # Of `total_ns`: asleep.
    blocked_ns: int | None
    # Calls that returned an error.
    errors: int
    # Descriptor; absent where several calls on a path are summed.
    fd: int | None
    # Path, or `pipe`, `socket` and the like; not trustworthy: escape it.
    name: str
    # Process.
    pid: int
    # Bytes read.
    read_bytes: int
    # Read calls.
    reads: int
    # Seeks.
    seeks: int
    # Time in all calls on it, of all threads: on a CPU and asleep, without waiting for a CPU. Absent where
    # the observer can't tell it.
    total_ns: int | None
    # Write calls.
    writes: int
    # Bytes written.
    written_bytes: int


@dataclass(frozen=True)
class JobRun:
    """A job of an engine such as Slurm (`--on`)."""

    # Which attempt made the record, from 1.
    attempts: int
    # The engine's id.
    id: str
    # The node that it ran on, as the engine calls it.
    node: str
    # Always `completed`: no other job makes a record.
    state: str


@dataclass(frozen=True)
class MachineFigure:
    """One figure of the machine."""

    # Name of the probe, such as `memory_latency`.
    id: str
    # Its unit, such as `ns` or `GB/s`.
    unit: str
    # The figure.
    value: float


@dataclass(frozen=True)
class NotCompared:
    """A series that was not compared."""

    # Name of the benchmark.
    benchmark: str
    # Name of the metric.
    metric: str
    # Its parameters.
    parameters: list[tuple[str, str]]
    # Why, a sentence.
    why: str


@dataclass(frozen=True)
class ObservedProcess:
    """A process that ran already: what is explained of it is the time in which it was observed."""

    # It ended while it was observed.
    ended: bool
    # It, or a process that it made, listens for connections.
    listens: bool
    # Its name, at most 15 bytes. Not trustworthy: escape it.
    name: str
    # Its number.
    pid: int


@dataclass(frozen=True)
class OnlyFinding:
    """A finding that only one of the commands has."""

    # 0 for A, 1 for B.
    command: int
    # What it has and the other has not.
    finding: Finding


@dataclass(frozen=True)
class Outcome:
    """What follows from the runs."""

    # The comparisons that carry the verdict, one for each benchmark but the reference; of several metrics
    # that were asked for one after the other.
    comparisons: list[Comparison]
    # The same pairs compared on the other clock (wall against undisturbed time), where it exists.
    cross_checks: list[Comparison]
    # The empty program.
    floor: Floor | None
    # One for each benchmark.
    results: list[BenchmarkResult]
    # Why measuring ended.
    stop: StopReason
    # What must be known to trust the numbers: it changes what to believe, or what to do.
    warnings: list[Warning]
    # Where no metric was asked for: the same pairs in the metrics besides time that differ clearly.
    also_differ: list[Comparison] | None = None
    # What is known besides, and changes neither.
    notes: list[Warning] | None = None
    # Where the commands are one command with several delays: how much of these came out.
    slope: Slope | None = None
    # The runs to warm up, which count nowhere; of those in the last such round standard output went to a pipe
    # where it goes to `/dev/null` in all others.
    warmups: list[Run] | None = None


@dataclass(frozen=True)
class OwnCode:
    """In which functions the program's own code was, over all threads, by samples at equal distances of CPU
    time."""

    # Innermost functions, most samples first, at most 60.
    functions: list[FunctionShare]
    # CPU time between two samples in nanoseconds.
    period_ns: int
    # Samples in own code.
    samples: int


@dataclass(frozen=True)
class PathStep:
    """A function below its callers, or at the end of a way what it called or waited for."""

    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code that was made at run
    # time.
    binary: str | None
    # The function in the words of its language; null where no symbol is known.
    function: str | None
    # Line of the source file, from 1: of a function the line that most of its time is in, of a caller the
    # line of the call.
    line: int | None
    # Nanoseconds, with all that it called.
    ns: int
    # The number of its caller's step, a smaller one than its own; null for the outermost.
    parent: int | None
    # Source file, as the compiler recorded it.
    source_file: str | None
    # Without a function: the exported function that begins before the place.
    after: str | None = None
    # At the end of a way: the system call.
    call: str | None = None
    # At the end of a way: the part of the account.
    kind: TimeCategory | None = None
    # At the end of a way: the file, pipe, peer, lock or command. Not trustworthy: escape it.
    object: str | None = None
    # Without a function: the byte of the binary.
    offset: int | None = None
    # At the end of a way: what the runtime did there.
    role: ThreadRole | None = None
    # Without a function: the package that has the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class PathsDifference:
    """The ways of two commands laid over each other, and what each spent on them."""

    # All of A's in nanoseconds of an untraced run: the mean of its observed runs.
    a_ns: int
    # All of B's.
    b_ns: int
    # Of which time.
    of: CodePath
    # Steps that A or B has, callers first, at most 1,000. Functions of both are one step if they have one
    # name and are from files of one name, or there are no others of that name.
    steps: list[StepDifference]


@dataclass(frozen=True)
class Phase:
    """A point in the start of the command, from the start of the run."""

    # When it was reached.
    at_ns: int
    # Not observed: it is when the observed run had computed as much as a second one that was stopped at its
    # calls.
    modelled: bool
    # `exec`, `loader_done` (both with the program's name behind it where there were several), `first_output`,
    # `exit`.
    name: str


@dataclass(frozen=True)
class Place:
    """Where in the process tree a finding applies."""

    # Descriptor.
    fd: int | None
    # Path or what else the descriptor is; not trustworthy: escape it.
    path: str | None
    # Process.
    pid: int | None
    # Thread.
    tid: int | None


@dataclass(frozen=True)
class ProcessRow:
    """A process of the tree."""

    # How it ended, in words.
    end: str
    # When it began, from the start of the run.
    from_ns: int
    # Its parent in the tree.
    parent: int | None
    # Process.
    pid: int
    # What it executed, in order, with arguments; not trustworthy: escape it.
    programs: list[list[str]]
    # Threads that it had.
    threads: int
    # When it ended.
    to_ns: int


@dataclass(frozen=True)
class Proof:
    """The command was run with and without a cause, in random rounds."""

    # What came of it.
    verdict: ProofVerdict
    # What took the cause away, as `fathom bench --try` takes it.
    intervention: str | None = None
    # Why it is not decided, void or not possible.
    reason: str | None = None
    # What is saved, by the paired rounds.
    saves_ms: SavedMilliseconds | None = None
    # Where nothing can be taken away: what came of delaying it.
    slope: Slope | None = None
    # Median time of the command as it is, in milliseconds.
    with_ms: float | None = None
    # The same without the cause.
    without_ms: float | None = None


@dataclass(frozen=True)
class Run:
    """One execution, complete. Times are nanoseconds."""

    # Index of the benchmark that was run, from 0.
    benchmark: int
    # CPU time, user and kernel, of the process and the children that it waited for.
    cpu_ns: int
    # `wall_ns` less both waits. Present only where it is exact: one thread, no children.
    cpu_wait_free_ns: int | None
    # How it ended.
    exit: Exit
    # Times that the program was taken off the CPU for another.
    involuntary_switches: int
    # Bytes and calls read and written; absent where the kernel refuses to tell.
    io: IoCounts | None
    # Time between the program's exit and the moment that Fathom's own launcher got a CPU to see it.
    launcher_wait_ns: int | None
    # Processes that the command left running when it ended.
    left_behind: int
    # Page faults that had to read from the storage device.
    major_faults: int
    # Page faults served without the storage device.
    minor_faults: int
    # Largest resident memory of the process or of one of the children that it waited for.
    peak_memory_bytes: int
    # Place of this run in the order of all runs, from 0.
    position: int
    # Number of the round, from 0; warm-up runs are not recorded here.
    round: int
    # Time that the main thread was ready to run but had no CPU.
    run_queue_wait_ns: int | None
    # Part of `wall_ns` before the program was executed: creating the process.
    spawn_ns: int
    # Start, counted from the start of the session.
    started_ns: int
    # CPU time that the hypervisor gave to others around this run, all CPUs together (10 ms steps).
    steal_ns: int | None
    # The kernel part of `cpu_ns`, as the kernel's tick sampling divides it.
    system_ns: int
    # The user part of `cpu_ns`, as the kernel's tick sampling divides it.
    user_ns: int
    # Times that the program gave up the CPU to wait for something.
    voluntary_switches: int
    # From just before the process is created to its exit as the parent sees it.
    wall_ns: int
    # For how long calls or threads of it were delayed on purpose, all together: what of that comes out in
    # `wall_ns` lies on the critical path. Absent where that was not asked for.
    delayed_ns: int | None = None
    # For how long the CPU limit of Fathom's own control group, or of one above it, kept threads from a CPU
    # while this run was on, all CPUs together. Absent where there is no such limit.
    throttled_ns: int | None = None


@dataclass(frozen=True)
class SavedMilliseconds:
    """A time that is saved, in milliseconds, with its 95 % interval; less than 0 where more is taken."""

    # To here.
    high: float
    # From here.
    low: float
    # The estimate.
    value: float


@dataclass(frozen=True)
class Saving:
    """What mending a cause saves, as a prediction with its interval, in nanoseconds of an untraced run."""

    # See `low_ns`. No more than the wall time.
    high_ns: int
    # Nine of ten repaired programs of the corpus saved between this and `high_ns`; less than that where a
    # part of it is a guess.
    low_ns: int
    # The prediction, the same as `saving_ns`.
    ns: int


@dataclass(frozen=True)
class Shift:
    """Ratios subject / reference at three quantiles: says whether the whole distribution moved or a tail."""

    # Ratio of the 10th percentiles.
    p10: float
    # Ratio of the medians.
    p50: float
    # Ratio of the 90th percentiles.
    p90: float


@dataclass(frozen=True)
class Slope:
    """How much of a known delay of calls or of a thread came out at the end, by random rounds of the command as
    it is and with three sizes of the delay."""

    # Delay of a run, in milliseconds on average, of each command.
    added_ms: list[float]
    # To here.
    high: float
    # From here.
    low: float
    # What was delayed, as `fathom bench --try` takes it.
    of: str
    # Rounds that it follows from.
    rounds: int
    # Time that the command takes more for each unit of delay: the share of what was delayed that lies on the
    # critical path. Its 95 % interval goes from `low` to `high`.
    value: float


@dataclass(frozen=True)
class StepDifference:
    """A step of A, of B or of both."""

    # Nanoseconds of A, with all that the step called.
    a_ns: int
    # Nanoseconds of B.
    b_ns: int
    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code that was made at run
    # time.
    binary: str | None
    # The function in the words of its language; null where no symbol is known.
    function: str | None
    # Whether both differ by more than the observed runs of one command do among themselves; null where one of
    # them was observed once.
    is_clear: bool | None
    # Line of the source file, from 1: of a function the line that most of its time is in, of a caller the
    # line of the call.
    line: int | None
    # Nanoseconds, with all that it called.
    ns: int
    # The number of its caller's step, a smaller one than its own; null for the outermost.
    parent: int | None
    # Source file, as the compiler recorded it.
    source_file: str | None
    # Without a function: the exported function that begins before the place.
    after: str | None = None
    # At the end of a way: the system call.
    call: str | None = None
    # At the end of a way: the part of the account.
    kind: TimeCategory | None = None
    # At the end of a way: the file, pipe, peer, lock or command. Not trustworthy: escape it.
    object: str | None = None
    # Without a function: the byte of the binary.
    offset: int | None = None
    # At the end of a way: what the runtime did there.
    role: ThreadRole | None = None
    # Without a function: the package that has the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class StoredComparison:
    """One metric of one benchmark on both sides."""

    # Both were not measured in the same environment.
    across_environments: bool
    # What was measured of the base.
    base: StoredValue
    # Name of the benchmark.
    benchmark: str
    # The drift that is allowed for.
    drift: Drift
    # What was measured of the head.
    head: StoredValue
    # Whether more is better, where that is known.
    higher_is_better: bool | None
    # Differences up to this share count as none.
    margin: float
    # Name of the metric.
    metric: str
    # Two-sided p-value of 'no difference', the drift included.
    p_value: float
    # Its parameters.
    parameters: list[tuple[str, str]]
    # Head / base with its interval, the drift between measurements included.
    ratio: Estimate
    # The command that measures both together, and so decides without the drift; absent where it can't be
    # known.
    together: str | None
    # Unit of the values.
    unit: str
    # What follows; where the direction isn't known, `Verdict::Faster` is less and `Verdict::Slower` more.
    verdict: Verdict


@dataclass(frozen=True)
class StoredValue:
    """What is known of one side of a stored comparison."""

    # Upper end.
    high: float
    # Lower end.
    low: float
    # Separate measurements.
    measurements: int
    # Runs of all its measurements.
    runs: int
    # Median with its interval, without the drift.
    value: float
    # Of a load test: the share of requests that had no good answer, where it says so.
    failed_share: float | None = None


@dataclass(frozen=True)
class Stretch:
    """One stretch of a thread's life for the picture."""

    # On what.
    category: TimeCategory
    # The call and its descriptor in words, if it was in one; not trustworthy: escape it.
    detail: str | None
    # From.
    from_ns: int
    # Process.
    pid: int
    # Thread.
    tid: int
    # To.
    to_ns: int


@dataclass(frozen=True)
class Summary:
    """What is reported of one metric of one benchmark, in the metric's unit."""

    # Largest value.
    max: float
    # Arithmetic mean: for exports, never shown alone.
    mean: float
    # Median with its distribution-free interval.
    median: Estimate
    # Which metric.
    metric: Metric
    # Smallest value.
    min: float
    # 10th percentile.
    p10: float
    # 90th percentile.
    p90: float
    # 99th percentile.
    p99: float
    # Number of runs that had a value.
    runs: int
    # Sample standard deviation (n - 1): for exports, never shown alone.
    standard_deviation: float


@dataclass(frozen=True)
class ThreadAccount:
    """The account of one thread, for `--threads` and `--processes`."""

    # Where its time went; the whole is the time from its start to its end.
    account: TimeAccount
    # When it began, from the start of the run.
    from_ns: int
    # Name, not trustworthy: escape it.
    name: str
    # Process.
    pid: int
    # Thread.
    tid: int
    # When it ended.
    to_ns: int


@dataclass(frozen=True)
class TimeAccount:
    """Parts that add up to a wall time, largest first: in `Explanation::account` to the median wall time of the
    untraced runs, in `ThreadAccount` to the time from start to end of a thread of the observed run."""

    # The parts. Their sum is `wall_ns`; empty where the observer's times are no one's but its own.
    parts: list[AccountPart]
    # The whole in nanoseconds.
    wall_ns: int


@dataclass(frozen=True)
class TimedRuns:
    """The runs that were timed and not traced: their times are the times."""

    # Median CPU time in seconds.
    cpu: Estimate
    # Median wall time of the empty program in seconds.
    floor: Estimate | None
    # Median peak memory in bytes.
    peak_memory: Estimate
    # Number of runs.
    runs: int
    # Median wall time in seconds.
    wall: Estimate


@dataclass(frozen=True)
class WallDifference:
    """By how much the wall times differ."""

    # Upper end.
    high: float
    # Level of both intervals, 0 to 1.
    level: float
    # Lower end of the interval of the difference, by rounds.
    low: float
    # B's median wall time less A's.
    milliseconds: float
    # How many times as long B takes, by rounds.
    ratio: Estimate
    # Rounds that both were timed in.
    rounds: int


@dataclass(frozen=True)
class Warning:
    """Something that the reader must know to trust the numbers."""

    # The benchmark that it concerns, if it concerns one.
    benchmark: int | None
    # Stable identifier, such as `two_modes`.
    id: str
    # A sentence for people.
    message: str


@dataclass(frozen=True)
class WhereRow:
    """A part of the wall time with its object and its place in the code. All rows of one kind are no more than
    that part of the account."""

    # The file that the code is from: a path, `[vdso]`, or `//anon` and the like for code that was made at run
    # time.
    binary: str | None
    # The system call; null outside of calls, and where that isn't known.
    call: str | None
    # What called it, the nearest first.
    callers: list[CodePlace]
    # How often: calls, waits or page faults; null where that isn't known.
    count: int | None
    # The function in the words of its language; null where no symbol is known.
    function: str | None
    # The part of the account that it is of.
    kind: TimeCategory
    # Line of the source file, from 1: of a function the line that most of its time is in, of a caller the
    # line of the call.
    line: int | None
    # Nanoseconds of an untraced run.
    ns: int
    # The file, folder, pipe, peer or lock that it is on, the memory that page faults touched (a file by its
    # path, `data of libc.so.6`, `heap`, `stack`, `anonymous mapping`), or the command line of the child that
    # spent it; null for the command's own code and where nothing is known. Not trustworthy: escape it.
    object: str | None
    # What the runtime's thread is for, or the runtime does on the program's; null for the program's own work.
    role: ThreadRole | None
    # Share of the account's wall time, 0 to 1.
    share: float
    # Source file, as the compiler recorded it.
    source_file: str | None
    # Without a function: the exported function that begins before the place.
    after: str | None = None
    # Variables of the environment, options and calls that change how much of that work there is.
    changed_by: list[str] | None = None
    # What several functions of libraries do below one caller, such as `allocation` or `functions of
    # libcrypto.so.3`: the row is of all of them, and `function` is the one with most of the time; null where
    # the row is of one function whose name says it.
    group: str | None = None
    # Without a function: the byte of the binary.
    offset: int | None = None
    # Without a function: the package that has the symbols of the binary.
    symbols_in: str | None = None


@dataclass(frozen=True)
class WhyRecord:
    """Everything that `fathom why` says."""

    # Where the median wall time of the untraced runs went, along the critical path of the observed run: its
    # waits as they were, its CPU time without what tracing added.
    account: TimeAccount
    # Its arguments, program first.
    arguments: list[str]
    # By call, most time first.
    calls: list[CallRow]
    # The command as it was given.
    command: str
    # How the observed run ended, in words; empty for success.
    end: str
    # Where.
    environment: Environment
    # Version of Fathom.
    fathom_version: str
    # Causes, by the time that could be saved, most first.
    findings: list[Finding]
    # By descriptor and path, most time first.
    io: list[IoRow]
    # Always `why`.
    kind: Literal['why']
    # How it was observed.
    observation: Explaining
    # In which functions the program's own code was; null where the tier doesn't sample, or none was found.
    own_code: OwnCode | None
    # The start of the command.
    phases: list[Phase]
    # The process that was observed, where it ran already; null for a command.
    process: ObservedProcess | None
    # The process tree, parents first.
    processes: list[ProcessRow]
    # `SCHEMA_VERSION`.
    schema_version: Literal[2]
    # Start, RFC 3339, UTC.
    started_at: str
    # The account of each thread.
    threads: list[ThreadAccount]
    # The runs that were timed.
    timed: TimedRuns
    # What the threads did when, for the picture.
    timeline: list[Stretch]
    # What must be known to trust the numbers.
    warnings: list[str]
    # The largest pieces of the account, each with its object and its place in the code, most time first, at
    # most 100.
    where: list[WhereRow]
    # The ways through the code that the time went; none where no stacks are known.
    paths: list[CodePaths] | None = None
