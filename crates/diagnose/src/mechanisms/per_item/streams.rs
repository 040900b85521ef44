//! Detects streams and files that are read or written in small pieces, each with a separate call.

use super::tiny_files::read_one_by_one;
use crate::analysis::{PiecesOf, Small};
use crate::mechanisms::prelude::*;

/// Finds a stream, or a file read from beginning to end, that is read in small pieces.
pub(crate) fn input(analysis: &Analysis<'_>) -> Option<Claim> {
    // The kernel decides the size of each read from a file that it generates, such as those in `/proc`.
    let comes_in_pieces = |small: &Small| {
        small.tally.bytes_per_call() >= t::PIECE_BYTES && is_generated(analysis, small)
    };
    let small = dearest(analysis, |small| {
        let is_file = !small.writes && small.is_stream_of_file(analysis);
        small.of == PiecesOf::Input || is_file && !comes_in_pieces(small)
    })?;
    if is_paced_by_writer(analysis, small) {
        return None;
    }
    let descriptors = &analysis.descriptors;
    let standard = descriptors.is_input(small.pid, small.fd);
    let is_file = descriptors.mostly(small.pid, small.fd) == WaitKind::File;
    let runtime = analysis.runtime(Some(small.pid));
    let (name, advice) = match (standard, is_file) {
        (true, true) => (
            "standard input".to_owned(),
            runtime.advice(&[Topic::InputFile, Topic::Input]).to_owned(),
        ),
        (true, false) => (
            "standard input".to_owned(),
            runtime.advice(&[Topic::Input]).to_owned(),
        ),
        (false, true) => (
            file_name(analysis, small),
            runtime.advice_on_file(false, false),
        ),
        (false, false) => {
            let name = descriptors.waited_for_name(small.pid, small.fd);
            let name = name.unwrap_or(&DescriptorKind::Pipe(None));
            let name = format!("the {name} (descriptor {})", small.fd);
            (name, runtime.advice(&[Topic::Stream]).to_owned())
        }
    };
    let statement = format!(
        "{} reads of {name} returned {:.1} bytes each; the calls",
        count(small.tally.calls),
        small.tally.bytes_per_call(),
    );
    let finding = of(FindingId::UnbufferedInput, analysis, small, &statement);
    Some(finding.advice(advice))
}

/// Finds writes of less than a line each.
pub(crate) fn output(analysis: &Analysis<'_>) -> Option<Claim> {
    let small = dearest(analysis, |small| {
        is_output(analysis, small) && is_of_pieces(analysis, small) && !answers(analysis, small)
    })?;
    let statement = format!(
        "{} writes to {} carried {:.1} bytes each; the calls",
        count(small.tally.calls),
        output_name(analysis, small),
        small.tally.bytes_per_call(),
    );
    Some(of_output(
        FindingId::UnbufferedOutput,
        analysis,
        small,
        &statement,
    ))
}

/// Finds writes of one line each to an output that isn't a terminal.
pub(crate) fn lines(analysis: &Analysis<'_>) -> Option<Claim> {
    let watched = |s: &Small| analysis.descriptors.waited_for(s.pid, s.fd) == WaitKind::Terminal;
    let small = dearest(analysis, |small| {
        let is_lines = is_output(analysis, small) && !is_of_pieces(analysis, small);
        is_lines && !watched(small) && !answers(analysis, small)
    })?;
    let tally = &small.tally;
    // If the written bytes weren't checked, standard output is assumed to consist of lines.
    let checked = small.lines(analysis).is_some();
    let lines = checked || analysis.descriptors.is_output(small.pid, small.fd);
    let each = tally.bytes_per_call();
    let statement = format!(
        "{} writes of {} to {}; the calls",
        count(tally.calls),
        match lines {
            true => format!("a line each ({each:.0} bytes)"),
            false => format!("{each:.0} bytes each, a line or a record,"),
        },
        output_name(analysis, small),
    );
    let finding = of_output(FindingId::LineBufferedOutput, analysis, small, &statement);
    Some(if checked { finding } else { finding.likely() })
}

/// Finds a file that is accessed at random, one record per call, or that is opened for each record.
pub(crate) fn records(analysis: &Analysis<'_>) -> Option<Claim> {
    let by_file = read_one_by_one(analysis);
    let one_by_one = |small: &Small| !small.writes && by_file.contains(&small.pid);
    let small = dearest(analysis, |small| {
        // No buffer reduces the reads of a kernel-generated file.
        let is_file = small.of == PiecesOf::File && !is_generated(analysis, small);
        is_file && !one_by_one(small) && !small.is_stream_of_file(analysis)
    })?;
    let tally = &small.tally;
    let (opening, opening_cost) = opening_costs(analysis, small.pid, tally);
    let opened = if_so(opening > 0, || {
        format!(
            ", with {} calls to open and close around them",
            count(opening)
        )
    });
    let runtime = analysis.runtime(Some(small.pid));
    // A shell seeks back after each line. A file that is opened for each record must first be kept open.
    let is_scattered = !small.writes
        && opening == 0
        && !runtime.has(Habit::GoesBack)
        && small.is_gone_about(analysis);
    let statement = format!(
        "{} {} {} moved {:.1} bytes each{opened}; the calls",
        count(tally.calls),
        match small.writes {
            true => "writes to",
            false => "reads of",
        },
        file_name(analysis, small),
        tally.bytes_per_call(),
    );
    let cost = cost(analysis, small).plus(opening_cost);
    let finding = cost.finding(FindingId::SmallFileIo, analysis, &statement);
    let advice = match is_scattered {
        true => SCATTERED.into(),
        false => runtime.advice_on_file(small.writes, opening > 0),
    };
    let finding = evidence(finding, analysis, small, ["calls", "bytes per call"]);
    Some(finding.advice(advice))
}

/// The advice to give if each record is read from a different position.
const SCATTERED: &str = "Read the file, or large parts of it, once and take the records from memory; map it (`mmap`); or read the \
     records in file order, through a buffer. If a database reads them, use one transaction for many queries.";

fn is_generated(analysis: &Analysis<'_>, small: &Small) -> bool {
    analysis
        .name_of(small.pid, small.fd)
        .is_some_and(|name| is_made_up(&name))
}

/// Returns the most expensive of the matching small calls.
fn dearest<'a>(analysis: &'a Analysis<'_>, is: impl Fn(&Small) -> bool) -> Option<&'a Small> {
    analysis.small_calls().iter().find(|small| is(small))
}

/// Builds a finding about small reads.
fn of(id: FindingId, analysis: &Analysis<'_>, small: &Small, statement: &str) -> Claim {
    let finding = cost(analysis, small).finding(id, analysis, statement);
    evidence(finding, analysis, small, ["read calls", "bytes per read"])
}

fn of_output(id: FindingId, analysis: &Analysis<'_>, small: &Small, statement: &str) -> Claim {
    let runtime = analysis.runtime(Some(small.pid));
    let advice = match analysis.descriptors.is_output(small.pid, small.fd) {
        true => {
            let by_variable = analysis.observation.unbuffered_by_variable;
            let topic = match id {
                FindingId::LineBufferedOutput => Topic::Lines,
                _ => Topic::Output,
            };
            let topics = [Topic::Unbuffered, topic];
            runtime
                .advice(&topics[usize::from(!by_variable)..])
                .to_owned()
        }
        false => runtime.advice_on_file(small.writes, false),
    };
    let finding = cost_of_output(analysis, small).finding(id, analysis, statement);
    evidence(finding, analysis, small, ["write calls", "bytes per write"]).advice(advice)
}

/// Adds the number, size and location of the calls as evidence.
fn evidence(
    finding: Claim,
    analysis: &Analysis<'_>,
    small: &Small,
    [calls, each]: [&str; 2],
) -> Claim {
    let tally = &small.tally;
    let finding = finding.evidence(calls, tally.calls, "calls");
    let finding = finding.evidence(each, tally.bytes_per_call(), "bytes/call");
    let finding = finding.evidence("cost of a call (modelled)", tally.each_ns(), "ns");
    let path = analysis.name_of(small.pid, small.fd);
    finding.pid(small.pid).on(small.fd, path)
}

fn file_name(analysis: &Analysis<'_>, small: &Small) -> String {
    let name = analysis.name_of(small.pid, small.fd);
    name.unwrap_or_else(|| "a file".to_owned())
}

fn output_name(analysis: &Analysis<'_>, small: &Small) -> String {
    match small.fd {
        _ if !analysis.descriptors.is_output(small.pid, small.fd) => file_name(analysis, small),
        2 => "standard error".to_owned(),
        _ => "standard output".to_owned(),
    }
}

/// Reports whether the stream is written like standard output.
fn is_output(analysis: &Analysis<'_>, small: &Small) -> bool {
    let is_stream = || small.writes && small.is_stream_of_file(analysis);
    small.of == PiecesOf::Output || is_stream()
}

/// The maximum number of writes of one answer.
const PIECES_OF_AN_ANSWER: u64 = 4;

/// Reports whether the process writes answers: it waits for another process before every few of its writes, and
/// that process waits for it. A buffer would keep back an answer that is needed before the next request.
fn answers(analysis: &Analysis<'_>, small: &Small) -> bool {
    let asleep = analysis.asleep_in(calls::is_read);
    let own = asleep.filter(|row| small.pids.contains(&row.pid));
    let waits: u64 = own.map(|row| row.count).sum();
    if !analysis.counts_waits() || waits * PIECES_OF_AN_ANSWER < small.tally.calls {
        return false;
    }
    let ends_most = |pid: u32| {
        let waits = analysis.trace.timeline.iter().flatten();
        let reads = waits
            .filter(|wait| wait.pid == pid && wait.call.as_deref().is_some_and(calls::is_read));
        let by = reads.filter_map(|wait| Some(analysis.thread(wait.woken_by?)?.pid));
        most(by.map(|pid| (pid, 1)))
    };
    let partner = ends_most(small.pid).filter(|pid| *pid != small.pid);
    partner.and_then(ends_most) == Some(small.pid)
}

/// Reports whether the writes are less than a line each, or aren't lines at all but the blocks of a copy. If
/// it wasn't sampled whether writes end lines, short writes count as pieces. So do short writes to a
/// line-buffered standard output if each printed piece ends with a line end.
fn is_of_pieces(analysis: &Analysis<'_>, small: &Small) -> bool {
    let are_short = small.tally.bytes_per_call() < t::PIECE_BYTES;
    let of_lines = analysis.runtime(Some(small.pid)).has(Habit::CollectsLines);
    let are_pieces = match small.lines(analysis) {
        Some(part) => part < t::LINES_OF_WRITES || are_short && small.fd == 1 && of_lines,
        None => are_short,
    };
    are_pieces || small.is_copied_in_blocks(analysis)
}

/// Returns the cost of the calls, including the queries that accompany each of them: creating a stream for
/// each piece queries the position and the type of the file.
fn cost(analysis: &Analysis<'_>, small: &Small) -> CallCost {
    let own = CallCost::with(&small.tally, analysis, |row| small.holds(row));
    let each = small.tally.calls;
    let asks = |row: &SyscallRow| {
        let on_it = small.pids.contains(&row.pid) && row.fd == Some(small.fd);
        on_it && row.name != "close" && calls::is_around_read(&row.name)
    };
    let mut asked = totals(analysis.calls(asks).map(|row| (&row.name, row.calls)));
    asked.retain(|_, calls| calls.abs_diff(each) * 20 <= each);
    let with_each = CallCost::of(analysis, |row| asks(row) && asked.contains_key(&row.name));
    own.plus(with_each.without_library())
}

/// Returns the cost of the calls. Unless they write to a file, this includes the calls of a reader in the
/// tree, which gets pieces as small as those written.
fn cost_of_output(analysis: &Analysis<'_>, small: &Small) -> CallCost {
    let own = cost(analysis, small);
    if !analysis.descriptors.is_output(small.pid, small.fd) {
        return own;
    }
    let reads = |row: &SyscallRow| row.fd == Some(0) && calls::is_read(&row.name);
    let from_pipe = |pid| analysis.descriptors.waited_for(pid, 0) == WaitKind::Pipe;
    let theirs = analysis.calls(|row| reads(row) && !small.pids.contains(&row.pid));
    let theirs = theirs.filter(|row| from_pipe(row.pid));
    let read = totals(theirs.map(|row| (row.pid, row.bytes)));
    // The two ends of a pipe have no common name, so they are identified by equal totals.
    let same = |bytes: u64| bytes.abs_diff(small.tally.bytes) * 100 <= small.tally.bytes;
    let mut read = read.into_iter();
    match read.find(|(_, bytes)| *bytes > 0 && same(*bytes)) {
        Some((pid, _)) => own.plus(CallCost::of(analysis, |row| row.pid == pid && reads(row))),
        None => own,
    }
}

/// Reports whether the reads are repeatedly hidden behind waits for the writer, so that the command would end
/// no sooner without them. A single long wait is the writer's startup.
fn is_paced_by_writer(analysis: &Analysis<'_>, small: &Small) -> bool {
    let reads = analysis.asleep_in(calls::is_read);
    let rows = reads.filter(|row| row.pid == small.pid && row.fd == Some(small.fd));
    let rows: Vec<&OffCpuRow> = rows.collect();
    let all: u64 = rows.iter().map(|row| row.total_ns).sum();
    let Some(longest) = rows.iter().filter_map(|row| row.longest_ns).max() else {
        return false;
    };
    let waited = analysis.untraced(all as f64);
    Least::OF_WAITING.is_reached(analysis, waited)
        && waited * t::WAIT_THAT_HIDES >= small.tally.cost_ns
        && longest.saturating_mul(4) <= all
}

/// Returns the number of calls that open and close files and their cost, if a file is opened for each small
/// call. Lookups of the file in places where it isn't are not included.
fn opening_costs(analysis: &Analysis<'_>, pid: u32, small: &Tally) -> (u64, CallCost) {
    let opens = |row: &SyscallRow| row.pid == pid && calls::redirects(&row.name);
    let all = analysis.tally(opens);
    let calls = all.calls - all.errors.min(all.calls);
    match calls < small.calls {
        true => (0, CallCost::default()),
        false => (
            calls,
            CallCost::with(&all, analysis, opens).part(part_of(calls, all.calls)),
        ),
    }
}
