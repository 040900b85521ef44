//! Detects processes that try something, fail, pause, and try again.
//!
//! The pause takes the time; what was tried is the reason.

use crate::descriptors::is_path;
use crate::mechanisms::contend::side_by_side;
use crate::mechanisms::prelude::*;

const ENOENT: i32 = 2;
const EAGAIN: i32 = 11;
const EBUSY: i32 = 16;
const EEXIST: i32 = 17;
const ETXTBSY: i32 = 26;
const ECONNREFUSED: i32 = 111;

/// The minimum number of attempts that count as a loop; a program that starts looks up the same path only a
/// few times.
const FEWEST_TRIES: u64 = 5;
/// The minimum number of refusals: a second attempt to reach a server that refused can only be a retry.
const FEWEST_REFUSALS: u64 = 2;
/// The minimum number of attempts per pause: one for every two pauses. With fewer, attempts and pauses don't
/// belong together.
const TRIES_FOR_A_PAUSE: f64 = 0.5;
/// The maximum number of lookups per pause. A program that waits for a file looks once or twice per
/// iteration. Many programs look up missing files for other reasons, and more often than they pause: SQLite
/// looks for a journal at each step.
const MOST_LOOKUPS_FOR_A_PAUSE: f64 = 2.0;

/// Why an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// Another process has locked the file.
    Locked,
    /// The lock file or folder already exists, because another process holds the lock.
    Exists,
    /// Another process is using the path.
    Busy,
    /// The path does not exist yet.
    Missing,
    /// No process listens at the address.
    Refused,
}

impl Failure {
    fn of(errno: i32) -> Option<Self> {
        match errno {
            EEXIST => Some(Self::Exists),
            EBUSY | ETXTBSY => Some(Self::Busy),
            ENOENT => Some(Self::Missing),
            _ => None,
        }
    }

    fn is_lock(self) -> bool {
        matches!(self, Self::Locked | Self::Exists | Self::Busy)
    }
}

/// Attempts at the same thing, with the pauses between them.
#[derive(Debug, Clone)]
pub(super) struct Tries {
    failure: Failure,
    /// The call that failed.
    call: String,
    /// The target: a path or an address.
    object: Option<String>,
    fd: Option<i32>,
    tries: u64,
    /// The processes that tried.
    pids: BTreeSet<u32>,
    /// All processes that took the lock, whether or not they had to wait for it, if that is known.
    users: BTreeSet<u32>,
    /// The number and total length of these processes' pauses.
    pauses: u64,
    slept_ns: u64,
}

impl Tries {
    fn of(failure: Failure) -> Self {
        Self {
            failure,
            call: String::new(),
            object: None,
            fd: None,
            tries: 0,
            pids: BTreeSet::new(),
            users: BTreeSet::new(),
            pauses: 0,
            slept_ns: 0,
        }
    }

    /// Describes what each pause was for, as the continuation of a statement.
    pub(super) fn in_words(&self) -> String {
        let object = self.object.as_deref();
        let object = object.map_or_else(|| "a file".to_owned(), |it| format!("`{it}`"));
        let tries = match self.tries {
            1 => "one try".to_owned(),
            many => format!("{} tries", count(many)),
        };
        let call = &self.call;
        match self.failure {
            Failure::Locked => {
                format!("{tries} to lock {object} (`{call}`), which was already locked")
            }
            Failure::Exists => {
                format!("{tries} to create {object} (`{call}`), which already existed")
            }
            Failure::Busy => format!("{tries} to use {object} (`{call}`), which was busy"),
            Failure::Missing => format!("{tries} to find {object} (`{call}`), which did not exist"),
            Failure::Refused => format!("{tries} to connect to {object}, where no server listened"),
        }
    }

    /// Returns what to change, if the target is not a lock.
    pub(super) fn advice(&self) -> &'static str {
        match self.failure {
            Failure::Refused => {
                "Let the server announce that it is ready (a line on a pipe, or a socket that is created before it \
                 starts), instead of retrying after a pause; find out why it is late."
            }
            Failure::Missing => {
                "Let the producer of the file announce it, through a pipe or a socket, or watch its folder \
                 (`inotify`), and find out why it is late."
            }
            _ => FOR_A_LOCK,
        }
    }

    fn is_of(&self, analysis: &Analysis<'_>, pid: u32) -> bool {
        self.pids.contains(&actor(analysis, pid))
    }
}

const FOR_A_LOCK: &str = "Wait for the lock itself instead of for a fixed time (`F_SETLKW`, `flock` without LOCK_NB, a busy timeout that \
     sleeps less), hold it for less time, or give each process its own file.";

/// Returns the process responsible for what `pid` does: the shell, if `pid` is a command run by a shell.
pub(super) fn actor(analysis: &Analysis<'_>, pid: u32) -> u32 {
    let runs_commands = |pid: u32| analysis.runtime(Some(pid)).has(Habit::RunsCommands);
    let process = analysis.process(pid);
    let parent = process.and_then(|process| process.parent);
    match parent.filter(|parent| runs_commands(*parent) && !runs_commands(pid)) {
        Some(parent) => parent,
        None => pid,
    }
}

/// The number and total length of the pauses of each process.
type Pauses = BTreeMap<u32, (u64, u64)>;

fn pauses(analysis: &Analysis<'_>) -> Pauses {
    let mut pauses = Pauses::new();
    for (at, row) in analysis.trace.off_cpu.iter().enumerate() {
        let is_pause = analysis.wait_of_row(at).0 == TimeCategory::Sleeping;
        if row.cause == Cause::Asleep && is_pause && !analysis.works.is_of_runtime(row.tid) {
            let sum = pauses.entry(actor(analysis, row.pid)).or_default();
            sum.0 += row.count;
            sum.1 += row.total_ns;
        }
    }
    pauses
}

/// Returns what most of the pauses are for, or `None` if no failed attempt came between them.
pub(super) fn tries(analysis: &Analysis<'_>) -> Option<Tries> {
    if !analysis.counts_waits() {
        return None;
    }
    let pauses = pauses(analysis);
    let mut found = locked_files(analysis, |pid| pauses.contains_key(&pid));
    found.extend(paths(analysis, &pauses));
    found.extend(refused(analysis));
    for tries in &mut found {
        tries.pids.retain(|pid| pauses.contains_key(pid));
        let own = || tries.pids.iter().filter_map(|pid| pauses.get(pid));
        tries.pauses = own().map(|(count, _)| count).sum();
        tries.slept_ns = own().map(|(_, ns)| ns).sum();
    }
    found.retain(|tries| !tries.pids.is_empty());
    let fits = |tries: &Tries| {
        let least = match tries.failure {
            // The C library tries twice to reach a name cache, whose socket is in the file system.
            Failure::Refused if !tries.object.as_deref().is_some_and(is_path) => FEWEST_REFUSALS,
            _ => FEWEST_TRIES,
        };
        let for_a_pause = tries.tries as f64 / tries.pauses.max(1) as f64;
        let most = match tries.failure {
            Failure::Missing => MOST_LOOKUPS_FOR_A_PAUSE,
            _ => f64::INFINITY,
        };
        tries.tries >= least && (TRIES_FOR_A_PAUSE..=most).contains(&for_a_pause)
    };
    let is_known = |tries: &Tries| tries.failure != Failure::Missing;
    let found = found.into_iter().filter(fits);
    found.max_by_key(|tries| (is_known(tries), tries.slept_ns, tries.tries))
}

/// Returns locks on files that could not be taken at once.
fn locked_files(analysis: &Analysis<'_>, pauses: impl Fn(u32) -> bool) -> Vec<Tries> {
    let refused = analysis.calls(|row| calls::is_file_lock(&row.name) && row.would_block > 0);
    let refused = refused.filter(|row| pauses(actor(analysis, row.pid)));
    let name_of = |row: &SyscallRow| analysis.name_of(row.pid, row.fd?);
    let users = |object: &Option<String>| {
        let locks = analysis.calls(|row| calls::is_file_lock(&row.name));
        let of_file = locks.filter(|row| name_of(row) == *object);
        of_file.map(|row| actor(analysis, row.pid)).collect()
    };
    let by_file = grouped(refused.map(|row| (name_of(row), row))).into_iter();
    let tries = by_file.map(|(object, rows)| Tries {
        call: rows[0].name.clone(),
        users: users(&object),
        object,
        fd: rows[0].fd,
        tries: rows.iter().map(|row| row.would_block).sum(),
        pids: rows.iter().map(|row| actor(analysis, row.pid)).collect(),
        ..Tries::of(Failure::Locked)
    });
    tries.collect()
}

/// Returns how many calls of this name failed in a process.
fn errors(analysis: &Analysis<'_>, pid: u32, call: &str) -> u64 {
    let own = analysis.rows_of_process(pid);
    own.filter(|row| row.name == call)
        .map(|row| row.errors)
        .sum()
}

/// Returns whether the path is looked up without success when programs start: at most of the starts, and not
/// repeatedly by a long-running process.
fn is_missed_at_starts(analysis: &Analysis<'_>, row: &LookupRow) -> bool {
    let processes = || analysis.trace.processes.iter();
    let starts: usize = processes().map(|process| process.execs.len()).sum();
    let half = analysis.trace.duration_ns / 2;
    let stays = |process: &&Process| {
        let ended_ns = process.ended_ns.unwrap_or(analysis.trace.duration_ns);
        ended_ns.saturating_sub(process.started_ns) >= half
    };
    let mut staying = processes().filter(stays);
    let is_at_most = row.calls * 4 >= starts as u64 * 3;
    is_at_most
        && staying
            .all(|process| errors(analysis, process.pid, &row.call) < row.calls.min(FEWEST_TRIES))
}

/// Returns whether a path is that of a program which the tree started from another folder of its search path.
fn is_search_for_program(analysis: &Analysis<'_>, row: &LookupRow) -> bool {
    let name = file_name(&row.path);
    let execs = analysis.trace.processes.iter().flat_map(|it| &it.execs);
    let mut names = execs.flat_map(|exec| {
        let paths = [
            Some(&exec.path),
            exec.asked.as_ref(),
            exec.arguments.first(),
        ];
        paths.into_iter().flatten()
    });
    names.any(|path| file_name(path) == name && *path != row.path)
}

/// Returns whether a process that pauses looks the path up again and again, or commands get it as an argument.
/// What each of several commands looks up when it starts, such as its locale, is not what a script waits for.
fn is_asked_for(analysis: &Analysis<'_>, pauses: &Pauses, row: &LookupRow) -> bool {
    let mut processes = analysis.trace.processes.iter();
    let name = file_name(&row.path);
    processes.any(|process| {
        let words = process.execs.iter().flat_map(|exec| &exec.arguments);
        let mut words = words.skip(1);
        let pauses = pauses.contains_key(&process.pid);
        let at_others = missed_first_by(analysis, process.pid, row);
        pauses && errors(analysis, process.pid, &row.call) >= row.calls + at_others
            || words.any(|word| word.contains(name))
    })
}

/// Returns at how many other paths such a call of this process failed, as the first to look there.
fn missed_first_by(analysis: &Analysis<'_>, pid: u32, row: &LookupRow) -> u64 {
    let all = analysis.trace.failed_lookups.iter();
    let others = all.filter(|it| it.pid == pid && it.call == row.call && it.path != row.path);
    others.count() as u64
}

/// Reports whether a process looked the path up before it started the program that it now runs. A wrapper's
/// lookups, and those of the commands that it runs, are not what the program pauses for.
fn is_of_wrapper(analysis: &Analysis<'_>, row: &LookupRow) -> bool {
    let execs = analysis.process(row.pid).map(|process| &process.execs);
    let last = execs.and_then(|execs| execs.last());
    last.is_some_and(|exec| row.first_ns < exec.at_ns)
}

/// Returns paths that repeatedly existed, were missing, or were busy. The trace sums them over the whole
/// tree, so they are attributed to the processes that pause and whose calls of this kind fail as often.
fn paths(analysis: &Analysis<'_>, pauses: &Pauses) -> Vec<Tries> {
    let rows = analysis.trace.failed_lookups.iter();
    let is_meant = |row: &&LookupRow| {
        row.errno != ENOENT
            || !is_missed_at_starts(analysis, row)
                && !is_search_for_program(analysis, row)
                && !is_of_wrapper(analysis, row)
                && is_asked_for(analysis, pauses, row)
    };
    let often = rows
        .filter(|row| row.calls >= FEWEST_TRIES)
        .filter(is_meant);
    let failed = analysis.calls(|row| row.errors > 0);
    let errors = failed.map(|row| ((actor(analysis, row.pid), row.name.as_str()), row.errors));
    let errors = totals(errors);
    let of_row = |row: &LookupRow| {
        let failure = Failure::of(row.errno)?;
        let fails = |pid: u32, pauses: u64| {
            let errors = errors.get(&(pid, row.call.as_str())).copied().unwrap_or(0);
            errors > 0 && errors as f64 >= TRIES_FOR_A_PAUSE * pauses as f64
        };
        let pids = pauses
            .iter()
            .filter(|(pid, (pauses, _))| fails(**pid, *pauses));
        let pids: BTreeSet<u32> = pids.map(|(pid, _)| *pid).collect();
        Some(Tries {
            call: row.call.clone(),
            object: Some(row.path.clone()),
            tries: row.calls,
            pids,
            ..Tries::of(failure)
        })
    };
    often.filter_map(of_row).collect()
}

/// Returns servers that weren't there, or whose accept queue was full.
fn refused(analysis: &Analysis<'_>) -> Vec<Tries> {
    let rows = analysis.trace.refused.iter();
    let meant = rows.filter(|row| [ECONNREFUSED, ENOENT, EAGAIN].contains(&row.errno));
    let calls = meant.map(|row| ((actor(analysis, row.pid), row.address.as_str()), row.calls));
    let by_address = totals(calls).into_iter();
    let tries = by_address.map(|((actor, address), calls)| Tries {
        call: "connect".to_owned(),
        object: Some(address.to_owned()),
        tries: calls,
        pids: BTreeSet::from([actor]),
        ..Tries::of(Failure::Refused)
    });
    tries.collect()
}

/// Returns what the pauses are for, if they are for a lock.
pub(super) fn of_a_lock(analysis: &Analysis<'_>) -> Option<Tries> {
    tries(analysis).filter(|tries| tries.failure.is_lock())
}

/// Reports locks that are tried repeatedly, with pauses.
pub(crate) fn for_locks(analysis: &Analysis<'_>) -> Option<Claim> {
    let tries = of_a_lock(analysis)?;
    let slept = analysis.off(|row| row.cause == Cause::Asleep && tries.is_of(analysis, row.pid));
    let slept = slept.0.min(analysis.spent_ns(TimeCategory::Sleeping));
    let who = match tries.pids.len() {
        1 => "A process".to_owned(),
        many => format!("{} processes", count(many)),
    };
    let holder = match tries.pids.len().max(tries.users.len()) {
        1 => "for as long as the holder needed it".to_owned(),
        _ => holders(analysis, &tries),
    };
    let paused = format!(
        "{who} slept {} times between {}, {holder}",
        count(tries.pauses),
        tries.in_words(),
    );
    let sleeps =
        |row: &OffCpuRow, spent| spent == TimeCategory::Sleeping && tries.is_of(analysis, row.pid);
    let in_turn = in_turn(analysis, &tries).filter(|saving| *saving > slept);
    let claim = match in_turn {
        Some(saving) => side_by_side(analysis, saving, &paused, ""),
        None => {
            let share = analysis.percent(slept);
            let statement = format!("{paused}: {share} of the wall time.");
            Claim::new(FindingId::LockContention, analysis, slept, statement)
                .in_waits(analysis, slept, sleeps)
        }
    };
    Some(
        claim
            .evidence("failed tries", tries.tries, "calls")
            .evidence("pauses", tries.pauses, "calls")
            .advice(tries.advice())
            .pid(tries.pids.first().copied())
            .on(tries.fd, tries.object.clone())
            .observed()
            .likely(),
    )
}

/// Returns what the processes that use a lock would save by running at the same time, in ns, if only one of
/// them ever ran at a time.
fn in_turn(analysis: &Analysis<'_>, tries: &Tries) -> Option<f64> {
    let own = analysis.threads_that(|times| tries.users.contains(&times.pid));
    if tries.users.len() < 2 || !analysis.take_turns(&own) {
        return None;
    }
    let at_once = analysis.observation.cpus.min(tries.users.len());
    Some(analysis.untraced(own.cpu_ns()) * (1.0 - 1.0 / at_once.max(1) as f64))
}

/// Describes what is done by the processes that hold the lock one after another.
fn holders(analysis: &Analysis<'_>, tries: &Tries) -> String {
    let own = analysis
        .threads_that(|times| tries.is_of(analysis, times.pid) || tries.users.contains(&times.pid));
    let waited = own.spent_ns(TimeCategory::Disk) + own.spent_ns(TimeCategory::Network);
    let ran = time(analysis.untraced(own.cpu_ns()));
    match waited > own.cpu_ns() {
        true => "while the holder waited for the disk or the network".to_owned(),
        false => format!("while the holder computed ({ran} of CPU time in all)"),
    }
}

#[cfg(test)]
mod tests {
    use fathom_trace::{Cause, RefusedRow};

    use crate::fake::{Fake, ROOT, hold_words};

    fn pauses(count: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(
            Some("clock_nanosleep"),
            None,
            Cause::Asleep,
            count,
            900_000 / count,
        );
        fake
    }

    fn first(fake: &mut Fake) -> (String, String) {
        let found = fake.findings().into_iter().next().expect("the pauses");
        (found.id.to_string(), found.statement)
    }

    #[test]
    fn a_lock_that_is_tried_for_with_pauses_is_contention() {
        let mut fake = pauses(60);
        fake.descriptor(3, "/data/t.db");
        let row = fake.calls("fcntl", Some(3), 300, 0, 1_000);
        (row.errors, row.would_block) = (70, 70);
        hold_words("tries", &fake.findings()[0]);
        let (id, statement) = first(&mut fake);
        assert_eq!(id, "lock-contention", "{statement}");
        let words = "slept 60 times between 70 tries to lock `/data/t.db` (`fcntl`), which was already locked";
        assert!(statement.contains(words), "{statement}");
        assert_eq!(fake.ids().len(), 1, "{:?}", fake.ids());
    }

    #[test]
    fn a_file_that_is_a_lock_is_one() {
        let mut fake = pauses(40);
        fake.calls("openat", None, 50, 0, 2_000).errors = 41;
        fake.misses("openat", "/run/app.lock", 41);
        fake.trace.failed_lookups[0].errno = 17;
        let (id, statement) = first(&mut fake);
        assert_eq!(id, "lock-contention", "{statement}");
        assert!(statement.contains("`/run/app.lock`"), "{statement}");
    }

    #[test]
    fn what_the_commands_of_a_shell_try_the_shell_tries() {
        let mut fake = turns_of_a_shell("mkdir", false);
        fake.misses("mkdir", "/run/lock", 9);
        fake.trace.failed_lookups[0].errno = 17;
        let (id, statement) = first(&mut fake);
        assert_eq!(id, "lock-contention", "{statement}");
        assert!(
            statement.contains("9 tries to create `/run/lock`"),
            "{statement}"
        );
    }

    #[test]
    fn who_waits_for_a_server_or_a_file_with_pauses_sleeps_for_it() {
        let mut fake = pauses(9);
        fake.trace.refused = vec![RefusedRow {
            pid: ROOT,
            address: "127.0.0.1:5432".to_owned(),
            errno: 111,
            calls: 9,
            ..RefusedRow::default()
        }];
        let (id, statement) = first(&mut fake);
        assert_eq!(id, "sleeping");
        let words = "between 9 tries to connect to `127.0.0.1:5432`, where no server listened";
        assert!(statement.contains(words), "{statement}");

        let mut fake = pauses(20);
        fake.calls("stat", None, 24, 0, 2_000).errors = 21;
        fake.misses("stat", "/run/ready", 20);
        let (id, statement) = first(&mut fake);
        assert_eq!(id, "sleeping");
        assert!(
            statement.contains("tries to find `/run/ready`"),
            "{statement}"
        );
    }

    /// Returns a shell that runs nine commands whose call fails, with a pause after each.
    fn turns_of_a_shell(call: &str, also_by_pauses: bool) -> Fake {
        let mut fake = Fake::new(1000);
        fake.trace.processes[0].execs[0].path = "/bin/sh".to_owned();
        fake.wait_for(ROOT, "wait4", None, (0, 900, 900), None);
        for turn in 0..9 {
            let (sleep, try_) = (200 + 2 * turn, 201 + 2 * turn);
            let from = u64::from(turn) * 100;
            fake.child(try_, from, from + 2, 1);
            fake.calls_of(try_, call, None, 1, 0, 2_000).errors = 1;
            fake.child(sleep, from + 2, from + 99, 1);
            if also_by_pauses {
                fake.calls_of(sleep, call, None, 1, 0, 2_000).errors = 1;
            }
            let asleep = (from + 3, from + 98, from + 98);
            fake.wait_for(sleep, "clock_nanosleep", None, asleep, None);
        }
        fake
    }

    /// Returns the statement about such a shell if its commands miss a path.
    fn missed(path: &str, also_by_pauses: bool) -> String {
        let mut fake = turns_of_a_shell("access", also_by_pauses);
        let missed_by = if also_by_pauses { 18 } else { 9 };
        fake.misses("access", path, missed_by);
        let of_tries = fake.trace.processes.iter_mut().filter(|it| it.pid % 2 == 1);
        for exec in of_tries.flat_map(|process| &mut process.execs) {
            exec.arguments = ["test", "-e", "/run/ready"].map(str::to_owned).to_vec();
        }
        first(&mut fake).1
    }

    #[test]
    fn what_each_start_misses_is_not_what_a_loop_of_commands_waits_for() {
        let statement = missed("/run/ready", false);
        assert!(
            statement.contains("9 tries to find `/run/ready`"),
            "{statement}"
        );
        let statement = missed("/etc/ld.so.preload", true);
        assert!(!statement.contains("tries"), "{statement}");
    }

    #[test]
    fn a_program_that_is_looked_for_in_several_folders_is_not_awaited() {
        let mut fake = pauses(20);
        fake.calls("stat", None, 24, 0, 2_000).errors = 21;
        fake.misses("stat", "/usr/local/bin/child", 20);
        assert!(first(&mut fake).1.contains("tries"));
        fake.child(200, 100, 110, 5);
        let statement = first(&mut fake).1;
        assert!(!statement.contains("tries"), "{statement}");
    }

    #[test]
    fn what_each_command_looks_up_when_it_starts_is_not_awaited() {
        let statement = |argument: &str| {
            let mut fake = turns_of_a_shell("openat", false);
            fake.misses("openat", "/usr/lib/locale/C/LC_TIME", 7);
            for process in &mut fake.trace.processes {
                for exec in &mut process.execs {
                    exec.arguments = vec!["date".to_owned(), argument.to_owned()];
                }
            }
            first(&mut fake).1
        };
        assert!(!statement("+%s").contains("tries"), "{}", statement("+%s"));
        assert!(statement("LC_TIME").contains("tries to find"));
        // A command that only pauses may itself miss as many paths as the shell runs commands.
        let mut fake = turns_of_a_shell("openat", true);
        fake.misses("openat", "/usr/lib/locale/C/LC_TIME", 9);
        for row in &mut fake.trace.syscalls {
            row.errors = if row.pid % 2 == 0 { 13 } else { 1 };
        }
        let statement = first(&mut fake).1;
        assert!(!statement.contains("tries"), "{statement}");
    }

    #[test]
    fn what_a_shell_misses_when_it_starts_is_not_what_it_pauses_for() {
        let statement = |misses: u64| {
            let mut fake = pauses(20);
            fake.calls("openat", None, 300, 0, 2_000).errors = misses;
            fake.misses("openat", "/usr/lib/locale/C/LC_TIME", 20);
            for at in 0..12 {
                fake.misses("openat", &format!("/usr/lib/locale/{at}"), 20);
            }
            first(&mut fake).1
        };
        assert!(!statement(25).contains("tries"), "{}", statement(25));
        assert!(statement(32).contains("tries to find"), "{}", statement(32));
    }

    #[test]
    fn what_a_wrapper_looks_up_is_not_what_the_program_pauses_for() {
        let statement = |started_ms: u64| {
            let mut fake = pauses(20);
            fake.calls("openat", None, 300, 0, 2_000).errors = 60;
            fake.misses("openat", "/usr/lib/locale/locale-archive", 20);
            let row = fake.trace.failed_lookups.last_mut().expect("just made");
            row.first_ns = 5_000_000;
            fake.trace.processes[0].execs[0].at_ns = started_ms * 1_000_000;
            first(&mut fake).1
        };
        assert!(statement(0).contains("tries to find"), "{}", statement(0));
        assert!(!statement(50).contains("tries"), "{}", statement(50));
    }

    #[test]
    fn what_is_asked_for_more_often_than_it_pauses_is_not_what_it_waits_for() {
        let mut fake = pauses(20);
        fake.calls("stat", None, 400, 0, 2_000).errors = 301;
        fake.misses("stat", "/data/t.db-wal", 301);
        let statement = first(&mut fake).1;
        assert!(!statement.contains("tries"), "{statement}");
        let row = fake.calls("fcntl", Some(3), 300, 0, 1_000);
        (row.errors, row.would_block) = (22, 22);
        assert_eq!(first(&mut fake).0, "lock-contention");
    }

    #[test]
    fn lookups_of_a_start_are_no_tries() {
        let mut fake = pauses(40);
        fake.calls("openat", None, 300, 0, 2_000).errors = 60;
        for at in 0..20 {
            fake.misses("openat", &format!("/usr/lib/{at}"), 3);
        }
        let row = fake.calls("fcntl", Some(3), 300, 0, 1_000);
        (row.errors, row.would_block) = (6, 6);
        let (id, statement) = first(&mut fake);
        assert_eq!(id, "sleeping");
        assert!(!statement.contains("tries"), "{statement}");
    }
}
