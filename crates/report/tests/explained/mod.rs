//! Explanations made up without a clock or a machine: the same on every run.

// Each test binary and the example use another part of it.
#![allow(dead_code)]

use fathom_model::{
    AccountPart, CallRow, Confidence, Environment, Estimate, Evidence, Explaining, Explanation,
    Finding, FunctionShare, IoRow, OwnCode, Phase, Place, ProcessRow, SCHEMA_VERSION, Stretch,
    ThreadAccount, TimeAccount, TimeCategory, TimedRuns,
};

pub(crate) mod hostile;
pub(crate) mod tree;

/// A million nanoseconds.
pub(crate) const MS: u64 = 1_000_000;

/// An estimate with a relative half width of 0.5 %.
pub(crate) fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        low: value * 0.995,
        high: value * 1.006,
        level: 0.95,
    }
}

/// Functions with their samples, most first.
pub(crate) fn own_code(rows: &[(Option<&str>, &str, u64)]) -> OwnCode {
    let samples = rows.iter().map(|row| row.2).sum();
    let functions = rows.iter().map(|(function, file, seen)| FunctionShare {
        function: function.map(str::to_owned),
        file: (*file).to_owned(),
        samples: *seen,
        share: *seen as f64 / samples as f64,
    });
    OwnCode {
        period_ns: 997_000,
        samples,
        functions: functions.collect(),
    }
}

/// An account whose whole is the sum of its parts, largest first.
pub(crate) fn account(parts: &[(TimeCategory, u64)]) -> TimeAccount {
    let mut parts: Vec<AccountPart> = parts
        .iter()
        .map(|&(spent, ns)| AccountPart { spent, ns })
        .collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
    TimeAccount {
        wall_ns: parts.iter().map(|part| part.ns).sum(),
        parts,
    }
}

/// A row of the I/O table: descriptor, what it is, (reads, bytes), (writes, bytes), milliseconds.
pub(crate) fn io(
    fd: Option<i32>,
    name: &str,
    read: (u64, u64),
    written: (u64, u64),
    total_ms: u64,
    blocked_ms: Option<u64>,
) -> IoRow {
    IoRow {
        pid: 4120,
        fd,
        name: name.into(),
        reads: read.0,
        read_bytes: read.1,
        writes: written.0,
        written_bytes: written.1,
        total_ns: Some(total_ms * MS),
        blocked_ns: blocked_ms.map(|ms| ms * MS),
        errors: 0,
        seeks: 0,
    }
}

pub(crate) fn call(
    name: &str,
    calls: u64,
    errors: u64,
    total_ms: u64,
    blocked_ms: u64,
    bytes: u64,
) -> CallRow {
    CallRow {
        name: name.into(),
        calls,
        errors,
        total_ns: Some(total_ms * MS),
        blocked_ns: Some(blocked_ms * MS),
        bytes,
    }
}

pub(crate) fn process(
    pid: u32,
    parent: Option<u32>,
    command: &str,
    from_ms: u64,
    to_ms: u64,
) -> ProcessRow {
    ProcessRow {
        pid,
        parent,
        programs: vec![command.split(' ').map(str::to_owned).collect()],
        from_ns: from_ms * MS,
        to_ns: to_ms * MS,
        end: "exit 0".into(),
        threads: 1,
    }
}

pub(crate) fn stretch(
    tid: u32,
    from_ns: u64,
    to_ns: u64,
    spent: TimeCategory,
    detail: Option<&str>,
) -> Stretch {
    Stretch {
        pid: 4120,
        tid,
        from_ns,
        to_ns,
        spent,
        detail: detail.map(str::to_owned),
    }
}

/// A finding with numbers.
pub(crate) fn finding(
    id: &str,
    statement: &str,
    share: f64,
    could_win_ms: u64,
    advice: &str,
) -> Finding {
    Finding {
        id: id.parse().expect("a finding has this id"),
        statement: statement.into(),
        evidence: vec![Evidence {
            name: "write calls".into(),
            value: 1_204_511.0,
            unit: "calls".into(),
        }],
        share,
        could_win_ns: could_win_ms * MS,
        could_win_cpu_ns: 0,
        could_win_latency_ns: 0,
        advice: advice.into(),
        confidence: Confidence::Certain,
        limit: None,
        place: Place {
            pid: Some(4120),
            tid: Some(4120),
            fd: None,
            path: None,
        },
    }
}

fn environment() -> Environment {
    Environment {
        kernel: "Linux 6.18.44".into(),
        architecture: "x86_64".into(),
        cpu_model: Some("AMD EPYC 9R14".into()),
        cpus: 2,
        memory_bytes: Some(16 << 30),
        host: Some("lab".into()),
        governor: None,
        virtual_machine: Some(true),
        load_average: Some(0.12),
        fingerprint: None,
    }
}

/// One process that only computes: no finding.
pub(crate) fn clean() -> Explanation {
    let account = account(&[
        (TimeCategory::UserCode, 201 * MS),
        (TimeCategory::PageFaults, 9 * MS),
        (TimeCategory::KernelIo, 4 * MS),
        (TimeCategory::KernelFiles, MS),
        (TimeCategory::Ready, MS / 2),
        (TimeCategory::Unaccounted, MS / 4),
    ]);
    let wall_ns = account.wall_ns;
    Explanation {
        schema_version: SCHEMA_VERSION,
        kind: "why".into(),
        fathom_version: "0.1.0".into(),
        started_at: "2026-11-21T06:25:46Z".into(),
        environment: environment(),
        command: "gzip -9 -c words.txt".into(),
        arguments: ["gzip", "-9", "-c", "words.txt"].map(String::from).to_vec(),
        end: String::new(),
        timed: TimedRuns {
            runs: 10,
            wall: estimate(0.2124),
            cpu: estimate(0.2101),
            peak_memory: estimate(1_830_912.0),
            floor: Some(estimate(0.00052)),
        },
        explaining: Explaining {
            tier: "kernel".into(),
            wall_ns,
            slowdown: 1.016,
            times_are_quoted: true,
            not_visible: Vec::new(),
            lost: Vec::new(),
        },
        threads: vec![ThreadAccount {
            pid: 4120,
            tid: 4120,
            name: "gzip".into(),
            from_ns: 0,
            to_ns: wall_ns,
            account: account.clone(),
        }],
        account,
        io: vec![
            io(
                Some(3),
                "/srv/data/words.txt",
                (1580, 51_773_440),
                (0, 0),
                3,
                Some(0),
            ),
            io(Some(1), "pipe", (0, 0), (310, 10_158_080), 1, Some(0)),
        ],
        own_code: Some(own_code(&[
            (Some("deflate_slow"), "/usr/bin/gzip", 610),
            (Some("longest_match"), "/usr/bin/gzip", 480),
            (None, "/usr/lib/libz.so.1", 90),
            (Some("memcpy"), "/usr/lib/libc.so.6", 20),
        ])),
        calls: vec![
            call("read", 1582, 0, 3, 0, 51_773_440),
            call("write", 310, 0, 1, 0, 10_158_080),
            call("openat", 6, 2, 0, 0, 0),
        ],
        processes: vec![process(4120, None, "gzip -9 -c words.txt", 0, wall_ns / MS)],
        phases: vec![
            Phase {
                name: "exec".into(),
                at_ns: 400_000,
                modelled: false,
            },
            Phase {
                name: "loader_done".into(),
                at_ns: 1_100_000,
                modelled: false,
            },
            Phase {
                name: "first_output".into(),
                at_ns: 9_300_000,
                modelled: false,
            },
            Phase {
                name: "exit".into(),
                at_ns: wall_ns,
                modelled: false,
            },
        ],
        findings: Vec::new(),
        timeline: vec![
            stretch(
                4120,
                0,
                2 * MS,
                TimeCategory::KernelProcesses,
                Some("execve"),
            ),
            stretch(4120, 2 * MS, 3 * MS, TimeCategory::PageFaults, None),
            stretch(4120, 3 * MS, wall_ns, TimeCategory::UserCode, None),
        ],
        warnings: Vec::new(),
    }
}

/// The program of the literature: every term is written with a call of its own.
pub(crate) fn findings() -> Explanation {
    let account = account(&[
        (TimeCategory::KernelIo, 412 * MS),
        (TimeCategory::UserCode, 196 * MS),
        (TimeCategory::WaitingForOutput, 38 * MS),
        (TimeCategory::PageFaults, 14 * MS),
        (TimeCategory::KernelFiles, 3 * MS),
        (TimeCategory::Ready, 2 * MS),
        (TimeCategory::Unaccounted, 4 * MS),
    ]);
    let mut first = finding(
        "unbuffered-output",
        "The program made 1,204,511 write calls to standard output, 9.1 bytes each.",
        0.63,
        398,
        "Wrap standard output in std::io::BufWriter and lock it once, outside of the loop.",
    );
    first.limit = Some("this machine writes 64 KiB blocks to a pipe at 3.1 GB/s".into());
    first.evidence.push(Evidence {
        name: "bytes per call".into(),
        value: 9.1,
        unit: "bytes/call".into(),
    });
    first.place.fd = Some(1);
    first.place.path = Some("pipe".into());
    let mut second = finding(
        "waiting-for-output",
        "For 38 ms the reader of standard output was slower than the program.",
        0.057,
        38,
        "Speed up the reader, or give it larger blocks.",
    );
    second.confidence = Confidence::Likely;
    let plain = clean();
    Explanation {
        command: "ppbert --pretty terms.bin".into(),
        arguments: ["ppbert", "--pretty", "terms.bin"]
            .map(String::from)
            .to_vec(),
        timed: TimedRuns {
            wall: estimate(0.6512),
            cpu: estimate(0.602),
            peak_memory: estimate(25_165_824.0),
            ..plain.timed
        },
        explaining: Explaining {
            wall_ns: account.wall_ns,
            slowdown: 1.027,
            not_visible: vec!["What user code does between calls.".into()],
            ..plain.explaining
        },
        threads: vec![ThreadAccount {
            name: "ppbert".into(),
            to_ns: account.wall_ns,
            account: account.clone(),
            ..plain.threads[0].clone()
        }],
        io: vec![
            io(
                Some(1),
                "pipe",
                (0, 0),
                (1_204_511, 10_961_050),
                450,
                Some(38),
            ),
            io(
                Some(3),
                "/srv/data/terms.bin",
                (176, 11_534_336),
                (0, 0),
                3,
                Some(0),
            ),
        ],
        own_code: None,
        calls: vec![
            call("write", 1_204_511, 0, 450, 38, 10_961_050),
            call("read", 178, 0, 3, 0, 11_534_336),
            call("brk", 31, 0, 1, 0, 0),
        ],
        processes: vec![process(4120, None, "ppbert --pretty terms.bin", 0, 669)],
        phases: plain
            .phases
            .iter()
            .map(|phase| Phase {
                at_ns: match phase.name.as_str() {
                    "exit" => account.wall_ns,
                    _ => phase.at_ns,
                },
                ..phase.clone()
            })
            .collect(),
        timeline: vec![
            stretch(
                4120,
                0,
                4 * MS,
                TimeCategory::KernelProcesses,
                Some("execve"),
            ),
            stretch(4120, 4 * MS, 18 * MS, TimeCategory::PageFaults, None),
            stretch(
                4120,
                18 * MS,
                420 * MS,
                TimeCategory::KernelIo,
                Some("write 1 pipe"),
            ),
            stretch(
                4120,
                420 * MS,
                458 * MS,
                TimeCategory::WaitingForOutput,
                Some("write 1 pipe"),
            ),
            stretch(
                4120,
                458 * MS,
                account.wall_ns,
                TimeCategory::UserCode,
                None,
            ),
        ],
        findings: vec![first, second],
        account,
        ..plain
    }
}
