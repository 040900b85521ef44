//! Detects time in the kernel to which no more specific finding applies.

use super::tiny_files::read_one_by_one;
use crate::calls::asks_about_path;
use crate::mechanisms::prelude::*;

/// The name under which all calls that query a path count as one kind.
const PATH_QUESTIONS: &str = "stat and access";

/// Reports whether a call is of the kind with this name.
fn is_one(kind: &str, row: &SyscallRow) -> bool {
    row.name == kind || kind == PATH_QUESTIONS && asks_about_path(&row.name)
}

/// Reports whether a call is part of the signal masking that a shell does around each command. Only fewer
/// commands reduce it, and a well-behaved loop spends 15 to 20 % of its time on it.
fn is_of_the_shell(analysis: &Analysis<'_>, row: &SyscallRow) -> bool {
    row.name == "rt_sigprocmask" && analysis.runtime(Some(row.pid)).has(Habit::RunsCommands)
}

/// Reports whether these polls take so much CPU time that they must scan hundreds of descriptors.
fn scans_many(analysis: &Analysis<'_>, name: &str) -> bool {
    analysis.tally_calls(|call| call == name).each_ns() >= t::LONG_SCAN_NS
}

/// Reports whether most of these calls closed no descriptor, as in a loop over all possible numbers.
fn closes_nothing(row: &SyscallRow) -> bool {
    row.name == "close" && row.errors * 2 > row.calls
}

fn most_called<'a>(analysis: &Analysis<'a>, fits: impl Fn(&str) -> bool) -> Option<&'a str> {
    let rows = analysis.calls(|row| fits(&row.name));
    most(rows.map(|row| (row.name.as_str(), row.calls)))
}

/// Finds a single kind of call that takes much of the time.
pub(crate) fn one_call(analysis: &Analysis<'_>) -> Option<Claim> {
    // Walking folders and moving large blocks is normal kernel work. A walk queries each of a folder's 5 to
    // 30 entries once.
    let folders = analysis.tally_calls(calls::lists_folder).calls;
    let asks = analysis.tally_calls(asks_about_path).calls >= t::MANY_STATS.max(folders * 20);
    let scans = analysis.calls(|row| calls::scans_descriptors(&row.name));
    let scans: BTreeSet<&str> = scans.map(|row| row.name.as_str()).collect();
    let long_scans: Vec<&str> = scans
        .into_iter()
        .filter(|it| scans_many(analysis, it))
        .collect();
    let is_plain = |name: &str| match calls::on_cpu(name) {
        _ if calls::ends_signal(name) => true,
        TimeCategory::KernelFiles if asks_about_path(name) => !asks,
        TimeCategory::KernelFiles => !calls::is_setting(name),
        TimeCategory::KernelProcesses => true,
        // A thread that yields its CPU has nothing to do, so it is in a polling loop.
        _ => calls::is_poll(name) && !long_scans.contains(&name) || name == "sched_yield",
    };
    let mut names: BTreeMap<&str, Tally> = BTreeMap::new();
    let by_file = read_one_by_one(analysis);
    let is_of_a_file = |row: &SyscallRow| calls::is_read(&row.name) && by_file.contains(&row.pid);
    // Calls that find nothing form a polling loop; doing more with each call isn't possible.
    let empty = |row: &SyscallRow| row.would_block * 2 > row.calls;
    let counts = |row: &SyscallRow| {
        let plain = is_plain(&row.name) || is_of_the_shell(analysis, row);
        (!plain || closes_nothing(row)) && !is_of_a_file(row) && !empty(row)
    };
    for row in analysis.trace.syscalls.iter().filter(|row| counts(row)) {
        let name = match asks_about_path(&row.name) {
            true => PATH_QUESTIONS,
            false => &row.name,
        };
        if !names.contains_key(name) {
            names.insert(name, analysis.tally(|row| is_one(name, row) && counts(row)));
        }
    }
    // Kernel work for the program itself, such as generating random numbers, may be requested in large pieces
    // and still take most of the time.
    let rules = |name: &str, tally: &Tally| {
        (calls::on_cpu(name) == TimeCategory::KernelOther || calls::scans_descriptors(name))
            && analysis.share(tally.cost_ns) >= t::SHARE_OF_ONE_CALL
    };
    names.retain(|name, tally| {
        let small = tally.bytes_per_call() < t::BLOCK_BYTES && tally.calls >= t::LEAST_SMALL_CALLS;
        small || rules(name, tally)
    });
    let (name, tally) = largest(names, |(_, tally)| tally.cost_ns)?;
    let of_kind = |row: &SyscallRow| is_one(name, row) && counts(row);
    let cost = CallCost::with(&tally, analysis, of_kind);
    let (name, alike) = match name {
        PATH_QUESTIONS => (
            most_called(analysis, asks_about_path)?,
            " and similar calls",
        ),
        _ => (name, ""),
    };
    let calls = count(analysis.shown_calls(tally.calls as f64));
    let advice = match name {
        "close" => {
            "Most of the descriptors were not open: close a whole range with one `close_range`, or open with \
             close-on-exec."
                .to_owned()
        }
        _ if calls::scans_descriptors(name) => format!(
            "`{name}` goes through every descriptor on each call: use `epoll`, which returns those that are ready."
        ),
        _ => format!("Call `{name}` less often: do more with each call, or keep its result."),
    };
    let statement = format!("{calls} calls to `{name}`{alike}");
    Some(
        cost.finding(FindingId::KernelBound, analysis, &statement)
            .weighing(cost.in_kernel_ns)
            .evidence("calls", tally.calls, "calls")
            .evidence("cost of a call (modelled)", tally.each_ns(), "ns")
            .advice(advice)
            .pid(tally.pid)
            .likely(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::Fake;

    #[test]
    fn questions_about_links_are_found() {
        let mut fake = Fake::new(1000);
        fake.calls("readlink", None, 300_000, 0, 1_500);
        assert_eq!(fake.ids(), ["kernel-bound"]);
    }

    #[test]
    fn giving_the_cpu_away_is_a_loop_that_asks() {
        let mut fake = Fake::new(1000);
        fake.calls("sched_yield", None, 500_000, 0, 1_500);
        assert_eq!(fake.ids(), ["busy-polling"]);
    }

    #[test]
    fn closing_what_is_not_open_is_named() {
        for (errors, named) in [(399_990, true), (10, false)] {
            let mut fake = Fake::new(1000);
            fake.calls("close", None, 400_000, 0, 1_500).errors = errors;
            assert_eq!(fake.ids() == ["kernel-bound"], named, "{errors}");
        }
    }

    #[test]
    fn polls_of_hundreds_of_descriptors_are_named() {
        for (each_ns, named) in [(40_000, true), (2_000, false)] {
            let mut fake = Fake::new(1000);
            fake.calls("poll", None, 16_000, 0, each_ns);
            fake.calls("read", Some(3), 16_000, 64, 300);
            let ids = fake.ids();
            assert_eq!(ids == ["kernel-bound"], named, "{each_ns} ns each: {ids:?}");
        }
    }

    #[test]
    fn a_call_that_rules_the_time_is_named() {
        let mut fake = Fake::new(1000);
        fake.calls("getpid", None, 2_000_000, 0, 250);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::KernelBound);
        assert!(found[0].statement.contains("`getpid`"));
    }

    #[test]
    fn large_pieces_of_the_kernels_own_work_are_named_where_they_rule_the_time() {
        for (us, named) in [(3_000, true), (1_000, false)] {
            let mut fake = Fake::new(1000);
            fake.calls("getrandom", None, 250, 4 << 20, us * 1000);
            assert_eq!(fake.ids() == ["kernel-bound"], named, "{us} us each");
        }
    }

    #[test]
    fn questions_about_paths_count_together_whichever_call_asks() {
        let mut fake = Fake::new(1000);
        fake.calls("newfstatat", None, 60_000, 0, 1_600);
        fake.calls("faccessat2", None, 80_000, 0, 1_600);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::KernelBound);
        assert!(
            found[0]
                .statement
                .contains("`faccessat2` and similar calls")
        );
    }

    #[test]
    fn copying_large_blocks_is_the_work() {
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(3), 20_000, 65_536, 40_000);
        assert!(fake.ids().is_empty());
        // The calls have the sizes of the C library's blocks, the last of which is shorter.
        let mut fake = Fake::new(1000);
        fake.calls("write", Some(1), 100_000, 4_095, 5_000);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn two_reads_of_each_of_many_files_are_the_work() {
        let reported = |files: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("read", Some(3), 80_000, 1_500, 4_000);
            for i in 0..files {
                fake.file(&format!("tree/{i}"), 1, 80_000 / files, 3_000, 0);
            }
            fake.ids()
        };
        assert!(reported(40_000).is_empty());
        assert_eq!(reported(40), ["kernel-bound"]);
    }

    #[test]
    fn asking_for_a_flag_again_and_again_is_no_walk() {
        let mut fake = Fake::new(1000);
        fake.calls("fcntl", Some(1), 1_000_000, 0, 300);
        assert_eq!(fake.ids(), ["kernel-bound"]);
    }

    #[test]
    fn what_a_shell_does_around_each_command_is_not_the_scripts() {
        let reported = |language| {
            let mut fake = Fake::new(1000);
            fake.language = language;
            fake.calls("rt_sigprocmask", None, 1_000_000, 0, 250);
            fake.ids()
        };
        assert!(reported(Some(crate::Language::Shell)).is_empty());
        assert_eq!(reported(None), ["kernel-bound"]);
    }

    #[test]
    fn what_a_shell_does_in_a_copy_of_itself_is_the_shells_too() {
        let mut fake = Fake::new(1000);
        fake.trace.processes[0].execs[0].path = "/usr/bin/bash".to_owned();
        fake.calls("rt_sigprocmask", None, 500_000, 0, 250);
        fake.child(200, 10, 990, 10);
        fake.trace.processes[1].execs.clear();
        fake.calls_of(200, "rt_sigprocmask", None, 500_000, 0, 250);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn a_better_name_goes_first() {
        let mut fake = Fake::new(1000);
        fake.calls("write", Some(1), 1_000_000, 4, 500);
        assert_eq!(fake.ids(), ["unbuffered-output"]);
    }

    #[test]
    fn calls_that_find_nothing_are_not_to_do_more_each() {
        let mut fake = Fake::new(1000);
        let row = fake.calls("read", Some(4), 1_500_000, 0, 250);
        (row.would_block, row.errors) = (1_500_000, 1_500_000);
        assert_eq!(fake.ids(), ["busy-polling"]);
    }
}
