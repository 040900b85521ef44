//! An explanation with many processes and threads, and a timeline of them.

use super::{MS, account, call, clean, estimate, finding, io, own_code, process};
use fathom_model::{
    Evidence, Explaining, Explanation, Phase, Place, ProcessRow, Stretch, ThreadAccount,
    TimeCategory, TimedRuns,
};

/// Random numbers that are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        // Constants of Knuth's MMIX generator.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// Which process a stretch of the timeline belongs to, and from when to when.
#[derive(Clone, Copy)]
struct Lane {
    pid: u32,
    tid: u32,
    from: u64,
    to: u64,
}

/// Stretches without a gap over the life of a thread, drawn from `mix` by weight.
fn live(
    lane: Lane,
    mix: &[(TimeCategory, u64, Option<&str>)],
    longest: u64,
    dice: &mut Dice,
) -> Vec<Stretch> {
    let weights: u64 = mix.iter().map(|part| part.1).sum();
    let mut out = Vec::new();
    let mut at = lane.from;
    while at < lane.to {
        let mut pick = dice.below(weights);
        let (spent, _, detail) = mix
            .iter()
            .find(|part| {
                let found = pick < part.1;
                pick = pick.saturating_sub(part.1);
                found
            })
            .unwrap_or(&mix[0]);
        let end = (at + longest / 8 + dice.below(longest)).min(lane.to);
        out.push(Stretch {
            pid: lane.pid,
            tid: lane.tid,
            from_ns: at,
            to_ns: end,
            spent: *spent,
            detail: detail.map(str::to_owned),
        });
        at = end;
    }
    out
}

/// The account of stretches.
fn sum(stretches: &[Stretch]) -> Vec<(TimeCategory, u64)> {
    let mut parts: Vec<(TimeCategory, u64)> = Vec::new();
    for stretch in stretches {
        let ns = stretch.to_ns - stretch.from_ns;
        match parts.iter_mut().find(|part| part.0 == stretch.spent) {
            Some(part) => part.1 += ns,
            None => parts.push((stretch.spent, ns)),
        }
    }
    parts
}

fn thread(lane: Lane, name: &str, stretches: &[Stretch]) -> ThreadAccount {
    ThreadAccount {
        pid: lane.pid,
        tid: lane.tid,
        name: name.into(),
        from_ns: lane.from,
        to_ns: lane.to,
        account: account(&sum(stretches)),
    }
}

/// A shell script that feeds a Python program with four threads, which starts `children`
/// converters.
pub(crate) fn many(children: u32) -> Explanation {
    let mut dice = Dice(42);
    let end = 1840 * MS;
    let mut timeline = Vec::new();
    let mut threads = Vec::new();
    let mut processes: Vec<ProcessRow> = Vec::new();
    let mut add = |lane: Lane, name: &str, stretches: Vec<Stretch>| {
        threads.push(thread(lane, name, &stretches));
        timeline.extend(stretches);
    };

    let shell = Lane {
        pid: 4120,
        tid: 4120,
        from: 0,
        to: end,
    };
    let started = Lane {
        to: 9 * MS,
        ..shell
    };
    let mut life = live(
        started,
        &[
            (TimeCategory::KernelProcesses, 2, Some("execve")),
            (TimeCategory::PageFaults, 1, None),
            (TimeCategory::UserCode, 2, None),
        ],
        MS,
        &mut dice,
    );
    life.push(Stretch {
        pid: 4120,
        tid: 4120,
        from_ns: 9 * MS,
        to_ns: end - 2 * MS,
        spent: TimeCategory::WaitingForChild,
        detail: Some("wait4 for 4121".into()),
    });
    life.push(Stretch {
        pid: 4120,
        tid: 4120,
        from_ns: end - 2 * MS,
        to_ns: end,
        spent: TimeCategory::KernelProcesses,
        detail: Some("exit_group".into()),
    });
    add(shell, "sh", life);
    processes.push(process(4120, None, "sh ./thumbnails.sh photos", 0, 1840));

    let main = Lane {
        pid: 4121,
        tid: 4121,
        from: 9 * MS,
        to: end - 3 * MS,
    };
    let loading = Lane {
        to: 160 * MS,
        ..main
    };
    let working = Lane {
        from: 160 * MS,
        ..main
    };
    let mut life = live(
        loading,
        &[
            (TimeCategory::UserCode, 5, None),
            (
                TimeCategory::KernelFiles,
                3,
                Some("openat /usr/lib/python3.11/site-packages/PIL/Image.py"),
            ),
            (TimeCategory::PageFaults, 2, None),
            (
                TimeCategory::Disk,
                2,
                Some("read 4 /usr/lib/python3.11/lib-dynload/_ssl.so"),
            ),
        ],
        4 * MS,
        &mut dice,
    );
    life.extend(live(
        working,
        &[
            (TimeCategory::WaitingForChild, 9, Some("wait4")),
            (TimeCategory::KernelProcesses, 4, Some("vfork")),
            (TimeCategory::UserCode, 3, None),
            (TimeCategory::Locks, 2, Some("futex")),
            (TimeCategory::WaitingForPipe, 2, Some("read 9 pipe")),
        ],
        40 * MS,
        &mut dice,
    ));
    add(main, "python3", life);
    let mut python = process(
        4121,
        Some(4120),
        "python3 thumbnails.py --jobs 3 photos",
        9,
        1837,
    );
    python.threads = 4;
    processes.push(python);
    for worker in 0..3u32 {
        let lane = Lane {
            pid: 4121,
            tid: 4130 + worker,
            from: (170 + 9 * u64::from(worker)) * MS,
            to: end - (5 + u64::from(worker)) * MS,
        };
        let life = live(
            lane,
            &[
                (TimeCategory::Locks, 8, Some("futex 0x7f31c4")),
                (TimeCategory::UserCode, 5, None),
                (TimeCategory::Ready, 2, None),
                (
                    TimeCategory::KernelIo,
                    1,
                    Some("read 7 /srv/photos/0041.jpg"),
                ),
                (TimeCategory::Disk, 1, Some("read 7 /srv/photos/0041.jpg")),
            ],
            24 * MS,
            &mut dice,
        );
        add(lane, &format!("worker-{worker}"), life);
    }
    let room = (end - 200 * MS) / u64::from(children.max(1));
    for child in 0..children {
        let pid = 4200 + child;
        let from = 180 * MS + room * u64::from(child);
        let to = (from + room * 2).min(end - 8 * MS);
        let lane = Lane {
            pid,
            tid: pid,
            from,
            to,
        };
        let life = live(
            lane,
            &[
                (TimeCategory::KernelProcesses, 1, Some("execve")),
                (TimeCategory::KernelMemory, 1, Some("mmap")),
                (TimeCategory::PageFaults, 3, None),
                (TimeCategory::UserCode, 6, None),
                (
                    TimeCategory::KernelIo,
                    1,
                    Some("write 3 /srv/thumbs/out.jpg"),
                ),
            ],
            room / 5 + 1,
            &mut dice,
        );
        add(lane, "convert", life);
        let name = format!("convert photos/{child:04}.jpg -resize 160x160 thumbs/{child:04}.jpg");
        processes.push(process(pid, Some(4121), &name, from / MS, to / MS));
    }

    let whole = account(&[
        (TimeCategory::WaitingForChild, 761 * MS),
        (TimeCategory::KernelProcesses, 402 * MS),
        (TimeCategory::UserCode, 318 * MS),
        (TimeCategory::WaitingForPipe, 171 * MS),
        (TimeCategory::Locks, 104 * MS),
        (TimeCategory::KernelFiles, 38 * MS),
        (TimeCategory::Disk, 30 * MS),
        (TimeCategory::PageFaults, 9 * MS),
        (TimeCategory::Unaccounted, 7 * MS),
    ]);
    let plain = clean();
    Explanation {
        command: "sh ./thumbnails.sh photos".into(),
        arguments: ["sh", "./thumbnails.sh", "photos"]
            .map(String::from)
            .to_vec(),
        timed: TimedRuns {
            wall: estimate(1.791),
            cpu: estimate(2.204),
            peak_memory: estimate(61_865_984.0),
            ..plain.timed
        },
        explaining: Explaining {
            wall_ns: whole.wall_ns,
            slowdown: 1.031,
            not_visible: vec!["Page faults served without reading are counted, not timed.".into()],
            ..plain.explaining
        },
        account: whole,
        threads,
        timeline,
        io: many_io(),
        own_code: Some(own_code(&[
            (Some("_PyEval_EvalFrameDefault"), "/usr/bin/python3.11", 300),
            (None, "//anon", 120),
            (None, "[vdso]", 60),
            (None, "", 20),
        ])),
        calls: vec![
            call("wait4", 124, 2, 790, 761, 0),
            call("futex", 40_122, 310, 512, 480, 0),
            call("vfork", 120, 0, 288, 20, 0),
            call("execve", 362, 240, 114, 0, 0),
            call("read", 9_120, 0, 96, 61, 402_112_000),
            call("openat", 14_200, 9_840, 38, 0, 0),
            call("newfstatat", 11_090, 7_002, 21, 0, 0),
            call("mmap", 6_420, 0, 14, 0, 0),
            call("write", 1_260, 0, 9, 0, 8_120_000),
        ],
        processes,
        phases: vec![
            Phase {
                name: "exec".into(),
                at_ns: 600_000,
                modelled: false,
            },
            Phase {
                name: "loader_done".into(),
                at_ns: 2_100_000,
                modelled: false,
            },
            Phase {
                name: "first_output".into(),
                at_ns: 204 * MS,
                modelled: false,
            },
            Phase {
                name: "exit".into(),
                at_ns: end,
                modelled: false,
            },
        ],
        findings: many_findings(),
        ..plain
    }
}

fn many_io() -> Vec<fathom_model::IoRow> {
    let mut rows = vec![
        io(Some(9), "pipe", (122, 7_808), (0, 0), 171, Some(170)),
        io(
            Some(7),
            "/srv/photos/0041.jpg",
            (3_100, 203_161_600),
            (0, 0),
            44,
            Some(21),
        ),
        io(
            None,
            "/usr/lib/python3.11",
            (412, 6_291_456),
            (0, 0),
            31,
            Some(9),
        ),
        io(
            Some(1),
            "/srv/thumbs/list.txt",
            (0, 0),
            (1_140, 22_800),
            6,
            Some(0),
        ),
    ];
    for number in 0..9 {
        let name = format!("/srv/thumbs/{number:04}.jpg");
        rows.push(io(Some(3), &name, (0, 0), (4, 31_200), 1, Some(0)));
    }
    for row in &mut rows {
        row.pid = 4121;
    }
    rows[2].errors = 9_840;
    rows
}

fn many_findings() -> Vec<fathom_model::Finding> {
    let place = |tid: Option<u32>, fd: Option<i32>, path: Option<&str>| Place {
        pid: Some(4121),
        tid,
        fd,
        path: path.map(str::to_owned),
    };
    let mut found = vec![
        finding(
            "process-spawning",
            "The program started 120 processes of convert one after another; starting each took 3.4 ms before its main began.",
            0.22,
            390,
            "Resize in the process that is there: PIL's Image.thumbnail, or one mogrify for all files.",
        ),
        finding(
            "waiting-for-child",
            "Python waited 761 ms for its children, one at a time, while a CPU was free.",
            0.41,
            310,
            "Start the next child before the last one has ended: subprocess.Popen for as many as there are CPUs.",
        ),
        finding(
            "lock-contention",
            "Three threads waited 480 ms for the lock at 0x7f31c4; it was held for 41 µs on average.",
            0.057,
            96,
            "Hold the lock only while the queue is changed: queue.SimpleQueue does.",
        ),
        finding(
            "missing-file-lookups",
            "9,840 of 14,200 openat calls found no file: 12 folders are searched for each module.",
            0.02,
            31,
            "Shorten sys.path, or start Python with -I.",
        ),
        finding(
            "cold-files",
            "30 ms went to reading files for the first time.",
            0.016,
            12,
            "Nothing to change for runs that follow each other; else read ahead with posix_fadvise.",
        ),
    ];
    for (one, (name, value, unit)) in found.iter_mut().zip([
        ("processes", 120.0, "processes"),
        ("waiting", 761e6, "ns"),
        ("waiting, all threads", 480e6, "ns"),
        ("lookups without a file", 9_840.0, "calls"),
        ("read from storage", 5_242_880.0, "bytes"),
    ]) {
        one.evidence = vec![Evidence {
            name: name.into(),
            value,
            unit: unit.into(),
        }];
    }
    found[0].place = place(Some(4121), None, None);
    found[1].place = place(Some(4121), None, None);
    found[2].place = place(None, None, None);
    found[2].limit = Some("an uncontended lock takes 18 ns on this machine".into());
    found[3].place = place(Some(4121), None, Some("/usr/lib/python3.11"));
    found[4].place = place(None, Some(7), Some("/srv/photos/0041.jpg"));
    found[4].confidence = fathom_model::Confidence::Likely;
    found
}
