//! Checks that every placeholder is defined and that commands can be split into words.

use super::Checker;
use crate::file::experiment::Content;
use crate::file::placeholder;
use crate::file::problem::Located;
use crate::file::problem::did_you_mean;
use crate::file::problem::inside;

impl Checker<'_> {
    /// Checks that every placeholder is defined.
    pub(super) fn placeholders(&self) {
        let experiment = self.experiment;
        for tool in &experiment.tools {
            self.text(&tool.check, &[]);
            self.command(&tool.check);
        }
        for input in &experiment.inputs {
            match &input.content {
                Content::Bytes(_) => {}
                Content::File(text) => self.text(text, &[]),
                Content::Generated(text) => {
                    self.text(text, &["seed", "size"]);
                    self.command(text);
                    if placeholder::names(text).iter().any(|n| n == "size") && input.size.is_none()
                    {
                        self.problems.add(
                            text.span.clone(),
                            "the generator uses {size}, but the input has no size",
                            "write size = \"1 MiB\"",
                        );
                    }
                }
            }
        }
        for build in &experiment.builds {
            self.text(&build.command, &[]);
            self.command(&build.command);
            build.cwd.iter().for_each(|text| self.text(text, &[]));
            build.env.iter().for_each(|(_, text)| self.text(text, &[]));
        }
        for subject in &experiment.subjects {
            self.text(&subject.command, &[]);
            self.command(&subject.command);
            let optional = [&subject.input, &subject.output, &subject.cwd];
            for text in optional.into_iter().flatten() {
                self.text(text, &[]);
            }
            subject
                .env
                .iter()
                .for_each(|(_, text)| self.text(text, &[]));
        }
        for measure in &experiment.measures {
            for stage in &measure.stages {
                self.text(stage, &[]);
                self.command(stage);
            }
            measure
                .files
                .iter()
                .for_each(|(_, text)| self.text(text, &[]));
            for count in &measure.counts {
                self.text(&count.command, &[]);
                self.command(&count.command);
            }
        }
    }

    fn text(&self, text: &Located<String>, more: &[&str]) {
        let pieces = match placeholder::pieces(text) {
            Ok(pieces) => pieces,
            Err((at, message)) => {
                let span = inside(&self.experiment.text, text, &(at..at + 1));
                self.problems
                    .add(span, message, "to write a brace, double it: {{ or }}");
                return;
            }
        };
        for piece in pieces {
            let placeholder::Piece::Name(name, at) = piece else {
                continue;
            };
            let known = self.placeholder_names(more);
            if !known.contains(&name) {
                let span = inside(&self.experiment.text, text, &(at..at + name.len() + 2));
                let advice = match did_you_mean(&name, known.iter().map(String::as_str)) {
                    Some(meant) => format!("did you mean {{{meant}}}? To write a brace, double it"),
                    None => "to write a brace, double it: {{ or }}".to_string(),
                };
                self.problems.add(
                    span,
                    format!("the placeholder {{{name}}} does not exist"),
                    advice,
                );
            }
        }
    }

    fn placeholder_names(&self, more: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = ["work", "here", "tools"]
            .into_iter()
            .chain(more.iter().copied())
            .map(str::to_string)
            .collect();
        names.extend(self.inputs().iter().map(|name| format!("inputs.{name}")));
        names.extend(self.tools().iter().map(|name| format!("tools.{name}")));
        let parameters = &self.experiment.parameters;
        names.extend(parameters.iter().map(|p| p.name.value.clone()));
        names
    }

    /// Checks that a command can be split into words.
    fn command(&self, text: &Located<String>) {
        match shell_words::split(text) {
            Ok(words) if words.is_empty() && !text.value.is_empty() => {
                self.problems
                    .add(text.span.clone(), "the command has no words", "");
            }
            Ok(_) => {}
            Err(_) => self.problems.add(
                text.span.clone(),
                "a quote in the command is not closed",
                "commands are split into words as in a shell",
            ),
        }
    }
}
