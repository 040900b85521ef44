//! The commands that may be run.

use std::path::Path;

use crate::bounded::name;

/// Shells, including programs that act as one under another name: they turn a line of text into any command.
const SHELLS: [&str; 12] = [
    "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "xonsh", "zsh",
];

/// The values of `--allow`: a command is allowed if it begins with the words of one of these.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    commands: Vec<Vec<String>>,
    /// `*`: any program that is not a shell.
    any_program: bool,
}

impl Allowed {
    /// Parses the values of `--allow`.
    ///
    /// # Errors
    /// If a value can't be split into words, or has no words.
    pub fn parse(values: &[String]) -> Result<Self, String> {
        let mut allowed = Self::default();
        for value in values {
            match shell_words::split(value) {
                Ok(words) if words == ["*"] => allowed.any_program = true,
                Ok(words) if !words.is_empty() => allowed.commands.push(words),
                _ => return Err(format!("--allow={value:?} is not a command")),
            }
        }
        Ok(allowed)
    }

    /// Checks whether this line may be run in this folder.
    ///
    /// # Errors
    /// A text for the client that says what is allowed instead.
    pub(crate) fn check(&self, line: &str, root: &Path) -> Result<(), String> {
        let words = shell_words::split(line)
            .map_err(|_| format!("a quote in the command {} is not closed", name(line)))?;
        let Some(program) = words.first() else {
            return Err("the command is empty".to_owned());
        };
        if program.starts_with('-') || line.contains('\0') {
            return Err(format!("{} is not the name of a program", name(program)));
        }
        let begins_with = |allowed: &Vec<String>| {
            allowed.len() <= words.len()
                && allowed.iter().zip(&words).enumerate().all(|(at, (a, b))| {
                    a == b || at == 0 && is_same_file(&root.join(a), &root.join(b), [a, b])
                })
        };
        if self.commands.iter().any(begins_with) || self.any_program && !is_shell(program, root) {
            return Ok(());
        }
        Err(format!(
            "{} is not allowed here. Allowed: {}. The list is set when the server is started (fathom mcp --allow \
             COMMAND)",
            name(program),
            self.in_words()
        ))
    }

    /// Returns a description for people and agents.
    pub(crate) fn in_words(&self) -> String {
        let mut all: Vec<String> = self
            .commands
            .iter()
            .map(|words| name(&shell_words::join(words)))
            .collect();
        if self.any_program {
            all.push("any program that is not a shell".to_owned());
        }
        match all.is_empty() {
            true => "nothing".to_owned(),
            false => all.join(", "),
        }
    }
}

/// Returns whether two paths, not names searched in PATH, are the same file.
fn is_same_file(one: &Path, other: &Path, written: [&String; 2]) -> bool {
    let found = |path: &Path| path.canonicalize().ok();
    written.iter().all(|text| text.contains('/'))
        && found(one).is_some_and(|one| Some(one) == found(other))
}

/// Returns whether the program is a shell, by its name or by that of the file it links to.
fn is_shell(program: &str, root: &Path) -> bool {
    let named = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| SHELLS.contains(&name))
    };
    let leads_to = |path: &Path| path.canonicalize().is_ok_and(|path| named(&path));
    let path = Path::new(program);
    if named(path) {
        return true;
    }
    match program.contains('/') {
        true => leads_to(&root.join(path)),
        false => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders).any(|folder| leads_to(&folder.join(path)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(values: &[&str]) -> Allowed {
        let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        Allowed::parse(&values).expect("commands")
    }

    #[test]
    fn a_command_begins_with_the_words_that_are_allowed() {
        let root = Path::new("/");
        let some = allowed(&["python3 bench.py", "gzip"]);
        for line in ["gzip", "gzip -9 'a b'", "python3 bench.py --fast"] {
            assert_eq!(some.check(line, root), Ok(()), "{line}");
        }
        for line in [
            "python3",
            "python3 other.py",
            "./gzip",
            "gzipx",
            "sh -c gzip",
            "",
            "'a",
            "-x",
        ] {
            assert!(some.check(line, root).is_err(), "{line}");
        }
        assert!(Allowed::default().check("gzip", root).is_err());
    }

    #[test]
    fn a_star_is_any_program_but_a_shell_by_whatever_name() {
        let folder = std::env::temp_dir().join(format!("fathom-allowed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::os::unix::fs::symlink("/bin/sh", folder.join("innocent")).expect("a link");
        let any = allowed(&["*"]);
        for line in ["gzip f", "./tool", "python3 x.py"] {
            assert_eq!(any.check(line, &folder), Ok(()), "{line}");
        }
        for line in ["sh -c ls", "/bin/bash x", "./innocent -c ls", "../sh"] {
            assert!(any.check(line, &folder).is_err(), "{line}");
        }
        assert_eq!(allowed(&["*", "sh"]).check("sh -c ls", &folder), Ok(()));
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn one_file_is_allowed_however_it_is_written() {
        let root = Path::new("/usr");
        let some = allowed(&["./bin/env"]);
        for line in ["bin/../bin/env x", "/usr/bin/env"] {
            assert_eq!(some.check(line, root), Ok(()), "{line}");
        }
        assert!(some.check("env", root).is_err());
    }
}
