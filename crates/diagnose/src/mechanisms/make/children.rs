//! Determines what the children of a process run, and whether one child needs what another produced.

use fathom_trace::{Activity, StackRow};

use crate::mechanisms::prelude::*;

/// Options with a separate value that may come before a subcommand, as in `git -C repo gc`.
const BEFORE_SUBCOMMAND: &[&str] = &["-C", "-c"];

/// What a child runs: its program, and its first argument if that selects what the program does. Copies of
/// the parent run nothing of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Kind {
    program: String,
    /// A subcommand, or an interpreter's script.
    what: Option<String>,
}

impl Kind {
    fn of(program: String, what: Option<String>) -> Self {
        Self { program, what }
    }
}

/// Groups children of one parent that run the same, and so probably don't need each other's results. By
/// contrast, the steps of a build differ in their programs or subcommands (`git repack`, then `git prune`).
/// If children open what an earlier child of the group wrote, only the first one is kept.
pub(crate) fn alike(analysis: &Analysis<'_>, children: &[u32]) -> Vec<Vec<u32>> {
    let mut groups: BTreeMap<Kind, Vec<u32>> = BTreeMap::new();
    let mut unknown: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for child in children {
        let process = analysis.process(*child);
        match process.map(|process| runs(analysis, process, 0)) {
            Some(Ok(kind)) => groups.entry(kind).or_default().push(*child),
            Some(Err(program)) => unknown.entry(program).or_default().push(*child),
            None => {}
        }
    }
    for (program, mut of_program) in unknown {
        // If other calls of the program have subcommands, these have them too.
        let mut same = groups
            .iter_mut()
            .filter(|(kind, _)| kind.program == program);
        match (same.next(), same.next()) {
            (None, _) => _ = groups.insert(Kind::of(program, None), of_program),
            (Some((kind, known)), None) if kind.what.is_none() => known.append(&mut of_program),
            _ => {}
        }
    }
    let groups = groups.into_values();
    groups.map(|group| independent(analysis, group)).collect()
}

/// A command that ran several times.
#[derive(Debug, PartialEq)]
pub(crate) struct Repeated {
    /// The command line.
    pub line: String,
    pub times: usize,
}

impl Repeated {
    pub(crate) const ADVICE: &str = "Run it once and keep its output, if that is the same each time (in a makefile, `:=` runs `$(shell ...)` \
         once, and `=` runs it at each use).";
}

/// Returns the command that most of these processes ran with the same arguments and input, or that started
/// them; `None` if it is fewer than half of them.
pub(crate) fn repeated(analysis: &Analysis<'_>, pids: &HashSet<u32>) -> Option<Repeated> {
    // The number of runs of each command line, and the number of processes including those that it started.
    let mut groups: BTreeMap<(&str, &[String]), (usize, usize)> = BTreeMap::new();
    for process in pids.iter().filter_map(|pid| analysis.process(*pid)) {
        let tree = analysis.tree(process.pid);
        // A failed command may be retried, and one that prints nothing was run for its effects.
        let mut members = tree.iter().filter_map(|pid| analysis.process(*pid));
        let prints = members.any(|member| member.first_output_ns.is_some());
        let good = process.end.and_then(|end| end.code) == Some(0);
        let Some(exec) = process.execs.last().filter(|_| prints && good) else {
            continue;
        };
        // Data from a pipe is different each time, and the data in a file may be too.
        let input = analysis.descriptors.names(process.pid, 0);
        let of_command = analysis.descriptors.is_of_command(process.pid, 0);
        let is_own = match input {
            [] => true,
            [.., DescriptorKind::File(path)] => path == "/dev/null",
            _ => of_command,
        };
        if is_own && !exec.arguments_cut && !exec.arguments.is_empty() {
            let key = (exec.path.as_str(), exec.arguments.as_slice());
            let (times, all) = groups.entry(key).or_default();
            *times += 1;
            *all += tree.iter().filter(|pid| pids.contains(pid)).count();
        }
    }
    let ((path, arguments), (times, all)) =
        groups.into_iter().max_by_key(|(_, it)| (it.1, it.0))?;
    let name = file_name(path);
    let words = arguments.iter().skip(1).map(String::as_str);
    let line: Vec<&str> = std::iter::once(name).chain(words).collect();
    let line: String = line.join(" ").chars().take(LONGEST_LINE).collect();
    let rules = times >= FEWEST_REPETITIONS && all * 2 > pids.len();
    rules.then_some(Repeated { line, times })
}

/// The minimum number of repetitions; two or three runs may be a check before and after.
const FEWEST_REPETITIONS: usize = 4;
/// The maximum length of a command in a sentence, in characters.
const LONGEST_LINE: usize = 80;

/// Returns what a process runs; `Err` with the program if the arguments are unknown.
fn runs(analysis: &Analysis<'_>, process: &Process, depth: usize) -> Result<Kind, String> {
    let Some(exec) = process.execs.last() else {
        return Ok(Kind::default());
    };
    if is_shell(&exec.path) && depth < 8 {
        // The program may be wrapped in `sh -c`.
        let mut children = analysis.children_of(process.pid);
        if let Some(inner) = children.find(|it| !it.execs.is_empty()) {
            return runs(analysis, inner, depth + 1);
        }
    }
    let program = exec.path.clone();
    let mut arguments = exec.arguments.iter().skip(1).peekable();
    if arguments.peek().is_none() && analysis.only_samples() {
        return Err(program);
    }
    if Runtime::interpreting(&exec.path).is_some() {
        let script = arguments
            .next()
            .filter(|argument| !argument.starts_with('-'));
        return Ok(Kind::of(
            program,
            script.map(|script| without_numbers(script)),
        ));
    }
    while let Some(option) = arguments.next_if(|argument| argument.starts_with('-')) {
        if BEFORE_SUBCOMMAND.contains(&option.as_str()) {
            arguments.next();
        }
    }
    let word = arguments.next();
    let what = word.filter(|word| is_subcommand(analysis, process.pid, word));
    Ok(Kind::of(program, what.cloned()))
}

/// Replaces every number in a name by a fixed one, because names such as `t/01-parse.t` and `t/02-parse.t`
/// are items of one list.
fn without_numbers(name: &str) -> String {
    let mut short = String::new();
    for letter in name.chars() {
        match letter.is_ascii_digit() {
            true if short.ends_with('0') => {}
            true => short.push('0'),
            false => short.push(letter),
        }
    }
    short
}

/// Reports whether a word may be a subcommand rather than a file.
fn is_subcommand(analysis: &Analysis<'_>, pid: u32, word: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c == '-';
    let is_file = |file: &FileRow| {
        let name = file.name.text();
        let rest = name.strip_suffix(word);
        file.pid == pid && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    word.chars().all(letters) && !analysis.trace.files.iter().any(is_file)
}

/// Removes the children that open what an earlier child of the group wrote.
fn independent(analysis: &Analysis<'_>, mut group: Vec<u32>) -> Vec<u32> {
    if group.len() < 2 {
        return group;
    }
    let mut member: HashMap<u32, usize> = HashMap::new();
    for (place, pid) in group.iter().enumerate() {
        member.extend(analysis.tree(*pid).into_iter().map(|pid| (pid, place)));
    }
    let is_data =
        |file: &&FileRow| file.name.text().contains('/') && !is_of_system(&file.name.text());
    let used = |is: fn(&FileRow) -> bool| {
        let files = analysis.trace.files.iter().filter(is_data);
        let files = files.filter(move |file| is(file));
        files.filter_map(|file| Some((&file.name, *member.get(&file.pid)?)))
    };
    let mut writers: HashMap<&DescriptorKind, usize> = HashMap::new();
    for (name, place) in used(|file| file.writes > 0) {
        let first = writers.entry(name).or_insert(place);
        *first = place.min(*first);
    }
    let is_late = |(name, place): &(&DescriptorKind, usize)| {
        writers.get(name).is_some_and(|writer| writer < place)
    };
    let dependent: HashSet<usize> = used(|file| file.reads > 0)
        .filter(is_late)
        .map(|it| it.1)
        .collect();
    let mut place = 0..;
    group.retain(|_| !dependent.contains(&place.next().unwrap_or_default()));
    group
}

/// The minimum part of the own code of children that must be in the start of their interpreter, if they need more time
/// than usual for that: on a busy machine, or because of what they load.
const START_OF_OWN_CODE: f64 = 0.5;

/// Returns whether the own code of these processes is mostly the start and the end of an interpreter.
fn mostly_start(analysis: &Analysis<'_>, pids: &[u32]) -> bool {
    let Some(stacks) = &analysis.trace.stacks else {
        return false;
    };
    let starts = analysis.frames_for(Use::StartsRuntime);
    let of_them = |row: &&StackRow| row.activity == Activity::OwnCode && pids.contains(&row.pid);
    let samples = totals(stacks.rows.iter().filter(of_them).map(|row| {
        let frames = row.node.into_iter();
        let mut frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
        (frames.any(|number| starts[number as usize]), row.samples)
    }));
    let of_start = samples.get(&true).copied().unwrap_or(0);
    let all: u64 = samples.values().sum();
    all >= t::LEAST_SAMPLES && of_start as f64 >= START_OF_OWN_CODE * all as f64
}

/// Looks at the processes that one parent created to run the same interpreter on the same script, or on code
/// in an argument. Returns the largest such group, if all of its processes are short and uniform enough to be
/// little more than the interpreter's startup.
pub(crate) fn starts_of_interpreter(analysis: &Analysis<'_>) -> HashSet<u32> {
    let processes = &analysis.trace.processes;
    let parents: HashSet<u32> = processes.iter().filter_map(|p| p.parent).collect();
    let leaves = processes
        .iter()
        .skip(1)
        .filter(|p| !parents.contains(&p.pid));
    let groups = grouped(leaves.filter_map(|process| {
        Runtime::interpreting(&process.execs.last()?.path)?;
        let kind = runs(analysis, process, 0);
        let kind = kind.unwrap_or_else(|program| Kind::of(program, None));
        Some(((process.parent, kind), process.pid))
    }));
    let largest = groups
        .into_values()
        .max_by_key(Vec::len)
        .unwrap_or_default();
    let mut cpu: Vec<f64> = largest.iter().map(|pid| analysis.cpu_of(*pid)).collect();
    cpu.sort_by(f64::total_cmp);
    let is_loop = largest.len() >= t::MANY_OF_ONE_PROGRAM;
    let at = |part: usize| cpu[(cpu.len() * part / 10).min(cpu.len() - 1)];
    if !is_loop {
        return HashSet::new();
    }
    let is_even = at(9) <= t::START_OF_INTERPRETER_CPU_NS && at(9) <= t::EVEN_STARTS * at(1);
    if !is_even && !mostly_start(analysis, &largest) {
        return HashSet::new();
    }
    largest.into_iter().collect()
}

/// Reports whether a process is a copy of its parent without a program of its own. In samples, such a process
/// has the name of its parent's program.
pub(crate) fn is_copy(analysis: &Analysis<'_>, process: &Process) -> bool {
    match process.execs.last() {
        None => true,
        Some(exec) => {
            let parent = process.parent.and_then(|pid| analysis.program_of(pid));
            analysis.only_samples() && parent == Some(&exec.path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn groups(lines: &[&str], change: impl Fn(&mut Fake)) -> Vec<usize> {
        let mut fake = Fake::new(1000);
        for (pid, line) in (200..).zip(lines) {
            fake.child(pid, 0, 900, 900);
            let exec = &mut fake.trace.processes.last_mut().expect("a child").execs[0];
            exec.arguments = line.split(' ').map(str::to_owned).collect();
            exec.path = format!("/bin/{}", exec.arguments[0]);
        }
        change(&mut fake);
        let observation = fake.observation(&[]);
        let pids: Vec<u32> = (200..200 + lines.len() as u32).collect();
        let groups = alike(&Analysis::new(&observation), &pids);
        let mut sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn steps_with_names_of_their_own_are_not_alike() {
        let none = |_: &mut Fake| {};
        assert_eq!(groups(&["git -C r repack -d", "git prune"], none), [1, 1]);
        assert_eq!(groups(&["tar c.tar", "gzip c.tar"], none), [1, 1]);
        assert_eq!(groups(&["python3 a.py", "python3 b.py"], none), [1, 1]);
        assert_eq!(groups(&["perl t/01-x.t", "perl t/12-x.t"], none), [2]);
        assert_eq!(
            groups(&["perl t/1-read.t", "perl t/2-join.t"], none),
            [1, 1]
        );
        assert_eq!(groups(&["python3 -c A", "python3 -c B"], none), [2]);
        assert_eq!(groups(&["gcc -O2 -c a.c", "gcc -O2 -c b.c"], none), [2]);
    }

    #[test]
    fn a_file_is_no_subcommand() {
        let opens = |fake: &mut Fake| {
            for (pid, name) in [(200, "/data/one"), (201, "/data/two")] {
                fake.file(name, 1, 1, 100, 0);
                fake.trace.files.last_mut().expect("just made").pid = pid;
            }
        };
        assert_eq!(groups(&["md5sum one", "md5sum two"], opens), [2]);
    }

    #[test]
    fn who_reads_what_another_wrote_depends_on_it() {
        let passes = |fake: &mut Fake| {
            fake.file("/tmp/a.o", 1, 0, 0, 0);
            let file = fake.trace.files.last_mut().expect("just made");
            (file.pid, file.writes) = (200, 9);
            fake.file("/tmp/a.o", 1, 9, 900, 0);
            fake.trace.files.last_mut().expect("just made").pid = 201;
        };
        assert_eq!(groups(&["gcc -c a.c", "gcc a.o"], passes), [1]);
    }

    #[test]
    fn of_unknown_arguments_what_is_known_of_the_others_shows() {
        let sampled = |fake: &mut Fake| fake.trace.tier = Some(fathom_trace::Tier::Perf);
        assert_eq!(groups(&["git prune", "git", "git"], sampled), [1]);
        assert_eq!(groups(&["gcc -c a.c", "gcc", "gcc"], sampled), [3]);
    }
}
