//! Detects that many short processes are created.

use super::children::{Repeated, is_copy, repeated, starts_of_interpreter};
use crate::mechanisms::prelude::*;

/// A process, given by its pid, its beginning and its end.
type Lived = (u32, u64, u64);

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let end = analysis.trace.duration_ns;
    let starts = starts_of_interpreter(analysis);
    let is_short = |process: &Process| {
        let threads = analysis.threads_of(process.pid);
        let own = threads.map(|times| times.sums.get(TimeCategory::UserCode));
        let own_ns: f64 = own.sum();
        let works = own_ns >= t::SHORT_COPY_OWN_NS && is_copy(analysis, process);
        let little = !works && analysis.cpu_of(process.pid) < t::SHORT_CHILD_CPU_NS;
        (little || starts.contains(&process.pid)) && !waits_outside(analysis, process.pid)
    };
    let processes = analysis.trace.processes.iter().skip(1);
    let lived = |p: &Process| (p.pid, p.started_ns, p.ended_ns.unwrap_or(end));
    let short = processes.filter(|process| is_short(process)).map(lived);
    let mut short: Vec<Lived> = short
        .filter(|child| span_ns(child) < 20.0 * t::SHORT_CHILD_CPU_NS || starts.contains(&child.0))
        .collect();
    let many = short.len() >= t::MANY_PROCESSES;
    if !many {
        let of_one = most_of_one_program(analysis, &short);
        if of_one.len() < t::MANY_OF_ONE_PROGRAM {
            return None;
        }
        short.retain(|child| of_one.contains(&child.0));
    }
    // The whole lives of the processes would disappear. A probe of this machine gives the minimum cost of
    // creating them.
    let copies = copies(analysis, &short);
    let are_copies = copies * 3 >= short.len() * 2;
    let threads = match are_copies {
        true => forking_ns(analysis, &short),
        false => analysis.untraced(covered_ns(&short) as f64) + making_ns(analysis, &short),
    };
    let least = short.len() as f64 * analysis.spawn_ns() * 0.5;
    let most = 0.97 * analysis.wall_ns;
    let lives = threads.max(least.min(analysis.wall_ns)).min(most);
    // The parent waits while a child lives; the parent's own work for the child comes on top of that.
    let by_parents = analysis.library_of_starts_ns(short.iter().map(|child| child.0));
    let saving = (lives + by_parents).min(most);
    let maker = analysis.process(short[0].0).and_then(|p| p.parent);
    let interpreter = interpreter_of(analysis, &short, &starts);
    let number = count(short.len());
    let by = maker
        .and_then(|pid| analysis.program_of(pid))
        .map(file_name);
    let by = by.map_or_else(String::new, |program| format!(" by `{program}`"));
    let what = match (&interpreter, are_copies) {
        (Some(name), _) => format!("`{name}` was started {number} times"),
        (None, true) if copies == short.len() => {
            format!("{number} short-lived processes that ran no other program were forked{by}")
        }
        (None, true) => format!(
            "{number} short-lived processes were forked{by}, {} of which ran no other program",
            count(copies)
        ),
        (None, false) => format!(
            "{number} short-lived processes were created{by}{}",
            programs_in_words(analysis, &short)
        ),
    };
    let pids: HashSet<u32> = short.iter().map(|child| child.0).collect();
    let repeated = repeated(analysis, &pids).filter(|_| !are_copies);
    let again = repeated
        .as_ref()
        .map_or_else(String::new, |Repeated { line, times }| {
            let times = count(*times);
            format!(" {times} of them ran `{line}`, each time with the same arguments.")
        });
    let statement = format!(
        "{what}, {} each; in all, that takes {}.{again}",
        time(saving / short.len() as f64),
        analysis.time_and_share(saving),
    );
    let advice = match interpreter {
        _ if repeated.is_some() => Repeated::ADVICE.to_owned(),
        Some(name) => format!("Do it in one process: pass all items to one `{name}`."),
        None => analysis
            .runtime(maker)
            .advice(&[match are_copies {
                true => Topic::Copies,
                false => Topic::Processes,
            }])
            .to_owned(),
    };
    let least_share = if many { t::LEAST_SHARE } else { t::LOOP_SHARE };
    let least_seconds = analysis.observation.limits.spawn_seconds;
    Some(
        Claim::new(FindingId::ProcessSpawning, analysis, saving, statement)
            .evidence("short processes", short.len(), "processes")
            .evidence("wall time each", saving / short.len() as f64, "ns")
            .advice(advice)
            .takes_here(
                "starting an empty program and waiting for it",
                least_seconds,
            )
            .pid(maker)
            .pieces(vec![Piece::of_calls(analysis, |row| {
                pids.contains(&row.pid)
            })])
            .weighing(lives)
            .least(Least::share(least_share)),
    )
}

/// Returns the kernel time that the parents of these processes spent creating them and waiting for them,
/// outside of their lives.
fn making_ns(analysis: &Analysis<'_>, short: &[Lived]) -> f64 {
    let processes = short.iter().filter_map(|child| analysis.process(child.0));
    let parents: HashSet<u32> = processes.filter_map(|process| process.parent).collect();
    let made = parents.iter().map(|pid| analysis.children_of(*pid).count());
    let made: usize = made.sum();
    let makes = |row: &SyscallRow| {
        parents.contains(&row.pid) && calls::on_cpu(&row.name) == TimeCategory::KernelProcesses
    };
    analysis.tally(makes).cost_ns * short.len() as f64 / made.max(1) as f64
}

/// Reports whether a process spent most of its life waiting for a duration, a lock or for other processes, which
/// takes as long without the process.
fn waits_outside(analysis: &Analysis<'_>, pid: u32) -> bool {
    let outside = [
        TimeCategory::Sleeping,
        TimeCategory::Network,
        TimeCategory::Disk,
        TimeCategory::WaitingForInput,
        TimeCategory::Locks,
    ];
    let waited: f64 = analysis
        .threads_of(pid)
        .map(|it| it.sums.of_any(&outside))
        .sum();
    let lived: f64 = analysis.threads_of(pid).map(ThreadTimes::ns).sum();
    waited * 2.0 > lived
}

/// Returns the name of the interpreter that these processes start, if they start one.
fn interpreter_of(
    analysis: &Analysis<'_>,
    short: &[Lived],
    starts: &HashSet<u32>,
) -> Option<String> {
    if starts.is_empty() || !short.iter().all(|child| starts.contains(&child.0)) {
        return None;
    }
    let program = analysis.program_of(short.first()?.0)?;
    Some(file_name(program).to_owned())
}

/// The maximum number of programs named in a sentence.
const NAMED: usize = 3;

/// Describes what most of these processes ran, with counts.
fn programs_in_words(analysis: &Analysis<'_>, short: &[Lived]) -> String {
    let programs = short
        .iter()
        .filter_map(|child| analysis.program_of(child.0));
    let programs = totals(programs.map(|program| (file_name(program), 1u64)));
    let mut programs: Vec<_> = programs.into_iter().collect();
    programs.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let sum = |programs: &[(&str, u64)]| programs.iter().map(|it| it.1).sum::<u64>();
    let all = sum(&programs);
    programs.truncate(NAMED);
    let each = programs.iter().map(|(name, number)| match *number == all {
        true => format!("`{name}`"),
        false => format!("{} `{name}`", count(*number)),
    });
    // If there are many different programs, naming a few of them says nothing.
    if_so(sum(&programs) * 2 >= all && all > 0, || {
        format!(" ({})", each.collect::<Vec<_>>().join(", "))
    })
}

fn copies(analysis: &Analysis<'_>, short: &[Lived]) -> usize {
    let processes = short.iter().filter_map(|child| analysis.process(child.0));
    processes.filter(|it| is_copy(analysis, it)).count()
}

/// The part of a copy's computing that must be done in any case. A copy starts with cold caches and without
/// its parent's page tables: for the same work, a single process took 0.45 and 0.75 of the copies' time on
/// two hosts.
const WORK_OF_A_COPY: f64 = 0.5;

/// Returns the cost of forking copies that run no program of their own. It consists of their activity and of
/// the kernel's work on processes, most of which is for the parent's page tables, which are copied and
/// released at the end. A part of a copy's computing must be done in any case; a shell's copy computes what a
/// command needs.
fn forking_ns(analysis: &Analysis<'_>, short: &[Lived]) -> f64 {
    let threads = short.iter().flat_map(|child| analysis.threads_of(child.0));
    let (mut faults, mut goes, mut stays) = (0.0, 0.0, 0.0);
    for times in threads {
        let of = |spent| times.sums.get(spent) * analysis.weight(times.tid);
        faults += of(TimeCategory::PageFaults);
        let is_copy = |process: &Process| is_copy(analysis, process);
        let is_work = analysis.process(times.pid).is_some_and(is_copy)
            && !analysis.runtime(Some(times.pid)).has(Habit::RunsCommands);
        let own = of(TimeCategory::UserCode);
        let work = if is_work { WORK_OF_A_COPY * own } else { 0.0 };
        (stays, goes) = (stays + work, goes + own - work);
    }
    let lives = analysis.untraced(covered_ns(short) as f64) - analysis.untraced(stays);
    let own = analysis.untraced(faults + goes);
    // If the kernel's time isn't split, its work for copies is assumed to be mostly page faults.
    let faults = analysis.fault_cost();
    let kernels = analysis.spent_ns(TimeCategory::KernelProcesses);
    lives.max(
        own + match faults.measured {
            true => kernels,
            false => kernels.max(analysis.within_kernel(faults.ns)),
        },
    )
}

/// Returns the largest group of these processes that one parent created to run one program. Processes with
/// children don't count: the driver of a compiler is short, but its work is not.
fn most_of_one_program(analysis: &Analysis<'_>, short: &[Lived]) -> HashSet<u32> {
    let processes = &analysis.trace.processes;
    let parents: HashSet<u32> = processes.iter().filter_map(|p| p.parent).collect();
    let short: HashSet<u32> = short.iter().map(|child| child.0).collect();
    let leaves = processes.iter();
    let leaves = leaves.filter(|p| short.contains(&p.pid) && !parents.contains(&p.pid));
    // A shell's copy runs no program, so a loop isn't about it.
    let made = grouped(leaves.filter_map(|process| {
        let exec = process.execs.last()?;
        Some(((process.parent, &exec.path), process.pid))
    }));
    let most = made.into_values().max_by_key(Vec::len);
    most.unwrap_or_default().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use fathom_trace::Cause;

    use crate::fake::Fake;

    fn spawns(children: u32) -> Fake {
        let mut fake = Fake::new(1000);
        let each = 900 / u64::from(children);
        fake.waits(
            Some("wait4"),
            None,
            Cause::Asleep,
            u64::from(children),
            each * 1000,
        );
        for i in 0..children {
            let from = u64::from(i) * each;
            fake.child(200 + i, from, from + each, 1);
        }
        fake
    }

    #[test]
    fn hundreds_of_short_processes_are_found() {
        assert_eq!(spawns(300).ids(), ["process-spawning"]);
    }

    #[test]
    fn what_its_parent_asks_for_to_make_a_process_goes_with_it() {
        let saved_ms = |making_us: u64| {
            let mut fake = spawns(100);
            fake.calls("clone3", None, 100, 0, making_us * 1_000);
            fake.findings()[0].could_win_ns / 1_000_000
        };
        let more = saved_ms(500) - saved_ms(0);
        assert!((30..=55).contains(&more), "{more}");
    }

    #[test]
    fn fifty_of_one_program_are_a_loop() {
        assert_eq!(spawns(50).ids(), ["process-spawning"]);
    }

    fn interpreters(cpu: impl Fn(u64) -> u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("wait4"), None, Cause::Asleep, 25, 36_000);
        for i in 0..25 {
            fake.child(
                200 + i,
                u64::from(i) * 36,
                u64::from(i) * 36 + 36,
                cpu(u64::from(i)),
            );
            let exec = &mut fake.trace.processes.last_mut().expect("a child").execs[0];
            exec.path = "/usr/bin/python3".to_owned();
            exec.arguments = ["python3", "-c", &i.to_string()]
                .map(str::to_owned)
                .to_vec();
        }
        fake
    }

    #[test]
    fn starts_of_one_interpreter_are_reported_with_their_number() {
        // Some of them live longer than the limit for a short child, and some less.
        let found = interpreters(|i| 14 + i % 5).findings();
        assert_eq!(found[0].id, FindingId::ProcessSpawning);
        assert_eq!(found.len(), 1);
        let statement = &found[0].statement;
        assert!(
            statement.starts_with("`python3` was started 25 times"),
            "{statement}"
        );
        // Work differs from item to item, but startup doesn't.
        assert_eq!(
            interpreters(|i| 16 + i * 2 / 3 * 2).ids(),
            ["waiting-for-child"]
        );
    }

    #[test]
    fn starts_that_take_unequal_times_are_known_by_their_functions() {
        let ids = |starting: u64| {
            let mut fake = interpreters(|i| 16 + i * 2 / 3 * 2);
            for (function, samples) in [("Py_InitializeFromConfig", starting), ("work", 100)] {
                let frame = fathom_stacks::Frame {
                    binary: "/usr/bin/python3".to_owned(),
                    function: Some(function.to_owned()),
                    ..fathom_stacks::Frame::default()
                };
                fake.stack(fathom_trace::Activity::OwnCode, None, [frame], samples);
                let rows = fake.trace.stacks.iter_mut().flat_map(|it| &mut it.rows);
                rows.last().expect("just made").pid = 205;
            }
            fake.ids()
        };
        assert_eq!(ids(200)[0], "process-spawning");
        assert_eq!(ids(50), ["waiting-for-child"]);
    }

    #[test]
    fn what_forking_costs_the_parent_counts_and_its_advice_fits() {
        let mut fake = spawns(100);
        fake.trace.off_cpu.clear();
        fake.trace.threads[0].on_cpu_ns = Some(900_000_000);
        for process in &mut fake.trace.processes[1..] {
            process.execs.clear();
            process.ended_ns = Some(process.started_ns + 1_000_000);
        }
        for thread in &mut fake.trace.threads[1..] {
            thread.ended_ns = Some(thread.started_ns + 1_000_000);
        }
        fake.calls("clone", None, 100, 0, 6_000_000);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::ProcessSpawning);
        assert!(
            found[0].could_win_ns > 550_000_000,
            "{}",
            found[0].could_win_ns
        );
        assert!(found[0].advice.contains("Keep the workers"));
    }

    #[test]
    fn half_of_what_copies_compute_is_work_that_stays() {
        let saving_ms = |language| {
            let mut fake = Fake::new(1000);
            fake.language = Some(language);
            for i in 0..100 {
                let (pid, from) = (200 + i, 9 * u64::from(i));
                fake.child(pid, from, from + 8, 4);
                let wait = (from, from + 8, from + 8);
                fake.wait_for(crate::fake::ROOT, "wait4", None, wait, Some(pid));
                let copy = fake.trace.processes.last_mut().expect("a child");
                copy.execs.clear();
            }
            let found = fake.findings();
            assert_eq!(found[0].id, FindingId::ProcessSpawning);
            found[0].could_win_ns / 1_000_000
        };
        let (c, shell) = (crate::Language::C, crate::Language::Shell);
        assert_eq!(saving_ms(shell) - saving_ms(c), 200);
    }

    #[test]
    fn who_sleeps_or_works_is_no_short_process() {
        let copies = |cpu: u64| {
            let mut fake = spawns(60);
            for i in 0..60 {
                fake.trace.processes[1 + i].execs.clear();
                fake.trace.threads[1 + i].on_cpu_ns = Some(cpu * 1_000_000);
            }
            fake
        };
        let reported = |mut fake: Fake| fake.ids().contains(&"process-spawning");
        assert!(reported(copies(4)));
        assert!(!reported(copies(14)));
        let mut naps = spawns(60);
        for pid in 200..260 {
            naps.waits_of(pid, Some("clock_nanosleep"), None, Cause::Asleep, 1, 12_000);
        }
        assert!(!reported(naps));
    }

    #[test]
    fn thirty_of_several_programs_are_a_shim() {
        let mut fake = spawns(30);
        for (i, process) in fake.trace.processes.iter_mut().enumerate() {
            process.execs[0].path = format!("/bin/{}", i % 4);
        }
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn a_loop_that_takes_little_of_the_time_is_not_found() {
        let mut fake = Fake::new(1000);
        for i in 0..50 {
            fake.child(200 + i, u64::from(i) * 2, u64::from(i) * 2 + 2, 1);
        }
        assert!(!fake.ids().contains(&"process-spawning"));
    }
}
