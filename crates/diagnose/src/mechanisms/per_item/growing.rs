//! Detects that each piece of the input takes longer than the one before.

use fathom_trace::{Progress, ProgressRow};

use crate::mechanisms::prelude::*;

/// The minimum CPU time for the input, in ns: a tenth of it must be longer than the interval of the points.
const LEAST_CPU_NS: u64 = 200_000_000;
/// The minimum number of reads: with fewer, the quarters of the input can't be told apart.
const FEWEST_READS: u64 = 12;
/// The minimum part of all that the process read meanwhile.
const MOST_OF_READS: f64 = 0.8;
/// How much longer the second half of the input takes than the first, at least. It is 3 times as long if each piece is
/// compared with all earlier ones, 1.8 times if half of the pieces are repeated, and up to 1.6 times for tables that
/// outgrow the caches.
const SECOND_HALF: f64 = 1.75;
/// How much longer the second quarter takes than the first, at least: it is 3 times, or 1.9. A table outgrows
/// the caches at some later point.
const SECOND_QUARTER: f64 = 1.4;

/// How much longer a quarter takes than the one before, at most. It is 2.7 times as long if each piece takes time in
/// proportion to the square of its number. A jump is something else: a program that reads its settings, works, and
/// reads something again.
const JUMP: f64 = 4.0;

/// How long a process took for parts of its input.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pace {
    /// CPU time until the first eighth of the bytes was read, in ns.
    eighth: f64,
    /// CPU time for each quarter of the bytes, in ns.
    quarters: [f64; 4],
}

impl Pace {
    /// Returns the pace between two times of the trace; `None` if too little is known.
    fn between(points: &[Progress], from: u64, to: u64) -> Option<(Pace, u64)> {
        let inside: Vec<&Progress> = points
            .iter()
            .filter(|point| (from..=to).contains(&point.at_ns))
            .collect();
        let (first, last) = (inside.first()?, inside.last()?);
        let (read, cpu_ns) = (last.read - first.read, last.cpu_ns - first.cpu_ns);
        if cpu_ns < LEAST_CPU_NS || read == 0 {
            return None;
        }
        // The CPU time when this part of the bytes had been read.
        let until = |part: f64| {
            let wanted = first.read as f64 + part * read as f64;
            let at = inside.partition_point(|point| (point.read as f64) < wanted);
            let (after, before) = (inside[at], inside[at.saturating_sub(1)]);
            let step = (wanted - before.read as f64) / (after.read - before.read).max(1) as f64;
            let cpu = (after.cpu_ns - before.cpu_ns) as f64;
            (before.cpu_ns - first.cpu_ns) as f64 + step * cpu
        };
        let ends = [0.25, 0.5, 0.75, 1.0].map(until);
        let quarters = [0, 1, 2, 3].map(|at| ends[at] - if at > 0 { ends[at - 1] } else { 0.0 });
        let eighth = until(0.125);
        Some((Pace { eighth, quarters }, read))
    }

    fn halves(&self) -> (f64, f64) {
        let [a, b, c, d] = self.quarters;
        (a + b, c + d)
    }

    fn is_slowing(&self) -> bool {
        let (first, second) = self.halves();
        let [a, b, c, d] = self.quarters;
        let grows = second >= SECOND_HALF * first && b >= SECOND_QUARTER * a && c >= b && d >= c;
        grows && c <= JUMP * b && d <= JUMP * c
    }

    /// The CPU time that would be saved if each piece took as long as those in the first eighth, in ns.
    fn excess_ns(&self) -> f64 {
        let (first, second) = self.halves();
        (first + second - 8.0 * self.eighth).max(0.0)
    }
}

/// What a process read from, and when.
struct Input {
    name: Option<String>,
    bytes: u64,
    from: u64,
    to: u64,
}

/// Returns what a process read from: files, and descriptors with all that they have referred to.
fn inputs(analysis: &Analysis<'_>, pid: u32) -> Vec<Input> {
    let mut by_fd: BTreeMap<i32, (u64, Input)> = BTreeMap::new();
    for row in analysis.rows_of_process(pid) {
        let moved = row.first_moved_ns.zip(row.last_moved_ns);
        if let (true, Some(fd), Some((from, to))) = (calls::is_read(&row.name), row.fd, moved) {
            let fresh = Input {
                name: analysis.name_of(pid, fd),
                bytes: 0,
                from,
                to,
            };
            let (reads, input) = by_fd.entry(fd).or_insert((0, fresh));
            *reads += row.calls;
            input.bytes += row.bytes;
            (input.from, input.to) = (input.from.min(from), input.to.max(to));
        }
    }
    let files = analysis.files_of(pid).filter_map(|row| {
        let (_, all) = by_fd.get(&row.fd?)?;
        let input = Input {
            name: Some(row.name.to_string()),
            bytes: row.read_bytes,
            from: row.first_ns,
            to: all.to,
        };
        Some((row.reads, input))
    });
    let mut all: Vec<(u64, Input)> = files.collect();
    all.extend(by_fd.into_values());
    let enough = all.into_iter().filter(|(reads, _)| *reads >= FEWEST_READS);
    enough.map(|(_, input)| input).collect()
}

pub(crate) fn growing(analysis: &Analysis<'_>) -> Option<Claim> {
    let slowing = |row: &ProgressRow, input: &Input| {
        let (pace, read) = Pace::between(&row.points, input.from, input.to)?;
        let is_most = input.bytes as f64 >= MOST_OF_READS * read as f64;
        (is_most && pace.is_slowing()).then_some(pace)
    };
    let found = analysis.trace.progress.iter().flat_map(|row| {
        let busiest = largest(analysis.threads_of(row.pid), |times| times.on_cpu_ns);
        let weight = busiest.map_or(0.0, |times| analysis.weight(times.tid));
        let inputs = inputs(analysis, row.pid).into_iter();
        inputs.filter_map(move |input| {
            let pace = slowing(row, &input)?;
            let saving = analysis.untraced(pace.excess_ns()) * weight;
            let (first, second) = pace.halves();
            let halves = [analysis.untraced(first), analysis.untraced(second)];
            Some((
                row.pid,
                input,
                saving.min(analysis.spent_ns(TimeCategory::UserCode)),
                halves,
            ))
        })
    });
    let (pid, input, saving, [first, second]) = largest(found, |(_, _, saving, _)| *saving)?;
    let code = analysis.main_own_place(pid).unwrap_or_default();
    let of = input
        .name
        .map_or_else(String::new, |name| format!(" of {name}"));
    let statement = format!(
        "Each piece of the input took longer than the one before, which cost {}: the first half of the {}{of} took {} of \
         CPU time, the second {}.",
        analysis.time_and_share(saving),
        bytes(input.bytes as f64),
        time(first),
        time(second),
    );
    let mut claim = Claim::new(FindingId::GrowingWork, analysis, saving, statement);
    claim.code = code;
    Some(
        claim
            .evidence("CPU time for the first half", first, "ns")
            .evidence("CPU time for the second half", second, "ns")
            .advice(
                "Look for what grows with the input: a search through all earlier items (use a set, a map or a sorted \
                 list), text or a list that is copied to add to it, or sorting for each item.",
            )
            .pid(pid)
            .likely(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::{Activity, Progress, ProgressRow};

    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns a program that reads a file of 1 MB for all of its second; this part of it (both 0 to 1) was read at
    /// this part of the time.
    fn reading(part_at: impl Fn(f64) -> f64) -> Fake {
        let mut fake = Fake::new(1000);
        let frame = fathom_stacks::Frame {
            binary: "/bin/program".to_owned(),
            function: Some("first_seen".to_owned()),
            ..fathom_stacks::Frame::default()
        };
        fake.stack(Activity::OwnCode, None, [frame], 1000);
        let row = fake.calls("read", Some(3), 125, 8_000, 1_000);
        (row.first_moved_ns, row.last_moved_ns) = (Some(0), Some(1_000_000_000));
        let point = |at_ms: u64| Progress {
            at_ns: at_ms * 1_000_000,
            cpu_ns: at_ms * 1_000_000,
            read: 50_000 + (part_at(at_ms as f64 / 1e3) * 1e6) as u64,
        };
        fake.trace.progress = vec![ProgressRow {
            pid: ROOT,
            points: (0..=100).map(|at| point(10 * at)).collect(),
        }];
        fake
    }

    #[test]
    fn input_that_is_compared_with_all_earlier_input_is_named() {
        let found = reading(f64::sqrt).findings();
        hold_words("growing", &found[0]);
        let statement = "Each piece of the input took longer than the one before, which cost 872 ms, 87 % of the wall \
                         time: the first half of the 976.6 KiB took 250 ms of CPU time, the second 750 ms.";
        assert_eq!(found[0].statement, statement);
        assert_eq!(found[0].code.function.as_deref(), Some("first_seen"));
        assert_eq!(found[0].could_win_ns / 10_000_000, 87);
    }

    #[test]
    fn steady_work_and_a_table_that_outgrows_the_caches_are_not() {
        assert!(reading(|at| at).ids().is_empty());
        // Each piece takes 1.1 times as long in the second quarter, and twice as long from then on.
        let outgrows = |at: f64| match at {
            ..0.164 => at / 0.656,
            ..0.344 => 0.25 + (at - 0.164) / 0.72,
            _ => 0.5 + (at - 0.344) / 1.312,
        };
        assert!(reading(outgrows).ids().is_empty());
    }

    #[test]
    fn input_that_is_read_before_the_work_and_other_reads_show_no_pace() {
        assert!(reading(|at| (at * 50.0).min(1.0)).ids().is_empty());
        // Settings, work for a second, and a last read.
        let apart = |at: f64| match at {
            ..0.04 => 0.65 * (at / 0.04).sqrt(),
            ..0.98 => 0.65 + 0.01 * at,
            _ => 1.0,
        };
        assert!(reading(apart).ids().is_empty());
        let mut fake = reading(f64::sqrt);
        let points = &mut fake.trace.progress[0].points;
        points.iter_mut().for_each(|point| point.read *= 2);
        assert!(fake.ids().is_empty());
    }
}
