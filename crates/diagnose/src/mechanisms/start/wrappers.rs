//! Detects programs that run before the actual one, such as wrapper scripts and version managers.

use crate::mechanisms::prelude::*;

/// The programs that ran before the real one.
struct Prelude<'a> {
    ns: u64,
    /// The program that the user wanted to run.
    real: &'a str,
    wrapper: &'a str,
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let root = analysis.trace.processes.first()?;
    let prelude = by_exec(root).or_else(|| by_child(analysis, root))?;
    let ns = analysis.untraced(prelude.ns as f64);
    let programs = programs_before(analysis, root, prelude.ns);
    let number: u64 = programs.values().sum();
    let name = |path: &str| file_name(path).to_owned();
    let (wrapper, real) = (name(prelude.wrapper), name(prelude.real));
    let what = match programs.into_iter().max_by_key(|(_, count)| *count) {
        None => format!("`{wrapper}` ran"),
        Some((path, 1)) if number == 1 => {
            format!("`{wrapper}` and, on its behalf, `{}` ran", name(path))
        }
        Some((path, most)) => format!(
            "`{wrapper}` and, on its behalf, {} other programs ({} of them `{}`) ran",
            count(number),
            count(most),
            name(path)
        ),
    };
    let statement = format!(
        "Before `{real}` began, {what} for {}.",
        analysis.time_and_share(ns),
    );
    let advice = format!(
        "Call `{}` itself, or let the wrapper cache its result, and start fewer programs for it.",
        prelude.real
    );
    let least_seconds = analysis.observation.limits.spawn_seconds;
    Some(
        Claim::new(FindingId::StartupDominated, analysis, ns, statement)
            .evidence("time before the program began", ns, "ns")
            .evidence("programs before it", number, "processes")
            .advice(advice)
            .takes_here(
                "starting an empty program and waiting for it",
                least_seconds,
            )
            .pid(root.pid)
            .on(None, prelude.real.to_owned()),
    )
}

/// Handles the case that the command's own process eventually executed the real program.
fn by_exec(root: &Process) -> Option<Prelude<'_>> {
    let (first, last) = (root.execs.first()?, root.execs.last()?);
    // Everything in a shell line was chosen by the user.
    let is_line = root.execs.iter().any(runs_a_line);
    let prelude = Prelude {
        ns: last.at_ns.saturating_sub(first.at_ns),
        real: &last.path,
        wrapper: script(first),
    };
    (root.execs.len() > 1 && !is_line).then_some(prelude)
}

/// Handles a script that passes its own arguments to a child, waits for the child and then exits.
fn by_child<'a>(analysis: &'a Analysis<'_>, root: &'a Process) -> Option<Prelude<'a>> {
    let [only] = root.execs.as_slice() else {
        return None;
    };
    let given = only.arguments.get(ARGUMENTS_OF_SCRIPT..)?;
    let is_script = analysis.runtime(Some(root.pid)).has(Habit::RunsCommands);
    if given.is_empty() || !is_script || runs_a_line(only) {
        return None;
    }
    let takes = |child: &&Process| {
        let all = child
            .execs
            .last()
            .map_or(&[][..], |exec| exec.arguments.as_slice());
        all.len() > given.len() && all.ends_with(given)
    };
    let mut takers = analysis.children_of(root.pid).filter(takes);
    let (real, None) = (takers.next()?, takers.next()) else {
        return None;
    };
    let end = analysis.trace.duration_ns;
    let after = root.ended_ns.unwrap_or(end) - real.ended_ns.unwrap_or(end).min(end);
    let is_last = (after as f64) < t::AFTER_THE_WRAPPED * end as f64;
    is_last.then_some(Prelude {
        ns: real.started_ns.saturating_sub(only.at_ns),
        real: &real.execs.last()?.path,
        wrapper: script(only),
    })
}

/// The number of arguments before the script's own arguments: the shell and the script.
const ARGUMENTS_OF_SCRIPT: usize = 2;

/// Returns whether a shell was given a line (`sh -c`) rather than a file.
fn runs_a_line(exec: &Exec) -> bool {
    let option = exec.arguments.get(1);
    is_shell(&exec.path)
        && option.is_some_and(|option| option.starts_with('-') && option.contains('c'))
}

/// Returns the script's file rather than its interpreter.
fn script(exec: &Exec) -> &str {
    let file = exec.arguments.get(1).filter(|word| !word.starts_with('-'));
    match Runtime::interpreting(&exec.path) {
        Some(_) => file.map_or(&exec.path, String::as_str),
        None => &exec.path,
    }
}

/// Returns the programs of the processes that started before the real one, with counts.
fn programs_before<'a>(
    analysis: &'a Analysis<'_>,
    root: &Process,
    prelude_ns: u64,
) -> BTreeMap<&'a str, u64> {
    let from = root.execs.first().map_or(0, |exec| exec.at_ns);
    let others = analysis.trace.processes.iter().skip(1);
    let before = others.filter(|process| process.started_ns < from + prelude_ns);
    totals(before.filter_map(|process| Some((process.execs.last()?.path.as_str(), 1))))
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;
    use fathom_trace::Exec;

    use crate::fake::{Fake, MS, ROOT, hold_words};

    fn exec(at_ms: u64, words: &[&str]) -> Exec {
        Exec {
            at_ns: at_ms * MS,
            path: words[0].to_owned(),
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            ..Exec::default()
        }
    }

    /// Returns a script that runs three helper programs for 40 ms each, and becomes the real program after
    /// `after_ms`.
    fn shim(first: &[&str], after_ms: u64) -> Fake {
        let mut fake = Fake::new(400);
        for index in 0..3 {
            fake.child(
                200 + index,
                u64::from(index) * 40,
                u64::from(index) * 40 + 40,
                35,
            );
        }
        fake.trace.processes[0].execs = vec![
            exec(0, first),
            exec(after_ms, &["/usr/bin/python3", "tool.py"]),
        ];
        fake
    }

    #[test]
    fn what_a_shim_does_before_the_program_is_found() {
        let found = shim(&["/bin/sh", "./shim.sh", "tool.py"], 130).findings();
        let one = found.iter().find(|f| f.id == FindingId::StartupDominated);
        let one = one.expect("a third of the time");
        assert!(
            one.statement.starts_with(
                "Before `python3` began, `shim.sh` and, on its behalf, 3 other programs"
            ),
            "{}",
            one.statement
        );
        assert_eq!(one.could_win_ns, 130 * MS);
        hold_words("wrappers", one);
        assert!(one.advice.starts_with("Call `/usr/bin/python3` itself"));
    }

    #[test]
    fn a_short_shim_and_a_line_for_the_shell_are_not() {
        let reported = |mut fake: Fake| fake.ids().contains(&"startup-dominated");
        assert!(!reported(shim(&["/bin/sh", "./shim.sh", "tool.py"], 12)));
        assert!(!reported(shim(
            &["/bin/sh", "-c", "prepare; exec python3 tool.py"],
            130
        )));
    }

    #[test]
    fn a_script_that_waits_for_the_program_is_one_if_it_hands_its_arguments_on() {
        let reported = |handed: &str| {
            let mut fake = Fake::new(400);
            fake.trace.processes[0].execs = vec![exec(0, &["/bin/sh", "./wrap.sh", "in.txt"])];
            fake.child(200, 5, 130, 120);
            fake.child(201, 130, 399, 260);
            fake.trace.processes[2].execs = vec![exec(131, &["/opt/tool", "-v", handed])];
            fake.wait_for(ROOT, "wait4", None, (1, 399, 399), Some(201));
            let found = fake.findings();
            let mut ours = found.iter().filter(|f| f.id == FindingId::StartupDominated);
            ours.next().map(|found| found.could_win_ns)
        };
        assert_eq!(reported("in.txt"), Some(130 * MS));
        assert_eq!(reported("out.txt"), None);
    }
}
