//! Detects programs in which loading and binding shared libraries takes a considerable part of the time.

use crate::mechanisms::prelude::*;
use crate::runtimes::{LIST_OF_LIBRARIES, is_loader};

/// The libraries that one process loaded.
struct Loaded {
    pid: u32,
    libraries: usize,
    from_ns: u64,
    to_ns: u64,
    /// Whether they were loaded by `dlopen`, after the program had started.
    by_program: bool,
}

/// Reports many libraries, regardless of when they were opened. The cost is the loader's own computing to
/// bind them, and its calls.
pub(crate) fn bound(analysis: &Analysis<'_>) -> Option<Claim> {
    let pid = analysis.main_function(is_loader)?.pid;
    let own = analysis.files_of(pid);
    let libraries = own
        .filter(|file| is_library_file(&file.name.text()))
        .count();
    let (loader, calls) = loading_ns(analysis, pid, libraries as u64);
    let cost = loader + calls;
    if libraries < t::MANY_LIBRARIES || loader <= 0.0 {
        return None;
    }
    let statement = format!(
        "{} shared libraries were opened; finding and binding them took {}.",
        count(libraries),
        analysis.time_and_share(cost),
    );
    Some(
        Claim::new(FindingId::DynamicLinking, analysis, cost, statement)
            .evidence("libraries", libraries, "files")
            .evidence("time in the loader's own code", loader, "ns")
            .advice("Link libraries that belong together into one, open plugins only when needed and without \
                 `RTLD_GLOBAL` (each one is searched for every symbol), and export few symbols \
                 (`-fvisibility=hidden`).")
            .pid(pid),
    )
}

/// Returns the CPU time of a process's loader (0 without samples), and the kernel's time for opening
/// libraries `opens` times.
fn loading_ns(analysis: &Analysis<'_>, pid: u32, opens: u64) -> (f64, f64) {
    let loader = analysis.in_functions(|row| row.pid == pid && is_loader(row));
    let all_opens = calls_of(analysis, pid, calls::opens_file).calls;
    let part = opens as f64 / all_opens.max(1) as f64;
    let calls = calls_of(analysis, pid, calls::loads).cost_ns * part.min(1.0);
    (loader, calls)
}

fn calls_of(analysis: &Analysis<'_>, pid: u32, is: impl Fn(&str) -> bool) -> Tally {
    analysis.tally(|row| row.pid == pid && is(&row.name))
}

/// Reports a library that a program opens and closes for each piece of work.
pub(crate) fn again_and_again(analysis: &Analysis<'_>) -> Option<Claim> {
    let again = |file: &&FileRow| {
        is_library_file(&file.name.text()) && file.opens >= t::MANY_OPENS_OF_A_LIBRARY
    };
    let libraries = || analysis.trace.files.iter().filter(again);
    let most = libraries().max_by_key(|file| file.opens)?;
    let of_it = || libraries().filter(|file| file.pid == most.pid);
    let opens: u64 = of_it().map(|file| file.opens).sum();
    let (loader, calls) = loading_ns(analysis, most.pid, opens);
    let cost = loader + calls;
    // A library that is already loaded is not mapped again, and one that is kept is not unmapped.
    if calls_of(analysis, most.pid, |name| name == "munmap").calls < opens {
        return None;
    }
    let name = &most.name;
    let (subject, them) = match of_it().count() {
        1 => (format!("{name} was"), "it"),
        several => (
            format!("{} libraries, such as {name}, were", count(several)),
            "them",
        ),
    };
    let statement = format!(
        "{subject} opened {} times (`dlopen`); {} {them} cost {}; the page faults that follow{} are not included.",
        count(opens),
        match loader > 0.0 {
            true => "to map and bind",
            false => "the calls that map",
        },
        analysis.time_and_share(cost),
        if_so(loader <= 0.0, || format!(
            " and the loader's work to bind {them}"
        )),
    );
    Some(
        Claim::new(FindingId::DynamicLinking, analysis, cost, statement)
            .evidence("times opened", opens, "calls")
            .advice(match them {
                "it" => "Open it once, keep it, and call `dlclose` at the end.",
                _ => "Open each once, keep it, and call `dlclose` at the end.",
            })
            .pid(most.pid)
            .likely(),
    )
}

pub(crate) fn before_it_began(analysis: &Analysis<'_>) -> Option<Claim> {
    let mut found = all(analysis);
    // If the first process opens libraries itself, only that process is reported, because the others have
    // another cause.
    if let Some(first) = found.first()
        && first.by_program
    {
        found.truncate(1);
    } else {
        found.retain(|loaded| !loaded.by_program);
    }
    let by_program = found.first()?.by_program;
    let times = found.iter().map(|it| (it.pid, it.from_ns, it.to_ns));
    let times: Vec<(u32, u64, u64)> = times.collect();
    let spans = times.iter().map(span_ns).sum::<f64>().max(1.0);
    let on_path = found.iter().map(|it| on_path_ns(analysis, it)).sum::<f64>();
    // For concurrent processes, at most the time that they cover together is counted.
    let spent = analysis.untraced(on_path.min(covered_ns(&times) as f64 * on_path / spans));
    let many: usize = found.iter().map(|it| it.libraries).sum();
    let pids: Vec<u32> = found.iter().map(|it| it.pid).collect();
    let tried = analysis.trace.failed_lookups.iter();
    let tried = tried.filter(|it| pids.contains(&it.pid) && is_library_file(&it.path));
    let tried: u64 = tried.map(|it| it.calls).sum();
    let statement = format!(
        "{} shared libraries were {}{} ({} more places searched), which took {}.",
        count(many / found.len()),
        match by_program {
            true => "opened by the program itself (`dlopen`)",
            false => "loaded before the program began",
        },
        if_so(found.len() > 1, || format!(
            ", in each of {} processes",
            count(found.len())
        )),
        count(tried),
        analysis.time_and_share(spent),
    );
    let advice = match (by_program, found.len()) {
        (true, _) => {
            "Open a library when it is first needed, with RTLD_LAZY; link libraries that are always needed into the \
             program."
        }
        (false, 1) => {
            "Link the needed libraries statically and drop the others (`-Wl,--as-needed`), set one RUNPATH that \
             contains all of them, or prelink; load rarely used parts with `dlopen`."
        }
        _ => {
            "Link the needed libraries statically and drop the others (`-Wl,--as-needed`), set one RUNPATH that \
             contains all of them, or process all items in one run."
        }
    };
    Some(
        Claim::new(FindingId::DynamicLinking, analysis, spent, statement)
            .evidence("libraries", many, "files")
            .evidence("failed lookups", tried, "calls")
            .advice(advice)
            .pid(found[0].pid)
            .likely(),
    )
}

/// Returns processes that loaded many libraries, with the command's first process first.
fn all(analysis: &Analysis<'_>) -> Vec<Loaded> {
    let Some(root) = analysis.trace.processes.first().map(|process| process.pid) else {
        return Vec::new();
    };
    let files = analysis.trace.files.iter().filter(|file| file.opens > 0);
    let files = grouped(files.map(|file| ((file.pid != root, file.pid), file))).into_iter();
    let loaded = files.filter_map(|((_, pid), files)| of_process(analysis, pid, files));
    loaded.collect()
}

fn of_process(analysis: &Analysis<'_>, pid: u32, mut files: Vec<&FileRow>) -> Option<Loaded> {
    // This is for the case that the process whose calls were traced can't be matched to one of this run.
    // Whatever a shell opened before becoming the program comes before everything that the loader opens.
    let exec = analysis.process(pid);
    let exec = exec.map(|it| it.execs.last().map_or(it.started_ns, |exec| exec.at_ns));
    let of_loader = files
        .iter()
        .filter(|file| is_library_file(&file.name.text()));
    let begun = exec.or_else(|| of_loader.map(|file| file.first_ns).min())?;
    files.retain(|file| file.first_ns >= begun);
    files.sort_by_key(|f| f.first_ns);
    let libraries = files.iter().take_while(|f| is_library_file(&f.name.text()));
    let libraries: Vec<_> = libraries.filter(|f| f.name != LIST_OF_LIBRARIES).collect();
    let last = libraries.last()?;
    // Libraries that were opened after the loader released its list were requested by the program itself.
    let list_given_back = list_given_back_ns(analysis, pid);
    let begins = list_given_back.unwrap_or(u64::MAX);
    let linked = libraries.partition_point(|f| f.first_ns <= begins);
    let by_program = linked < t::MANY_LIBRARIES;
    let (libraries, from_ns, to_ns) = match by_program {
        true => (libraries.len() - linked, begins, last.first_ns),
        false => {
            let opened = libraries[linked - 1].first_ns;
            let bound = list_given_back.unwrap_or(0).max(opened);
            (linked, begun, bound)
        }
    };
    (libraries >= t::MANY_LIBRARIES).then_some(Loaded {
        pid,
        libraries,
        from_ns,
        to_ns,
        by_program,
    })
}

/// Returns the time that a process spent loading libraries while the command waited for it.
fn on_path_ns(analysis: &Analysis<'_>, loaded: &Loaded) -> f64 {
    let ns = loaded.to_ns.saturating_sub(loaded.from_ns) as f64;
    let first = analysis.trace.processes.first();
    let is_first = first.is_some_and(|it| it.pid == loaded.pid);
    match analysis.process(loaded.pid) {
        Some(_) if !is_first => ns * analysis.weight(loaded.pid),
        _ => ns,
    }
}

/// Returns when the loader finished. It binds symbols after opening the last library, and its last call
/// unmaps its list of libraries; this is usually the process's first call of this kind.
fn list_given_back_ns(analysis: &Analysis<'_>, pid: u32) -> Option<u64> {
    let has_list = analysis
        .files_of(pid)
        .any(|file| file.name == LIST_OF_LIBRARIES);
    let given_back = analysis.rows_of(pid);
    let given_back = given_back.filter(|row| row.pid == pid && row.name == "munmap");
    given_back
        .map(|row| row.first_ns)
        .min()
        .filter(|_| has_list)
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, MS, hold_words};

    #[test]
    fn a_library_that_is_opened_for_each_piece_of_work_is_found() {
        let reported = |opens: u64, given_back: u64| {
            let mut fake = Fake::new(1000);
            fake.file("/usr/lib/filter.so", opens, 0, 0, 10 * MS);
            fake.calls("openat", None, 400, 0, 10_000);
            fake.calls("mmap", None, 2_000, 0, 60_000);
            fake.calls("munmap", None, given_back, 0, 150_000);
            fake.ids().contains(&"dynamic-linking")
        };
        assert!(reported(400, 400));
        assert!(!reported(1, 400));
        // The library is already loaded; the other mappings are the program's memory.
        assert!(!reported(400, 10));
        // There is one open for every five unmappings, so the program maps memory for itself.
        assert!(!reported(80, 400));
    }

    #[test]
    fn of_a_process_that_ran_already_the_start_is_not_judged() {
        let mut fake = Fake::new(1000);
        fake.file("/usr/lib/filter.so", 400, 0, 0, 10 * MS);
        fake.calls("openat", None, 400, 0, 10_000);
        fake.calls("munmap", None, 400, 0, 600_000);
        let found = fake.findings();
        let found = found.iter().find(|it| it.id == FindingId::DynamicLinking);
        hold_words(
            "again_and_again",
            found.expect("libraries are opened again"),
        );
        fake.trace.attached = Some(fathom_trace::Attached::default());
        assert!(!fake.ids().contains(&"dynamic-linking"));
    }

    #[test]
    fn what_the_loader_computes_for_many_libraries_is_found() {
        let reported = |libraries: u64, function: &str| {
            let mut fake = Fake::new(300);
            for i in 0..libraries {
                fake.file(&format!("/srv/plug{i}.so"), 1, 1, 832, 100 * MS);
            }
            fake.calls("openat", None, libraries, 0, 5_000);
            let loader = "/usr/lib64/ld-linux-x86-64.so.2";
            fake.in_function(crate::fake::ROOT, loader, function, 150);
            fake.in_function(crate::fake::ROOT, "/bin/program", "work", 150);
            let observation = fake.observation(&[]);
            super::bound(&crate::analysis::Analysis::new(&observation))
        };
        let bound = reported(100, "do_lookup_x").expect("half of it");
        hold_words("bound", &bound.finding);
        let share = bound.share;
        assert!((share - 0.5).abs() < 0.02, "{share}");
        assert!(reported(9, "do_lookup_x").is_none());
        assert!(reported(100, "__tls_get_addr").is_none());
    }

    fn links(libraries: u64) -> Fake {
        let mut fake = Fake::new(20);
        for i in 0..libraries {
            fake.file(
                &format!("/lib/part{i}.so.1"),
                1,
                1,
                832,
                1 + i * 10 * MS / libraries,
            );
        }
        fake
    }

    #[test]
    fn a_hundred_libraries_are_found() {
        assert_eq!(links(100).ids(), ["dynamic-linking"]);
    }

    #[test]
    fn binding_the_symbols_belongs_to_it() {
        let mut fake = links(100);
        fake.file(super::LIST_OF_LIBRARIES, 1, 0, 0, 1);
        fake.calls("munmap", None, 1, 0, 1_000).first_ns = 16 * MS;
        let reported = fake.findings();
        assert_eq!((reported[0].share * 100.0).round(), 80.0);
    }

    #[test]
    fn what_the_program_opens_itself_is_named_as_that() {
        let mut fake = links(100);
        fake.file(super::LIST_OF_LIBRARIES, 1, 0, 0, 1);
        fake.calls("munmap", None, 1, 0, 1_000).first_ns = MS / 2;
        let reported = fake.findings();
        assert_eq!(reported.len(), 1);
        let begin = "95 shared libraries were opened by the program itself (`dlopen`)";
        assert!(
            reported[0].statement.starts_with(begin),
            "{}",
            reported[0].statement
        );
        assert!(!reported[0].advice.contains("by `dlopen`"));
    }

    #[test]
    fn what_the_children_load_adds_up() {
        let mut fake = Fake::new(100);
        fake.waits(Some("wait4"), None, fathom_trace::Cause::Asleep, 5, 18_000);
        for child in 0..5 {
            let (pid, from) = (200 + child as u32, 20 * child);
            fake.child(pid, from, from + 18, 14);
            for i in 0..100 {
                let at = from * MS + 1 + i * 10 * MS / 100;
                fake.file(&format!("/lib/part{i}.so.1"), 1, 1, 832, at);
                fake.trace.files.last_mut().expect("just made").pid = pid;
            }
        }
        let reported = fake.findings();
        assert_eq!(reported.len(), 1);
        let begin =
            "100 shared libraries were loaded before the program began, in each of 5 processes";
        assert!(
            reported[0].statement.starts_with(begin),
            "{}",
            reported[0].statement
        );
        assert!(
            (0.45..0.55).contains(&reported[0].share),
            "{}",
            reported[0].share
        );
        // Calls traced in another run have different process IDs.
        let files = fake.trace.files.iter_mut();
        files.for_each(|file| file.pid += 1000);
        for child in 0..5 {
            for (name, at) in [
                ("/dev/null", 0),
                (super::LIST_OF_LIBRARIES, 20 * child * MS),
            ] {
                fake.file(name, 1, 1, 1, at);
                fake.trace.files.last_mut().expect("just made").pid = 1200 + child as u32;
            }
        }
        assert_eq!(fake.ids(), ["dynamic-linking"]);
    }

    #[test]
    fn ten_are_not() {
        assert!(links(10).ids().is_empty());
    }
}
