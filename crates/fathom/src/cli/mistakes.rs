//! Slips on the command line that clap can't explain: a command without quotes.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, Command};

/// What to type instead, where the words of one command were given without quotes and `--`; `None`
/// where clap's own message is the better one.
pub(super) fn explain(cli: &Command, error: ErrorKind, words: &[OsString]) -> Option<String> {
    let verb = cli.find_subcommand(words.first()?)?;
    if error != ErrorKind::UnknownArgument
        || !["bench", "why", "startup", "serve"].contains(&verb.get_name())
    {
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
    if command.len() < 2 {
        return None;
    }
    let name = verb.get_name();
    // What has blanks was quoted: a command of its own.
    if command[0].contains(char::is_whitespace) {
        return None;
    }
    let option = command[1..].iter().find(|word| word.starts_with('-'))?;
    let problem = format!(
        "{option} stands after {:?}, where the command begins",
        command[0]
    );
    let before = match options {
        [] => String::new(),
        options => format!("{} ", line(options)),
    };
    Some(format!(
        "{problem}; for one command with arguments, {}",
        forms(name, &before, command)
    ))
}

/// Both right ways to write a command with arguments.
pub(super) fn forms(verb: &str, options: &str, command: &[&str]) -> String {
    let command = line(command);
    let quoted = shell_words::quote(&command);
    format!("write: fathom {verb} {options}-- {command}, or: fathom {verb} {options}{quoted}")
}

fn line(words: &[&str]) -> String {
    shell_words::join(words)
}

/// Where the first word stands that is neither an option nor the value of one.
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

/// How many of the following words are values of these options; `None` for an unknown option.
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

/// What is a part of the shell and no program, with the way to run it.
pub(super) fn shell_builtin(name: &str) -> Option<&'static str> {
    // POSIX: special built-ins, those that change the shell itself, and reserved words.
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
    (name == "time").then_some("; it is a word of the shell: leave it away, Fathom takes the time")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ArgAction;

    fn said(words: &[&str]) -> Option<String> {
        let options = [
            Arg::new("runs").short('r').long("runs"),
            Arg::new("list")
                .short('L')
                .num_args(2)
                .action(ArgAction::Append),
            Arg::new("ignore")
                .short('i')
                .num_args(0..=1)
                .require_equals(true),
            Arg::new("shell").short('S').action(ArgAction::SetTrue),
            Arg::new("commands").num_args(0..),
        ];
        let verb = |name: &'static str| Command::new(name).args(options.clone());
        let mut cli = Command::new("fathom").subcommands([verb("bench"), verb("why"), verb("run")]);
        cli.build();
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        explain(&cli, ErrorKind::UnknownArgument, &words)
    }

    #[test]
    fn options_before_the_command_stay_before_it() {
        let expected = "-k stands after \"gzip\", where the command begins; for one command with arguments, \
             write: fathom bench -S -r 5 -L n 1,2 -i -- gzip -k 'a b', or: fathom bench -S -r 5 -L n 1,2 -i \
             'gzip -k '\\''a b'\\'''";
        let words = [
            "bench", "-S", "-r", "5", "-L", "n", "1,2", "-i", "gzip", "-k", "a b",
        ];
        assert_eq!(said(&words).as_deref(), Some(expected));
        let attached = said(&["bench", "-r5", "--runs=5", "-SL", "n", "1,2", "gzip", "-k"]);
        assert!(attached.is_some_and(|text| text.contains("-SL n 1,2 -- gzip -k,")));
    }

    #[test]
    fn what_clap_explains_is_left_to_it() {
        assert_eq!(said(&["bench", "--rusn", "5", "gzip", "-k"]), None);
        assert_eq!(said(&["bench", "gzip -k", "--rusn"]), None);
        assert_eq!(said(&["bench", "gzip", "-k", "--", "x"]), None);
        assert_eq!(said(&["bench", "-k"]), None);
        assert_eq!(said(&["run", "gzip", "-k"]), None);
        assert_eq!(said(&[]), None);
    }
}
