//! Mistakes on the command line that clap can't explain: a command without quotes.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, Command};
use fathom_conduct::redaction;

/// Returns what to type instead if the words of one command were given without quotes and `--`. Returns
/// `None` if clap's own message is better.
pub(super) fn explain(cli: &Command, error: &clap::Error, words: &[OsString]) -> Option<String> {
    let bare = Bare::of(cli, words)?;
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let option = bare.command[1..]
                .iter()
                .find(|word| word.starts_with('-'))?;
            let problem = format!(
                "{option} follows {:?}, where the command begins",
                bare.command[0]
            );
            Some(format!(
                "{problem}; for one command with arguments, {}",
                bare.forms()
            ))
        }
        // In `sort -rn file`, -r is also an option of Fathom, and n isn't a number.
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let value = error.get(ContextKind::InvalidValue)?.to_string();
            let takes_it = |two: &[&str]| {
                two[0].starts_with('-') && (two[1] == value || two[0].ends_with(&value))
            };
            let after = bare.command[1..].iter().copied().chain([""]);
            let after: Vec<&str> = after.collect();
            let option = after.windows(2).find(|two| takes_it(two))?[0];
            let text = error.to_string();
            let text = text.lines().next()?.trim_start_matches("error: ");
            Some(format!(
                "{text}; if {option} is meant for {:?}, {}",
                bare.command[0],
                bare.forms()
            ))
        }
        _ => None,
    }
}

/// Like [`explain`], for the case that clap parsed a word of the command as a separate command: in `gzip -c
/// file`, `file` becomes the command for `-c`. Otherwise, options after a command are Fathom's, as in `./a -r
/// 5`.
pub(super) fn swallowed(cli: &Command, words: &[OsString]) -> Option<String> {
    let bare = Bare::of(cli, words)?;
    let pair = bare.command[1..].windows(2);
    let mut wrong = pair.filter_map(|two| {
        let letter = two[0]
            .strip_prefix('-')
            .filter(|rest| rest.len() == 1)?
            .chars()
            .next()?;
        let is_hook = |arg: &&Arg| {
            let values = arg.get_value_names().unwrap_or_default();
            arg.get_short() == Some(letter) && values.iter().any(|name| name == "COMMAND")
        };
        let hook = bare.verb.get_arguments().find(is_hook)?;
        (!may_run(two[1])).then_some((two, hook.get_long()?))
    });
    let (two, name) = wrong.next()?;
    Some(format!(
        "{} {} follows {:?} and would be read as --{name}, but no program is named {}; for one command with \
         arguments, {}",
        two[0],
        two[1],
        bare.command[0],
        two[1],
        bare.forms()
    ))
}

/// Returns whether a shell could run this word. Anything except a plain name is left to the shell.
fn may_run(word: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || "._-+/".contains(letter);
    let is_program = |path: &Path| {
        let about = path.metadata();
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    if !word.chars().all(is_name) || shell_builtin(word).is_some() {
        return true;
    }
    // A file that is missing here may exist where the hook runs.
    if word.contains('/') {
        return is_program(Path::new(word)) || !Path::new(word).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_program(&folder.join(word)))
}

/// A command line whose first command is a single word followed by more words.
struct Bare<'w> {
    verb: &'w Command,
    /// The words before the command.
    options: Vec<&'w str>,
    command: Vec<&'w str>,
}

impl<'w> Bare<'w> {
    fn of(cli: &'w Command, words: &'w [OsString]) -> Option<Bare<'w>> {
        let verb = cli.find_subcommand(words.first()?)?;
        if !["bench", "why", "startup", "serve"].contains(&verb.get_name()) {
            return None;
        }
        let words: Vec<&str> = words[1..]
            .iter()
            .map(|word| word.to_str())
            .collect::<Option<_>>()?;
        if words.contains(&"--") {
            return None;
        }
        let (options, command) = words.split_at(first_positional(verb, &words)?);
        // A word with blanks was quoted, so it is a complete command.
        if command.len() < 2 || command[0].contains(char::is_whitespace) {
            return None;
        }
        Some(Bare {
            verb,
            options: options.to_vec(),
            command: command.to_vec(),
        })
    }

    fn forms(&self) -> String {
        let before = match &self.options[..] {
            [] => String::new(),
            options => format!("{} ", line(options)),
        };
        forms(self.verb.get_name(), &before, &self.command)
    }
}

/// Returns both correct ways to write a command with arguments.
pub(super) fn forms(verb: &str, options: &str, command: &[&str]) -> String {
    let command = line(command);
    let quoted = shell_words::quote(&command);
    format!("write: fathom {verb} {options}-- {command}, or: fathom {verb} {options}{quoted}")
}

fn line(words: &[&str]) -> String {
    redaction::line(words.iter().map(|word| redaction::typed_word(word)))
}

/// Returns the position of the first word that is neither an option nor the value of one.
fn first_positional(verb: &Command, words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.starts_with('-') || *word == "-" {
            return Some(at);
        }
        at += 1 + values_after(verb, word)?;
    }
    None
}

/// Returns how many of the words that follow are values of these options; `None` if an option is unknown.
fn values_after(verb: &Command, word: &str) -> Option<usize> {
    let values = |arg: &Arg| match arg.get_action().takes_values() && !arg.is_require_equals_set() {
        true => arg.get_num_args().map_or(1, |range| range.min_values()),
        false => 0,
    };
    if let Some(long) = word.strip_prefix("--") {
        let (name, attached) = long
            .split_once('=')
            .map_or((long, false), |(name, _)| (name, true));
        let is_it = |arg: &&Arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(name) || aliases.contains(&name)
        };
        let arg = verb.get_arguments().find(is_it)?;
        return Some(if attached { 0 } else { values(arg) });
    }
    let mut letters = word[1..].chars();
    while let Some(letter) = letters.next() {
        let arg = verb
            .get_arguments()
            .find(|arg| arg.get_short() == Some(letter))?;
        let taken = values(arg);
        if taken > 0 {
            let attached = usize::from(!letters.as_str().is_empty());
            return Some(taken - attached);
        }
        if arg.is_require_equals_set() {
            break;
        }
    }
    Some(0)
}

/// Returns how to run a name that is part of the shell rather than a program.
pub(super) fn shell_builtin(name: &str) -> Option<&'static str> {
    // In POSIX, these are special built-ins, commands that change the shell itself, and reserved words.
    const OF_SH: &[&str] = &[
        ".", ":", "!", "{", "alias", "bg", "break", "case", "cd", "command", "continue", "do",
        "eval", "exec", "exit", "export", "fc", "fg", "for", "getopts", "hash", "if", "jobs",
        "local", "read", "readonly", "return", "set", "shift", "times", "trap", "type", "ulimit",
        "umask", "unalias", "unset", "until", "wait", "while",
    ];
    const OF_BASH: &[&str] = &[
        "[[",
        "bind",
        "builtin",
        "caller",
        "compgen",
        "complete",
        "coproc",
        "declare",
        "dirs",
        "disown",
        "enable",
        "function",
        "help",
        "history",
        "let",
        "logout",
        "mapfile",
        "popd",
        "pushd",
        "readarray",
        "select",
        "shopt",
        "source",
        "suspend",
        "typeset",
    ];
    if OF_SH.contains(&name) {
        return Some("; it is a built-in of the shell: use -S to run the command through sh");
    }
    if OF_BASH.contains(&name) {
        return Some("; it is a built-in of bash: use --shell=bash to run the command through it");
    }
    (name == "time")
        .then_some("; it is a keyword of the shell: omit it, because Fathom measures the time")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ArgAction;

    fn cli() -> Command {
        let options = [
            Arg::new("runs")
                .short('r')
                .long("runs")
                .value_parser(clap::value_parser!(u32)),
            Arg::new("list")
                .short('L')
                .num_args(2)
                .action(ArgAction::Append),
            Arg::new("ignore")
                .short('i')
                .num_args(0..=1)
                .require_equals(true),
            Arg::new("cleanup")
                .short('c')
                .long("cleanup")
                .value_name("COMMAND"),
            Arg::new("shell").short('S').action(ArgAction::SetTrue),
            Arg::new("commands").num_args(0..),
        ];
        let verb = |name: &'static str| Command::new(name).args(options.clone());
        let mut cli = Command::new("fathom").subcommands([verb("bench"), verb("why"), verb("run")]);
        cli.build();
        cli
    }

    fn said(words: &[&str]) -> Option<String> {
        let mut cli = cli();
        let given = ["fathom"].iter().chain(words);
        let error = cli
            .try_get_matches_from_mut(given)
            .expect_err("it is wrong");
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        explain(&cli, &error, &words)
    }

    #[test]
    fn options_before_the_command_stay_before_it() {
        let expected = "-k follows \"gzip\", where the command begins; for one command with arguments, write: fathom bench -S -r 5 -L n 1,2 -i -- gzip -k 'a b', or: fathom bench -S -r 5 -L n 1,2 -i 'gzip -k '\\''a b'\\'''";
        let words = [
            "bench", "-S", "-r", "5", "-L", "n", "1,2", "-i", "gzip", "-k", "a b",
        ];
        assert_eq!(said(&words).as_deref(), Some(expected));
        let attached = said(&[
            "bench",
            "-r5",
            "--cleanup=sync",
            "-SL",
            "n",
            "1,2",
            "gzip",
            "-k",
        ]);
        assert!(attached.is_some_and(|text| text.contains("-SL n 1,2 -- gzip -k,")));
    }

    #[test]
    fn what_clap_explains_is_left_to_it() {
        assert_eq!(said(&["bench", "--rusn", "5", "gzip", "-k"]), None);
        assert_eq!(said(&["bench", "gzip -k", "--rusn"]), None);
        assert_eq!(said(&["bench", "gzip", "-k", "--", "x"]), None);
        assert_eq!(said(&["bench", "-k"]), None);
        assert_eq!(said(&["run", "gzip", "-k"]), None);
        assert_eq!(said(&["bench", "-r", "x", "gzip"]), None);
        assert_eq!(said(&["bench", "gzip x", "-r", "x"]), None);
    }

    #[test]
    fn a_value_that_is_none_may_have_been_meant_for_the_program() {
        for words in [["sort", "-r", "file"], ["sort", "-rn", "file"]] {
            let text = said(&[&["bench"], &words[..]].concat()).expect("a tip");
            assert!(text.starts_with("invalid value '"), "{text}");
            let tip = format!(
                "if {} is meant for \"sort\", write: fathom bench -- {}, or",
                words[1],
                words.join(" ")
            );
            assert!(text.contains(&tip), "{text}");
        }
    }

    #[test]
    fn a_word_of_the_command_is_no_command_to_clean_up() {
        let taken = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            swallowed(&cli(), &words)
        };
        let expected = "-c no-such-program follows \"gzip\" and would be read as --cleanup, but no program is named no-such-program; for one command with arguments, write: fathom bench -r 5 -- gzip -c no-such-program, or: fathom bench -r 5 'gzip -c no-such-program'";
        let words = ["bench", "-r", "5", "gzip", "-c", "no-such-program"];
        assert_eq!(taken(&words).as_deref(), Some(expected));
        let right: [&[&str]; 7] = [
            &["bench", "./a", "./b", "-r", "5"],
            &["bench", "./a", "-c", "sync"],
            &["bench", "./a", "-c", "cd"],
            &["bench", "./a", "-c", "rm -f out"],
            &["bench", "./a", "-c", "$CLEAN"],
            &["bench", "gzip -k x", "-c", "no-such-program"],
            &["bench", "-c", "no-such-program", "gzip"],
        ];
        for words in right {
            assert_eq!(taken(words), None, "{words:?}");
        }
    }
}
