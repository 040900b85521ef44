//! How to make a runtime write down the names of the code that it generates.
//!
//! The runtime writes them to `/tmp/perf-PID.map`. Only observed runs enable this, because it takes some
//! time.

use std::ffi::{OsStr, OsString};

use fathom_model::{CodePlace, Explanation, TimeCategory};
use fathom_stacks::is_made_at_run_time;
use fathom_trace::Trace;
use serde::Deserialize;

use super::functions::Names;
use super::{ALL, Language, Runtime, begins, has};
use crate::file_name::file_name;
use crate::thresholds as t;

/// How to make one runtime report names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedFor {
    /// Options of the runtime's program, to be placed before all others.
    options: Vec<String>,
    /// The environment variable from which the runtime takes options.
    variable: String,
    /// Programs that start the runtime for the files they are given.
    starters: Vec<String>,
    /// Libraries that contain the runtime.
    engines: Vec<String>,
    /// Functions of the engine that a program's source calls by name.
    #[serde(default)]
    is_called: Names,
}

/// A command whose runtime is made to report the names of generated code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Program and arguments.
    pub words: Vec<OsString>,
    /// An environment variable, and the text to append to its value.
    pub variable: Option<(String, String)>,
    /// The options that were added to what the user gave.
    pub added: String,
}

impl Asked {
    /// Returns the same command with name reporting enabled, or `None` if no known runtime supports it.
    ///
    /// `words` contains the program, with a path, and its arguments. `script` is the first line of the
    /// program, if it is a script. `children` says whether an environment variable may enable reporting in
    /// programs that the command starts.
    pub fn of(words: &[OsString], script: Option<&str>, children: bool) -> Option<Self> {
        let program = words.first()?.to_string_lossy().into_owned();
        let started = match script {
            None => asked_for(&program).map(|asked| (asked, words[..1].to_vec(), &words[1..])),
            // This is the command line as the kernel executes it, which begins with these arguments.
            Some(line) => interpreter(line).and_then(|interpreter| {
                let asked = asked_for(interpreter.last()?)?;
                let interpreter = interpreter.iter().map(OsString::from).collect();
                Some((asked, interpreter, words))
            }),
        };
        if let Some((asked, mut begin, rest)) = started {
            begin.extend(asked.options.iter().map(OsString::from));
            begin.extend_from_slice(rest);
            return Some(Self {
                words: begin,
                variable: None,
                added: asked.options.join(" "),
            });
        }
        let asked = if children { starter(words) } else { None }?;
        let options = asked.options.join(" ");
        Some(Self {
            words: words.to_vec(),
            added: format!("{}='{options}'", asked.variable),
            variable: Some((asked.variable.clone(), options)),
        })
    }
}

/// Returns how a user enables name reporting for this language, to be put before a command:
/// `NODE_OPTIONS='--perf-basic-prof'`.
pub fn asked_by_hand(language: Language) -> Option<String> {
    let asked = Runtime::of(Some(language)).names.as_ref()?;
    Some(format!("{}='{}'", asked.variable, asked.options.join(" ")))
}

/// Returns the language whose functions an explanation would name if its runtime wrote down their names.
/// Returns `None` if most of that time is in functions with names, or if own code doesn't matter. Methods that a JVM
/// interprets have names in any case.
pub fn lacks_names(explanation: &Explanation, trace: &Trace) -> Option<Language> {
    let account = &explanation.account;
    let had_none = [
        TimeCategory::Ready,
        TimeCategory::Throttled,
        TimeCategory::Stolen,
    ];
    let had_none: u64 = had_none.into_iter().map(|kind| account.ns(kind)).sum();
    // The share is relative to the time in which no other program had the CPU.
    let least = t::NAMES_SHARE * account.wall_ns.saturating_sub(had_none) as f64;
    let is_made = |place: &CodePlace| place.binary.as_deref().is_some_and(is_made_at_run_time);
    let (mut named_ns, mut unnamed_ns) = (0, 0);
    for row in &explanation.whereabouts {
        let mut callers = row.callers.iter().filter(|place| is_made(place)).peekable();
        let is_named = match is_made(&row.place) {
            true => row.place.function.is_some(),
            false if callers.peek().is_some() => callers.any(|place| place.function.is_some()),
            false => continue,
        };
        match is_named {
            true => named_ns += row.ns,
            false => unnamed_ns += row.ns,
        }
    }
    let has_names = named_ns > 0 && named_ns >= unnamed_ns;
    let own = account.ns(TimeCategory::UserCode) as f64;
    if own < least || has_names {
        return None;
    }
    let mut programs = trace
        .processes
        .iter()
        .filter_map(|process| process.execs.last());
    programs.find_map(|exec| {
        let language = Language::from_program_name(&exec.path)?;
        Runtime::of(Some(language)).names.as_ref().map(|_| language)
    })
}

fn asked_for(program: &str) -> Option<&'static AskedFor> {
    Runtime::interpreting(program)?.names.as_ref()
}

/// Returns the words that precede the script's path, according to its first line; `None` if the line contains
/// options.
fn interpreter(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.strip_prefix("#!")?.split_ascii_whitespace().collect();
    match words[..] {
        [program] => Some(vec![program]),
        [env, program] if env.ends_with("/env") && !program.starts_with('-') => {
            Some(vec![env, program])
        }
        _ => None,
    }
}

/// Returns the runtime that is started by one of the words, including words inside of a shell's command text.
fn starter(words: &[OsString]) -> Option<&'static AskedFor> {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let between = |c: char| c.is_whitespace() || ";|&()'\"`$".contains(c);
    let mut names = texts
        .iter()
        .flat_map(|text| text.split(between))
        .map(file_name);
    names.find_map(|name| {
        let starts = |asked: &&AskedFor| has(&asked.starters, name);
        let mut known = ALL.iter().filter_map(|(_, it)| it.names.as_ref());
        asked_for(name).or_else(|| known.find(starts))
    })
}

/// Returns whether a function belongs to a runtime's engine and isn't one that programs call by name. If a
/// function of the program is below it in the stack, its time belongs to that function.
pub(crate) fn is_engines(binary: &str, function: Option<&str>) -> bool {
    let file = file_name(binary);
    let is_engine = |asked: &&AskedFor| begins(file, &asked.engines);
    let mut known = ALL.iter().filter_map(|(_, it)| it.names.as_ref());
    let asked = asked_for(file).or_else(|| known.find(is_engine));
    asked.is_some_and(|asked| !function.is_some_and(|name| asked.is_called.have(name)))
}

/// Returns a function's name as used in a program's source: `Builtins_ArrayPrototypeSort` becomes
/// `Array.prototype.sort`.
pub(crate) fn shown_name(function: &str) -> String {
    let builtin = function.strip_prefix("Builtins_");
    let Some((of, name)) = builtin.and_then(|name| name.split_once("Prototype")) else {
        return function.to_owned();
    };
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if !of.is_empty() => {
            format!(
                "{of}.prototype.{}{}",
                first.to_ascii_lowercase(),
                letters.as_str()
            )
        }
        _ => function.to_owned(),
    }
}

/// Returns a variable's new value, which consists of its previous options followed by `options`.
pub fn joined(before: Option<&OsStr>, options: &str) -> OsString {
    let mut value = before.map(OsStr::to_owned).unwrap_or_default();
    if !value.is_empty() {
        value.push(" ");
    }
    value.push(options);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    fn asked(text: &str, script: Option<&str>, children: bool) -> Option<String> {
        let asked = Asked::of(&words(text), script, children)?;
        let words: Vec<_> = asked.words.iter().map(|it| it.to_string_lossy()).collect();
        Some(match asked.variable {
            Some((name, _)) => format!("{name} {}", words.join(" ")),
            None => words.join(" "),
        })
    }

    const NODE: &str = "--perf-basic-prof-only-functions --interpreted-frames-native-stack";

    #[test]
    fn a_runtime_has_the_options_before_those_of_its_user() {
        let node = asked("/usr/bin/node --max-old-space-size=64 a.js", None, false);
        let wanted = format!("/usr/bin/node {NODE} --max-old-space-size=64 a.js");
        assert_eq!(node, Some(wanted));
        let java = asked("/opt/jdk/bin/java -cp x Main", None, false).unwrap();
        assert!(java.starts_with("/opt/jdk/bin/java -XX:+IgnoreUnrecognizedVMOptions "));
        assert!(java.ends_with(" -cp x Main"));
        assert_eq!(asked("/usr/bin/python3 a.py", None, true), None);
        assert_eq!(asked("/bin/gzip node", None, false), None);
    }

    #[test]
    fn a_script_is_started_as_the_kernel_does() {
        let run = asked("/srv/tool x", Some("#!/usr/bin/env node"), false);
        let wanted = format!("/usr/bin/env node {NODE} /srv/tool x");
        assert_eq!(run, Some(wanted));
        let run = asked("./tool", Some("#! /usr/bin/nodejs"), false);
        assert_eq!(run, Some(format!("/usr/bin/nodejs {NODE} ./tool")));
        assert_eq!(
            asked("/srv/tool", Some("#!/usr/bin/env -S node"), false),
            None
        );
        // A version manager's script.
        assert_eq!(asked("/shims/node a.js", Some("#!/bin/sh"), false), None);
    }

    #[test]
    fn programs_that_others_start_are_asked_by_a_variable() {
        for text in ["/bin/sh -c cd x;/usr/bin/node a.js", "/bin/npm test"] {
            assert_eq!(asked(text, Some("#!/bin/sh"), false), None);
            let asked = asked(text, Some("#!/bin/sh"), true);
            assert_eq!(asked, Some(format!("NODE_OPTIONS {text}")));
        }
        let java = asked("/usr/bin/mvn test", Some("#!/bin/sh"), true);
        assert_eq!(java.as_deref(), Some("JDK_JAVA_OPTIONS /usr/bin/mvn test"));
        assert_eq!(joined(Some(OsStr::new("-a")), "-b"), "-a -b");
        assert_eq!(joined(None, "-b"), "-b");
    }

    #[test]
    fn what_is_built_in_is_called_as_in_the_source() {
        assert_eq!(
            shown_name("Builtins_ArrayPrototypeSort"),
            "Array.prototype.sort"
        );
        for other in ["Builtins_LoadIC", "Builtins_Prototype", "list_sort", "é"] {
            assert_eq!(shown_name(other), other);
        }
    }

    #[test]
    fn what_a_program_calls_by_name_stays() {
        assert!(is_engines("/usr/bin/node", Some("Builtins_LoadIC")));
        assert!(is_engines("/usr/bin/node", None));
        assert!(!is_engines(
            "/usr/bin/node",
            Some("Builtins_ArrayPrototypeSort")
        ));
        assert!(is_engines("/opt/jdk/lib/server/libjvm.so", None));
        assert!(!is_engines("/lib/libc.so.6", Some("memcpy")));
        assert!(!is_engines("/usr/bin/python3.11", Some("list_sort")));
    }
}
