//! The name that the project's suite gives a command.

use fathom_experiment::file::experiment::How;

/// Returns the suite's benchmark that has this command, so measuring the command continues that benchmark's
/// history. Build folders are ignored: `./tool {repo}/data` in the files of a version is the suite's
/// `{work}/tool data`.
pub(super) fn of(command: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let experiment = fathom_experiment::read(&fathom_conduct::keep::suite(&here)?).ok()?;
    let mut bench = experiment
        .measures
        .iter()
        .filter(|one| one.how == How::Bench);
    bench.next()?;
    let wanted = normal(command)?;
    let mut subjects = experiment.subjects.iter();
    let same = subjects.find(|subject| {
        subject.input.is_none() && normal(&subject.command.value).as_ref() == Some(&wanted)
    })?;
    Some(same.name.value.clone())
}

/// Splits a command into words and removes a leading folder such as `{repo}/` or `./` from each.
fn normal(command: &str) -> Option<Vec<String>> {
    const FOLDERS: [&str; 3] = ["{repo}/", "{work}/", "./"];
    let words = shell_words::split(command).ok()?;
    let plain = |word: String| {
        let rest = FOLDERS.iter().find_map(|folder| word.strip_prefix(folder));
        rest.map(str::to_owned).unwrap_or(word)
    };
    Some(words.into_iter().map(plain).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_the_same_wherever_its_program_and_input_lie() {
        let suite = normal("{work}/tally 'big log'");
        assert_eq!(normal("./tally {repo}/'big log'"), suite);
        assert_ne!(normal("./tally other"), suite);
        assert_ne!(normal("tally"), suite);
    }
}
