//! Measures whether `fathom why` gives the same answer for the same program each time, on a quiet machine and
//! on a busy one.
//!
//! There are twenty small programs with one cause each, or none. The answer is the first finding or, if there
//! is none, the largest row of where the time goes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_model::Explanation;

use crate::Result;
use crate::options::Options;
use crate::subjects::Condition;
use crate::table::{Table, result};
use crate::tools::Tools;

/// Number of runs of each program in a condition.
const RUNS: usize = 10;
/// Required fraction of runs that give the same answer.
const ASKED: f64 = 0.9;

/// A name, a language and a source. The language `c` is compiled; any other is the name of the interpreter.
type Program = (&'static str, &'static str, &'static str);

const PROGRAMS: [Program; 20] = [
    (
        "sleeps",
        "python3",
        "import time\nfor k in range(6): sum(range(200000)); time.sleep(.03)",
    ),
    (
        "computes",
        "python3",
        "def hot(n): return sum(i * i % 7 for i in range(n))\nfor k in range(4): hot(400000)",
    ),
    (
        "unbuffered",
        "python3",
        "import os\nf = os.open('out', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\nfor k in range(120000): os.write(f, b'a line of text\\n')",
    ),
    (
        "reopens",
        "python3",
        "open('t.json', 'w').write('[' + '1,' * 3000 + '1]')\nimport json\nfor k in range(900): json.load(open('t.json'))",
    ),
    (
        "misses",
        "python3",
        "import os\nfor k in range(150000): os.path.exists('/usr/share/none/%d' % (k % 9))",
    ),
    (
        "processes",
        "sh",
        "i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i+1)); done",
    ),
    (
        "child",
        "sh",
        "sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'; :",
    ),
    (
        "sums",
        "awk",
        "BEGIN { for (i = 0; i < 6000000; i++) s += i % 7; print s }",
    ),
    (
        "matches",
        "perl",
        "my $n = 0; for my $k (1..200000) { $n++ if \"key$k=value\" =~ /^(\\w+)=(v.*e)$/ } print \"$n\\n\";",
    ),
    (
        "lock",
        "python3",
        "import threading, time\nl = threading.Lock()\ndef w():\n  for k in range(10):\n    with l: time.sleep(.008)\nt = [threading.Thread(target=w) for k in range(3)]\n[x.start() for x in t]; [x.join() for x in t]",
    ),
    (
        "pipe",
        "sh",
        "(i=0; while [ $i -lt 250000 ]; do i=$((i+1)); done; echo done) | cat",
    ),
    (
        "reads bytes",
        "c",
        "#include <fcntl.h>\n#include <unistd.h>\nint main(void) { int f = open(\"/dev/zero\", O_RDONLY); char c; for (long i = 0; i < 900000; i++) if (read(f, &c, 1) != 1) return 1; return 0; }",
    ),
    (
        "spins",
        "c",
        "#include <pthread.h>\n#include <unistd.h>\nstatic volatile int done; static void *w(void *p) { (void)p; usleep(250000); done = 1; return 0; }\nint main(void) { pthread_t t; pthread_create(&t, 0, w, 0); while (!done) ; return pthread_join(t, 0); }",
    ),
    (
        "touches",
        "c",
        "#include <stdlib.h>\n#include <string.h>\nint main(void) { for (int k = 0; k < 3; k++) { char *p = malloc(200l << 20); memset(p, k + 1, 200l << 20); free(p); } return 0; }",
    ),
    (
        "maps",
        "c",
        "#include <sys/mman.h>\nint main(void) { for (int k = 0; k < 120000; k++) { char *p = mmap(0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); *p = 1; munmap(p, 8192); } return 0; }",
    ),
    (
        "threads",
        "c",
        "#include <pthread.h>\nstatic void *w(void *p) { return p; }\nint main(void) { for (int k = 0; k < 2000; k++) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); } return 0; }",
    ),
    (
        "mutex",
        "c",
        "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static volatile unsigned x;\nstatic void *w(void *p) { (void)p; for (int i = 0; i < 250; i++) { pthread_mutex_lock(&m); for (int k = 0; k < 300000; k++) x = x * 3 + 1; pthread_mutex_unlock(&m); } return 0; }\nint main(void) { pthread_t t[3]; for (int k = 0; k < 3; k++) pthread_create(t + k, 0, w, 0); for (int k = 0; k < 3; k++) pthread_join(t[k], 0); return 0; }",
    ),
    (
        "hands over",
        "c",
        "#include <pthread.h>\n#include <unistd.h>\nstatic int a[2], b[2]; static void *w(void *p) { char c; (void)p; while (read(a[0], &c, 1) == 1) if (write(b[1], &c, 1) != 1) break; return 0; }\nint main(void) { pthread_t t; char c = 1; if (pipe(a) || pipe(b)) return 1; pthread_create(&t, 0, w, 0); for (int k = 0; k < 15000; k++) if (write(a[1], &c, 1) != 1 || read(b[0], &c, 1) != 1) return 1; close(a[1]); return pthread_join(t, 0); }",
    ),
    (
        "one worker",
        "c",
        "#include <pthread.h>\nstatic volatile unsigned x[2]; static void *w(void *p) { long n = (long)p; for (long k = 0; k < n; k++) x[n & 1] = x[n & 1] * 3 + 1; return 0; }\nint main(void) { pthread_t t[2]; pthread_create(t, 0, w, (void *)200000000l); pthread_create(t + 1, 0, w, (void *)1l); pthread_join(t[0], 0); return pthread_join(t[1], 0); }",
    ),
    (
        "polls",
        "c",
        "#include <fcntl.h>\n#include <unistd.h>\nint main(void) { int p[2]; char c; if (pipe(p)) return 1; fcntl(p[0], F_SETFL, O_NONBLOCK); for (long k = 0; k < 1200000; k++) if (read(p[0], &c, 1) == 1) return 1; return 0; }",
    ),
];

/// Runs `fathom why` on each program in both conditions.
///
/// # Errors
/// If a program can't be created, or `fathom why` explains nothing.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let runs = if options.quick { 3 } else { RUNS };
    let mut commands = Vec::new();
    for (at, program) in PROGRAMS.iter().enumerate() {
        commands.push(command(folder.path(), at, program)?);
    }
    let mut answers: Vec<BTreeMap<String, usize>> = vec![BTreeMap::new(); PROGRAMS.len()];
    let mut of_condition = [[0, 0]; PROGRAMS.len()];
    for (place, condition) in [Condition::Quiet, Condition::Busy].into_iter().enumerate() {
        let mut loads = condition.start(tools)?;
        for (at, command) in commands.iter().enumerate() {
            let mut own: BTreeMap<String, usize> = BTreeMap::new();
            for _ in 0..runs {
                *own.entry(answer(tools, folder.path(), command)?)
                    .or_default() += 1;
            }
            eprintln!(
                "  {}, {}: {}",
                condition.name(),
                PROGRAMS[at].0,
                in_words(&own)
            );
            of_condition[at][place] = own.values().copied().max().unwrap_or(0);
            for (answer, times) in own {
                *answers[at].entry(answer).or_default() += times;
            }
            loads.check()?;
        }
    }
    let mut table = Table::new(
        &format!("The same program, the same first answer: {runs} runs each"),
        &[
            "program",
            "quiet",
            "all CPUs busy",
            "both",
            "answers",
            "result",
        ],
    );
    let mut agree = 0;
    for ((program, answers), [quiet, busy]) in PROGRAMS.iter().zip(&answers).zip(of_condition) {
        let most = answers.values().copied().max().unwrap_or(0);
        let is_same = most as f64 >= ASKED * (2 * runs) as f64;
        agree += usize::from(is_same);
        table.row([
            program.0.to_owned(),
            format!("{quiet} of {runs}"),
            format!("{busy} of {runs}"),
            format!("{most} of {}", 2 * runs),
            in_words(answers),
            result(is_same),
        ]);
    }
    table.note(format!(
        "{agree} of {} programs have the same first answer in nine of ten runs, those of both conditions together.",
        PROGRAMS.len()
    ));
    table.note("An answer is the id of the first finding. Where there is none it is the largest row of where the time goes: its kind, with the function or the call.");
    Ok(table)
}

/// Returns the answers in words, the most frequent first.
fn in_words(answers: &BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = answers.iter().collect();
    sorted.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    let each = sorted
        .into_iter()
        .map(|(answer, times)| format!("{answer} {times}"));
    each.collect::<Vec<_>>().join(", ")
}

/// Creates a program and returns its command.
fn command(folder: &Path, at: usize, (_, language, source): &Program) -> Result<Vec<PathBuf>> {
    let file = folder.join(format!("program{at}.{language}"));
    std::fs::write(&file, source).map_err(|error| error.to_string())?;
    match *language {
        "c" => {
            let program = folder.join(format!("program{at}"));
            let compiled = Command::new("cc")
                .args(["-O2", "-g", "-pthread", "-o"])
                .args([&program, &file])
                .status();
            match compiled.is_ok_and(|status| status.success()) {
                true => Ok(vec![program]),
                false => Err(format!("cc doesn't compile {}", file.display())),
            }
        }
        "awk" => Ok(vec!["awk".into(), "-f".into(), file]),
        // Run the interpreter itself, because a version manager's wrapper would be a cause of its own.
        "python3" => Ok(vec![python()?, file]),
        language => Ok(vec![language.into(), file]),
    }
}

fn python() -> Result<PathBuf> {
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .map_err(|error| format!("can't start python3: {error}"))?;
    Ok(String::from_utf8_lossy(&asked.stdout).trim().into())
}

fn answer(tools: &Tools, folder: &Path, command: &[PathBuf]) -> Result<String> {
    let output = Command::new(&tools.fathom)
        .args(["why", "--runs", "5", "--json", "-", "--"])
        .args(command)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let explanation: Explanation = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    if let Some(first) = explanation.findings.first() {
        return Ok(first.id.to_string());
    }
    Ok(explanation.whereabouts.first().map_or_else(
        || "nothing".to_owned(),
        |row| {
            let place = row.place.function.as_deref().or(row.call.as_deref());
            format!("({} {})", row.kind.key(), place.unwrap_or("?"))
        },
    ))
}
