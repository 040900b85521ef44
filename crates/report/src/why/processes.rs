//! The process tree, and the accounts of its processes and threads.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::{Explanation, ProcessRow, ThreadAccount, TimeCategory};

use super::quote::{Quote, share_text};
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::{columns, escape, shorten};

/// The maximum number of processes shown unless all are requested.
const ROWS: usize = 6;
/// The minimum width of a name; if there is less room, the name gets its own line.
const LEAST_NAME: usize = 12;
/// The maximum width of a command in a sentence, in columns.
const LONGEST_COMMAND: usize = 60;
/// The share of the CPU time from which on an account is mostly about one child.
const MOST_OF_CPU: f64 = 0.6;
/// The maximum number of programs named in the sum of the others.
const NAMED: usize = 4;

/// Returns the processes with their depths, each below its parent. Every row occurs once, even if parents are
/// unknown or form a cycle.
pub(super) fn ordered(rows: &[ProcessRow]) -> Vec<(usize, &ProcessRow)> {
    let known: BTreeSet<u32> = rows.iter().map(|row| row.pid).collect();
    let mut children: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        let parent = row
            .parent
            .filter(|parent| known.contains(parent) && *parent != row.pid);
        children.entry(parent).or_default().push(index);
    }
    for list in children.values_mut() {
        list.sort_by_key(|&index| rows[index].from_ns);
    }
    let mut out = Vec::with_capacity(rows.len());
    let mut seen = vec![false; rows.len()];
    let roots = children.get(&None).cloned().unwrap_or_default();
    let starts = roots.into_iter().chain(0..rows.len());
    for start in starts {
        let mut stack = vec![(0, start)];
        while let Some((depth, index)) = stack.pop() {
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            let row = &rows[index];
            out.push((depth, row));
            // A process id can occur twice; its children are listed below the first.
            let below = children.remove(&Some(row.pid)).unwrap_or_default();
            stack.extend(below.into_iter().rev().map(|child| (depth + 1, child)));
        }
    }
    out
}

/// Returns the programs that a process executed: `sh -c x > python3 y`.
pub(super) fn programs(row: &ProcessRow) -> String {
    if row.programs.is_empty() {
        return "(no exec)".to_owned();
    }
    let programs: Vec<String> = row.programs.iter().map(|words| words.join(" ")).collect();
    programs.join(" > ")
}

/// Returns the name of the last program without its folder.
pub(super) fn program(row: &ProcessRow) -> String {
    let path = row.programs.last().and_then(|words| words.first());
    let name = path.map(|path| path.rsplit('/').next().unwrap_or(path));
    name.unwrap_or("(no exec)").to_owned()
}

/// Returns `99 % of the CPU time was used by a child process, sort -n x.` if a child of the command has most of the
/// CPU time, because the account is then mostly about that child.
pub(super) fn busiest_child(explanation: &Explanation) -> Option<String> {
    busiest(&explanation.processes, &explanation.threads)
}

fn busiest(processes: &[ProcessRow], threads: &[ThreadAccount]) -> Option<String> {
    let mut on_cpu: BTreeMap<u32, u64> = BTreeMap::new();
    for thread in threads {
        let parts = thread.account.parts.iter();
        let cpu =
            parts.filter(|part| part.spent == TimeCategory::UserCode || part.spent.is_in_kernel());
        *on_cpu.entry(thread.pid).or_default() += cpu.map(|part| part.ns).sum::<u64>();
    }
    let all: u64 = on_cpu.values().sum();
    let (pid, most) = on_cpu.into_iter().max_by_key(|(_, ns)| *ns)?;
    let mut rows = processes.iter();
    let row = rows.find(|row| row.pid == pid && row.parent.is_some())?;
    let share = most as f64 / all.max(1) as f64;
    let words = shorten(&escape(&row.programs.last()?.join(" ")), LONGEST_COMMAND);
    (share >= MOST_OF_CPU).then(|| {
        let share = share_text(share);
        format!("{share} of the CPU time was used by a child process, {words}.")
    })
}

/// Writes the tree with its times. A single process that ran the command needs no tree.
pub(super) fn tree(page: &mut Page, explanation: &Explanation, quote: Quote, all: bool) {
    let rows = ordered(&explanation.processes);
    let execs: usize = rows.iter().map(|(_, row)| row.programs.len()).sum();
    if rows.is_empty() || (!all && rows.len() == 1 && execs < 2) {
        return;
    }
    page.gap();
    let shown = if all || rows.len() <= ROWS + 1 {
        rows.len()
    } else {
        ROWS
    };
    let title = counted(rows.len() as u64, "process", "processes");
    page.push(Line::new().add(Tone::Quiet, format!("  {title}")));
    for (depth, row) in &rows[..shown] {
        process(page, *depth, row, quote);
    }
    if shown < rows.len() {
        rest(page, &rows[shown..]);
    }
}

fn process(page: &mut Page, depth: usize, row: &ProcessRow, quote: Quote) {
    let indent = 2 + 2 * depth.min(8);
    let mut facts = format!("{} to {}", quote.show(row.from_ns), quote.show(row.to_ns));
    if row.threads > 1 {
        facts.push_str(&format!(", {} threads", row.threads));
    }
    let end = page.fit(&row.end, 20);
    if !end.is_empty() {
        facts.push_str(&format!(", {end}"));
    }
    let start = format!("{} ", row.pid);
    let line = Line::new().pad_to(indent).add(Tone::Quiet, &start);
    let room = page.width().saturating_sub(indent + start.len());
    let beside = room.saturating_sub(columns(&facts) + 2);
    if beside < LEAST_NAME {
        let name = page.fit(&programs(row), room);
        page.push(line.add(Tone::Plain, name));
        return page.prose(indent + 2, Tone::Quiet, &facts);
    }
    let name = page.fit(&programs(row), beside);
    let at = page.width() - columns(&facts);
    page.push(
        line.add(Tone::Plain, name)
            .pad_to(at)
            .add(Tone::Quiet, facts),
    );
}

/// Writes the number of further processes, and their programs.
fn rest(page: &mut Page, rows: &[(usize, &ProcessRow)]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, row) in rows {
        *counts.entry(program(row)).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let named: Vec<String> = counts
        .iter()
        .take(NAMED)
        .map(|(name, count)| format!("{count} of {}", page.fit(name, 24)))
        .collect();
    let mut text = format!("and {} more: {}", rows.len(), named.join(", "));
    if counts.len() > NAMED {
        text.push_str(" and others");
    }
    text.push_str(" (--processes shows all)");
    page.prose(2, Tone::Quiet, &text);
}

#[cfg(test)]
mod tests {
    use fathom_model::{AccountPart, TimeAccount};

    use super::*;

    fn row(pid: u32, parent: Option<u32>) -> ProcessRow {
        ProcessRow {
            pid,
            parent,
            programs: Vec::new(),
            from_ns: u64::from(pid),
            to_ns: 100,
            end: String::new(),
            threads: 1,
        }
    }

    #[test]
    fn children_stand_below_their_parents() {
        let rows = [
            row(1, None),
            row(2, Some(1)),
            row(3, Some(1)),
            row(4, Some(2)),
        ];
        let order: Vec<(usize, u32)> = ordered(&rows).iter().map(|(d, r)| (*d, r.pid)).collect();
        assert_eq!(order, [(0, 1), (1, 2), (2, 4), (1, 3)]);
    }

    #[test]
    fn strays_and_circles_are_shown_once() {
        let rows = [
            row(1, Some(9)),
            row(2, Some(3)),
            row(3, Some(2)),
            row(4, Some(4)),
        ];
        let mut pids: Vec<u32> = ordered(&rows).iter().map(|(_, row)| row.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [1, 2, 3, 4]);
    }

    #[test]
    fn a_child_that_has_most_of_the_cpu_time_is_named_with_its_arguments() {
        let thread = |pid: u32, spent: &[(TimeCategory, u64)]| ThreadAccount {
            pid,
            tid: pid,
            name: String::new(),
            from_ns: 0,
            to_ns: 100,
            account: TimeAccount {
                wall_ns: spent.iter().map(|one| one.1).sum(),
                parts: spent
                    .iter()
                    .map(|&(spent, ns)| AccountPart { spent, ns })
                    .collect(),
            },
        };
        let sentence_for = |childs: u64| {
            let mut child = row(2, Some(1));
            child.programs = vec![vec!["/bin/\u{1b}sort".to_owned(), "-n".to_owned()]];
            let own = thread(
                1,
                &[
                    (TimeCategory::UserCode, 100),
                    (TimeCategory::WaitingForPipe, 900),
                ],
            );
            let its = thread(
                2,
                &[
                    (TimeCategory::UserCode, childs),
                    (TimeCategory::KernelIo, childs),
                ],
            );
            busiest(&[row(1, None), child], &[own, its])
        };
        let sentence = sentence_for(150).expect("three quarters are its");
        assert_eq!(
            sentence,
            "75 % of the CPU time was used by a child process, /bin/\\u{1b}sort -n."
        );
        assert_eq!(sentence_for(50), None);
        // The command itself is not a child.
        assert_eq!(
            busiest(
                &[row(1, None)],
                &[thread(1, &[(TimeCategory::UserCode, 9)])]
            ),
            None
        );
    }
}
