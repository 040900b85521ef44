//! Detects programs whose start takes longer than their work.

use super::code_files::CodeFiles;
use crate::intervals::woken_ns;
use crate::mechanisms::prelude::*;
use crate::runtimes::Modules;
use std::borrow::Cow;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let root = analysis.trace.processes.first()?;
    let begun = root.execs.last().map_or(root.started_ns, |exec| exec.at_ns);
    let output = root.first_output_ns.unwrap_or(analysis.trace.duration_ns);
    // The start is recognised by the files that it loads.
    let code = CodeFiles::of(analysis, root.pid);
    let loaded =
        analysis.trace.files.iter().filter(|f| {
            f.pid == root.pid && (begun..output).contains(&f.first_ns) && code.holds(f)
        });
    let mut opened: Vec<u64> = loaded.clone().map(|file| file.first_ns).collect();
    opened.sort_unstable();
    let last = loaded_ns(&mut opened, begun)?;
    let loading = last.saturating_sub(begun) - childrens_ns(analysis, root.pid, begun, last);
    let start = analysis.untraced(loading as f64);
    // Whether the start dominates is a matter of the program's own time.
    let own_ns = loading.saturating_sub(waited_for_cpu_ns(analysis, root.pid, begun, last));
    let own = analysis.untraced(own_ns as f64);
    // Times from another run are mapped to this run's clock by a model that underestimates more often than it
    // overestimates.
    let least = match analysis.trace.calls_from {
        Some(_) => t::START_SHARE_MODELLED,
        None => t::START_SHARE,
    };
    let sources = loaded.clone().filter(|file| code.is_source(file)).count();
    let are_compiled = sources >= t::SOURCES_OF_NOTE;
    if opened.len() < t::MANY_START_FILES && !are_compiled {
        return None;
    }
    let first = first_of_program(analysis, root, loaded.clone()).unwrap_or(begun);
    let runtime = analysis.untraced((first - begun) as f64).min(start);
    let loading = start - runtime;
    let compiled = if_so(are_compiled, || {
        let sources = count(sources);
        format!(
            " {sources} of them were source files that were compiled again, because no compiled form was kept."
        )
    });
    let statement = format!(
        "The program loaded {} code files{}, which took {} before its work began, {} of the wall time.{compiled}",
        count(opened.len()),
        packages_in_words(loaded.map(|file| file.name.text())),
        time(loading),
        analysis.percent(loading),
    );
    let topic = match are_compiled {
        true => Topic::Sources,
        false => Topic::Start,
    };
    let of_runtime = || {
        format!(
            "the runtime took {} before the first of them",
            time(runtime)
        )
    };
    let claim = Claim::new(FindingId::StartupDominated, analysis, loading, statement);
    let claim = match runtime >= t::RUNTIME_OF_NOTE_NS {
        true => claim.limit(Some(of_runtime())),
        false => claim.takes_here("the empty program", analysis.observation.floor_seconds),
    };
    Some(
        claim
            .evidence("files of code", opened.len(), "files")
            .evidence("time until the last of them", start, "ns")
            .advice(analysis.runtime(Some(root.pid)).advice(&[topic]))
            .pid(root.pid)
            .likely()
            .weighing(own)
            .least(Least::share(least).with_ns(t::LONG_START_NS)),
    )
}

/// Folders under which packages are installed.
const INSTALLED: [&str; 3] = ["/site-packages/", "/dist-packages/", "/node_modules/"];
/// The maximum number of packages to name in a sentence, and the minimum share of the files that each must
/// have.
const NAMED: usize = 3;
const PART_OF_FILES: f64 = 0.05;

/// Returns the installed packages to which most of these files belong, with file counts.
fn packages_in_words<'a>(files: impl Iterator<Item = Cow<'a, str>>) -> String {
    let mut packages: BTreeMap<String, u64> = BTreeMap::new();
    let mut all = 0;
    for file in files {
        all += 1;
        let mut found = INSTALLED
            .iter()
            .filter_map(|below| Some((file.find(below)?, below)));
        if let Some((at, below)) = found.next() {
            let rest = &file[at + below.len()..];
            let mut parts = rest.split('/');
            let first = parts.next().unwrap_or(rest);
            let name = match (first.starts_with('@'), parts.next()) {
                (true, Some(second)) => format!("{first}/{second}"),
                _ => first.trim_end_matches(".py").to_owned(),
            };
            *packages.entry(name).or_default() += 1;
        }
    }
    let mut packages: Vec<(String, u64)> = packages.into_iter().collect();
    packages.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
    packages.retain(|(_, files)| *files as f64 >= PART_OF_FILES * f64::from(all));
    let each = packages.iter().take(NAMED);
    let each = each.map(|(name, files)| format!("{} of `{name}`", count(*files)));
    match each.collect::<Vec<_>>() {
        none if none.is_empty() => String::new(),
        each => format!(" ({})", each.join(", ")),
    }
}

/// Returns when the program opened the first file of its own choice; `None` if unknown. Everything before
/// that is the runtime's own start (60 ms for Node, 40 for Java, 10 to 20 for Python), which remains no
/// matter what the program loads.
fn first_of_program<'a>(
    analysis: &Analysis<'_>,
    root: &Process,
    loaded: impl Iterator<Item = &'a FileRow>,
) -> Option<u64> {
    let mut own = loaded.filter(|file| !is_library_file(&file.name.text()));
    match &analysis.runtime(Some(root.pid)).modules {
        Modules::None => None,
        Modules::Packages { .. } => own.map(|file| file.first_ns).min(),
        Modules::Files { of_runtime, .. } => {
            let of_runtime = of_runtime.as_ref()?;
            let is_of = |name: &str| of_runtime.iter().any(|part| name.contains(part));
            let own = own.filter(|file| !is_of(&file.name.text()));
            own.map(|file| file.first_ns).min()
        }
        Modules::Compiled { source, .. } => {
            let mut words = root.execs.last()?.arguments.iter().skip(1);
            let script = words.find(|word| word.ends_with(source))?;
            let script = script.trim_start_matches("./");
            let mut files = analysis.files_of(root.pid);
            let opened = files
                .find(|file| file.name.text().ends_with(script))?
                .first_ns;
            own.any(|file| file.first_ns >= opened).then_some(opened)
        }
    }
}

/// Returns how much of the time from `from` to `to` children of the process were running. During such time,
/// the process was already working and loading modules on demand, as a test does that starts the program
/// under test.
fn childrens_ns(analysis: &Analysis<'_>, pid: u32, from: u64, to: u64) -> u64 {
    let lives = analysis.children_of(pid).map(|child| {
        let end = child.ended_ns.unwrap_or(to).clamp(from, to);
        (child.pid, child.started_ns.clamp(from, to), end)
    });
    covered_ns(&lives.collect::<Vec<_>>())
}

/// Returns how long a thread waited for a CPU between two moments. If the trace doesn't have the waits in order,
/// it is assumed that they are spread evenly.
fn waited_for_cpu_ns(analysis: &Analysis<'_>, tid: u32, from: u64, to: u64) -> u64 {
    let Some(times) = analysis.thread(tid) else {
        return 0;
    };
    let truly = |ns: u64| (ns as f64 * times.truly_ready) as u64;
    if analysis.trace.timeline.is_none() {
        let part = times.sums.get(TimeCategory::Ready) / times.ns().max(1.0);
        return (to.saturating_sub(from) as f64 * part) as u64;
    }
    let all = analysis.trace.timeline.iter().flatten();
    let ready = all.filter(|wait| wait.tid == tid).map(|wait| {
        let ready = (woken_ns(wait).max(from), wait.to_ns.min(to));
        ready.1.saturating_sub(ready.0)
    });
    truly(ready.sum())
}

/// Returns the moment by which most of the files had been opened, and the number of files up to then. A pause
/// between two files that is longer than everything before it and everything after it is the work, during
/// which more files are loaded now and then.
fn loaded_ns(opened: &mut Vec<u64>, begun: u64) -> Option<u64> {
    let most = (opened.len() * 98 / 100).min(opened.len().checked_sub(1)?);
    let whole = opened[most] - begun;
    let pause = opened[..=most]
        .windows(2)
        .position(|pair| (pair[1] - pair[0]) * 2 > whole);
    if let Some(at) = pause {
        opened.truncate(at + 1);
        return opened.last().copied();
    }
    Some(opened[most])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, MS, ROOT};

    fn imports(files: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.trace.processes[0].execs[0].path = "/usr/bin/python3".to_owned();
        for i in 0..files {
            fake.file(
                &format!("/lib/module{i}.pyc"),
                1,
                2,
                9_000,
                1 + i * 800 * MS / files,
            );
        }
        fake
    }

    #[test]
    fn hundreds_of_modules_before_the_work_are_found() {
        assert_eq!(imports(400).ids(), ["startup-dominated"]);
    }

    #[test]
    fn loading_that_mostly_waits_for_a_cpu_dominates_nothing() {
        let reported = |ready_ms: u64| {
            let mut fake = imports(200);
            for file in &mut fake.trace.files {
                file.first_ns = file.first_ns * 5 / 8;
            }
            for turn in 0..10 {
                let at = 1 + turn * 40;
                let ready = (at, at, at + ready_ms);
                fake.wait_for(ROOT, "read", None, ready, None);
            }
            fake.ids().contains(&"startup-dominated")
        };
        assert!(reported(1));
        assert!(!reported(30));
    }

    #[test]
    fn the_packages_with_most_of_the_files_are_named() {
        let file = |below: &str, at: u64| Cow::from(format!("/usr/lib/{below}{at}.pyc"));
        let of = |below: &'static str, files: u64| (0..files).map(move |at| file(below, at));
        let files = of("python3/site-packages/big/a/", 300)
            .chain(of("python3/dist-packages/small/", 40))
            .chain(of("python3/site-packages/tiny/", 5))
            .chain(of("python3/json/", 200));
        assert_eq!(packages_in_words(files), " (300 of `big`, 40 of `small`)");
        let scoped = of("node_modules/@org/part/", 9);
        assert_eq!(packages_in_words(scoped), " (9 of `@org/part`)");
        assert_eq!(packages_in_words(of("python3/json/", 9)), "");
    }

    #[test]
    fn a_few_sources_that_are_compiled_each_time_are_found() {
        let reported = |sources: u64| {
            let mut fake = imports(60);
            for i in 0..sources {
                fake.misses("stat", &format!("/app/__pycache__/m{i}.cpython-311.pyc"), 1);
                fake.file(&format!("/app/m{i}.py"), 1, 2, 30_000, (500 + i * 15) * MS);
            }
            let mut found = fake.findings().into_iter();
            found
                .next()
                .map(|one| (one.id.to_string(), one.statement, one.advice))
        };
        let (id, statement, advice) = reported(20).expect("it is found");
        assert_eq!(id, "startup-dominated");
        let words = "20 of them were source files that were compiled again";
        assert!(statement.contains(words), "{statement}");
        assert!(advice.contains("compileall"), "{advice}");
        assert_eq!(reported(2), None);
    }

    #[test]
    fn the_runtimes_own_start_is_not_won() {
        let mut fake = imports(400);
        fake.trace.processes[0].execs[0].arguments =
            ["python3", "app/main.py", "-v"].map(str::to_owned).to_vec();
        let whole = fake.findings()[0].could_win_ns;
        // The script is opened after 100 ms of modules.
        fake.file("/home/me/app/main.py", 1, 2, 900, 100 * MS);
        let found = &fake.findings()[0];
        assert!(
            found.could_win_ns.abs_diff(whole - 99 * MS) < 2 * MS,
            "{} {whole}",
            found.could_win_ns
        );
        assert!(
            found
                .limit
                .as_deref()
                .is_some_and(|limit| limit.starts_with("the runtime took"))
        );
    }

    #[test]
    fn while_children_run_the_work_has_begun() {
        let mut fake = imports(400);
        for (n, pid) in (200..203).enumerate() {
            let from = 100 + 200 * n as u64;
            fake.child(pid, from, from + 180, 10);
            fake.wait_for(
                ROOT,
                "wait4",
                None,
                (from, from + 180, from + 180),
                Some(pid),
            );
        }
        assert!(!fake.ids().contains(&"startup-dominated"));
    }

    #[test]
    fn data_that_looks_like_code_is_not_loaded() {
        for program in ["tar", "grep", "git", "python3"] {
            let mut fake = Fake::new(1000);
            fake.trace.processes[0].execs[0].path = format!("/usr/bin/{program}");
            for i in 0..400 {
                let end = ["py", "js", "json"][i as usize % 3];
                fake.file(&format!("tree/{i}.{end}"), 1, 2, 9_000, 2 * i * MS);
            }
            assert!(fake.ids().is_empty(), "{program}");
        }
    }

    #[test]
    fn work_between_two_loads_is_no_start() {
        let mut fake = imports(400);
        for (i, file) in fake.trace.files.iter_mut().enumerate() {
            let at = 200 * MS * i as u64 / 400;
            file.first_ns = if i < 300 { at } else { at + 700 * MS };
        }
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn an_interpreters_own_are_not() {
        assert!(imports(80).ids().is_empty());
    }
}
