//! The comparisons: each compares a figure of Fathom with one of another tool that has the same definition.

use std::path::Path;

use super::words::{last_number, least_in_matrix, number_after};

/// A comparison of one figure of Fathom with one of another tool.
pub(super) struct Comparison {
    /// Name of the figure.
    pub figure: &'static str,
    /// The probe's id.
    pub id: &'static str,
    /// The point of the probe's curve to compare; `None` for the probe's value.
    pub at: Option<f64>,
    /// Unit of the probe.
    pub unit: &'static str,
    /// The other tool's folder below `$RIVALS`.
    pub tool: &'static str,
    /// Program and arguments.
    pub words: &'static [&'static str],
    /// Number of concurrent threads.
    pub threads: f64,
    /// Extracts the number from the tool's output.
    pub read: fn(&str) -> Option<f64>,
    /// Factor that converts the tool's unit to the probe's.
    pub factor: f64,
    /// Whether the tool may run with real-time priority. It may not if its processes wake each other: a
    /// pipe's round trip takes 6.0 us between ordinary processes here and 6.6 us between real-time ones.
    pub runs_first: bool,
    /// Timeout in seconds, after which the tool has printed the figure or was disturbed.
    pub seconds: &'static str,
    /// Whether Fathom reports the minimum of its samples, or nearly the minimum. If so, the minimum over all
    /// rounds is compared with the other tool's minimum, because disturbances only add time. If not, each
    /// round is a pair.
    pub least: bool,
    /// Number of runs per round; the median counts.
    pub calls: usize,
    /// For lmbench, the length of one of its windows in microseconds (`ENOUGH`).
    pub window_us: &'static str,
}

impl Comparison {
    /// Returns the name of the tool and its command, for display.
    pub(super) fn command(&self) -> String {
        match self.words {
            [] => self.tool.to_string(),
            _ => format!("{}: {}", self.tool, self.line().join(" ")),
        }
    }

    /// Returns the program and its arguments for this machine, with the sizes that depend on its caches.
    pub(super) fn line(&self) -> Vec<String> {
        let kib = |bytes: usize| format!("{}k", bytes >> 10);
        let sizes = |word: &&str| match *word {
            FOUR_FIRST => kib((4 * cache_bytes(1).unwrap_or(32 << 10)).max(128 << 10)),
            TWO_SECOND => kib(2 * cache_bytes(2).unwrap_or(512 << 10)),
            IN_MEMORY => format!("{}m", memory_mib()),
            other => other.to_string(),
        };
        self.words.iter().map(sizes).collect()
    }
}

/// Returns the size in bytes of the first CPU's data cache at `level`, as reported by the kernel.
fn cache_bytes(level: u32) -> Option<usize> {
    let caches = fathom_machine::reported_caches(Path::new("/"), 0);
    Some(caches.into_iter().find(|cache| cache.level == level)?.bytes)
}

/// A window in microseconds in which memory is read or written: about 10 times through 128 MiB, or twice
/// through a larger set.
const LONG: &str = "100000";

/// A window of calls, in microseconds. Timer interrupts and other users' tracers disturb only some of many
/// short windows, and lmbench takes the median; they always disturb a window of 0.1 s. In one run here, the
/// minimum was 185 ns, the median of windows of 19 us was 187, and the mean over 2 s was between 198 and 480.
const SHORT: &str = "500";

/// A window of switches between processes, in microseconds: they take time to settle.
const MIDDLE: &str = "5000";

/// Placeholders in multichase's arguments for sets that depend on the machine's caches, like Fathom's: four
/// times the first level (at least 128 KiB), and twice the second.
pub(super) const FOUR_FIRST: &str = "{4 x L1}";
pub(super) const TWO_SECOND: &str = "{2 x L2}";
/// Placeholder for a set in memory.
const IN_MEMORY: &str = "{memory}";

/// Returns the size in MiB of a set in memory. As in Fathom, this is 128, or three times the last-level cache
/// if 128 is less than twice that cache.
pub(super) fn memory_mib() -> usize {
    let level = (1..=4).rev().find_map(cache_bytes);
    let last = level.unwrap_or(32 << 20) >> 20;
    match last > 64 {
        true => 3 * last,
        false => 128,
    }
}

/// Returns the number of 8-byte elements of each of STREAM's arrays.
pub(super) fn stream_elements() -> usize {
    (memory_mib() << 20) / 8
}

/// Factor from MiB/s to GB/s.
const MIB: f64 = 1.048_576e-3;

/// Timeout in seconds for tinymembench: after 23 s, it has reached its latencies, which are not compared.
/// With 260 MiB of last-level cache, it reached its fill around the caches after 28 s in five of seven
/// rounds.
pub(super) const FILLS: &str = "45";

const fn time(
    figure: &'static str,
    id: &'static str,
    unit: &'static str,
    tool: &'static str,
    words: &'static [&'static str],
) -> Comparison {
    Comparison {
        figure,
        id,
        at: None,
        unit,
        tool,
        words,
        threads: 1.0,
        read: last_number,
        factor: 1.0,
        seconds: "40",
        least: true,
        calls: 1,
        window_us: LONG,
        runs_first: true,
    }
}

/// Returns a comparison of a tool's rate in MB/s with the single-thread point of the probe's curve. Set `at`
/// to `None` to compare the probe's value.
const fn rate(
    figure: &'static str,
    id: &'static str,
    tool: &'static str,
    words: &'static [&'static str],
    read: fn(&str) -> Option<f64>,
) -> Comparison {
    Comparison {
        at: Some(1.0),
        read,
        factor: 1e-3,
        least: false,
        ..time(figure, id, "GB/s", tool, words)
    }
}

/// Returns the rate of STREAM's copy in MB/s, from the mean of its times, which is the number after its best
/// rate: Fathom's figure is a mean.
fn copy(text: &str) -> Option<f64> {
    copy_of(stream_elements(), text)
}

fn copy_of(elements: usize, text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("Copy:"))?;
    let mean_s: f64 = line.split_ascii_whitespace().nth(2)?.parse().ok()?;
    Some(2.0 * 8.0 * elements as f64 / mean_s / 1e6)
}

/// Returns the best rate of STREAM's copy in MB/s with all threads. In its mean, each thread waits for the
/// slowest at the end of every pass, while Fathom adds up what all of them move. In the best pass, this
/// effect is smallest.
fn best_copy(text: &str) -> Option<f64> {
    number_after(text, "Copy:")
}

fn fill_around(text: &str) -> Option<f64> {
    number_after(text, "SSE2 nontemporal fill")
}

fn fill(text: &str) -> Option<f64> {
    number_after(text, "SSE2 fill")
}

/// Returns the best of multiload's samples of 20 ms, which is in the eighth column of its second line.
/// Fathom's figure is from its best pass of 40 ms.
fn best_load(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.contains("stream-sum"))?;
    line.split(',').nth(7)?.trim().parse().ok()
}

fn micro(text: &str) -> Option<f64> {
    let (_, rest) = text.rsplit_once(':')?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// All comparisons. If Fathom's memory uses huge pages (latencies, reading by one core), so does that of the
/// other tool, through -H or glibc; otherwise it uses the default pages.
pub(super) const ALL: [Comparison; 18] = [
    time(
        "load, L1",
        "l1_latency",
        "ns",
        "multichase",
        &["multichase", "-n", "75", "-m", "8k", "-s", "64", "-T", "8k"],
    ),
    time(
        "load, L2",
        "l2_latency",
        "ns",
        "multichase",
        &[
            "multichase",
            "-n",
            "75",
            "-m",
            FOUR_FIRST,
            "-s",
            "64",
            "-T",
            FOUR_FIRST,
            "-H",
        ],
    ),
    time(
        "load, last level",
        "l3_latency",
        "ns",
        "multichase",
        &[
            "multichase",
            "-n",
            "75",
            "-m",
            TWO_SECOND,
            "-s",
            "64",
            "-T",
            TWO_SECOND,
            "-H",
        ],
    ),
    time(
        "load, memory",
        "memory_latency",
        "ns",
        "multichase",
        &[
            "multichase",
            "-n",
            "75",
            "-m",
            IN_MEMORY,
            "-s",
            "64",
            "-T",
            IN_MEMORY,
            "-H",
        ],
    ),
    Comparison {
        threads: 2.0,
        read: least_in_matrix,
        // This benchmark hands over a single cache line, and lines differ.
        calls: 5,
        least: false,
        ..time(
            "core to core",
            "core_to_core",
            "ns",
            "multichase",
            &["pingpong", "-u", "-r", "1"],
        )
    },
    Comparison {
        at: None,
        ..rate(
            "read by words, 1 thread",
            "read_bandwidth_words",
            "lmbench",
            &["bw_mem", "-N", "3", IN_MEMORY, "rd"],
            last_number,
        )
    },
    Comparison {
        at: None,
        factor: MIB,
        ..rate(
            "read, 1 thread",
            "read_bandwidth_1",
            "multichase",
            &[
                "multiload",
                "-n",
                "75",
                "-m",
                IN_MEMORY,
                "-l",
                "stream-sum",
                "-H",
                "-X",
            ],
            best_load,
        )
    },
    rate(
        "write, 1 thread",
        "bandwidth_write",
        "lmbench",
        &["bw_mem", "-N", "3", IN_MEMORY, "wr"],
        last_number,
    ),
    Comparison {
        seconds: FILLS,
        ..rate(
            "write, 1 thread",
            "bandwidth_write",
            "tinymembench",
            &["tinymembench"],
            fill,
        )
    },
    Comparison {
        seconds: FILLS,
        ..rate(
            "write around, 1 thread",
            "bandwidth_write_around",
            "tinymembench",
            &["tinymembench"],
            fill_around,
        )
    },
    rate(
        "copy, 1 thread",
        "bandwidth_copy",
        "STREAM",
        &["stream_1"],
        copy,
    ),
    Comparison {
        at: None,
        threads: 0.0,
        ..rate(
            "copy, all threads",
            "bandwidth_copy",
            "STREAM",
            &["stream_all"],
            best_copy,
        )
    },
    Comparison {
        read: micro,
        factor: 1000.0,
        window_us: SHORT,
        ..time(
            "system call",
            "system_call",
            "ns",
            "lmbench",
            &["lat_syscall", "-N", "200", "null"],
        )
    },
    Comparison {
        read: micro,
        runs_first: false,
        window_us: MIDDLE,
        ..time(
            "pipe round trip, processes",
            "pipe_round_trip_processes",
            "us",
            "lmbench",
            &["lat_pipe", "-N", "5"],
        )
    },
    Comparison {
        runs_first: false,
        window_us: MIDDLE,
        ..time(
            "context switch, processes",
            "context_switch_processes",
            "us",
            "lmbench",
            &["lat_ctx", "-N", "50", "-s", "0", "2"],
        )
    },
    Comparison {
        read: micro,
        factor: 1000.0,
        ..time(
            "mapped page of a file",
            "page_fault_file",
            "ns",
            "lmbench",
            &["lat_pagefault", "-N", "3", "FILE"],
        )
    },
    Comparison {
        read: micro,
        factor: 1000.0,
        ..time(
            "mapped page, file of small pieces",
            "page_fault_file_small",
            "ns",
            "lmbench",
            &["lat_pagefault", "-N", "3", "PAGES"],
        )
    },
    time("start of a program", "spawn_floor", "us", "C loop", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_fills_of_tinymembench_are_distinguished() {
        let text = " SSE2 copy                        :  10211.0 MB/s\n \
                    SSE2 fill                        :  22711.3 MB/s (0.4%)\n \
                    SSE2 nontemporal fill            :  21034.9 MB/s\n";
        assert_eq!(fill(text), Some(22711.3));
        assert_eq!(fill_around(text), Some(21034.9));
    }

    #[test]
    fn the_mean_time_of_stream_gives_its_rate() {
        let text = "Function    Best Rate MB/s  Avg time     Min time     Max time\n\
                    Copy:           34500.0     0.008000     0.007781     0.009121\n";
        assert!((copy_of(16 << 20, text).unwrap() - 33_554.4).abs() < 0.1);
        assert_eq!(best_copy(text), Some(34500.0));
    }

    #[test]
    fn the_best_sample_of_multiload_is_read() {
        let text = "Samples\t, Byte/thd\t, ChaseThds\t, ChaseNS\t, ChaseMibs\t, ChDeviate\t, LoadThds\t, LdMaxMibs\t, LdAvgMibs\t, LdDeviate\t, ChaseArg\t, MemLdArg\n\
                    3     \t, 134217728  \t, 0       \t, 0.000   \t, 0       \t, 0.000   \t, 1       \t, 33033   \t, 32045   \t, 0.059   \t, --------\t, stream-sum\n";
        assert_eq!(best_load(text), Some(33033.0));
    }

    #[test]
    fn lmbench_puts_its_number_behind_the_last_colon() {
        let text = "Pagefaults on /tmp/a: 0.4114 microseconds\n";
        assert_eq!(micro(text), Some(0.4114));
    }
}
