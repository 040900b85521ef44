//! Measures whether the function of a Node or Java program that takes the most time is named.
//!
//! Uses ten generated programs of each kind, explained by `fathom why` as a user would run it.

use std::path::Path;
use std::process::Command;

use fathom_model::{Explanation, TimeCategory};

use crate::Result;
use crate::options::Options;
use crate::table::Table;
use crate::tools::Tools;

/// Number of iterations of the loop that takes the time.
const TURNS: usize = 1_000_000;
/// Number of times that the loop is run, which takes about 0.8 s.
const ROUNDS: usize = 100;

/// A program: definitions with `LOOP` in place of the body that takes the time, the code that runs it
/// `ROUNDS` times, the hottest function, and the line of its definition.
type Program = (&'static str, &'static str, &'static str, u32);

const NODE: [Program; 10] = [
    ("function hot(n) { LOOP }", "hot(N)", "hot", 1),
    (
        "class A {\n hot(n) { LOOP }\n}\nconst a = new A();",
        "a.hot(N)",
        "hot",
        2,
    ),
    ("const hot = (n) => { LOOP };", "hot(N)", "hot", 1),
    (
        "function hot(n) { LOOP }\nfunction cold(n) { return hot(n - 9) + 1; }\nfunction middle(n) { return cold(n); }",
        "middle(N)",
        "hot",
        1,
    ),
    ("const o = {\n\n  hot(n) { LOOP } };", "o.hot(N)", "hot", 3),
    (
        "function* hot(n) { LOOP_YIELD }\nfunction use(n) { for (const x of hot(n)) last = x; }\nlet last;",
        "use(N)",
        "hot",
        1,
    ),
    ("async function hot(n) { LOOP }", "hot(N)", "hot", 1),
    (
        "function hot(n) { if (n < 2) return n; return hot(n - 1) + hot(n - 2); }",
        "hot(27)",
        "hot",
        1,
    ),
    (
        "let k = 0;\nfunction hot(a, b) { k++; let s = 0; for (let i = 0; i < 40; i++) s = (s * 31 + a + i) % 1000003; return a - b + s * 0; }\nconst list = Array.from({ length: 1e4 }, (_, i) => (i * 7919) % 10007);",
        "list.slice().sort(hot)",
        "hot",
        2,
    ),
    (
        "class B { #x = 1;\n static hot(n) { LOOP }\n}",
        "B.hot(N)",
        "hot",
        2,
    ),
];

const JAVA: [Program; 10] = [
    ("static long hot(int n) { LOOP }", "hot(N)", "P.hot", 1),
    (
        "static class A {\n long hot(int n) { LOOP }\n}\nstatic A o = new A();",
        "o.hot(N)",
        "P$A.hot",
        2,
    ),
    (
        "static long hot(int n) { LOOP }\nstatic long cold(int n) { return hot(n - 9) + 1; }",
        "cold(N)",
        "P.hot",
        1,
    ),
    (
        "interface F { long hot(int n); }\nstatic class C implements F {\n public long hot(int n) { LOOP } }\nstatic F f = new C();",
        "f.hot(N)",
        "P$C.hot",
        3,
    ),
    (
        "static synchronized long hot(int n) { LOOP }",
        "hot(N)",
        "P.hot",
        1,
    ),
    (
        "static long hot(int n) { return n < 2 ? n : hot(n - 1) + hot(n - 2); }",
        "hot(30)",
        "P.hot",
        1,
    ),
    (
        "static java.util.function.IntToLongFunction f = P::hot;\nstatic long hot(int n) { LOOP }",
        "f.applyAsLong(N)",
        "P.hot",
        2,
    ),
    (
        "static long[] l = new long[1000];\nstatic long hot(int n) { for (int i = 0; i < n; i++) l[i % 1000] += i ^ l[(i + 7) % 1000]; return l[3]; }",
        "hot(N)",
        "P.hot",
        2,
    ),
    (
        "static <T extends Number> long hot(T t) { int n = t.intValue(); LOOP }",
        "hot(N)",
        "P.hot",
        1,
    ),
    (
        "static StringBuilder b = new StringBuilder();\nstatic long hot(int n) { b.setLength(0); for (int i = 0; i < n; i++) b.append((char) (i & 63)); return b.length(); }",
        "hot(N)",
        "P.hot",
        2,
    ),
];

/// The observations of one program.
struct Outcome {
    named: bool,
    with_line: bool,
    slower: f64,
}

pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let mut table = Table::new(
        "Hottest function of generated programs",
        &[
            "runtime",
            "programs",
            "named",
            "with file and line",
            "slower, median",
            "slower, most",
        ],
    );
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let before = maps();
    let count = if options.quick { 2 } else { NODE.len() };
    let node = NODE[..count]
        .iter()
        .map(|program| node(tools, folder.path(), program));
    row(&mut table, "Node", node.collect::<Result<_>>()?);
    let java = JAVA[..count]
        .iter()
        .map(|program| java(tools, folder.path(), program));
    row(&mut table, "Java", java.collect::<Result<_>>()?);
    let left = maps().saturating_sub(before);
    table.note(format!(
        "The row of own code with most time. {left} maps of names more are in /tmp than before."
    ));
    Ok(table)
}

fn row(table: &mut Table, name: &str, outcomes: Vec<Outcome>) {
    let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|it| of(it)).count().to_string();
    let mut slower: Vec<f64> = outcomes.iter().map(|it| it.slower).collect();
    slower.sort_by(f64::total_cmp);
    table.row([
        name.to_owned(),
        outcomes.len().to_string(),
        count(|it| it.named),
        count(|it| it.with_line),
        format!("{:.2}x", slower[slower.len() / 2]),
        format!("{:.2}x", slower[slower.len() - 1]),
    ]);
}

fn maps() -> usize {
    let entries = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let is_map = |name: &str| name.starts_with("perf-") && name.ends_with(".map");
    entries
        .filter(|it| is_map(&it.file_name().to_string_lossy()))
        .count()
}

fn node(tools: &Tools, folder: &Path, program: &Program) -> Result<Outcome> {
    let (definitions, call, ..) = program;
    let body = "let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s;";
    let yields = "let s = 0; for (let i = 0; i < n; i++) { s = (s * 31 + i) % 1000003; if (i % 50000 === 0) yield s; }";
    let definitions = definitions
        .replace("LOOP_YIELD", yields)
        .replace("LOOP", body);
    let call = call.replace('N', &TURNS.to_string());
    let file = folder.join("program.js");
    let main = format!(
        "{definitions}\nfunction main() {{ for (let i = 0; i < {ROUNDS}; i++) {call}; }}\nmain();\n"
    );
    write(&file, &main)?;
    outcome(
        tools,
        &["node", &file.display().to_string()],
        program,
        "program.js",
    )
}

fn java(tools: &Tools, folder: &Path, program: &Program) -> Result<Outcome> {
    let (definitions, call, ..) = program;
    let body =
        "int s = 0; for (int i = 0; i < n; i++) s = (int) ((s * 31L + i) % 1000003); return s;";
    let definitions = definitions.replace("LOOP", body);
    let call = call.replace('N', &TURNS.to_string());
    let file = folder.join("P.java");
    let main = format!(
        "public class P {{ {definitions}\npublic static void main(String[] a) {{ long t = 0; for (int i = 0; i < {ROUNDS}; i++) t += {call}; System.out.println(t); }} }}\n"
    );
    write(&file, &main)?;
    let compiled = Command::new("javac").arg(&file).status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("javac doesn't compile a generated program".to_owned());
    }
    let classes = folder.display().to_string();
    outcome(tools, &["java", "-cp", &classes, "P"], program, "P.java")
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).map_err(|error| error.to_string())
}

fn outcome(tools: &Tools, command: &[&str], program: &Program, file: &str) -> Result<Outcome> {
    let output = Command::new(&tools.fathom)
        .args(["why", "--runs", "5", "--json", "-", "--"])
        .args(command)
        .output()
        .map_err(|error| error.to_string())?;
    let explanation: Explanation = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let (_, _, function, line) = program;
    let own = explanation.whereabouts.iter();
    let own = own.filter(|row| row.kind == TimeCategory::UserCode && row.role.is_none());
    let row = own.max_by_key(|row| row.ns);
    let named = row.is_some_and(|row| row.place.function.as_deref() == Some(function));
    let with_line = named
        && row.is_some_and(|row| {
            let source = row.place.source_file.as_deref().unwrap_or_default();
            source.ends_with(file) && row.place.line == Some(*line)
        });
    if !named {
        let found = row.map(|row| (&row.place, &row.callers));
        eprintln!("{command:?}: {function}:{line} isn't the hottest but {found:?}");
    }
    Ok(Outcome {
        named,
        with_line,
        slower: explanation.explaining.slowdown,
    })
}
